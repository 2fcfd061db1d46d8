# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Reads TAP as kselftests print it, and believes only the single result lines.

Totals are not believed: kselftest's "PASSED: 4 / 4" counts skips as passes.  A
nested group (lines that are indented, or prefixed with "# ") counts one by one,
and the line that closes the group counts only if it says more than its parts."""

import fnmatch
import os
import re

from . import paths

_RESULT = re.compile(r"^(?P<indent>\s*(?:# +)?)(?P<not>not )?ok\b\s*(?P<num>\d+)?"
                     r"\s*(?:- )?(?P<name>.*?)\s*$")
_PLAN = re.compile(r"^(?P<indent>\s*(?:# +)?)1\.\.(?P<count>\d+)\s*(?:# *SKIP\s*(?P<why>.*))?",
                   re.I)
_SKIP = re.compile(r"^(.*?)\s*#\s*(?:SKIP|skip)\b:?\s*(.*)$")
_KNOWN = re.compile(r"#\s*(?:XFAIL|TODO)\b", re.I)

PASS, FAIL, SKIP = "pass", "fail", "skip"


class Result:
    """One test of one program on one kernel."""

    def __init__(self, status, name, why=""):
        self.status = status
        self.name = name
        self.why = why

    def __repr__(self):
        return f"{self.status}:{self.name}" + (f" ({self.why})" if self.why else "")


class Parser:
    """Feed it the lines of one program, then ask for the results."""

    def __init__(self):
        self.results = []
        self.plan = None
        self._seen = 0
        self._nested = []

    def feed(self, line):
        """One line of output."""
        m = _PLAN.match(line)
        if m:
            if m["indent"] == "":
                if m["why"] is not None:
                    self.results.append(Result(SKIP, "all", m["why"]))
                else:
                    self.plan = (self.plan or 0) + int(m["count"])
            return
        m = _RESULT.match(line)
        if not m or (m["num"] is None and m["indent"]):
            return
        result = self._result(m)
        if m["indent"] == "":
            self._seen += 1
            self._close(result)
        else:
            self._nested.append(result)

    @staticmethod
    def _result(m):
        name = m["name"]
        if m["not"]:
            return Result(FAIL, name or m["num"] or "?")
        skip = _SKIP.match(name)
        if skip:
            # kselftest_harness puts the reason where the name should be
            return Result(SKIP, skip[1] or m["num"] or "?", skip[2])
        if _KNOWN.search(name):
            return Result(SKIP, name.split("#")[0].strip(), "expected failure")
        return Result(PASS, name or m["num"] or "?")

    def _close(self, result):
        parts, self._nested = self._nested, []
        for part in parts:
            part.name = f"{result.name}/{part.name}"
        self.results += parts
        said = {p.status for p in parts}
        if not parts or (result.status != PASS and result.status not in said):
            self.results.append(result)

    def cut(self):
        """The program was ended on purpose: what it did not get to is not missing."""
        self.plan = None
        self._seen = 0

    def finish(self, exit_code, need_plan=True):
        """The program has ended: whatever it owes becomes a failure."""
        self.results += self._nested
        self._nested = []
        if exit_code is None:
            self.results.append(Result(FAIL, "end", "did not end"))
        elif exit_code > 128:
            self.results.append(Result(FAIL, "exit", f"killed by signal {exit_code - 128}"))
        elif self.plan is None and exit_code == 4 and not self.results:
            self.results.append(Result(SKIP, "all", "exit status 4"))
        elif exit_code and not any(r.status == FAIL for r in self.results):
            self.results.append(Result(FAIL, "exit", f"exit status {exit_code}"))
        if self.plan is None:
            if need_plan and not self.results:
                self.results.append(Result(FAIL, "plan", "no TAP plan"))
            elif self._seen:
                self.results.append(Result(FAIL, "plan", "results, but no TAP plan"))
        elif self.plan != self._seen:
            self.results.append(Result(
                FAIL, "plan", f"{self.plan} tests planned, {self._seen} reported"))
        return self.results


class AllowedSkips:
    """The list of skips that are all right: KERNEL PROGRAM TEST REASON..., the
    first three as shell patterns."""

    def __init__(self, path=os.path.join(paths.VM, "allowed-skips")):
        self._rules = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    line = line.split("#")[0].strip()
                    if line:
                        kernel, program, test, reason = line.split(None, 3)
                        self._rules.append((kernel, program, test, reason))

    def judge(self, kernel, program, result):
        """A skip nobody allowed is a failure."""
        if result.status != SKIP:
            return result
        for k, p, t, reason in self._rules:
            if fnmatch.fnmatchcase(kernel, k) and fnmatch.fnmatchcase(program, p) and \
                    (fnmatch.fnmatchcase(result.name, t) or fnmatch.fnmatchcase(result.why, t)):
                result.why = result.why or reason
                return result
        return Result(FAIL, result.name, "unexpected skip: " + result.why)
