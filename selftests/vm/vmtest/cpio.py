# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Writes cpio archives ("newc", kernel: Documentation/driver-api/early-userspace/
buffer-format.rst).  Needs no root and no device nodes on the host; the kernel
unpacks several archives one after another, later files replace earlier ones."""

import os
import stat


class Archive:
    """An archive in memory; directories of a path are made as needed."""

    def __init__(self):
        self._parts = []
        self._seen = set()
        self._ino = 0

    def _entry(self, name, mode, data=b"", rdev=(0, 0), nlink=1):
        self._ino += 1
        raw = name.encode() + b"\0"
        fields = (self._ino, mode, 0, 0, nlink, 0, len(data), 0, 0,
                  rdev[0], rdev[1], len(raw), 0)
        head = b"070701" + b"".join(b"%08x" % f for f in fields) + raw
        self._parts.append(head + b"\0" * (-len(head) % 4))
        self._parts.append(data)
        self._parts.append(b"\0" * (-len(data) % 4))

    def __contains__(self, name):
        return name.lstrip("/") in self._seen

    def directory(self, name, mode=0o755):
        """Add a directory and those above it."""
        name = name.strip("/")
        if not name or name in self._seen:
            return
        self.directory(os.path.dirname(name))
        self._seen.add(name)
        self._entry(name, stat.S_IFDIR | mode, nlink=2)

    def data(self, name, data, mode=0o644):
        """Add a file with the given content."""
        name = name.strip("/")
        self.directory(os.path.dirname(name))
        self._seen.add(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def file(self, name, host, mode=None):
        """Add a file of the host, executable if it is so there."""
        if mode is None:
            mode = 0o755 if os.access(host, os.X_OK) else 0o644
        with open(host, "rb") as f:
            self.data(name, f.read(), mode)

    def symlink(self, name, target):
        """Add a symbolic link, unless the name is taken."""
        name = name.strip("/")
        if name in self._seen:
            return
        self.directory(os.path.dirname(name))
        self._seen.add(name)
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name, major, minor, mode=0o600):
        """Add a character device."""
        self._entry(name.strip("/"), stat.S_IFCHR | mode, rdev=(major, minor))

    def bytes(self):
        """The archive, closed."""
        self._entry("TRAILER!!!", 0)
        raw = b"".join(self._parts)
        return raw + b"\0" * (-len(raw) % 512)
