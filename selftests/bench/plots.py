# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""The plots of Documentation/performance.rst."""

import os

from figures import Part, instructions, rate, typical_us
from svg import plot


def by(part, figure, member):
    """{transport: [(member, median figure)]}"""
    return {t: [(x, y) for x in part.values(member)
                for y in [part.median(figure, transport=t, **{member: x})] if y]
            for t in part.values("transport")}


def distribution(part):
    """{transport: [(us, part of the notifications)]} of the median runs"""
    out = {}
    for run in part.runs:
        if run["median"]:
            curve = run["percentiles_us"]
            # The slowest ones would squeeze everything else into a corner
            out[run["transport"]] = [(us, 100 * i / (len(curve) - 1))
                                     for i, us in enumerate(curve[:-1])]
    return out


def everything(raw, out):
    """All files."""
    def to(name, *args, **options):
        plot(os.path.join(out, name + ".svg"), *args, **options)

    to("latency-size", "Latency by size, blocking", "bytes", "microseconds, one way",
       by(Part(raw, "wall", "latency-sizes"), typical_us, "size"))
    to("instructions-size", "Instructions by size, blocking", "bytes",
       "instructions of a notification",
       by(Part(raw, "icount", "latency-sizes"), instructions, "size"))
    to("rate-batch", "Rate by batch, 64 bytes, blocking", "notifications per call",
       "notifications per second", by(Part(raw, "wall", "rate-batch"), rate, "batch"),
       logy=False)
    to("instructions-batch", "Instructions by batch, 64 bytes, blocking",
       "notifications per call", "instructions of a notification",
       by(Part(raw, "icount", "rate-batch"), instructions, "batch"), logy=False)
    to("latency-distribution", "Latency, blocking, 64 bytes: distribution",
       "microseconds, one way", "percent that take no longer",
       distribution(Part(raw, "wall", "latency-block")), logy=False)
    to("spin-distribution", "Latency, spinning, 64 bytes: distribution",
       "microseconds, one way", "percent that take no longer",
       distribution(Part(raw, "wall", "latency-spin")), logy=False)
    to("instructions-endpoints", "Cost by number of endpoints, blocking, 64 bytes",
       "endpoints", "instructions of a notification",
       by(Part(raw, "icount", "endpoints"), instructions, "endpoints"), logy=False)
    to("connect-endpoints", "Connections made per second", "endpoints", "connects/s",
       by(Part(raw, "wall", "connect"), lambda r: r["connects_per_s"], "endpoints"),
       logy=False)
