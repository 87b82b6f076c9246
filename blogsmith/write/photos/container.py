"""Image files as sequences of parts to keep or drop, with a limit on reading; EXIF data; and WebP files, of
which only the chunks that affect the image are kept."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import BinaryIO, TypeAlias

from msgspec import Struct

MAX_READS = 2_000_000
"""Maximum number of reads per file. A GIF of half a gigabyte has this many parts."""
BLOCK = 1 << 18
"""Bytes that are copied or searched in one step."""


class DamagedFileError(Exception):
    """Raised if a file is not valid for its type."""


class Span(Struct, frozen=True):
    """A range of bytes of the file that is copied unchanged."""

    start: int
    end: int
    """The position after the last byte."""


class ZeroBytes(Struct, frozen=True):
    """Zero bytes instead of removed data, in formats where the following bytes must not move."""

    length: int


Part: TypeAlias = Span | ZeroBytes | bytes


class ByteReader:
    """Reader of parts of a file. Reading beyond its end raises `DamagedFileError`."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._reads = 0
        self.size = stream.seek(0, os.SEEK_END)

    def read_at(self, start: int, length: int) -> bytes:
        """Return exactly `length` bytes from `start` on. Raises `DamagedFileError` if the file ends before,
        or after too many reads."""
        self._reads += 1
        if start < 0 or length < 0 or start + length > self.size or self._reads > MAX_READS:
            raise DamagedFileError
        self._stream.seek(start)
        found = self._stream.read(length)
        if len(found) != length:
            raise DamagedFileError
        return found

    def number(self, start: int, length: int, order: str = "big") -> int:
        """Return the unsigned integer in `length` bytes."""
        return int.from_bytes(self.read_at(start, length), "little" if order == "little" else "big")

    def find(self, pattern: re.Pattern[bytes], start: int) -> int:
        """Return the start of the first match from `start` on, or the file size. The pattern must match
        exactly two bytes."""
        while start < self.size:
            block = self.read_at(start, min(BLOCK, self.size - start))
            found = pattern.search(block)
            if found:
                return start + found.start()
            if start + len(block) >= self.size:
                break
            # a match may start at the last byte of a block
            start += len(block) - 1
        return self.size


def join_spans(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts with adjacent spans merged."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Span) and isinstance(last, Span) and last.end == part.start:
            found[-1] = Span(last.start, part.end)
        else:
            found.append(part)
    return tuple(found)


def chunks(stream: BinaryIO, parts: Iterable[Part]) -> Iterator[bytes]:
    """Yield the bytes of these parts in blocks."""
    for part in parts:
        if isinstance(part, bytes):
            yield part
        elif isinstance(part, ZeroBytes):
            for at in range(0, part.length, BLOCK):
                yield bytes(min(BLOCK, part.length - at))
        else:
            stream.seek(part.start)
            left = part.end - part.start
            # if the file gets shorter meanwhile, the result ends early, as in a copy
            while left and (block := stream.read(min(BLOCK, left))):
                left -= len(block)
                yield block


# EXIF data is a small TIFF file, which contains the orientation of the image, and private data.


ROTATED_ORIENTATIONS = range(2, 9)
"""Values of the orientation other than 1, the normal one."""

_ORIENTATION = 0x0112
_EXIF_TABLE, _GPS_TABLE = 0x8769, 0x8825
_MAX_ENTRIES = 1000

_PRIVATE_TAGS: Mapping[int, str] = MappingProxyType(
    {
        _GPS_TABLE: "where it was taken",
        0x013B: "its author",
        0x8298: "its author",
        0xA430: "its author",
        0x010F: "the camera",
        0x0110: "the camera",
        0x927C: "camera notes",
        0xA431: "a serial number",
        0xA435: "a serial number",
        0xC62F: "a serial number",
        0x0132: "when it was taken",
        0x9003: "when it was taken",
        0x0131: "the program",
        0x013C: "the computer",
        0x010D: "a document name",
        0x010E: "a description",
        0x02BC: "XMP data",
        0x83BB: "IPTC data",
        0x8649: "Photoshop data",
    }
)
"""TIFF tag → private data that it contains, as a phrase for messages."""


def read_orientation(tiff: bytes) -> int:
    """Return the orientation, 1 to 8. Return 0 if the data is damaged or contains none."""
    try:
        for tag, kind, value in _entries(ByteReader(io.BytesIO(tiff)), deep=False):
            if tag == _ORIENTATION and kind == 3:
                return value if 1 <= value <= 8 else 0
    except DamagedFileError:
        pass
    return 0


def orientation_exif(orientation: int) -> bytes:
    """Return EXIF data that contains only this orientation."""
    entry = _ORIENTATION.to_bytes(2, "big") + b"\0\3\0\0\0\1" + orientation.to_bytes(2, "big") + b"\0\0"
    return b"MM\0*\0\0\0\x08\0\x01" + entry + bytes(4)


def private_tags(reader: ByteReader) -> tuple[str, ...]:
    """Return descriptions of the private data in the tags of a TIFF file, most sensitive first. Unreadable
    tags are skipped."""
    found: set[str] = set()
    try:
        for tag, _, _ in _entries(reader, deep=True):
            found.add(_PRIVATE_TAGS.get(tag, ""))
    except DamagedFileError:
        pass
    return tuple(word for word in dict.fromkeys(_PRIVATE_TAGS.values()) if word in found)


def _entries(reader: ByteReader, *, deep: bool) -> Iterator[tuple[int, int, int]]:
    """Yield (tag, type, first value or offset) for each entry of the first table. deep: also for the entries
    of the EXIF table."""
    order = {b"II": "little", b"MM": "big"}.get(reader.read_at(0, 2), "")
    if not order or reader.number(2, 2, order) != 42:
        raise DamagedFileError
    tables = [reader.number(4, 4, order)]
    for table in tables:
        for number in range(min(reader.number(table, 2, order), _MAX_ENTRIES)):
            at = table + 2 + 12 * number
            tag, kind = reader.number(at, 2, order), reader.number(at + 2, 2, order)
            # a 16-bit value is in the first half of the field
            value = reader.number(at + 8, 2 if kind == 3 else 4, order)
            if deep and tag == _EXIF_TABLE and len(tables) == 1:
                tables.append(value)
            yield tag, kind, value


_SHOWN = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"})
_EXIF_FLAG, _XMP_FLAG = 0x08, 0x04
_MAX_EXIF = 1 << 20


def webp_parts(reader: ByteReader) -> list[Part]:
    """Return the parts of a WebP file to publish. Raises `DamagedFileError` if its chunks cannot be
    parsed."""
    riff_end = 8 + reader.number(4, 4, "little")
    if riff_end > reader.size:
        raise DamagedFileError
    chunks = list(_chunks(reader, riff_end))
    exif = next(
        (_orientation_chunk(reader, start, end) for name, start, end in chunks if name == b"EXIF"), b""
    )
    if riff_end == reader.size and all(name in _SHOWN for name, _, _ in chunks):
        return [Span(0, riff_end)]
    parts: list[Part] = []
    size = 4
    for name, start, end in chunks:
        if name == b"VP8X":
            flags = reader.read_at(start + 8, 1)[0] & ~(_EXIF_FLAG | _XMP_FLAG) | (_EXIF_FLAG if exif else 0)
            parts += [Span(start, start + 8), bytes([flags]), Span(start + 9, end)]
            size += end - start
        elif name in _SHOWN:
            parts.append(Span(start, end))
            size += end - start
    if exif:
        # the specification requires this chunk after the image
        parts.append(exif)
        size += len(exif)
    return [b"RIFF" + size.to_bytes(4, "little") + b"WEBP", *parts]


def _chunks(reader: ByteReader, riff_end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield (name, start, end) of each chunk, including its padding."""
    at = 12
    while at < riff_end:
        name, length = reader.read_at(at, 4), reader.number(at + 4, 4, "little")
        end = at + 8 + length
        if end > riff_end:
            raise DamagedFileError
        # some writers forget the padding of the last chunk
        end = min(end + length % 2, riff_end)
        yield name, at, end
        at = end


def _orientation_chunk(reader: ByteReader, start: int, end: int) -> bytes:
    if end - start > _MAX_EXIF:
        return b""
    # some writers add the prefix that JPEG needs
    orientation = read_orientation(reader.read_at(start + 8, end - start - 8).removeprefix(b"Exif\0\0"))
    if orientation not in ROTATED_ORIENTATIONS:
        return b""
    block = orientation_exif(orientation)
    return b"EXIF" + len(block).to_bytes(4, "little") + block
