# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""The other libraries that ours is measured against: their programs (peers/), and
what these need in a guest."""

import glob
import os

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "peers")

# Program, which is the first word of its parts: transport, name for people
PROGRAMS = {"fabric": ("libfabric", "libfabric"), "ucx": ("ucx", "UCX")}

# Opened at run time, by name: nobody finds them among the libraries of a program
MODULES = {"fabric": "/usr/lib/x86_64-linux-gnu/libfabric/*-fi.so",
           "ucx": "/usr/lib/x86_64-linux-gnu/ucx/libuct_*.so.0"}


def program_of(part):
    """Of a part of the table, or None: then `rnotify perf` measures it."""
    word = part.split("-")[0]
    return word if word in PROGRAMS else None


def is_built(program, where=BUILT):
    """They need packages that nothing else here needs."""
    return os.path.exists(os.path.join(where, program))


def guest_files(parts, where=BUILT):
    """HOST=GUEST of all that these parts need."""
    files = []
    for program in PROGRAMS:
        if program in map(program_of, parts):
            files.append(f"{os.path.join(where, program)}=/t/{program}")
            files += [f"{m}={m}" for m in sorted(glob.glob(MODULES[program]))]
    return files
