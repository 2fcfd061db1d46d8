# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""What a person sees while a job runs."""

import re
import threading

from . import tap

_LOCK = threading.Lock()


def interesting(line):
    """Is it more than that some other test was fine?"""
    return not re.match(r"(?:ok \d+|#\s+(?:RUN|OK) )", line)


def say(text):
    """One line, whole, at once."""
    with _LOCK:
        print(text, flush=True)


class Full:
    """Everything the guests say, as they say it."""

    def __init__(self, tag, two):
        self._tag = tag
        self._two = two

    def show(self, role, text):
        """A line of a guest."""
        say(f"{self._tag}{role + '| ' if self._two else ''}{text}")

    def over(self, role, program):
        """A program has ended: nothing to add."""


class Brief:
    """One line per program; its output only if something is wrong with it."""

    def __init__(self, tag, two):
        self._tag = tag
        self._two = two

    def show(self, role, text):
        """Only the kernel's complaints and the harness's own remarks."""
        if text.startswith("console: ") or text.startswith("# the guest"):
            say(f"{self._tag}{role + '| ' if self._two else ''}{text}")

    def over(self, role, program):
        """A program has ended."""
        results = program.parser.results + program.extra
        count = {s: sum(r.status == s for r in results)
                 for s in (tap.PASS, tap.FAIL, tap.SKIP)}
        bad = count[tap.FAIL] or program.exit
        words = [f"{n} {word}" for n, word in (
            (count[tap.PASS], "ok"), (count[tap.FAIL], "failed"),
            (count[tap.SKIP], "skipped")) if n]
        if program.exit:
            words.append(f"exit status {program.exit}")
        prefix = self._tag + (role + "| " if self._two else "")
        if bad:
            for line in filter(interesting, program.lines):
                say(f"{prefix}{program.name}: {line}")
        say(f"{prefix}{program.name}: {', '.join(words) or 'no result'}"
            f" ({program.seconds:.1f} s)")
