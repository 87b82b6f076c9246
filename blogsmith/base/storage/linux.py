"""Linux system calls that Python's standard library lacks.

Each function returns False if the system does not support its call.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys

from .folder import Folder

_RENAME_EXCHANGE = 2
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def exchange(folder: Folder, one: str, other: str) -> bool:
    """Swap two names in a folder in one step. Return False if the kernel or the file system cannot."""
    at = folder.descriptor
    if at is None:
        return False
    return _call("renameat2", at, os.fsencode(one), at, os.fsencode(other), _RENAME_EXCHANGE)


def sync_file_system(folder: Folder) -> bool:
    """Flush everything written to `folder`'s file system to disk. Return False if the call does not exist."""
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
