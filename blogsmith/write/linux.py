"""Two calls of Linux that Python's standard library lacks; both say when the system has them not."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def exchange(one: Path, other: Path) -> bool:
    """Swap two names of one file system in one step; False if kernel or file system cannot."""
    return _call("renameat2", _AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)


def sync_file_system(folder: Path) -> bool:
    """Bring everything written to `folder`'s file system to disk; False if there is no such call."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return _call("syncfs", descriptor)
    finally:
        os.close(descriptor)


def _call(name: str, *arguments: int | bytes) -> bool:
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None) if sys.platform == "linux" else None
    if function is None:
        return False
    if function(*arguments) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number))
