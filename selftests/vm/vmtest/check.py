# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""`make check` and its relatives: what to build, what to run where, two tasks at a
time, one total at the end."""

import concurrent.futures
import glob
import os
import subprocess
import sys
import time

from . import job, live, paths, report, tap

RESULTS = os.path.join(paths.BUILD, "results")
RVM = os.path.join(paths.VM, "rvm")
# Two jobs share two cores without hardware virtualisation
SLOW_STOCK = "6"
SLOW_DEBUG = "30"
SMP = "2"


class Task:
    """Something to run: a command line, and where its results come from."""

    def __init__(self, name, kernel, command, results=None):
        self.name = name
        self.kernel = kernel
        self.command = command
        self.results = results      # a file of rvm; else the output is TAP
        self.log = os.path.join(RESULTS, name + ".log")

    def run(self):
        """Run it; returns its rows."""
        started = time.monotonic()
        live.say(f"== {self.name}")
        if self.results and os.path.exists(self.results):
            os.unlink(self.results)
        with subprocess.Popen(self.command, cwd=paths.ROOT, text=True,
                              errors="replace", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as p:
            rows = self._follow(p)
        live.say(f"== {self.name}: {'failed' if report.status(rows) else 'done'} "
                 f"after {time.monotonic() - started:.0f} s")
        return rows

    def _follow(self, process):
        out = report.Collector(self.kernel)
        parser = tap.Parser()
        lines = []
        with open(self.log, "w", encoding="utf-8") as log:
            for line in process.stdout:
                line = line.rstrip("\n")
                log.write(line + "\n")
                lines.append(line)
                if self.results:
                    live.say(line)
                else:
                    parser.feed(line)
        process.wait()
        if self.results:
            if process.returncode < 0 or not os.path.exists(self.results):
                out.add(self.name, tap.Result(tap.FAIL, "run", "no results: "
                                              + " ".join(lines[-3:])))
                return out.rows
            return report.load([self.results])
        code = process.returncode
        for r in parser.finish(128 - code if code < 0 else code):
            out.add(self.name, r)
        if report.status(out.rows):
            for line in filter(live.interesting, lines):
                live.say(f"{self.name}: {line}")
        return out.rows


def build(name, *command):
    """Build something; its one row."""
    live.say(f"== build {name}")
    log = os.path.join(RESULTS, f"build-{name}.log")
    with open(log, "w", encoding="utf-8") as f:
        code = subprocess.call(command, cwd=paths.ROOT, stdin=subprocess.DEVNULL,
                               stdout=f, stderr=f)
    if code == 0:
        return ("host", "build", tap.PASS, name, "")
    with open(log, encoding="utf-8", errors="replace") as f:
        for line in f.read().splitlines()[-60:]:
            live.say(f"build {name}: {line}")
    return ("host", "build", tap.FAIL, name, "see " + os.path.relpath(log, paths.ROOT))


def build_all(kernels):
    """Everything that tests need."""
    jobs = f"-j{os.cpu_count()}"
    rows = []
    if "debug" in kernels:
        rows.append(build("debug-kernel", os.path.join(paths.VM, "debug-kernel")))
    rows += [build(f"{what}-{k}", "make", jobs, what, "KERNEL=" + k)
            for k in kernels for what in ("modules", "floor")]
    if os.path.exists(os.path.join(paths.ROOT, "userspace/Makefile")):
        rows.append(build("userspace", "make", jobs, "userspace"))
    rows.append(build("selftests", "make", "-k", jobs, "selftests"))
    return rows


def one_vm_items(kernel, long):
    """Kselftest programs, compiled and shell."""
    top = os.path.join(paths.ROOT, "selftests")
    found = [os.path.join(paths.BUILD, "selftests", os.path.basename(c)[:-2])
             for c in sorted(glob.glob(top + "/*.c"))]
    found += [p for p in sorted(glob.glob(top + "/*.sh")) if os.access(p, os.X_OK)]
    items = [job.Item(p) for p in found if os.path.exists(p)]
    return [i.host for i in items if i.runs_on(kernel)
            and (long or not i.only_long(kernel))]


def two_vm_items(long):
    """Scripts for two guests, with what they say they need."""
    top = os.path.join(paths.ROOT, "selftests", "two_vm")
    items = [job.Item(p) for p in sorted(glob.glob(top + "/*.sh"))
             if os.access(p, os.X_OK)]
    return [i for i in items if long or not i.only_long()]


def vm_task(kernel, programs, long, smp):
    """Programs in one guest."""
    name = f"vm-{kernel}" if smp == SMP else f"vm-smp{smp}-{kernel}"
    results = os.path.join(RESULTS, name + ".json")
    cmd = [RVM, "run", "--kernel", kernel, "--no-build", "--brief", "--tag",
           kernel + ": ", "--results", results, "--slow",
           SLOW_DEBUG if kernel == "debug" else SLOW_STOCK, "--smp", smp]
    if long:
        cmd += ["--env", "RNOTIFY_LONG=1"]
    return Task(name, kernel, cmd + programs, results)


def vm_tasks(kernel, programs, long):
    """All programs in one guest; in the long run some have one with another number of
    processors. Not on the debug kernel, where no program runs long."""
    by_smp = {}
    for p in programs:
        own = job.Item(p).directives.get("long_smp") if long else None
        smp = SMP if not own or kernel == "debug" else own
        by_smp.setdefault(smp, []).append(p)
    return [vm_task(kernel, some, long, smp) for smp, some in by_smp.items()]


def two_vm_options(item):
    """Options of rvm for one script."""
    cmd = ["--limit", item.directives.get("limit", str(job.LIMIT_SECONDS))]
    if item.directives.get("file"):
        cmd += ["--add-a", demo_file() + "=t/file.deb"]
    for option in ("mtu", "memory", "smp"):
        if option in item.directives:
            cmd += ["--" + option, item.directives[option]]
    return cmd


def two_vm_task(kernel, item):
    """One script in two guests."""
    name = f"two-{item.name}-{kernel}"
    results = os.path.join(RESULTS, name + ".json")
    cmd = [RVM, "two", "--kernel", kernel, "--no-build", "--brief", "--tag",
           f"{kernel}: {item.name}: ", "--results", results, "--slow",
           SLOW_DEBUG if kernel == "debug" else SLOW_STOCK]
    return Task(name, kernel, cmd + two_vm_options(item) + [item.host], results)


def guard_task():
    """Has a notification become dearer?  In a guest that counts instructions."""
    name = "bench-guard"
    bench = os.path.join(paths.ROOT, "selftests", "bench")
    results = os.path.join(RESULTS, name + ".json")
    return Task(name, "6.12", [
        RVM, "run", "--kernel", "6.12", "--no-build", "--icount", "--brief", "--tag",
        name + ": ", "--results", results, "--slow", SLOW_STOCK, "--add",
        os.path.join(bench, "instructions"), os.path.join(bench, "guard.sh")], results)


def demo_file():
    """A real file of at least 64 MiB: a kernel package."""
    return os.path.join(paths.CACHE, "debs", "linux-image-6.1.deb")


def host_tasks():
    """What needs no guest."""
    bench = os.path.join(paths.ROOT, "selftests", "bench", "selftest")
    tasks = [Task("harness", "host", [os.path.join(paths.VM, "selftest")]),
             Task("bench-tools", "host", [bench])]
    if os.path.exists(os.path.join(paths.ROOT, "selftests/unit/Makefile")):
        tasks.append(Task("unit", "host", ["make", "-s", "unit"]))
    if glob.glob(os.path.join(paths.ROOT, "userspace", "tests", "*.c")):
        tasks.append(Task("library", "host", ["make", "-s", "-C", "userspace", "O="
                                              + os.path.join(paths.BUILD, "userspace"),
                                              "check"]))
    tasks.append(Task("lint", "host", [os.path.join(paths.VM, "lint")]))
    return tasks


def run_tasks(tasks):
    """Two at a time, in this order."""
    rows = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for result in pool.map(Task.run, tasks):
            rows += result
    return rows


def check(kernels, long=False, host=True):
    """The whole; returns the exit status. Several kernels share the scripts for two
    guests, and the debug kernel, which is slow, leaves them to the others."""
    started = time.monotonic()
    os.makedirs(RESULTS, exist_ok=True)
    for old in glob.glob(RESULTS + "/*.log"):
        os.unlink(old)
    rows = build_all(kernels)
    built = {r[3] for r in rows if r[2] == tap.PASS}
    usable = [k for k in kernels if "modules-" + k in built]
    tasks = []
    # The longest first: the other half of the machine has the rest meanwhile
    for k in sorted(usable, key=lambda k: k != "debug"):
        tasks += vm_tasks(k, one_vm_items(k, long), long)
    for n, item in enumerate(two_vm_items(long)):
        if "userspace" not in built:
            break
        # Each on one kernel by turns, or on all when there is time
        where = [k for k in usable if item.runs_on(k)]
        if not long and len(kernels) > 1:
            where = [k for k in where if k != "debug"]
        tasks += [two_vm_task(k, item) for i, k in enumerate(where)
                  if long or i == n % len(where)]
    if "6.12" in usable and "userspace" in built:
        tasks.append(guard_task())
    if host:
        tasks += host_tasks()
    rows += run_tasks(tasks)
    print(f"\nAll results ({time.monotonic() - started:.0f} s):")
    sys.stdout.flush()
    with open(os.path.join(RESULTS, "total"), "w", encoding="ascii") as f:
        f.write(report.total_of(rows) + "\n")
    return report.summary(rows, said=said_before)


def said_before(row):
    """What the logs of this run have before a failure."""
    others = tuple(f"-{k}.log" for k in paths.KERNELS if k != row[0])
    for path in sorted(glob.glob(RESULTS + "/*.log")):
        if path.endswith(others):
            continue
        with open(path, encoding="utf-8", errors="replace") as f:
            found = report.before(f.read().splitlines(), row)
        if found:
            return found
    return []


def demo(kernel="6.12"):
    """The transfer, for a person to watch."""
    os.makedirs(RESULTS, exist_ok=True)
    rows = [build("modules-" + kernel, "make", "modules", "KERNEL=" + kernel),
            build("userspace", "make", f"-j{os.cpu_count()}", "userspace")]
    if report.status(rows):
        return report.summary(rows)
    item = next(i for i in two_vm_items(False) if i.name == "demo")
    results = os.path.join(RESULTS, "demo.json")
    print(f"\nTwo virtual machines, kernel {kernel}, soft-RoCE; a sends, b receives\n")
    sys.stdout.flush()
    code = subprocess.call([RVM, "two", "--kernel", kernel, "--no-build", "--results",
                            results] + two_vm_options(item) + [item.host],
                           cwd=paths.ROOT, stdin=subprocess.DEVNULL)
    print("\nDemo: " + ("FAILED" if code else "the file arrived intact, the receiver slept "
                        "between notifications, both kernels' logs are clean"))
    return code


def main(argv):
    """check all|long|demo|vm|KERNEL"""
    what = argv[0] if argv else "all"
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)      # of the make that called us
    if what == "demo":
        return demo(*argv[1:2])
    if what == "vm":
        kernel = argv[1] if argv[1:] else "6.12"
        rows = build_all([kernel])
        if ("modules-" + kernel) not in {r[3] for r in rows if r[2] == tap.PASS}:
            return 1
        return subprocess.call([RVM, "shell", "--kernel", kernel, "--no-build"]
                               + one_vm_items(kernel, True))
    if what in ("all", "long"):
        return check(["6.1", "6.12", "debug"], long=what == "long")
    return check([what], host=False)
