"""Files that are sent as they are: opened only where they are said to lie, whole or a piece of them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from ...base.patterns import lazy_pattern

# Not every system has all of them. Without O_NONBLOCK the opening of a pipe would wait for a writer.
_READ_ONLY = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_BINARY", "O_NOFOLLOW", "O_CLOEXEC")
)
_RANGE = lazy_pattern(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True, slots=True)
class FilePart:
    """A piece of an open file."""

    file: FileIO
    start: int
    """First byte of it, from 0."""
    length: int
    """In bytes."""


class NoSuchRange(Exception):
    """Nothing of the file is in the range that was asked for."""


def open_regular(path: Path) -> FilePart | None:
    """All of the regular file at `path`, an absolute path without links; None if that is not what is there.

    Links may have been put into the path since it was resolved, also in the middle: what is open must be what
    the path leads to, and the path must still lead to itself.
    """
    try:
        descriptor = os.open(path, _READ_ONLY)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        as_said = path.resolve(strict=True) == path and os.path.samestat(status, path.lstat())
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        as_said = False
    if not as_said or not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return None
    return FilePart(os.fdopen(descriptor, "rb", buffering=0), 0, status.st_size)


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """(first byte, length) of what a Range header asks for of `size` bytes; `NoSuchRange` if there are none.

    None: the whole. RFC 9110 14.2 lets a server ignore what it does not understand, also several ranges.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = min(int(match[2]), size)
        start = size - length
    else:
        start = int(match[1])
        last = int(match[2]) if match[2] else size - 1
        if match[2] and last < start:
            return None
        length = min(last, size - 1) - start + 1
    if length <= 0:
        raise NoSuchRange
    return start, length
