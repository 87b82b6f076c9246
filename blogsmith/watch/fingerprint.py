"""Fingerprints of files, which show later whether the bytes have changed.

If a digest is known, it decides. Size and times decide for files that are too large to read at every save,
and for files that have not been read yet.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from dataclasses import dataclass

from ..base.storage.stamps import FileStamp, make_stamp

MAX_DIGESTED_BYTES = 8_000_000
"""Maximum size in bytes of a file that is digested. Reading and hashing takes about 1 ms per MB."""

_YOUNG_NS = 2_000_000_000
"""Resolution in nanoseconds of times on FAT, the coarsest file system in use. A second write within this time
may leave the stamp unchanged."""
_UNREADABLE = b""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The state of a file at one moment."""

    stamp: FileStamp
    digest: bytes | None
    """BLAKE2b digest of the content. None: the file was not read; empty: it could not be read."""
    is_uncertain: bool
    """Whether the bytes may change, or the file may become readable, without a change of `stamp`."""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.stamp.size


def watch_stamp(status: os.stat_result) -> FileStamp:
    """Return a stamp that includes the change time, which programs cannot reset. It may differ without a
    change of the bytes; then the file is read once more."""
    return make_stamp(status, with_changed=True)


def unread_fingerprint(stamp: FileStamp) -> Fingerprint:
    """Return the fingerprint of a file by its stamp alone."""
    return Fingerprint(stamp, None, _is_young(stamp))


def read_fingerprint(file: str) -> Fingerprint | None:
    """Return the fingerprint of a regular file, with a digest unless it is large; None if there is none.

    Symbolic links are not followed.
    """
    try:
        status = os.lstat(file)
        if not stat.S_ISREG(status.st_mode):
            return None
        # a pipe may have replaced the file, and opening it must not wait
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _unreadable(file)
    try:
        with open(descriptor, "rb", buffering=0) as opened:  # noqa: PTH123 - of a descriptor
            # before reading: a write during the read then changes the stamp
            stamp = watch_stamp(os.fstat(descriptor))
            small = stamp.size <= MAX_DIGESTED_BYTES
            digest = hashlib.blake2b(opened.read(), digest_size=16).digest() if small else None
    except OSError:
        return _unreadable(file)
    return Fingerprint(stamp, digest, _is_young(stamp))


def is_same(old: Fingerprint | None, new: Fingerprint | None) -> bool:
    """Return whether both have the same bytes, as far as they can show it."""
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
