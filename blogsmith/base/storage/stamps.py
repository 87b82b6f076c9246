"""File stamps: metadata of a file. While a stamp is unchanged, the contents are assumed to be unchanged.

A stamp may stay the same although the contents change: within one tick of the file system's clock, or when a
program resets the time. Code that is notified of saves therefore ignores the stamps of the saved files.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple


class FileStamp(NamedTuple):
    """Stamp of one file at one moment. A tuple, because ten thousand of them are compared every few
    seconds."""

    size: int
    """Size in bytes."""
    modified_ns: int
    """Time of the last change of the contents."""
    inode: int
    """Inode number. If it differs, another file has replaced this one."""
    changed_ns: int = 0
    """Time of the last change of contents or metadata, such as name and permissions; 0: not compared."""

    @property
    def written(self) -> tuple[int, int]:
        """The part that copies share, and that is still the same after a restart of the machine."""
        return self.size, self.modified_ns


def make_stamp(status: os.stat_result, *, with_changed: bool = False) -> FileStamp:
    """Return the stamp of a `stat` result.

    with_changed: also detect a program that resets the time. A change of permissions alone is then a change
    too.
    """
    changed_ns = status.st_ctime_ns if with_changed else 0
    return FileStamp(status.st_size, status.st_mtime_ns, status.st_ino, changed_ns)


def read_stamp(file: Path) -> FileStamp | None:
    """Return the stamp of the file at a path, following links; None if there is no file."""
    try:
        return make_stamp(file.stat())
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None


# Digests of files.


def file_digest(file: Path) -> str:
    """Return the SHA-256 digest of a file in hex; empty if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""
