"""What is remembered of a file, to tell later whether its bytes changed.

A digest decides where it is known. Size and times decide for files too large to be read at every save, and
for those that have not been read yet.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from dataclasses import dataclass

MAX_DIGESTED_BYTES = 8_000_000
"""Reading and hashing takes about 1 ms per MB."""

_YOUNG_NS = 2_000_000_000
"""The coarsest clock of a file system that is in use, FAT's: a second write in this time may leave size and
times as they are."""
_UNREADABLE = b""

Glance = tuple[int, int, int, int]
"""Size, modified and changed (both in ns), inode: what costs no reading."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file at one moment."""

    glance: Glance
    digest: bytes | None
    """None: not read; empty: could not be read."""
    again: bool
    """Whether `glance` may stay as it is while the bytes change, or the file becomes readable."""

    @property
    def size(self) -> int:
        """In bytes."""
        return self.glance[0]


def glance_at(status: os.stat_result) -> Glance:
    """What `stat` says, as far as it counts here."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def unread(glance: Glance) -> Stamp:
    """A file by its glance alone."""
    return Stamp(glance, None, _is_young(glance))


def read_stamp(file: str) -> Stamp | None:
    """The regular file at a path that is no link, read unless it is large; None if there is none."""
    try:
        status = os.lstat(file)
        if not stat.S_ISREG(status.st_mode):
            return None
        # a pipe may have taken the file's place since: never wait for one
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _unreadable(file)
    try:
        with open(descriptor, "rb", buffering=0) as opened:  # noqa: PTH123 - of a descriptor
            # before the bytes: what is written while they are read makes another glance
            glance = glance_at(os.fstat(descriptor))
            small = glance[0] <= MAX_DIGESTED_BYTES
            digest = hashlib.blake2b(opened.read(), digest_size=16).digest() if small else None
    except OSError:
        return _unreadable(file)
    return Stamp(glance, digest, _is_young(glance))


def is_same(old: Stamp | None, new: Stamp | None) -> bool:
    """Whether both stand for the same bytes, as far as is known."""
    if old is None or new is None:
        return old is new
    if old.digest is not None and new.digest is not None:
        return old.digest == new.digest
    return old.glance[:2] == new.glance[:2]


def _unreadable(file: str) -> Stamp | None:
    try:
        return Stamp(glance_at(os.lstat(file)), _UNREADABLE, True)
    except OSError:
        return None


def _is_young(glance: Glance) -> bool:
    return abs(time.time_ns() - glance[1]) < _YOUNG_NS
