# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""One boot of one or two guests: follows what they say, answers what they ask,
watches the time."""

import queue
import time

from . import splat, tap

BOOT_SECONDS = 90
# On top of a program's own limit, which the guest itself enforces: if the guest
# cannot even do that, it hangs.
GRACE_SECONDS = 60


class Program:
    """A program of the job and what came of it in one guest."""

    def __init__(self, name):
        self.name = name
        self.parser = tap.Parser()
        self.exit = None
        self.ended = False
        self.started = time.monotonic()
        self.seconds = 0.0
        self.extra = []         # results that the harness adds
        self.lines = []         # its output

    def add(self, status, name, why=""):
        """A result of the harness's own about this program."""
        self.extra.append(tap.Result(status, name, why))


class Guest:
    """The state of one guest during a session."""

    def __init__(self, machine):
        self.machine = machine
        self.programs = []
        self.current = None
        self.deadline = time.monotonic() + BOOT_SECONDS
        self.finished = False       # said "done", or is gone
        self.dead_by_request = False
        self.broken = None
        self.spoke = False          # its init has said something
        self.stillborn = False      # gone before that
        self.up_after = None
        self.question = None        # (name, time) of a vm-sync not answered yet


def _cable(machine, up):
    """The network cable of one of two guests."""
    return machine.qmp("set_link", name="n0", up=up)


def _freeze(machine):
    """Stop a guest.  Packets to it are lost, as at a switch: if they were kept, the
    other guest's QEMU would come to wait for room in the socket, and with it the guest.
    The cable first: what QEMU holds for a stopped guest keeps it from reading on."""
    return (machine.role == "one" or _cable(machine, False)) and machine.qmp("stop")


def _power_off(machine):
    """End a guest at once.  The cable first, here too: if QEMU goes while the other
    one's waits for room in the socket, that one waits for ever, and its guest's rxe
    does not get its packets back and cannot destroy a queue pair."""
    return (machine.role == "one" or _cable(machine, False)) and machine.qmp("quit")


def _thaw(machine):
    """Let it go on."""
    return (machine.role == "one" or _cable(machine, True)) and machine.qmp("cont")


class Session:
    """Runs guests to their end."""

    def __init__(self, machines, events, slow, show=None, over=None):
        self._events = events
        self._slow = slow
        self._show = show or (lambda role, line: None)
        self._over = over or (lambda role, program: None)
        self.guests = {m.role: Guest(m) for m in machines}
        self._arrived = {}          # vm-sync name -> (roles, first time)
        self._released = set()      # (name, role)
        self._timers = []           # (time, function)
        for g in self.guests.values():
            g.deadline = time.monotonic() + BOOT_SECONDS * min(self._slow, 8)

    def run(self):
        """Until every guest is finished."""
        while not all(g.finished for g in self.guests.values()):
            self._tick()
            try:
                machine, channel, text = self._events.get(timeout=0.25)
            except queue.Empty:
                continue
            guest = self.guests.get(machine.role)
            if guest and guest.machine is machine:
                getattr(self, "_on_" + channel)(guest, text)
        for g in self.guests.values():
            self._attribute_splats(g)

    def stillborn(self):
        """Has a kernel died before its init ran, which is before anything of ours is
        in it?  The emulator's doing: it runs code that another processor has just
        changed."""
        return any(g.stillborn for g in self.guests.values())

    # -- what guests say --------------------------------------------------------

    def _on_console(self, guest, text):
        if self._show and splat.is_bad(text):
            self._show(guest.machine.role, "console: " + text)

    def _on_gone(self, guest, _):
        if guest.finished:
            return
        guest.stillborn = not guest.spoke
        if guest.current and not guest.dead_by_request:
            guest.current.add(tap.FAIL, "vm", "the guest died: " +
                              (guest.machine.stderr() or "see the console"))
        elif not guest.dead_by_request:
            guest.broken = guest.broken or "the guest died: " + guest.machine.stderr()
        if guest.current and guest.dead_by_request:
            guest.current.exit = 0
            guest.current.parser.cut()
        guest.finished = True

    def _on_out(self, guest, text):
        guest.spoke = True
        if text.startswith("@@vm "):
            words = text.split()[1:]
            getattr(self, "_mark_" + words[0])(guest, *words[1:])
        elif text.strip():
            self._show(guest.machine.role, text)
            if guest.current:
                guest.current.parser.feed(text)
                guest.current.lines.append(text)

    def _mark_up(self, guest, seconds):
        guest.up_after = float(seconds)
        guest.deadline = time.monotonic() + 60 * self._slow

    def _mark_broken(self, guest, *words):
        guest.broken = "bring-up failed: " + " ".join(words)

    def _mark_begin(self, guest, name, limit):
        guest.current = Program(name)
        guest.programs.append(guest.current)
        guest.deadline = time.monotonic() + float(limit) + GRACE_SECONDS * self._slow
        self._show(guest.machine.role, f"# begin {name}")

    def _mark_timeout(self, guest, _name, limit):
        guest.current.add(tap.FAIL, "time", f"killed after {limit} s")
        self._show(guest.machine.role, f"# time limit of {limit} s is over")

    def _mark_stuck(self, guest, _name):
        """Not even SIGKILL ends the program: no use in going on here."""
        guest.deadline = time.monotonic()

    def _mark_exit(self, guest, _name, code):
        guest.current.exit = int(code)
        guest.current.seconds = time.monotonic() - guest.current.started
        guest.deadline = time.monotonic() + 2 * GRACE_SECONDS * self._slow

    def _mark_gauges(self, guest, _name, verdict, *words):
        if verdict != "ok":
            guest.current.add(tap.FAIL, "gauges", " ".join(words))
            self._show(guest.machine.role, "# gauges not back: " + " ".join(words))

    def _mark_leaks(self, guest, _name, verdict):
        if verdict != "ok":
            guest.current.add(tap.FAIL, "kmemleak", "unreferenced objects")

    def _mark_end(self, guest, _name):
        guest.current.ended = True
        self._over(guest.machine.role, guest.current)
        guest.current = None
        guest.deadline = time.monotonic() + GRACE_SECONDS * self._slow

    def _mark_done(self, guest):
        guest.finished = True

    # -- what guests ask --------------------------------------------------------

    def _on_ask(self, guest, text):
        words = text.split()
        if not words:
            return
        if words[0] == "sync" and len(words) == 3:
            self._sync(guest, words[1], float(words[2]) * self._slow)
        elif words[0] == "host" and len(words) >= 3:
            guest.machine.answer(self._host(guest, words[1], words[2], words[3:]))
        else:
            guest.machine.answer("fail what is '" + text + "'?")

    def _sync(self, guest, name, limit):
        role = guest.machine.role
        if (name, role) in self._released:
            self._released.discard((name, role))
            guest.machine.answer("ok")
            return
        roles, first = self._arrived.get(name, (set(), time.monotonic()))
        roles.add(role)
        self._arrived[name] = (roles, first)
        if roles >= set(self.guests):
            del self._arrived[name]
            for other in self.guests.values():
                if other.question and other.question[0] == name:
                    other.question = None
                    other.machine.answer("ok")
                elif other is not guest:
                    self._released.add((name, other.machine.role))
            guest.machine.answer("ok")
        elif time.monotonic() - first >= limit:
            del self._arrived[name]
            guest.machine.answer("fail timed out")
        elif any(g.finished for g in self.guests.values()):
            guest.machine.answer("fail the other guest has ended")
        else:
            # Held back for a second, then the guest asks again
            guest.question = (name, time.monotonic())

    def _host(self, guest, action, target, rest):
        target = guest if target == "me" else self.guests.get(target)
        if not target:
            return "fail no such guest"
        machine = target.machine
        if action == "stop":
            done = _freeze(machine)
            if rest:
                self._later(float(rest[0]), lambda: _thaw(machine))
                target.deadline += float(rest[0])
        elif action == "cont":
            done = _thaw(machine)
        elif action == "quit":
            target.dead_by_request = True
            done = _power_off(machine)
        elif action == "link" and rest and rest[0] in ("on", "off"):
            done = _cable(machine, rest[0] == "on")
        else:
            return "fail what is '" + action + "'?"
        return "ok" if done else "fail"

    # -- time -------------------------------------------------------------------

    def _later(self, seconds, function):
        self._timers.append((time.monotonic() + seconds, function))

    def _tick(self):
        now = time.monotonic()
        for timer in [t for t in self._timers if t[0] <= now]:
            self._timers.remove(timer)
            timer[1]()
        for g in self.guests.values():
            if g.question and now - g.question[1] > 1:
                g.question = None
                g.machine.answer("wait")
            if not g.finished and now > g.deadline:
                self._expired(g)

    def _expired(self, guest):
        role = guest.machine.role
        if guest.current:
            guest.current.add(tap.FAIL, "vm", "the guest hangs")
        else:
            guest.broken = "the guest hangs" if guest.up_after else "does not boot"
        self._show(role, "# the guest hangs; blocked tasks and CPUs:")
        guest.machine.sysrq("9wl")
        time.sleep(2)
        for line in guest.machine.console[-120:]:
            self._show(role, "console: " + line)
        guest.finished = True
        guest.machine.kill()

    def _attribute_splats(self, guest):
        for found in splat.scan(guest.machine.console):
            name = found.program.replace("after-", "")
            text = next(x for x in found.lines if splat.is_bad(x)).strip()
            owner = next((p for p in guest.programs if p.name == name), None)
            if owner is None:
                owner = Program("boot")
                owner.exit = 0
                guest.programs.insert(0, owner)
            owner.add(tap.FAIL, "console", text)
            for line in found.lines:
                self._show(guest.machine.role, "console: " + line)
