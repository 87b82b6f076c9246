"""Calls of Linux that Python's standard library lacks; each says when the system has it not."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from contextlib import suppress

from .folder import Folder

_RENAME_EXCHANGE = 2
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS of <linux/fs.h>, where a long has eight bytes."""
_FLAGS = struct.Struct("=Q")
_TOP = 0x20000
"""FS_TOPDIR_FL, what `chattr +T` sets: folders in this one have nothing to do with each other."""
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


def spread_folders(folder: Folder) -> bool:
    """Have new folders in this one lie apart on the disk; False if the file system does not know how.

    ext4 keeps a folder's files near it and takes no number of a file that was freed within the last minute,
    but looks at each of them for every new file: where thousands were removed just now that is a millisecond.
    """
    if folder.descriptor is None or sys.platform != "linux":
        return False
    from fcntl import ioctl

    with suppress(OSError):
        (flags,) = _FLAGS.unpack(ioctl(folder.descriptor, _GET_FLAGS, _FLAGS.pack(0)))
        ioctl(folder.descriptor, _SET_FLAGS, _FLAGS.pack(flags | _TOP))
        return True
    return False


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
