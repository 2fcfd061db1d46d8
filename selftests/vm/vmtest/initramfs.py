# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Builds what the guest boots from: a base archive per kernel (tools and kernel
modules, kept in the build directory under a name made of its inputs), and a
small archive per job with the programs under test."""

import contextlib
import hashlib
import lzma
import os
import re
import stat
import time

from . import cpio, paths

# Loaded at boot, in this order; what the kernel has built in is passed over.
# 6.12's rxe asks for crc32 by name and fails without crc32_generic.
LOADED = ("virtio_pci", "virtio_net", "dummy", "crc32_generic", "ib_core",
          "ib_uverbs", "rdma_cm", "rdma_ucm", "rdma_rxe", "sch_netem")
# There for the tests' own modprobe.
CARRIED = ("veth", "siw", "udmabuf", "sch_tbf", "ib_umad", "virtio_console",
           "null_blk", "vhost_net", "macvlan", "bridge")

TOOLS = ("/sbin/ip", "/sbin/tc", "/usr/bin/rdma", "/usr/bin/rping",
         "/usr/bin/ib_write_bw", "/usr/bin/ib_write_lat", "/usr/bin/ib_send_lat",
         "/usr/bin/ibv_devinfo", "/usr/bin/ibv_rc_pingpong", "/bin/bash",
         "/usr/bin/ss", "/usr/bin/flock", "/usr/bin/unshare", "/usr/bin/setpriv",
         "/usr/bin/prlimit", "/usr/bin/strace")
# Opened at run time, so that ldd does not know of them.  The library loads any
# provider that this directory names.
DLOPENED = ("/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so",
            "/usr/lib/x86_64-linux-gnu/libibverbs/libsiw-rdmav34.so",
            "/lib/x86_64-linux-gnu/libgcc_s.so.1")
PROVIDERS = {"etc/libibverbs.d/rxe.driver": b"driver rxe\n",
             "etc/libibverbs.d/siw.driver": b"driver siw\n"}

PASSWD = b"""root:x:0:0:root:/root:/bin/sh
user:x:1000:1000:user:/tmp:/bin/sh
rdmauser:x:1001:1001:member of group rdma:/tmp:/bin/sh
nobody:x:65534:65534:nobody:/:/bin/sh
"""
GROUP = b"""root:x:0:
rdma:x:101:rdmauser
user:x:1000:
rdmauser:x:1001:
nogroup:x:65534:
"""


def _shared_objects(program):
    """Paths of the libraries that a dynamic program or library needs."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("LD_")}
    proc = paths.subprocess.run(["ldd", program], env=env, text=True,
                                stdout=paths.subprocess.PIPE,
                                stderr=paths.subprocess.DEVNULL, check=False)
    missing = re.findall(r"(\S+) => not found", proc.stdout)
    if missing:
        raise SystemExit(f"{program}: library not found: {' '.join(missing)}")
    return re.findall(r"(?:=> )?(/\S+) \(0x", proc.stdout)


def is_elf(path):
    """Is the file an ELF object?"""
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


def add_program(arch, name, host, mode=None):
    """Add a program and, once, the libraries that it needs."""
    arch.file(name, host, mode)
    if not is_elf(host):
        return
    for lib in _shared_objects(host):
        if lib not in arch:
            arch.file(lib, lib)


def _module_closure(kernel):
    """Module names wanted -> their files in load order, and the lines of
    modules.dep for them."""
    deps = {}
    with open(os.path.join(kernel.modules, "modules.dep"), encoding="ascii") as f:
        for line in f:
            target, _, needs = line.partition(":")
            deps[target] = needs.split()
    by_name = {os.path.basename(t).split(".ko")[0].replace("-", "_"): t for t in deps}

    def closure(names):
        order = []
        for name in names:
            target = by_name.get(name)
            # modules.dep names direct needs first and the deepest last
            for path in reversed([target] + deps[target] if target else []):
                if path not in order:
                    order.append(path)
        return order

    load = closure(LOADED)
    return load, closure(LOADED + CARRIED), deps


def _read_module(path):
    with open(path, "rb") as f:
        raw = f.read()
    return lzma.decompress(raw) if path.endswith(".xz") else raw


def _add_modules(arch, kernel):
    load, carried, deps = _module_closure(kernel)
    top = "lib/modules/" + kernel.release

    def plain(path):
        return re.sub(r"\.xz$", "", path)

    for path in carried:
        arch.data(f"{top}/{plain(path)}", _read_module(os.path.join(kernel.modules, path)))
    arch.data(f"{top}/modules.dep", "".join(
        f"{plain(p)}: {' '.join(plain(d) for d in deps[p])}\n" for p in carried).encode())
    for name in ("modules.builtin", "modules.alias"):
        arch.file(f"{top}/{name}", os.path.join(kernel.modules, name))
    arch.data("etc/vm/modules", "".join(
        f"/{top}/{plain(p)}\n" for p in load).encode())


def _add_busybox(arch):
    arch.file("bin/busybox", "/bin/busybox")
    for applet in paths.output_of("/bin/busybox", "--list-full").split():
        arch.symlink(applet, "/bin/busybox")


def _guest_files():
    top = os.path.join(paths.VM, "guest")
    return sorted(os.path.join(top, n) for n in os.listdir(top))


def _add_guest(arch):
    for host in _guest_files():
        name = os.path.basename(host)
        if name == "init":
            arch.file("init", host)
        elif name.endswith(".sh"):
            arch.file("etc/vm/" + name, host)
        else:
            arch.file("usr/bin/" + name, host)


def _build_base(kernel):
    arch = cpio.Archive()
    for name in ("proc", "sys", "dev", "run", "root", "t", "job", "var/log", "mnt"):
        arch.directory(name)
    arch.directory("tmp", 0o777 | stat.S_ISVTX)
    arch.device("dev/console", 5, 1)
    arch.data("etc/passwd", PASSWD)
    arch.data("etc/group", GROUP)
    for name, text in PROVIDERS.items():
        arch.data(name, text)
    _add_guest(arch)
    for tool in TOOLS:
        if os.path.exists(tool):
            add_program(arch, "usr/bin/" + os.path.basename(tool), tool)
    # Not busybox's shell: that prefers its own ip and others over those on the PATH
    arch.symlink("bin/bash", "/usr/bin/bash")
    arch.symlink("bin/sh", "/usr/bin/bash")
    for lib in DLOPENED:
        if os.path.exists(lib):
            add_program(arch, lib, lib)
    _add_busybox(arch)
    _add_modules(arch, kernel)
    return arch.bytes()


def _fingerprint(kernel):
    h = hashlib.sha256(repr((kernel.dir, kernel.release, LOADED, CARRIED)).encode())
    for path in _guest_files() + [__file__, cpio.__file__]:
        with open(path, "rb") as f:
            h.update(f.read())
    for path in (kernel.modules, "/bin/busybox") + TOOLS + DLOPENED:
        if os.path.exists(path):
            st = os.stat(path)
            h.update(f"{path} {st.st_size} {st.st_mtime}".encode())
    return h.hexdigest()[:12]


def _drop_old(where, prefix):
    """Base archives of former versions; a run that just started may still want one."""
    for name in os.listdir(where):
        old = os.path.join(where, name)
        with contextlib.suppress(FileNotFoundError):
            if name.startswith(prefix) and time.time() - os.stat(old).st_mtime > 3600:
                os.unlink(old)


def base(kernel):
    """Path of the base archive for a kernel, made when it is not there."""
    where = os.path.join(paths.BUILD, "vm")
    path = os.path.join(where, f"base-{kernel.name}-{_fingerprint(kernel)}.cpio")
    if not os.path.exists(path):
        paths.write_atomically(path, _build_base(kernel))
        _drop_old(where, f"base-{kernel.name}-")
    return path
