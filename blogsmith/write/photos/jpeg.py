"""JPEG: segments that a picture is shown with are kept, all others go, and all behind its end.

Behind the end stand second pictures of phones (their own EXIF data, gain maps for HDR), films and notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...base.patterns import lazy_pattern
from .container import ByteReader, Damaged, Part, Span
from .exif import TURNED, orientation_alone, orientation_of

_MARKER = lazy_pattern(rb"\xff[^\x00\xff]", re.DOTALL)
_BEHIND_SCAN = lazy_pattern(rb"\xff[^\x00\xff\xd0-\xd7]", re.DOTALL)
"""In a scan `ff 00` is a byte of data, and `ff d0` to `ff d7` count its pieces."""

_SCAN, _END = 0xDA, 0xD9
_ALONE = frozenset({0x01, *range(0xD0, 0xDA)})
"""Markers without a length."""
_EXIF = b"Exif\0\0"
_JFIF_LENGTH = 16
"""Of the segment without its thumbnail."""


def jpeg_parts(reader: ByteReader, *, whole: bool = True) -> Iterator[Part]:
    """What is published of a JPEG; `Damaged` if the segments in front of its first scan cannot be told apart.

    whole: False gives only these.
    """
    at = 2
    is_turned = is_scanned = False
    yield Span(0, 2)
    while True:
        start = reader.find(_MARKER, at)
        marker, end = _marker(reader, start)
        if end > reader.size or not marker:
            if not is_scanned:
                raise Damaged
            # browsers show what there is
            yield Span(at, reader.size)
            return
        if marker == 0xE1 and not is_turned and (block := _orientation_segment(reader, start, end)):
            is_turned = True
            yield block
        else:
            yield from _segment(reader, marker, start, end)
        at = end
        if marker == _END or (marker == _SCAN and not whole):
            return
        if marker == _SCAN:
            is_scanned, at = True, reader.find(_BEHIND_SCAN, end)
            yield Span(end, at)


def _marker(reader: ByteReader, at: int) -> tuple[int, int]:
    """The marker at `read_at` and where its segment ends; (0, 0) if there is none."""
    if at + 2 > reader.size:
        return 0, 0
    marker = reader.read_at(at + 1, 1)[0]
    if marker in _ALONE:
        return marker, at + 2
    length = reader.number(at + 2, 2) if at + 4 <= reader.size else 0
    return (marker, at + 2 + length) if length >= 2 else (0, 0)


def _segment(reader: ByteReader, marker: int, start: int, end: int) -> Iterator[Part]:
    """A segment, if the picture would look different without it."""
    name = reader.read_at(start + 4, min(12, end - start - 4)) if end - start > 4 else b""
    if marker == 0xE0 and name.startswith(b"JFIF\0"):
        yield from _without_thumbnail(reader, start, end)
    elif marker == 0xE2 and name == b"ICC_PROFILE\0":
        yield Span(start, end)
    elif marker == 0xEE and name.startswith(b"Adobe"):
        # says which colours the numbers mean
        yield Span(start, end)
    elif not (0xE0 <= marker <= 0xEF or marker == 0xFE):
        yield Span(start, end)


def _without_thumbnail(reader: ByteReader, start: int, end: int) -> Iterator[Part]:
    if end - start <= _JFIF_LENGTH + 2:
        yield Span(start, end)
        return
    yield b"\xff\xe0" + _JFIF_LENGTH.to_bytes(2, "big")
    yield Span(start + 4, start + _JFIF_LENGTH)
    yield bytes(2)


def _orientation_segment(reader: ByteReader, start: int, end: int) -> bytes:
    """A segment that says which way up; empty if this one says nothing of it."""
    content = reader.read_at(start + 4, end - start - 4)
    orientation = orientation_of(content[len(_EXIF) :]) if content.startswith(_EXIF) else 0
    if orientation not in TURNED:
        return b""
    block = _EXIF + orientation_alone(orientation)
    return b"\xff\xe1" + (len(block) + 2).to_bytes(2, "big") + block
