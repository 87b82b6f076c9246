"""Landlock sandbox: this process and its children may write only in a few folders and not use TCP.

Reading is allowed everywhere. The sandbox limits damage but does not isolate: it does not restrict UDP and
other sockets, reading, or files that are already open. Older kernels restrict less: truncating files can be
rejected since Linux 6.2, TCP since 6.7, signals to other processes since 6.12. Before 5.19, files cannot be
moved between folders.

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
"""System call numbers. They are the same on all architectures except Alpha."""
_ASK_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_WRITE_FILE = 1 << 1
_TRUNCATE = 1 << 14
# removing and creating: folders, files, devices, sockets, pipes, links
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13
_FILES = (
    (1, _WRITE_FILE | _CHANGE_FOLDERS),
    (2, _REFER),
    (3, _TRUNCATE),
)
"""Version of Landlock → the access rights for files that it introduced."""
_TCP = 0b11
"""Access rights for TCP: bind and connect."""
_TCP_VERSION = 4
_SCOPES = 0b11
"""Actions that are restricted: connecting to abstract Unix sockets of other processes, and sending signals to
other processes, such as the builder."""
_SCOPES_VERSION = 6

# Output often goes to these devices, and CUDA communicates with its driver by writing to devices.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_DRIVER = "/dev", "nvidia"
_THREADS = "/proc/self/task"
"""Folder with the threads of this process. From driver 570 on, CUDA writes their names there. Without access,
it fails to start with error 304."""

_ERRORS = (
    (errno.ENOSYS, "this kernel has no Landlock, which Linux has since 5.13"),
    (errno.EOPNOTSUPP, "Landlock is switched off in this kernel"),
    (errno.E2BIG, "too many nested sandboxes"),
    (errno.EPERM, "the system does not allow a process to give up privileges"),
)


def restrict(writable: Sequence[str]) -> str:
    """Restrict this process. Return an empty string, or a message that says why it failed.

    The restriction applies to the calling thread and everything it starts later, so call this while there is
    only one thread.

    writable: folders that may be written, with everything below them.
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
    # An older kernel accepts a longer structure if the additional bytes are zero.
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
    """System calls without a function in Python."""

    def __init__(self) -> None:
        import ctypes

        self._ctypes = ctypes
        self._library = ctypes.CDLL(None, use_errno=True)
        self._library.syscall.restype = ctypes.c_long

    def call(self, number: int, *arguments: Any) -> int:
        """Make a system call, and return its result. Raises `OSError` if it fails."""
        c = self._ctypes
        given = [c.c_long(one) if isinstance(one, int) else one for one in arguments]
        return self._check(self._library.syscall(c.c_long(number), *given))

    def allow(self, ruleset: int, path: str, rights: int) -> None:
        """Allow `rights` for `path` and everything below it."""
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = struct.pack("=Qi", rights, descriptor)
            self.call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        finally:
            os.close(descriptor)

    def give_up_privileges(self) -> None:
        """Prevent programs started later from gaining more rights than this process, as Landlock requires."""
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
