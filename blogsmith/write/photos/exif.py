"""EXIF data, a small TIFF: which way up the picture is, and what else they tell."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from .container import ByteReader, Damaged

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
