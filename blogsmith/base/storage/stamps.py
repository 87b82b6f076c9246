"""What a file system tells of a file without reading it; while it is the same, the bytes are taken to be.

It may stay the same though the bytes change: within one tick of the file system's clock, or when a program
puts the time back. Who is told of saves forgets the files that were saved, whatever their stamps say.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple


class FileStamp(NamedTuple):
    """One file at one moment. A tuple: there are ten thousand of them, compared every few seconds."""

    size: int
    """In bytes."""
    modified_ns: int
    """When the bytes were written last."""
    inode: int
    """Another one: another file has taken the place."""
    changed_ns: int = 0
    """When anything was changed last, its name and rights among it; 0: that does not count."""

    @property
    def written(self) -> tuple[int, int]:
        """The part that holds for copies, and that a later start of the machine finds again."""
        return self.size, self.modified_ns


def stamp_of(status: os.stat_result, *, with_changed: bool = False) -> FileStamp:
    """The part of a `stat` that counts.

    with_changed: a program that puts the time back is noticed, too, but so is a change of rights alone.
    """
    changed_ns = status.st_ctime_ns if with_changed else 0
    return FileStamp(status.st_size, status.st_mtime_ns, status.st_ino, changed_ns)


def stamp_at(file: Path) -> FileStamp | None:
    """Of what a path leads to, through links; None if nothing is there, or nothing can be."""
    try:
        return stamp_of(file.stat())
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None


# Digests of files.


def file_digest(file: Path) -> str:
    """SHA-256 of a file in hex; empty if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""
