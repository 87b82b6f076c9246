"""Calls of Linux that Python's standard library lacks; each says when the system has it not."""

from __future__ import annotations

import ctypes
import errno
import os
import sys

from .folder import Folder

_RENAME_EXCHANGE = 2
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def exchange(folder: Folder, one: str, other: str) -> bool:
    """Swap two names in a folder in one step; False if kernel or file system cannot."""
    at = folder.descriptor
    if at is None:
        return False
    return _call("renameat2", at, os.fsencode(one), at, os.fsencode(other), _RENAME_EXCHANGE)


def sync_file_system(folder: Folder) -> bool:
    """Bring everything written to `folder`'s file system to disk; False if there is no such call."""
    return folder.descriptor is not None and _call("syncfs", folder.descriptor)


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
