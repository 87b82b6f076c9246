"""A picture's file as stretches to keep, and bounded reading of what may lie about its lengths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, TypeAlias

from msgspec import Struct

MAX_READS = 2_000_000
"""Pieces of one file that are looked at; a GIF of half a gigabyte has as many."""
BLOCK = 1 << 18
"""Bytes that are copied or searched at once."""


class Damaged(Exception):
    """The file is not what its first bytes promise."""


class Span(Struct, frozen=True):
    """Bytes that stay as they are."""

    start: int
    end: int
    """Behind the last one."""


class Blank(Struct, frozen=True):
    """As many zeros, in the place of bytes that must not move what stands behind them."""

    length: int


Part: TypeAlias = Span | Blank | bytes


class ByteReader:
    """Reads stretches of a file; whatever reaches beyond its end is `Damaged`."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._reads = 0
        self.size = stream.seek(0, os.SEEK_END)

    def read_at(self, start: int, length: int) -> bytes:
        """Exactly these bytes; `Damaged` if they are not all there, or far too many were asked for."""
        self._reads += 1
        if start < 0 or length < 0 or start + length > self.size or self._reads > MAX_READS:
            raise Damaged
        self._stream.seek(start)
        found = self._stream.read(length)
        if len(found) != length:
            raise Damaged
        return found

    def number(self, start: int, length: int, order: str = "big") -> int:
        """The unsigned number of `length` bytes."""
        return int.from_bytes(self.read_at(start, length), "little" if order == "little" else "big")

    def find(self, pattern: re.Pattern[bytes], start: int) -> int:
        """Where a match of two bytes begins, from `start` on; the file's size if there is none."""
        while start < self.size:
            block = self.read_at(start, min(BLOCK, self.size - start))
            found = pattern.search(block)
            if found:
                return start + found.start()
            if start + len(block) >= self.size:
                break
            # the first byte of a match may be the last one here
            start += len(block) - 1
        return self.size


def join_spans(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The same parts, neighbouring spans as one."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Span) and isinstance(last, Span) and last.end == part.start:
            found[-1] = Span(last.start, part.end)
        else:
            found.append(part)
    return tuple(found)


def chunks(stream: BinaryIO, parts: Iterable[Part]) -> Iterator[bytes]:
    """The bytes of these parts, a block at a time."""
    for part in parts:
        if isinstance(part, bytes):
            yield part
        elif isinstance(part, Blank):
            for at in range(0, part.length, BLOCK):
                yield bytes(min(BLOCK, part.length - at))
        else:
            stream.seek(part.start)
            left = part.end - part.start
            # a file that is cut short meanwhile ends early, as a copy of it would
            while left and (block := stream.read(min(BLOCK, left))):
                left -= len(block)
                yield block
