# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Results: collected, printed one line per test, kept in a file so that several
runs can be added up."""

import json
import re

from . import tap


class Collector:
    """The results of runs; the same test of two guests or boots counts twice."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.rows = []              # (kernel, program, status, name, why)
        self.times = {}
        self._allowed = tap.AllowedSkips()

    def add(self, program, result):
        """Judge and keep one result."""
        result = self._allowed.judge(self.kernel, program, result)
        self.rows.append((self.kernel, program, result.status, result.name, result.why))

    def time(self, program, seconds):
        """How long a program ran."""
        self.times[program] = seconds

    def save(self, path):
        """Keep for `rvm summary`."""
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"rows": self.rows, "times": self.times}, f)


def load(paths):
    """Rows of several saved files; one that is missing or broken is a failure."""
    rows = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as f:
                rows += [tuple(r) for r in json.load(f)["rows"]]
        except (OSError, ValueError, KeyError) as e:
            rows.append(("-", path, tap.FAIL, "results", f"not there: {e}"))
    return rows


def line(row):
    """One result as a line of text."""
    kernel, program, status, name, why = row
    word = {tap.PASS: "ok", tap.FAIL: "not ok", tap.SKIP: "skip"}[status]
    return f"{word:<6} {kernel:<5} {program}: {name}" + (f" -- {why}" if why else "")


def before(lines, row, most=6):
    """What was said right before a failure, out of a log: the end of what a reader
    gets to see is often all he has."""
    program, name = row[1], row[3]
    said = [x for x in lines if f"{program}: " in x]
    for i, text in enumerate(said):
        if re.search(r"\bnot ok \d+ " + re.escape(name), text):
            return said[max(0, i - most):i]
    return []


def summary(rows, write=print, said=lambda row: ()):
    """Print all rows, then the failures again with what was SAID before each, then
    the totals; returns the exit status: no test at all is a failure, too."""
    count = _count(rows)
    for row in rows:
        write(line(row))
    if count[tap.FAIL]:
        write("")
        write("Failures:")
        for row in rows:
            if row[2] == tap.FAIL:
                write("  " + line(row))
                for text in said(row):
                    write("      " + text)
    write("")
    write(total_of(rows))
    return status(rows)


def _count(rows):
    return {s: sum(r[2] == s for r in rows) for s in (tap.PASS, tap.FAIL, tap.SKIP)}


def status(rows):
    """Exit status for these results."""
    count = _count(rows)
    return 1 if count[tap.FAIL] or not count[tap.PASS] else 0


def total_of(rows):
    """The closing line."""
    count = _count(rows)
    return f"{count[tap.PASS]} passed, {count[tap.FAIL]} failed" + (
        f", {count[tap.SKIP]} skipped" if count[tap.SKIP] else "")
