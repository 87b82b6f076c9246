"""File stamps: size, time and inode of a file, compared instead of its contents.

If the stamp of a file is unchanged, its contents are taken to be unchanged. That can be wrong if the contents
change twice within one tick of the file system's clock, or if a program resets the time. Code that is
notified of saves therefore reads the saved files and ignores their stamps.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple


class FileStamp(NamedTuple):
    """Stamp of one file at one moment. A tuple, because ten thousand stamps are compared every few
    seconds."""

    size: int
    """Size in bytes."""
    modified_ns: int
    """Time of the last change of the contents, in nanoseconds."""
    inode: int
    """Inode number. If it differs, another file has replaced this one."""
    changed_ns: int = 0
    """Time of the last change of contents or metadata, such as name and permissions, in nanoseconds; 0: not
    compared."""

    @property
    def written(self) -> tuple[int, int]:
        """Size and modification time, which a copy preserves and a restart of the machine does not change."""
        return self.size, self.modified_ns


def make_stamp(status: os.stat_result, *, with_changed: bool = False) -> FileStamp:
    """Return the stamp for a `stat` result. with_changed: include `changed_ns`, which detects a program that
    resets the time, but also differs after a mere change of permissions."""
    changed_ns = status.st_ctime_ns if with_changed else 0
    return FileStamp(status.st_size, status.st_mtime_ns, status.st_ino, changed_ns)


def read_stamp(file: Path) -> FileStamp | None:
    """Return the stamp of the file at a path, following links; None if there is no file."""
    try:
        return make_stamp(file.stat())
    except (OSError, ValueError):  # ValueError: no file can have this name
        return None


# Digests of files.


def file_digest(file: Path) -> str:
    """Return the SHA-256 digest of a file in hex; empty if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""
