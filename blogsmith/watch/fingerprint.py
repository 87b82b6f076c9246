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

from ..base.storage.stamps import FileStamp, stamp_of

MAX_DIGESTED_BYTES = 8_000_000
"""Reading and hashing takes about 1 ms per MB."""

_YOUNG_NS = 2_000_000_000
"""The coarsest clock of a file system that is in use, FAT's: a second write in this time may leave size and
times as they are."""
_UNREADABLE = b""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A file at one moment."""

    stamp: FileStamp
    digest: bytes | None
    """None: not read; empty: could not be read."""
    again: bool
    """Whether `stamp` may stay as it is while the bytes change, or the file becomes readable."""

    @property
    def size(self) -> int:
        """In bytes."""
        return self.stamp.size


def watch_stamp(status: os.stat_result) -> FileStamp:
    """With the time that no program puts back: a file that is read for nothing costs little."""
    return stamp_of(status, with_changed=True)


def unread_fingerprint(stamp: FileStamp) -> Fingerprint:
    """A file by its stamp alone."""
    return Fingerprint(stamp, None, _is_young(stamp))


def read_fingerprint(file: str) -> Fingerprint | None:
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
            # before the bytes: what is written while they are read makes another stamp
            stamp = watch_stamp(os.fstat(descriptor))
            small = stamp.size <= MAX_DIGESTED_BYTES
            digest = hashlib.blake2b(opened.read(), digest_size=16).digest() if small else None
    except OSError:
        return _unreadable(file)
    return Fingerprint(stamp, digest, _is_young(stamp))


def is_same(old: Fingerprint | None, new: Fingerprint | None) -> bool:
    """Whether both stand for the same bytes, as far as is known."""
    if old is None or new is None:
        return old is new
    if old.digest is not None and new.digest is not None:
        return old.digest == new.digest
    return old.stamp.written == new.stamp.written


def _unreadable(file: str) -> Fingerprint | None:
    try:
        return Fingerprint(watch_stamp(os.lstat(file)), _UNREADABLE, True)
    except OSError:
        return None


def _is_young(stamp: FileStamp) -> bool:
    return abs(time.time_ns() - stamp.modified_ns) < _YOUNG_NS
