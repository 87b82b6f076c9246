"""Landlock: from here on this process and its children write in a few folders only, and use no TCP.

Reading stays allowed everywhere. It limits damage, it is no jail: UDP and other sockets, reading, and what a
file that is open already allows are not touched. Older kernels refuse less: cutting files can be refused
since Linux 6.2, TCP since 6.7, signals to others since 6.12; before 5.19 no file moves between folders.
Source: the kernel's `userspace-api/landlock.rst`.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls, the same on all machines but Alpha."""
_ASK_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_WRITE_FILE = 1 << 1
_TRUNCATE = 1 << 14
# remove and make: folders, files, devices, sockets, pipes, links
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13
_FILES = (
    (1, _WRITE_FILE | _CHANGE_FOLDERS),
    (2, _REFER),
    (3, _TRUNCATE),
)
"""Version that brings them, and rights concerning files."""
_TCP = 0b11
"""Bind and connect."""
_TCP_VERSION = 4
_SCOPES = 0b11
"""Abstract Unix sockets of others; signals to others, such as the builder."""
_SCOPES_VERSION = 6

# All output goes somewhere, and CUDA talks to its driver by writing to devices.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_DRIVER = "/dev", "nvidia"
_THREADS = "/proc/self/task"
"""Of this process alone. CUDA names its threads there from driver 570 on and, if it may not, does not start:
error 304."""

_ERRORS = (
    (errno.ENOSYS, "this kernel has no Landlock; Linux 5.13 is the first that has"),
    (errno.EOPNOTSUPP, "Landlock is switched off in this kernel"),
    (errno.E2BIG, "too many sandboxes are stacked already"),
    (errno.EPERM, "the system does not allow a process to give up privileges"),
)


def restrict(writable: Sequence[str]) -> str:
    """Shut this process in; "" if it worked, else why not, in words.

    writable: folders below which everything may be written. The calling thread and what it starts from now on
    are shut in; call it while there is only one.
    """
    if sys.platform == "linux":
        try:
            _restrict(_Kernel(), writable)
        except OSError as error:
            return _format_error(error)
        return ""
    else:
        return "Landlock needs Linux"


def _restrict(kernel: _Kernel, writable: Sequence[str]) -> None:
    version = kernel.call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    files = sum(rights for since, rights in _FILES if version >= since)
    tcp = _TCP if version >= _TCP_VERSION else 0
    scopes = _SCOPES if version >= _SCOPES_VERSION else 0
    # an older kernel takes more bytes than it knows as long as they are zero
    attributes = struct.pack("=QQQ", files, tcp, scopes)
    ruleset = kernel.call(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for folder in writable:
            kernel.allow(ruleset, folder, files)
        for file in _writable_files():
            kernel.allow(ruleset, file, files & (_WRITE_FILE | _TRUNCATE))
        kernel.give_up_privileges()
        kernel.call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


class _Kernel:
    """The system calls, for which Python has no functions."""

    def __init__(self) -> None:
        import ctypes

        self._ctypes = ctypes
        self._library = ctypes.CDLL(None, use_errno=True)
        self._library.syscall.restype = ctypes.c_long

    def call(self, number: int, *arguments: Any) -> int:
        """Make a system call; OSError if it fails."""
        c = self._ctypes
        given = [c.c_long(one) if isinstance(one, int) else one for one in arguments]
        return self._check(self._library.syscall(c.c_long(number), *given))

    def allow(self, ruleset: int, path: str, rights: int) -> None:
        """Allow `rights` at and below `path`."""
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = struct.pack("=Qi", rights, descriptor)
            self.call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        finally:
            os.close(descriptor)

    def give_up_privileges(self) -> None:
        """No program started from here on gets more rights than this one has; Landlock insists."""
        arguments = [self._ctypes.c_ulong(value) for value in (1, 0, 0, 0)]
        self._check(self._library.prctl(_PR_SET_NO_NEW_PRIVS, *arguments))

    def _check(self, result: int) -> int:
        if result < 0:
            number = self._ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result


def _writable_files() -> Iterator[str]:
    folder, name = _DRIVER
    known = (*_DEVICES, _THREADS)
    yield from (path for path in known if os.path.exists(path))  # noqa: PTH110 - pathlib costs 5 ms
    yield from (entry.path for entry in os.scandir(folder) if entry.name.startswith(name))


def _format_error(error: OSError) -> str:
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    return dict(_ERRORS).get(error.errno or 0, f"Landlock failed: {error.strerror}")
