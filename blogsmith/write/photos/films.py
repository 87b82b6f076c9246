"""Videos (MP4, MOV): their size, and whether they contain a location.

Videos are published unchanged.
"""

from __future__ import annotations

from .container import ByteReader, DamagedFileError
from .heif import Box, boxes

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
