"""Removal of private metadata from images that are copied into the site. Other files stay unchanged.

The first bytes of a file determine its type, so other files need no further work. Pixels are never decoded:
the file is rewritten without the parts that do not affect the image, so no quality is lost. Files are read in
blocks, so large ones need little memory. Damaged files are published as they are.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import BinaryIO

from ...base.patterns import lazy_pattern
from .container import (
    BLOCK,
    ROTATED_ORIENTATIONS,
    ByteReader,
    DamagedFileError,
    Part,
    Span,
    chunks,
    join_spans,
    orientation_exif,
    private_tags,
    read_orientation,
    webp_parts,
)
from .heif import heif_parts, video_private_data

_HEAD = 64
"""Number of bytes that determine the file type."""
_BRANDS = (b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")

_VIDEO_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
"""Types of the first box of a video."""

_Parts = Callable[[ByteReader], Iterable[Part]]


def read_published(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the published content of a file in blocks."""
    parts = _cleaned_parts(stream)
    if parts is not None:
        yield from chunks(stream, parts)
        return
    stream.seek(0)
    while block := stream.read(BLOCK):
        yield block


def clean_bytes(data: bytes) -> bytes:
    """Return the published form of a file's content."""
    parts = _cleaned_parts(io.BytesIO(data))
    return data if parts is None else b"".join(chunks(io.BytesIO(data), parts))


def clean_stream(stream: BinaryIO) -> bytes | None:
    """Return the published content of a file, or None if it is the same as the file."""
    parts = _cleaned_parts(stream)
    return None if parts is None else b"".join(chunks(stream, parts))


def remaining_private_data(stream: BinaryIO) -> tuple[str, ...]:
    """Return descriptions of private data that remains in a published image or video. DamagedFileError if the
    file cannot be parsed."""
    stream.seek(0)
    head = stream.read(_HEAD)
    parts_of = _format(head)
    if parts_of is jpeg_parts:
        # only the segments before the image data can be damaged
        parts_of = partial(jpeg_parts, whole=False)
    if parts_of:
        for _ in parts_of(ByteReader(stream)):
            pass
    elif head[:4] in (b"II*\0", b"MM\0*"):
        return private_tags(ByteReader(stream))
    elif head[4:8] in _VIDEO_BOXES:
        return video_private_data(ByteReader(stream))
    return ()


def _cleaned_parts(stream: BinaryIO) -> tuple[Part, ...] | None:
    """Return the parts of a file to publish, or None to publish it unchanged."""
    stream.seek(0)
    parts_of = _format(stream.read(_HEAD))
    if parts_of is None:
        return None
    reader = ByteReader(stream)
    try:
        parts = join_spans(parts_of(reader))
    except DamagedFileError:
        return None
    return None if parts == (Span(0, reader.size),) else parts


def _format(head: bytes) -> _Parts | None:
    """Return the parser for a file with these first bytes, or None if it is not an image."""
    if head.startswith(b"\xff\xd8\xff"):
        return jpeg_parts
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return png_parts
    if head.startswith((b"GIF87a", b"GIF89a")):
        return gif_parts
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return webp_parts
    if head[4:8] == b"ftyp" and any(brand in head[8:] for brand in _BRANDS):
        return heif_parts
    return None


# PNG: only chunks that affect the image are kept. Data after the end is removed, because it may be the rest
# of a larger image that was cropped (CVE-2023-21036).


_ANCILLARY = 0x20
"""Bit that is set in the first letter of a chunk's name if decoders may ignore the chunk."""
_VISIBLE_CHUNKS = frozenset(
    {b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB", b"cICP", b"bKGD", b"hIST", b"pHYs", b"sPLT"}
    | {b"mDCV", b"cLLI", b"mDCv", b"cLLi", b"acTL", b"fcTL", b"fdAT"}
)
"""Names of ancillary chunks that affect colours, size or animation. These chunks are kept."""
_MAX_EXIF = 1 << 20


def png_parts(reader: ByteReader) -> Iterator[Part]:
    """Yield the parts of a PNG to publish. Raises `DamagedFileError` if its chunks cannot be parsed."""
    yield Span(0, 8)
    at = 8
    while True:
        length, name = reader.number(at, 4), reader.read_at(at + 4, 4)
        end = at + 12 + length
        if end > reader.size or not name.isalpha():
            raise DamagedFileError
        if name == b"eXIf" and length <= _MAX_EXIF:
            orientation = read_orientation(reader.read_at(at + 8, length))
            if orientation in ROTATED_ORIENTATIONS:
                yield _chunk(name, orientation_exif(orientation))
        elif not name[0] & _ANCILLARY or name in _VISIBLE_CHUNKS:
            yield Span(at, end)
        at = end
        if name == b"IEND":
            return


def _chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")


# JPEG: only segments that affect the image are kept. Data after the end is removed, because it may contain
# secondary images of phones (with EXIF data of their own, or gain maps for HDR), videos and notes.


_MARKER = lazy_pattern(rb"\xff[^\x00\xff]", re.DOTALL)
_SCAN_END = lazy_pattern(rb"\xff[^\x00\xff\xd0-\xd7]", re.DOTALL)
"""Regular expression of the end of a scan (image data). Within it, `ff 00` is data, and `ff d0` to `ff d7`
are restart markers."""

_SCAN, _END = 0xDA, 0xD9
_MARKERS_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xDA)})
"""Markers that are not followed by a length."""
_EXIF = b"Exif\0\0"
_JFIF_LENGTH = 16
"""Length of a JFIF segment without its thumbnail, in bytes."""


def jpeg_parts(reader: ByteReader, *, whole: bool = True) -> Iterator[Part]:
    """Yield the parts of a JPEG to publish. DamagedFileError if the segments before the first scan cannot be
    parsed. whole: False: yield only these segments."""
    at = 2
    is_turned = is_scanned = False
    yield Span(0, 2)
    while True:
        start = reader.find(_MARKER, at)
        marker, end = _marker(reader, start)
        if end > reader.size or not marker:
            if not is_scanned:
                raise DamagedFileError
            # the file is truncated; browsers show the part that exists
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
            is_scanned, at = True, reader.find(_SCAN_END, end)
            yield Span(end, at)


def _marker(reader: ByteReader, at: int) -> tuple[int, int]:
    """Return the marker at an offset and the end of its segment; (0, 0) if there is none."""
    if at + 2 > reader.size:
        return 0, 0
    marker = reader.read_at(at + 1, 1)[0]
    if marker in _MARKERS_WITHOUT_LENGTH:
        return marker, at + 2
    length = reader.number(at + 2, 2) if at + 4 <= reader.size else 0
    return (marker, at + 2 + length) if length >= 2 else (0, 0)


def _segment(reader: ByteReader, marker: int, start: int, end: int) -> Iterator[Part]:
    """Yield a segment if the image would look different without it."""
    name = reader.read_at(start + 4, min(12, end - start - 4)) if end - start > 4 else b""
    if marker == 0xE0 and name.startswith(b"JFIF\0"):
        yield from _without_thumbnail(reader, start, end)
    elif marker == 0xE2 and name == b"ICC_PROFILE\0":
        yield Span(start, end)
    elif marker == 0xEE and name.startswith(b"Adobe"):
        # this segment defines the colour space
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
    """Return a segment that contains only the orientation; empty if the given segment does not rotate the
    image."""
    content = reader.read_at(start + 4, end - start - 4)
    orientation = read_orientation(content[len(_EXIF) :]) if content.startswith(_EXIF) else 0
    if orientation not in ROTATED_ORIENTATIONS:
        return b""
    block = _EXIF + orientation_exif(orientation)
    return b"\xff\xe1" + (len(block) + 2).to_bytes(2, "big") + block


# GIF: comments, application data and data after the end are removed; images, loops and colours are kept.


_COMMENT, _APPLICATION = 0xFE, 0xFF
_GIF_SHOWN = frozenset({b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012"})
"""Application blocks that are kept: number of loops, colour profile."""
_PICTURE, _EXTENSION, _GIF_END = 0x2C, 0x21, 0x3B


def gif_parts(reader: ByteReader) -> Iterator[Part]:
    """Yield the parts of a GIF to publish. Raises `DamagedFileError` if its blocks cannot be parsed."""
    at = 13 + _colours(reader.read_at(10, 1)[0])
    yield Span(0, at)
    while True:
        kind = reader.read_at(at, 1)[0]
        if kind == _GIF_END:
            yield Span(at, at + 1)
            return
        if kind == _PICTURE:
            # the byte between colour table and image data is the code size
            end = _blocks_end(reader, at + 11 + _colours(reader.read_at(at + 9, 1)[0]))
            yield Span(at, end)
        elif kind == _EXTENSION:
            label = reader.read_at(at + 1, 1)[0]
            end = _blocks_end(reader, at + 2)
            if label != _COMMENT and (label != _APPLICATION or reader.read_at(at + 3, 11) in _GIF_SHOWN):
                yield Span(at, end)
        else:
            raise DamagedFileError
        at = end


def _colours(flags: int) -> int:
    """Return the size in bytes of the colour table that the flags byte describes."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _blocks_end(reader: ByteReader, at: int) -> int:
    """Return the end of a sequence of data blocks. Each starts with its length."""
    while length := reader.read_at(at, 1)[0]:
        at += length + 1
    return at + 1
