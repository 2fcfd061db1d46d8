# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Looking figures up in what `make bench` has measured."""

import statistics

OURS = "rnotify"


class Part:
    """The runs of one part."""

    def __init__(self, raw, mode, part):
        self.runs = raw.get(mode, {}).get(part, [])

    def select(self, **want):
        """Runs whose members are as wanted."""
        return [r for r in self.runs if all(r[k] == v for k, v in want.items())]

    def values(self, member):
        """What is there, in the order in which it was measured."""
        return list(dict.fromkeys(r[member] for r in self.runs))

    def median(self, figure, **want):
        """Median over the runs of figure(run), or None."""
        found = [figure(r) for r in self.select(**want)]
        return statistics.median(found) if found else None

    def ratio(self, figure, peer, **want):
        """Ours divided by a peer's."""
        a = self.median(figure, transport=OURS, **want)
        b = self.median(figure, transport=peer, **want)
        return a / b if a and b else None


def typical_us(run):
    """One way, microseconds: half the median round trip."""
    return run["t_typical_us"]


def rate(run):
    """Notifications per second."""
    return run["notifications_per_s"]


def bandwidth(run):
    """MB/s."""
    return run["bw_average_mb_s"]


def connects(run):
    """Connections per second."""
    return run["connects_per_s"]


def connect_instructions(run):
    """Of one connection, both ends, all in all: the clock counts them."""
    return 1e9 / run["connects_per_s"]


def switches(run):
    """Context switches of one notification, on all processors."""
    return run["switches"] / run["notifications"]


def crossings(run):
    """Notifications one way: a round trip has two."""
    return run["iterations"] * (2 if run["mode"] == "latency" else 1)


def instructions(run):
    """Of one notification, all in all: the clock counts them."""
    return run["client"]["time_ns"] / crossings(run)


def client_instructions(run):
    """Those of the client's thread."""
    return run["client"]["cpu_ns"] / crossings(run)


def server_instructions(run):
    """Those of the server's thread."""
    return run["server"]["cpu_ns"] / crossings(run)


def other_instructions(run):
    """Kernel threads, interrupts, idling for a timer."""
    return instructions(run) - client_instructions(run) - server_instructions(run)
