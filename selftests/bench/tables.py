# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Tables of the figures, as reStructuredText."""

import libraries
from figures import (OURS, Part, bandwidth, client_instructions, connect_instructions,
                     connects, instructions, other_instructions, rate,
                     server_instructions, switches, typical_us)


def table(head, rows):
    """A simple table; columns as wide as they must be."""
    if not rows:
        return ""
    cells = [[str(c) for c in row] for row in [head] + rows]
    width = [max(len(r[i]) for r in cells) for i in range(len(head))]
    rule = "  ".join("=" * w for w in width)
    lines = [rule]
    for n, row in enumerate(cells):
        lines.append("  ".join(c.ljust(w) for c, w in zip(row, width)).rstrip())
        if n == 0:
            lines.append(rule)
    return "\n".join(lines + [rule, ""])


def section(title, *text):
    """A heading and what stands under it; nothing, if that is nothing."""
    if not any(text):
        return ""
    return "\n".join([title, "-" * len(title), ""] + list(text) + [""])


def number(x, digits=2):
    """A figure, or a dash where nothing was measured."""
    return "-" if x is None else f"{x:,.{digits}f}"


def instructions_per_call(raw, figure=instructions, **want):
    """Ratio of instructions to verbs by completion channel."""
    return Part(raw, "icount", "latency-block").ratio(figure, "write_imm", **want)


def growth(raw, mode, figure):
    """Cost at 1000 endpoints against one."""
    part = Part(raw, mode, "endpoints")
    one = part.median(figure, transport=OURS, endpoints=1)
    many = part.median(figure, transport=OURS, endpoints=1000)
    return many / one if one and many else None


def kernel_kib(raw):
    """Per endpoint pair both ends are here: half of it is one end's."""
    part = Part(raw, "wall", "connect")
    got = part.median(lambda r: r["kernel_bytes_per_endpoint"], transport=OURS,
                      endpoints=1000)
    return got / 2 / 1024 if got else None


def targets(raw):
    """(figure, target, measured) of the issue's table."""
    block = Part(raw, "wall", "latency-block")
    spin = Part(raw, "wall", "latency-spin")
    batch = Part(raw, "wall", "rate-batch")
    ibatch = Part(raw, "icount", "rate-batch")
    iblock = Part(raw, "icount", "latency-block")
    width = Part(raw, "wall", "bandwidth")
    connect = Part(raw, "wall", "connect")

    def best_rate(part, figure):
        ours = part.median(figure, transport=OURS, batch=32)
        theirs = [part.median(figure, transport="write_imm", batch=b)
                  for b in part.values("batch")]
        theirs = [x for x in theirs if x]
        return ours / max(theirs) if ours and theirs else None

    def per_instruction(run):
        return 1 / instructions(run)

    return [
        ("blocking latency / verbs WRITE_WITH_IMM, channel", "<= 0.60",
         block.ratio(typical_us, "write_imm")),
        ("the same, instructions", "<= 0.60", iblock.ratio(instructions, "write_imm")),
        ("spinning latency / verbs spinning", "<= 1.00",
         spin.ratio(typical_us, "write_imm")),
        ("spinning latency / kernel to kernel", "<= 1.15",
         Part(raw, "wall", "floor-spin").ratio(typical_us, "floor")),
        ("blocking, instructions / kernel to kernel", "",
         Part(raw, "icount", "floor-block").ratio(instructions, "floor")),
        ("notifications/s, batch 32 / verbs at its best batch", ">= 1.50",
         best_rate(batch, rate)),
        ("the same, per instruction", ">= 1.50", best_rate(ibatch, per_instruction)),
        ("bandwidth at 1 MiB / verbs", ">= 1.00", width.ratio(bandwidth, "write_imm")),
        ("blocking latency / WRITE + SEND", "<= 0.45",
         block.ratio(typical_us, "write_send")),
        ("the same, instructions", "<= 0.45", iblock.ratio(instructions, "write_send")),
        ("cost at 1000 endpoints / 1, instructions", "<= 1.20",
         growth(raw, "icount", instructions)),
        ("the same, wall clock", "<= 1.20", growth(raw, "wall", typical_us)),
        ("kernel memory per endpoint with the device's, KiB", "", kernel_kib(raw)),
        ("connects/s, 256 / rdma_cm in user space", ">= 1.50",
         connect.ratio(connects, "write_imm", endpoints=256)),
    ]


def met(target, value):
    """Does the figure hold?"""
    if value is None or not target:
        return "-"
    word, bound = target.split()
    good = value <= float(bound) if word == "<=" else value >= float(bound)
    return "yes" if good else "no"


def target_table(raw):
    """All of them."""
    return table(("figure, ours / theirs", "target", "measured", "met"),
                 [(name, target, number(x), met(target, x))
                  for name, target, x in targets(raw)])


def latency_table(raw, mode, part, figure, unit):
    """Each transport and way to wait: its figure, and ours against it."""
    p = Part(raw, mode, part)
    rows = []
    for wait in p.values("wait"):
        for t in p.values("transport"):
            x = p.median(figure, transport=t, wait=wait)
            if x is not None:
                rows.append((t, wait, number(x, 1), "" if t == OURS else
                             number(p.ratio(figure, t, wait=wait))))
    return table(("transport", "wait", unit, "ours / this"), rows)


def side_table(raw):
    """Where the instructions of a blocking notification are."""
    rows = []
    for part in ("latency-block", "latency-waits", "latency-peers"):
        p = Part(raw, "icount", part)
        for wait in p.values("wait"):
            for t in p.values("transport"):
                want = {"transport": t, "wait": wait}
                if not p.select(**want) or (part != "latency-block" and wait == "block"):
                    continue
                rows.append((t, wait) + tuple(number(p.median(f, **want), 0) for f in (
                    instructions, client_instructions, server_instructions,
                    other_instructions)))
    return table(("transport", "wait", "all", "client", "server", "rest"), rows)


def floor_table(raw, mode, part, figure, unit, digits):
    """What the bare module, ours and verbs take."""
    p = Part(raw, mode, part)
    return table(("transport", unit, "ours / this"),
                 [(t, number(p.median(figure, transport=t), digits), "" if t == OURS else
                   number(p.ratio(figure, t))) for t in p.values("transport")])


def rate_table(raw):
    """Streams by batch."""
    wall, icount = Part(raw, "wall", "rate-batch"), Part(raw, "icount", "rate-batch")
    rows = []
    for b in wall.values("batch"):
        for t in wall.values("transport"):
            rows.append((t, b, number(wall.median(rate, transport=t, batch=b), 0),
                         number(icount.median(instructions, transport=t, batch=b), 0)))
    return table(("transport", "batch", "notifications/s", "instructions"), rows)


def scale_table(raw):
    """By the number of endpoints."""
    connect, cost = Part(raw, "wall", "connect"), Part(raw, "wall", "endpoints")
    icost = Part(raw, "icount", "endpoints")
    rows = []
    for n in connect.values("endpoints"):
        for t in connect.values("transport"):
            want = {"transport": t, "endpoints": n}
            rows.append((
                n, t, number(connect.median(connects, **want), 1),
                number(connect.median(lambda r: r["client"]["close_ns"] / 1e6, **want), 1),
                number(connect.median(
                    lambda r: r["kernel_bytes_per_endpoint"] / 2048, **want), 1),
                number(cost.median(typical_us, **want), 1),
                number(icost.median(instructions, **want), 0)))
    return table(("endpoints", "transport", "connects/s", "close all, ms", "KiB each",
                  "us one way", "instructions"), rows)


def library_tests(raw, program):
    """(test, unit, wall-clock part, figure, instruction part, which runs)"""
    def parts(name):
        return (Part(raw, "wall", f"{program}-{name}"),
                Part(raw, "icount", f"{program}-{name}"))

    block, spin, stream = parts("block"), parts("spin"), parts("stream")
    return [("blocking, one way", "us", block[0], typical_us, block[1], {}),
            ("spinning, one way", "us", spin[0], typical_us, spin[1], {})] + [
            (f"stream, batch {b}", "1/s", stream[0], rate, stream[1], {"batch": b})
            for b in dict.fromkeys(stream[0].values("batch") + stream[1].values("batch"))]


def library_table(raw):
    """Ours against each of the other libraries, in the same run."""
    rows = []
    for program, (transport, name) in libraries.PROGRAMS.items():
        for test, unit, wall, figure, icount, want in library_tests(raw, program):
            if not wall.runs and not icount.runs:
                continue
            row = [f"ours / {name}", test, unit]
            for part, fn, digits in ((wall, figure, 1), (icount, instructions, 0)):
                row += [number(part.median(fn, transport=t, **want), digits)
                        for t in (OURS, transport)]
                row.append(number(part.ratio(fn, transport, **want)))
            rows.append(row)
    return table(("against", "test", "unit", "ours", "theirs", "ratio",
                  "instructions, ours", "theirs", "ratio"), rows)


def everything(raw):
    """All tables, for inclusion in the page."""
    a = raw["about"]
    return "\n".join([
        ".. SPDX-License-Identifier: LGPL-2.1 OR MIT",
        ".. Written by selftests/bench/bench: don't edit.", "",
        f"Commit ``{a['commit'][:12]}``, kernel {a['kernel']}, {a['qemu']},",
        f"{a['host']}.", "",
        section("Targets", target_table(raw)),
        section("Blocking, one way, 64 bytes, wall clock",
                latency_table(raw, "wall", "latency-block", typical_us, "us")),
        section("Spinning, one way, 64 bytes, wall clock",
                latency_table(raw, "wall", "latency-spin", typical_us, "us")),
        section("Context switches of a notification, spinning",
                floor_table(raw, "wall", "floor-switches", switches, "switches", 2)),
        section("Ways to wait, one way, 64 bytes, wall clock",
                latency_table(raw, "wall", "latency-waits", typical_us, "us")),
        section("Blocking, instructions of a notification",
                latency_table(raw, "icount", "latency-block", instructions, "instructions")),
        section("Where the instructions are", side_table(raw)),
        section("Streams, 64 bytes, blocking", rate_table(raw)),
        section("Bandwidth, 1 MiB",
                latency_table(raw, "wall", "bandwidth", bandwidth, "MB/s")),
        section("Many endpoints", scale_table(raw)),
        section("A connection, instructions of both ends",
                floor_table(raw, "icount", "floor-connect", connect_instructions,
                            "instructions", 0)),
        section("Other libraries, 64 bytes", library_table(raw)),
    ])
