"""Films (MP4, MOV): whether they say where they were taken. They are published as they are."""

from __future__ import annotations

from .container import ByteReader, Damaged
from .heif import Box, boxes

_MAX_NOTES = 1 << 20
_PLACES = (b"\xa9xyz", b"com.apple.quicktime.location", b"loci")
"""What phones write in front of a position."""


def film_tells(reader: ByteReader) -> tuple[str, ...]:
    """What a film says of its maker, in words; as far as it can be read."""
    try:
        film = next((box for box in boxes(reader, 0, reader.size) if box.name == b"moov"), None)
        if film and any(_is_placed(reader, box) for box in boxes(reader, film.content, film.end)):
            return ("where it was taken",)
    except Damaged:
        pass
    return ()


def _is_placed(reader: ByteReader, box: Box) -> bool:
    if box.name not in (b"udta", b"meta"):
        return False
    notes = reader.read_at(box.content, min(box.end - box.content, _MAX_NOTES))
    return any(name in notes for name in _PLACES)
