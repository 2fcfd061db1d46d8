# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Finds what a kernel complains about on its console."""

import re

_BAD = [re.compile(p) for p in (
    r"\bWARNING: ", r"\bBUG: ", r"\bkernel BUG at\b", r"\bBUG kmalloc", r"^=+\s*BUG ",
    r"KASAN: ", r"KCSAN: ", r"KMSAN: ", r"KFENCE: ", r"UBSAN: ",
    r"\bOops\b", r"general protection fault", r"Kernel panic",
    r"Unable to handle kernel", r"refcount_t: ", r"scheduling while atomic",
    r"sleeping function called from invalid context",
    r"possible recursive locking", r"possible circular locking",
    r"inconsistent lock state", r"suspicious RCU usage", r"suspicious lock usage",
    r"lock held when returning to user space", r"held lock freed",
    r"bad unlock balance", r"possible irq lock inversion", r"SOFTIRQ-safe ->",
    r"HARDIRQ-safe ->", r"Invalid wait context", r"DEBUG_LOCKS_WARN_ON",
    r"locks held by .* when exiting", r"turning off the locking correctness",
    r"blocked for more than \d+ seconds", r"soft lockup", r"hard LOCKUP",
    r"rcu: INFO: ", r"rcu_\w+ detected .*stall", r"detected stalls on CPUs",
    r"workqueue lockup", r"unreferenced object", r"new suspected memory leaks",
    r"list_add corruption", r"list_del corruption", r"Bad page state",
    r"Bad rss-counter", r"slab .* corrupt", r"Objects remaining in",
    r"kobject_add_internal failed", r"sysfs: cannot create duplicate",
    r"ODEBUG: ", r"DMA-API: .*(?:leak|overlap|error|free)", r"Out of memory: ",
    r"page allocation failure", r"tried to release invalid", r"double free",
    r"waiting for .* to become free", r"stack guard page was hit",
    r"nobody cared",
)]
# Said by a stock kernel when it is healthy, or by our own requests.
_FINE = [re.compile(p) for p in (
    r"WARNING: .*(?:nobody|unsafe) .*module", r"vm: (?:begin|end) ",
    r"FAULT_INJECTION: ",           # the report of an injected fault
    r"loading out-of-tree module taints", r"module verification failed",
    r"spectre|Spectre|mitigation", r"memory leak report is",
    r"rcu: INFO: .*(?:Hierarchical|adjusting)",
)]
# Reports about the core or soft-RoCE that are theirs: functions of the call trace. The
# scripts in selftests/theirs get them without us.
_THEIRS = (
    # mad_removal.sh: a receive posted for MADs to a QP that is destroyed
    ("rxe_post_recv", "ib_mad_post_receive_mads", "ib_mad_recv_done"),
    # loopback_destroyed.sh: a packet by loopback to a QP that is being destroyed; a
    # warning, and KASAN's reports of each access behind it
    ("rxe_sched_task", "rxe_xmit_packet"),
)
_CALL = re.compile(r"(?:RIP: \w+:|\] +(?:\? )?)(\w+)[.\w]*\+0x[0-9a-f]+/")
_MARK = re.compile(r"vm: (begin|end) (\S+)\s*$")

CONTEXT = 40


def is_bad(line):
    """Does this console line report a fault?"""
    return any(p.search(line) for p in _BAD) and not any(p.search(line) for p in _FINE)


def injected(lines, at):
    """Is the allocation failure at this line one that a test injected?"""
    return "page allocation failure" in lines[at] and any(
        "FAULT_INJECTION: forcing a failure" in x for x in lines[max(0, at - 80):at])


def theirs(lines, at):
    """Is the report at this line one of those that are not ours? Who allocated the
    memory that KASAN reports does not matter, who uses it does."""
    if not re.search("WARNING: |BUG: KASAN: slab-use-after-free ", lines[at]):
        return False
    called = []
    for line in lines[at:at + 80]:
        if "end trace" in line or "Allocated by task" in line:
            break
        called += _CALL.findall(line)
    return not any("rnotify" in c for c in called) and \
        any(all(c in called for c in functions) for functions in _THEIRS)


class Splat:
    """A fault: the program during which it came, and the lines around it."""

    def __init__(self, program, lines):
        self.program = program
        self.lines = lines


def scan(lines):
    """All faults on a console.  One report runs over many lines, several of which
    look bad: lines within the context of a fault belong to it."""
    found = []
    program = "boot"
    until = -1
    for i, line in enumerate(lines):
        mark = _MARK.search(line)
        if mark:
            program = mark[2] if mark[1] == "begin" else "after-" + mark[2]
        elif is_bad(line) and not injected(lines, i) and not theirs(lines, i):
            if i > until:
                found.append(Splat(program, []))
                start = max(0, i - 3)
            else:
                start = until + 1
            until = min(len(lines) - 1, i + CONTEXT)
            found[-1].lines += lines[start:until + 1]
    return found
