"""AVIF and HEIC: items and boxes with metadata are overwritten in place, because images are at absolute
offsets and must not move.

In these formats the orientation is a property of the image, and the one in EXIF data is ignored. Videos (MP4,
MOV) consist of the same boxes; they are published unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from .container import ByteReader, DamagedFileError, Part, Span, ZeroBytes

_BOXES = frozenset({b"uuid", b"xml ", b"bxml", b"udta", b"jumb"})
"""Types of boxes with metadata or from programs: XMP, content credentials, notes in videos."""
_EMPTY_EXIF = b"\0\0\0\0MM\0*\0\0\0\x08" + bytes(6)
"""EXIF item without data: an offset, then a TIFF file without entries."""
_MAX_ITEMS = 100_000


class Box(Struct, frozen=True):
    """A box of an ISO file (ISO/IEC 14496-12)."""

    name: bytes
    start: int
    content: int
    """Offset of the content in the file."""
    end: int


def heif_parts(reader: ByteReader) -> list[Part]:
    """Return the parts of an AVIF or HEIC file to publish. Raises `DamagedFileError` if its boxes cannot be
    parsed."""
    edits: list[tuple[int, int, bytes]] = []
    for box in boxes(reader, 0, reader.size):
        if box.name in _BOXES:
            edits.append(_free_box(box))
        elif box.name == b"moov":
            edits += _movie_edits(reader, box)
        elif box.name == b"meta":
            edits += _item_edits(reader, box)
    parts: list[Part] = []
    at = 0
    for start, end, new in sorted(edits):
        if start < at:
            raise DamagedFileError
        parts += [Span(at, start), new, ZeroBytes(end - start - len(new))]
        at = end
    return [*parts, Span(at, reader.size)]


def boxes(reader: ByteReader, at: int, end: int) -> Iterator[Box]:
    """Yield the boxes in a range of the file. DamagedFileError if they do not fill it."""
    while at < end:
        length, name, content = reader.number(at, 4), reader.read_at(at + 4, 4), at + 8
        if length == 1:
            length, content = reader.number(at + 8, 8), at + 16
        elif length == 0:
            length = end - at
        if length < content - at or at + length > end:
            raise DamagedFileError
        yield Box(name, at, content, at + length)
        at += length


def _free_box(box: Box) -> tuple[int, int, bytes]:
    """Return the edit that turns a box into free space of the same length."""
    return box.start + 4, box.end, b"free" + bytes(box.content - box.start - 8)


def _movie_edits(reader: ByteReader, film: Box) -> Iterator[tuple[int, int, bytes]]:
    """Yield edits that remove the metadata of an animation and of its tracks."""
    for box in boxes(reader, film.content, film.end):
        if box.name in _BOXES or box.name == b"meta":
            yield _free_box(box)
        elif box.name == b"trak":
            yield from _movie_edits(reader, box)


def _item_edits(reader: ByteReader, meta: Box) -> Iterator[tuple[int, int, bytes]]:
    """Yield edits that overwrite items with metadata."""
    inside = {box.name: box for box in boxes(reader, meta.content + 4, meta.end)}
    for box in inside.values():
        if box.name in _BOXES:
            yield _free_box(box)
    if b"iinf" not in inside or b"iloc" not in inside:
        return
    private = dict(_private_items(reader, inside[b"iinf"]))
    kept: list[tuple[int, int]] = []
    found: list[tuple[int, int, bytes]] = []
    data = inside[b"idat"].content if b"idat" in inside else -1
    for item, extents in _extents(reader, inside[b"iloc"], data):
        if item not in private:
            kept += extents
        for number, (start, end) in enumerate(extents if item in private else ()):
            new = private[item] if number == 0 else b""
            found.append((start, end, new if len(new) <= end - start else b""))
    # items that overlap an image or the boxes themselves cannot be overwritten
    kept.append((meta.start, data if data >= 0 else meta.end))
    for start, end, _ in found:
        if any(start < other_end and other_start < end for other_start, other_end in kept):
            raise DamagedFileError
    yield from dict.fromkeys(found)


def _private_items(reader: ByteReader, iinf: Box) -> Iterator[tuple[int, bytes]]:
    """Yield (id, replacement) for each item with EXIF data or text."""
    wide = reader.read_at(iinf.content, 1)[0] > 0
    for box in boxes(reader, iinf.content + (8 if wide else 6), iinf.end):
        version = reader.read_at(box.content, 1)[0]
        if box.name != b"infe" or version < 2:
            continue
        size = 2 if version == 2 else 4
        item, at = reader.number(box.content + 4, size), box.content + 6 + size
        kind = reader.read_at(at, 4)
        if kind == b"Exif":
            yield item, _EMPTY_EXIF
        elif kind in (b"mime", b"uri "):
            yield item, b""


def _extents(reader: ByteReader, iloc: Box, data: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield (id, ranges in the file) of each item. data: offset of the content of the box `idat`, or -1."""
    version, at = reader.read_at(iloc.content, 1)[0], iloc.content + 4
    sizes = reader.number(at, 2)
    offset_size, length_size, base_size = sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15
    index_size = sizes & 15 if version in (1, 2) else 0
    wide = 4 if version == 2 else 2
    count, at = reader.number(at + 2, wide), at + 2 + wide
    if count > _MAX_ITEMS or version > 2:
        raise DamagedFileError
    for _ in range(count):
        item, at = reader.number(at, wide), at + wide
        method, at = (reader.number(at, 2) & 15, at + 2) if version else (0, at)
        base, at = reader.number(at + 2, base_size), at + 2 + base_size
        pieces, at = reader.number(at, 2), at + 2
        extents = []
        for _ in range(pieces):
            at += index_size
            offset, length = reader.number(at, offset_size), reader.number(at + offset_size, length_size)
            at += offset_size + length_size
            start = base + offset + (data if method == 1 else 0)
            end = start + length if length else reader.size
            if end > reader.size or (method == 1 and data < 0):
                raise DamagedFileError
            if method < 2:
                extents.append((start, end))
        yield item, extents


_MAX_NOTES = 1 << 20
_TRACK_HEAD = 80
"""Minimum length of a track header, in bytes."""
_PLACES = (b"\xa9xyz", b"com.apple.quicktime.location", b"loci")
"""Names of the tags where phones store a location."""


def video_private_data(reader: ByteReader) -> tuple[str, ...]:
    """Return descriptions of private data in a video. Unreadable parts are skipped."""
    try:
        film = next((box for box in boxes(reader, 0, reader.size) if box.name == b"moov"), None)
        if film and any(_has_location(reader, box) for box in boxes(reader, film.content, film.end)):
            return ("where it was taken",)
    except DamagedFileError:
        pass
    return ()


def video_size(reader: ByteReader) -> tuple[int, int] | None:
    """Return width and height of the first visible track as it is shown; None if unknown. Source: ISO/IEC
    14496-12, 8.3.2. A matrix whose first number is 0 rotates the video by 90 degrees."""
    try:
        film = next((box for box in boxes(reader, 0, reader.size) if box.name == b"moov"), None)
        tracks = boxes(reader, film.content, film.end) if film else ()
        for track in tracks:
            inner = boxes(reader, track.content, track.end) if track.name == b"trak" else ()
            head = next((box for box in inner if box.name == b"tkhd"), None)
            if head and head.end - head.content >= _TRACK_HEAD:
                width, height = (reader.number(head.end - at, 4) >> 16 for at in (8, 4))
                if width and height:
                    is_turned = reader.number(head.end - 44, 4) == 0
                    return (height, width) if is_turned else (width, height)
    except DamagedFileError:
        pass
    return None


def _has_location(reader: ByteReader, box: Box) -> bool:
    if box.name not in (b"udta", b"meta"):
        return False
    notes = reader.read_at(box.content, min(box.end - box.content, _MAX_NOTES))
    return any(name in notes for name in _PLACES)
