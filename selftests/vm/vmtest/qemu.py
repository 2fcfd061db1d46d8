# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""One QEMU process: its command line, its lines of text, its monitor."""

import contextlib
import ctypes
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from . import paths

PROBE_SECONDS = 12

# Stall detectors are patient: a virtual processor may have to wait for a real one.
_APPEND = ("console=ttyS0,115200 loglevel=6 panic=-1 oops=panic sysrq_always_enabled "
           "random.trust_cpu=on net.ifnames=0 tsc=reliable no_timer_check "
           "hugepages=16 rcupdate.rcu_cpu_stall_timeout=60 watchdog_thresh=30 ")
# The debug kernel has no MSI, and takes so long over QEMU's _PRT on a busy machine
# that ACPI gives it up: then no interrupt of the network card ever comes.  The MP
# table tells the same in no time.  And identify_cpu() forgets for a moment that there
# are five levels of page tables: an interrupt meanwhile, and KASAN takes all addresses
# for wild ones.  A report of KASAN's has a hundred lines: a few of them must not push a
# warning out of the log.
_APPEND_DEBUG = " kasan_multi_shot pci=noacpi no5lvl log_buf_len=1M"


def _die_with_parent():
    """A guest must not outlive the runner, even one that was killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)      # PR_SET_PDEATHSIG


class Setup:
    """What kind of machine: accelerator, processors, memory."""

    def __init__(self, accel="tcg", icount=False, smp=2, memory="2G"):
        self.accel = accel
        self.icount = icount
        self.smp = 1 if icount else smp
        self.memory = memory

    def arguments(self):
        """The part of the command line that this decides."""
        if self.icount:
            # Time counts instructions: a run then repeats to within a few percent
            accel = ["-accel", "tcg,thread=single",
                     "-icount", "shift=0,sleep=off"]
        elif self.accel == "kvm":
            accel = ["-accel", "kvm"]
        else:
            accel = ["-accel", "tcg,thread=multi"]
        cpu = "host" if self.accel == "kvm" and not self.icount else "max"
        return accel + ["-cpu", cpu, "-smp", str(self.smp), "-m", self.memory]


class Machine:
    """A guest.  Every line it says becomes an event (machine, channel, text) in
    the queue; channel is "console", "ask", "out" or "gone" (QEMU has ended)."""

    def __init__(self, role, kernel, setup, events):
        self.role = role
        self.kernel = kernel
        self.setup = setup
        self.events = events
        self.console = []
        self.started = None
        self._dir = tempfile.mkdtemp(prefix="rvm")
        self._process = None
        self._lines = {}
        self._qmp = None
        self._qmp_answers = queue.Queue()

    # -- starting ---------------------------------------------------------------

    def _listen(self, name):
        sock = socket.socket(socket.AF_UNIX)
        sock.bind(os.path.join(self._dir, name))
        sock.listen(1)
        sock.settimeout(20)
        return sock

    def command(self, initrds, append, wire=None):
        """The QEMU command line."""
        initrd = os.path.join(self._dir, "initrd")
        with open(initrd, "wb") as out:
            for part in initrds:
                if isinstance(part, bytes):
                    out.write(part)
                else:
                    with open(part, "rb") as f:
                        shutil.copyfileobj(f, out, 1 << 20)
        cmd = ["qemu-system-x86_64", "-nodefaults", "-no-user-config",
               "-display", "none", "-no-reboot"]
        cmd += self.setup.arguments()
        cmd += ["-kernel", self.kernel.image, "-initrd", initrd,
                "-append", _APPEND + append
                + (_APPEND_DEBUG if self.kernel.debug else "")]
        if wire:
            cmd += ["-netdev", f"socket,id=n0,fd={wire.fileno()}",
                    "-device", "virtio-net-pci,netdev=n0,romfile=,mac=52:54:00:00:00:0"
                    + ("1" if self.role != "b" else "2")]
        return cmd

    def start(self, initrds, append="", wire=None):
        """Boot; wire is a stream socket to the other guest's network card."""
        cmd = self.command(initrds, append, wire)
        listeners = {}
        for name in ("console", "ask", "out"):
            listeners[name] = self._listen(name)
            cmd += ["-chardev", f"socket,id={name},path={self._dir}/{name}",
                    "-serial", f"chardev:{name}"]
        listeners["qmp"] = self._listen("qmp")
        cmd += ["-chardev", f"socket,id=qmp,path={self._dir}/qmp",
                "-mon", "chardev=qmp,mode=control"]
        self.started = time.monotonic()
        with open(os.path.join(self._dir, "stderr"), "wb") as err:
            self._process = subprocess.Popen(
                cmd, stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                pass_fds=(wire.fileno(),) if wire else (),
                start_new_session=True, preexec_fn=_die_with_parent)
        try:
            conns = {name: sock.accept()[0] for name, sock in listeners.items()}
        except socket.timeout:
            raise SystemExit("QEMU did not start: " + self.stderr()) from None
        for sock in listeners.values():
            sock.close()
        self._qmp = conns.pop("qmp")
        threading.Thread(target=self._read_qmp, daemon=True).start()
        self._lines = conns
        for name, conn in conns.items():
            threading.Thread(target=self._read_lines, args=(name, conn),
                             daemon=True).start()
        threading.Thread(target=self._wait, daemon=True).start()
        self.qmp("qmp_capabilities")

    def shell(self, initrds, append=""):
        """Boot with the console on this terminal; returns when the guest ends."""
        cmd = self.command(initrds, append)
        cmd += ["-serial", "mon:stdio", "-serial", "null", "-serial", "null"]
        try:
            return subprocess.call(cmd)
        finally:
            self.clean()

    # -- listening --------------------------------------------------------------

    @staticmethod
    def _lines_of(conn):
        """Until the other end closes, in whatever way."""
        try:
            with conn.makefile("r", encoding="utf-8", errors="replace",
                               newline="\n") as f:
                yield from f
        except OSError:
            pass

    def _read_lines(self, name, conn):
        for line in self._lines_of(conn):
            line = line.rstrip("\r\n")
            if name == "console":
                self.console.append(line)
            self.events.put((self, name, line))

    def _wait(self):
        self._process.wait()
        time.sleep(0.2)     # let the readers see the last lines
        self.events.put((self, "gone", ""))

    def _read_qmp(self):
        for line in self._lines_of(self._qmp):
            msg = json.loads(line)
            if "return" in msg or "error" in msg:
                self._qmp_answers.put(msg)

    # -- acting -----------------------------------------------------------------

    def qmp(self, command, **arguments):
        """One monitor command; False if it failed or QEMU is gone."""
        msg = {"execute": command}
        if arguments:
            msg["arguments"] = arguments
        try:
            self._qmp.sendall(json.dumps(msg).encode() + b"\n")
            return "return" in self._qmp_answers.get(timeout=10)
        except (OSError, queue.Empty):
            return False

    def answer(self, text):
        """Answer a question that came in on the "ask" line."""
        try:
            self._lines["ask"].sendall(text.encode() + b"\n")
        except OSError:
            pass

    def sysrq(self, keys):
        """Magic SysRq over the serial console: a break, then the key."""
        for key in keys:
            if not self.qmp("chardev-send-break", id="console"):
                return
            try:
                self._lines["console"].sendall(key.encode())
            except OSError:
                return
            time.sleep(1)

    def alive(self):
        """Is QEMU running?"""
        return self._process is not None and self._process.poll() is None

    def stderr(self):
        """What QEMU itself complained about."""
        try:
            with open(os.path.join(self._dir, "stderr"), encoding="utf-8",
                      errors="replace") as f:
                return f.read().strip()
        except OSError:
            return ""

    def kill(self):
        """End QEMU whatever state it is in, and clean up."""
        if self.alive():
            # It may end, and be waited for by another thread, at this moment
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self.clean()

    def clean(self):
        """Remove the temporary directory."""
        shutil.rmtree(self._dir, ignore_errors=True)


def _kvm_works(kernel, initrds):
    """Does a boot under KVM reach our init within seconds?  A /dev/kvm that is
    there may still be unable to run a stock kernel (nested, filtered)."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    events = queue.Queue()
    machine = Machine("one", kernel, Setup("kvm"), events)
    try:
        machine.start(initrds)
        end = time.monotonic() + PROBE_SECONDS
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return False
            try:
                _, channel, text = events.get(timeout=left)
            except queue.Empty:
                return False
            if channel == "out" and text.startswith("@@vm up"):
                return True
            if channel == "gone":
                return False
    except SystemExit:
        return False
    finally:
        machine.kill()


def accelerator(kernel, initrds):
    """"kvm" or "tcg".  The answer is kept for this boot of the host, for an hour."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip()
    cached = os.path.join(paths.BUILD, "vm", "accel")
    try:
        if time.time() - os.stat(cached).st_mtime < 3600:
            with open(cached, encoding="ascii") as f:
                known, value = f.read().split()
            if known == boot:
                return value
    except (OSError, ValueError):
        pass
    value = "kvm" if _kvm_works(kernel, initrds) else "tcg"
    paths.write_atomically(cached, f"{boot} {value}\n".encode())
    return value
