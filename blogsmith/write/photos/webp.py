"""WebP: only chunks that affect the image are kept. Data after the end is removed."""

from __future__ import annotations

from collections.abc import Iterator

from .container import (
    ROTATED_ORIENTATIONS,
    ByteReader,
    DamagedFileError,
    Part,
    Span,
    orientation_exif,
    read_orientation,
)

_SHOWN = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"})
_EXIF_FLAG, _XMP_FLAG = 0x08, 0x04
_MAX_EXIF = 1 << 20


def webp_parts(reader: ByteReader) -> list[Part]:
    """Return the parts of a WebP file to publish.

    Raises `DamagedFileError` if its chunks cannot be parsed.
    """
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
