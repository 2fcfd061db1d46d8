# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""A job: programs to run in one guest, or one script to run in two.  Puts the
guests together, runs sessions until every program had its turn, and judges."""

import glob
import os
import queue
import re
import shlex
import socket
import subprocess

from . import cpio, initramfs, paths, qemu, report, session, tap

LIMIT_SECONDS = 120
MAX_BOOTS = 4


def slowness(kernel, accel):
    """How much longer than on a stock kernel under KVM may things take?"""
    if kernel.debug:
        return 8 if accel == "kvm" else 20
    return 1 if accel == "kvm" else 3


def _directives(host, name):
    """A test says in its source what it needs, in a comment: "rvm: limit=300",
    "rvm: long_limit=900", "rvm: kernels=6.12,debug", "rvm: mtu=4096", "rvm: long=1"."""
    found = {}
    source = os.path.join(paths.ROOT, "selftests", name + ".c")
    # A script speaks for itself, also when a program has its name
    if host.endswith(".sh") or not os.path.exists(source):
        source = host
    with open(source, encoding="utf-8", errors="replace") as f:
        for line in f.read(1 << 16).splitlines():
            m = re.search(r"\brvm: (\w+=.*)", line)
            if m:
                found.update(w.split("=", 1) for w in m[1].split() if "=" in w)
    return found


class Item:
    """A program of the job: its name (for results), command line, host file."""

    def __init__(self, text):
        words = shlex.split(text)
        self.host = words[0]
        if not os.path.isfile(self.host):
            raise SystemExit(f"no such program: {self.host}")
        base = os.path.basename(self.host)
        self.name = os.path.splitext(base)[0]
        self.command = shlex.join(["/t/" + base] + words[1:])
        self.directives = _directives(self.host, self.name)

    def limit(self, default):
        """Seconds that the program may take on a fast machine."""
        return float(self.directives.get("limit", default))

    def limit_long(self, default):
        """The same when it is asked for its long form."""
        return float(self.directives.get("long_limit", self.limit(default)))

    @property
    def floor(self):
        """Does the program load the module to measure against?"""
        return "floor" in self.directives

    def only_long(self, kernel=None):
        """Is it for `make check-long` only, on this kernel?"""
        return "long" in self.directives or (kernel == "debug" and
                                             "debug_long" in self.directives)

    def runs_on(self, kernel):
        """Is the program meant for this kernel?"""
        return kernel in self.directives.get("kernels", kernel).split(",")


class Job:
    """Everything that a run needs to know."""

    def __init__(self, kernel, items, two=False):
        self.kernel = kernel
        self.items = items
        self.two = two
        self.files = []             # (host, guest) put into every guest
        self.files_of = {}          # role -> the same, for one guest
        self.env = {}
        self.limit = LIMIT_SECONDS
        self.mtu = 1500
        self.module = True          # load rnotify.ko?
        self.module_parameters = ""
        self.accel = None
        self.icount = False
        self.memory = "2G"
        self.smp = 2
        self.slow = None
        self.show = None            # called with (role, line) of live output
        self.over = None            # called with (role, program) at its end
        self.console_log = None

    # -- what goes into the guests ----------------------------------------------

    def _settings(self, role, mode):
        two = role in ("a", "b")
        me, peer = ("2", "1") if role == "b" else ("1", "2" if two else "1")
        env = {
            "ROLE": role, "VM_MODE": mode, "VM_MTU": self.mtu,
            "VM_NETDEV": "" if mode == "probe" else "eth0" if two else "d0",
            "VM_RNOTIFY": "y" if self.module and mode != "probe" else "",
            "VM_MODPARAMS": self.module_parameters,
            "VM_KMEMLEAK": "y" if self.kernel.debug else "",
            "VM_LIMIT": int(self.limit * (self.slow or 1)),
            "VM_HUNG_TASK": 120 if self.kernel.debug else 45,
            "RNOTIFY_ADDR": "10.0.0." + me, "RNOTIFY_ADDR6": "fd00::" + me,
            "PEER_ADDR": "10.0.0." + peer, "PEER_ADDR6": "fd00::" + peer,
            "RNOTIFY_SLOW": f"{self.slow or 1:g}", "RNOTIFY_KERNEL": self.kernel.name,
        }
        env.update(self.env)
        return "".join(f"export {k}={shlex.quote(str(v))}\n" for k, v in env.items())

    def _seconds(self, item):
        limit = item.limit_long if "RNOTIFY_LONG" in self.env else item.limit
        return limit(self.limit) * (self.slow or 1)

    def _overlay(self, role, mode, items):
        arch = cpio.Archive()
        arch.data("job/env", self._settings(role, mode).encode())
        arch.data("job/list", "".join(
            f"{i.name} {self._seconds(i):.0f} {i.command}\n" for i in items).encode())
        if mode == "probe":
            return arch.bytes()
        if self.module:
            if not os.path.exists(self.kernel.rnotify):
                raise SystemExit(f"{self.kernel.rnotify} is not there: run "
                                 f"'make modules KERNEL={self.kernel.name}'")
            arch.file("t/rnotify.ko", self.kernel.rnotify)
        if any(i.floor for i in items):
            arch.file("t/rnotify_floor.ko", self.kernel.floor)
        for item in items:
            initramfs.add_program(arch, "t/" + os.path.basename(item.host), item.host, 0o755)
        files = _installed() + self.files + self.files_of.get(role, [])
        if self.two:
            files += _two_vm_parts()
        for host, guest in files:
            if guest not in arch:
                initramfs.add_program(arch, guest, host)
        return arch.bytes()

    # -- running ----------------------------------------------------------------

    def prepare(self):
        """Choose the accelerator, unless told."""
        if not self.accel:
            probe = Job(self.kernel, [])
            probe.module = False
            self.accel = "tcg" if self.icount else qemu.accelerator(
                self.kernel, [initramfs.base(self.kernel),
                              probe._overlay("one", "probe", [])])
        if self.slow is None:
            self.slow = slowness(self.kernel, self.accel)

    def _setup(self):
        return qemu.Setup(self.accel, self.icount, self.smp, self.memory)

    def shell(self, role="one"):
        """An interactive guest."""
        self.prepare()
        machine = qemu.Machine(role, self.kernel, self._setup(), queue.Queue())
        return machine.shell([initramfs.base(self.kernel),
                              self._overlay(role, "shell", self.items)])

    def _boot(self, items):
        """One session with the given programs; returns its guests."""
        run = self._session(items)
        if run.stillborn():
            if self.show:
                self.show("host", "# the guest died before its init ran; once more")
            run = self._session(items)
        return list(run.guests.values())

    def _session(self, items):
        """From the start of the guests to their end."""
        events = queue.Queue()
        roles = ("a", "b") if self.two else ("one",)
        machines = [qemu.Machine(r, self.kernel, self._setup(), events) for r in roles]
        base = initramfs.base(self.kernel)
        # Connected from the start: nobody has to wait for anybody's socket
        wire = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            for m, end in zip(machines, wire):
                m.start([base, self._overlay(m.role, "job", items)],
                        wire=end if self.two else None)
                end.close()
            run = session.Session(machines, events, self.slow, self.show, self.over)
            run.run()
            return run
        finally:
            for m in machines:
                self._save_console(m)
                m.kill()
            for end in wire:
                end.close()

    def _save_console(self, machine):
        if not self.console_log:
            return
        name = f"{self.console_log}-{machine.role}.log" if self.two else \
            self.console_log + ".log"
        with open(name, "a", encoding="utf-8") as f:
            f.write("\n".join(machine.console) + "\n")

    def run(self):
        """Run everything; returns the results."""
        self.prepare()
        out = report.Collector(self.kernel.name)
        todo = list(self.items)
        for _ in range(MAX_BOOTS):
            guests = self._boot(todo)
            names = {p.name for g in guests for p in g.programs}
            todo = [i for i in todo if i.name not in names]
            for g in guests:
                self._judge(g, out)
            if not todo or not names - {"boot", "rmmod"}:
                break
        for item in todo:
            out.add(item.name, tap.Result(tap.FAIL, "start", "was never started"))
        return out

    def _judge(self, guest, out):
        prefix = guest.machine.role + "." if self.two else ""
        for p in guest.programs:
            need_plan = not self.two and p.name != "boot"
            for r in p.parser.finish(p.exit, need_plan) + p.extra:
                out.add(prefix + p.name, r)
            out.time(prefix + p.name, p.seconds)
        if guest.broken:
            out.add(prefix + "boot", tap.Result(tap.FAIL, "boot", guest.broken))
            for line in guest.machine.console[-30:]:
                if self.show:
                    self.show(guest.machine.role, "console: " + line)


def _installed():
    """The command and the examples, if built: they are on the guest's PATH."""
    found = []
    top = os.path.join(paths.BUILD, "userspace")
    for where in (top, os.path.join(top, "examples")):
        if not os.path.isdir(where):
            continue
        for name in sorted(os.listdir(where)):
            path = os.path.join(where, name)
            if os.path.isfile(path) and os.access(path, os.X_OK) and \
                    ".so" not in name and initramfs.is_elf(path):
                found.append((path, "usr/bin/" + name))
            elif name.startswith("librnotify.so."):
                found.append((path, "usr/lib/" + name))
    return found


def _two_vm_parts():
    """What scripts for two guests share: in /t the files that they source, and the
    compiled programs, if built."""
    scripts = glob.glob(os.path.join(paths.ROOT, "selftests", "two_vm", "*.sh"))
    built = glob.glob(os.path.join(paths.BUILD, "selftests", "two_vm", "*"))
    return [(p, "t/" + os.path.basename(p))
            for p in sorted(scripts) if not os.access(p, os.X_OK)] + \
           [(p, "t/" + os.path.basename(p))
            for p in sorted(built) if initramfs.is_elf(p)]


def build_kernel_module(kernel, target="modules"):
    """Make sure that rnotify.ko is there and new; or another module."""
    subprocess.run(["make", "-s", "-C", paths.ROOT, target,
                    "KERNEL=" + kernel.name], check=True,
                   env={k: v for k, v in os.environ.items() if k != "MAKEFLAGS"})
