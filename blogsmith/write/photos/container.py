"""Containers of image files as parts to keep or drop, EXIF among them, with bounded reading."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
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


# EXIF data, a small TIFF: which way up the picture is, and what else they tell.


TURNED = range(2, 9)
"""Orientations that are not the plain one, 1."""

_ORIENTATION = 0x0112
_EXIF_TABLE, _GPS_TABLE = 0x8769, 0x8825
_MAX_ENTRIES = 1000

_TELLS: Mapping[int, str] = MappingProxyType(
    {
        _GPS_TABLE: "where it was taken",
        0x013B: "whose it is",
        0x8298: "whose it is",
        0xA430: "whose it is",
        0x010F: "the camera",
        0x0110: "the camera",
        0x927C: "notes of the camera",
        0xA431: "a serial number",
        0xA435: "a serial number",
        0xC62F: "a serial number",
        0x0132: "when it was taken",
        0x9003: "when it was taken",
        0x0131: "the program",
        0x013C: "the computer",
        0x010D: "the name of a document",
        0x010E: "a description",
        0x02BC: "XMP data",
        0x83BB: "IPTC data",
        0x8649: "data of Photoshop",
    }
)
"""Tag → what it says about the picture beside its pixels, in words for `it holds …`."""


def orientation_of(tiff: bytes) -> int:
    """1 to 8, or 0 if the data do not say or are damaged."""
    try:
        for tag, kind, value in _entries(ByteReader(io.BytesIO(tiff)), deep=False):
            if tag == _ORIENTATION and kind == 3:
                return value if 1 <= value <= 8 else 0
    except Damaged:
        pass
    return 0


def orientation_alone(orientation: int) -> bytes:
    """EXIF data that say nothing else."""
    entry = _ORIENTATION.to_bytes(2, "big") + b"\0\3\0\0\0\1" + orientation.to_bytes(2, "big") + b"\0\0"
    return b"MM\0*\0\0\0\x08\0\x01" + entry + bytes(4)


def private_tags(reader: ByteReader) -> tuple[str, ...]:
    """What the tags of a TIFF say beside the picture, the worst first; as far as it can be read."""
    found: set[str] = set()
    try:
        for tag, _, _ in _entries(reader, deep=True):
            found.add(_TELLS.get(tag, ""))
    except Damaged:
        pass
    return tuple(word for word in dict.fromkeys(_TELLS.values()) if word in found)


def _entries(reader: ByteReader, *, deep: bool) -> Iterator[tuple[int, int, int]]:
    """(tag, type, first value or offset) of the first table. deep: and of the one for the camera."""
    order = {b"II": "little", b"MM": "big"}.get(reader.read_at(0, 2), "")
    if not order or reader.number(2, 2, order) != 42:
        raise Damaged
    tables = [reader.number(4, 4, order)]
    for table in tables:
        for number in range(min(reader.number(table, 2, order), _MAX_ENTRIES)):
            at = table + 2 + 12 * number
            tag, kind = reader.number(at, 2, order), reader.number(at + 2, 2, order)
            # a short stands in the first half of the field
            value = reader.number(at + 8, 2 if kind == 3 else 4, order)
            if deep and tag == _EXIF_TABLE and len(tables) == 1:
                tables.append(value)
            yield tag, kind, value
