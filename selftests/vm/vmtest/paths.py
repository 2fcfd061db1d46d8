# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Where things are: source tree, build directory, cache, kernels."""

import os
import subprocess
import sys

VM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(VM))
BUILD = os.environ.get("RNOTIFY_BUILD") or os.path.join(ROOT, "build")
CACHE = os.environ.get("RNOTIFY_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME")
    or os.path.join(os.environ.get("HOME") or "/root", ".cache"), "rnotify")

KERNELS = ("6.1", "6.12", "debug")


class Kernel:
    """One bootable kernel of the cache and the rnotify.ko built for it."""

    def __init__(self, name):
        if name not in KERNELS:
            sys.exit(f"unknown kernel '{name}': {', '.join(KERNELS)}")
        self.name = name
        self.dir = os.path.realpath(os.path.join(CACHE, "kernels", name))
        try:
            with open(os.path.join(self.dir, "release"), encoding="ascii") as f:
                self.release = f.read().strip()
        except FileNotFoundError:
            sys.exit(f"kernel {name} is not there: run 'make setup'"
                     + (" and selftests/vm/debug-kernel" if self.debug else ""))
        self.image = os.path.join(self.dir, "boot", "vmlinuz-" + self.release)
        self.modules = os.path.join(self.dir, "lib", "modules", self.release)
        self.rnotify = os.path.join(BUILD, name, "rnotify.ko")
        self.floor = os.path.join(BUILD, name + "-floor", "selftests/floor/rnotify_floor.ko")

    @property
    def debug(self):
        """Does this kernel run with checkers that make it many times slower?"""
        return self.name.startswith("debug")


def write_atomically(path, data):
    """Several runs may make the same file at once; none may see half of one."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    tmp = f"{path}.{os.getpid()}"
    with open(tmp, "wb") as f:
        f.write(data)
    os.replace(tmp, path)


def output_of(*argv):
    """Standard output of a command that must succeed."""
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE,
                          text=True).stdout
