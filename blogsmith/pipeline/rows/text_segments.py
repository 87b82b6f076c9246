"""Texts of pages in files of their own, so that what is read and sealed at each build is small.

A segment is written once, by one build, and read where a row says so; nothing in it is believed: a text is
compared with the digest in its sealed row. Segments that no row names any more are removed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import BinaryIO

import msgspec

from ...base.storage.folder import Folder
from ...base.storage.offsets import read_at, write_at

_PREFIX = "texts-"
_SUFFIX = ".bin"
_LEFT_BEHIND_S = 3_600.0
"""Older segments that nobody names belong to no build that still runs."""


class TextLocation(msgspec.Struct, frozen=True, array_like=True):
    """Where a text lies."""

    segment: str
    start: int
    size: int
    """In bytes."""
    digest: bytes
    """BLAKE2b of these bytes: they lie where others may write, and the rows do not."""


class SegmentStamp(msgspec.Struct, frozen=True, array_like=True):
    """What tells that a segment is as it was written."""

    size: int
    modified_ns: int


class TextSegments:
    """Belongs to one build. Processes that are forked from it may read."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}
        self._new = ""
        """Name of the segment that this build writes; empty while there is none."""
        self._end = 0

    def open(self, stamps: Mapping[str, SegmentStamp]) -> bool:
        """Open segments that an earlier build has left; whether all are as they were."""
        for name, stamp in stamps.items():
            try:
                file = self._files[name] = self._folder.open_file(name)
            except OSError:
                return False
            if _stamp_of(file) != stamp:
                return False
        return True

    def get(self, where: TextLocation) -> bytes | None:
        """The bytes there; None if there are none."""
        file = self._files.get(where.segment)
        with suppress(OSError):
            data = read_at(file, where.start, where.size) if file else b""
            return data if _digest(data) == where.digest else None
        return None

    def put(self, data: bytes) -> TextLocation:
        """Write some bytes; OSError if the disk has no room."""
        if not self._new:
            name = f"{_PREFIX}{os.urandom(6).hex()}{_SUFFIX}"
            self._files[name] = self._folder.create(name)
            self._new = name
        where = TextLocation(self._new, self._end, len(data), _digest(data))
        write_at(self._files[self._new], self._end, data)
        self._end += len(data)
        return where

    def stamps(self, names: Iterable[str]) -> dict[str, SegmentStamp]:
        """Of these segments."""
        return {name: _stamp_of(self._files[name]) for name in names}

    def size(self, names: Iterable[str]) -> int:
        """Of these segments together, in bytes."""
        return sum(stamp.size for stamp in self.stamps(names).values())

    def remove_unused(self, used: Iterable[str]) -> None:
        """Remove segments that no row names, but for those that another build may be writing just now."""
        kept = {*used}
        with suppress(OSError):
            for name, is_folder in self._folder.entries():
                is_ours = name.startswith(_PREFIX) and name.endswith(_SUFFIX) and not is_folder
                if is_ours and name not in kept and (name in self._files or self._is_left_behind(name)):
                    self._folder.remove(name)

    def _is_left_behind(self, name: str) -> bool:
        status = self._folder.status(name)
        return status is not None and time.time() - status.st_mtime > _LEFT_BEHIND_S

    def close(self) -> None:
        """No text can be read any more."""
        for file in self._files.values():
            file.close()
        self._files.clear()


def remove_segments(folder: Folder) -> None:
    """Remove all segments. OSError if the folder cannot be read."""
    for name, is_folder in folder.entries():
        if name.startswith(_PREFIX) and name.endswith(_SUFFIX) and not is_folder:
            folder.remove(name)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _stamp_of(file: BinaryIO) -> SegmentStamp:
    status = os.fstat(file.fileno())
    return SegmentStamp(status.st_size, status.st_mtime_ns)
