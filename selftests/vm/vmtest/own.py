# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Runs tests of the tools themselves: all functions test_* of a module, as TAP."""

import io
import traceback


def run(namespace):
    """Returns the exit status."""
    tests = [(n, f) for n, f in namespace.items() if n.startswith("test_")]
    print(f"TAP version 13\n1..{len(tests)}")
    failed = 0
    for i, (name, function) in enumerate(tests, 1):
        try:
            function()
            print(f"ok {i} {name[5:]}")
        except Exception:
            failed += 1
            text = io.StringIO()
            traceback.print_exc(file=text)
            print("".join(f"# {x}\n" for x in text.getvalue().splitlines()), end="")
            print(f"not ok {i} {name[5:]}")
    return 1 if failed else 0
