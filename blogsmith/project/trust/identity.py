"""Which folder a site is: so that consent given to one does not pass to another that comes to the same path.

Two things must be as they were. The folder itself: its inode and the moment it was made, or, where the
system does not tell that moment, its inode and device. (Device numbers of btrfs, ZFS and network drives are
given out anew by each start of the machine.) And a file with a random name in the site's `.blogsmith/`, which
no clone brings: inodes are used again.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

from ...base.patterns import lazy_pattern
from ...base.storage.own_folder import open_own_folder

_MARK = "trust-"
_NAME = lazy_pattern(r"trust-[0-9a-f]{32}")
_STATX_BTIME = 0x800
_BIRTH_AT = 80
"""Offset of `stx_btime` in `struct statx`, which begins with the mask of what the kernel has filled in."""
_AT_FDCWD = -100
"""Of Linux, on every machine it runs on."""


def read_identity(root: Path, mark: object) -> Mapping[str, object] | None:
    """As `mark_folder` gave it, as far as it is still so; None without the marking file."""
    if not isinstance(mark, str) or not _NAME.fullmatch(mark) or not _is_marked(root, mark):
        return None
    return {"mark": mark, **_folder_identity(root)}


def mark_folder(root: Path, known: object = None) -> Mapping[str, object]:
    """What tells the folder from any other, in terms of JSON; OSError if it cannot be marked.

    known: a mark of earlier consent, which is kept if it is still there.
    """
    found = read_identity(root, known)
    if found:
        return found
    # each user, and each container, has a mark of its own: they do not take consent from one another
    mark = f"{_MARK}{os.urandom(16).hex()}"
    _write_mark(root, mark)
    return {"mark": mark, **_folder_identity(root)}


def _folder_identity(root: Path) -> dict[str, object]:
    status = root.stat()
    born_ns = _birth_time_ns(root, status)
    when = {"born_ns": born_ns} if born_ns else {"device": status.st_dev}
    return {"inode": status.st_ino, **when}


def _birth_time_ns(root: Path, status: os.stat_result) -> int:
    """When the folder was made; 0 if the system does not say."""
    if sys.platform == "linux":
        return _birth_time_linux_ns(root)
    else:
        return int(getattr(status, "st_birthtime", 0) * 10**9)


def _birth_time_linux_ns(root: Path) -> int:
    import ctypes

    # Python's own stat() has it from 3.15 on
    statx = getattr(ctypes.CDLL(None), "statx", None)
    found = ctypes.create_string_buffer(256)
    if statx is None or statx(_AT_FDCWD, os.fsencode(root), 0, _STATX_BTIME, found) != 0:
        return 0
    (mask,) = struct.unpack_from("=I", found)
    seconds, nanoseconds = struct.unpack_from("=qI", found, _BIRTH_AT)
    return int(seconds * 10**9 + nanoseconds) if mask & _STATX_BTIME else 0


def _is_marked(root: Path, mark: str) -> bool:
    try:
        with open_own_folder(root, make=False) as folder:
            status = folder.status(mark)
    except OSError:
        return False
    return status is not None and stat.S_ISREG(status.st_mode)


def _write_mark(root: Path, mark: str) -> None:
    with open_own_folder(root) as folder:
        folder.create(mark).close()
        folder.sync()
