"""PNG: chunks that a picture is shown with are kept, all others go, and all behind its end.

What stands behind the end may be the rest of a larger picture that was cropped (CVE-2023-21036).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from .container import ByteReader, Damaged, Part, Span
from .exif import TURNED, orientation_alone, orientation_of

_ANCILLARY = 0x20
"""Bit of a chunk's first letter: a decoder may pass over it."""
_SHOWN = frozenset(
    {b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB", b"cICP", b"bKGD", b"hIST", b"pHYs", b"sPLT"}
    | {b"mDCV", b"cLLI", b"mDCv", b"cLLi", b"acTL", b"fcTL", b"fdAT"}
)
"""Ancillary chunks of colour, density and animation."""
_MAX_EXIF = 1 << 20


def png_parts(reader: ByteReader) -> Iterator[Part]:
    """What is published of a PNG; `Damaged` if its chunks cannot be told apart."""
    yield Span(0, 8)
    at = 8
    while True:
        length, name = reader.number(at, 4), reader.read_at(at + 4, 4)
        end = at + 12 + length
        if end > reader.size or not name.isalpha():
            raise Damaged
        if name == b"eXIf" and length <= _MAX_EXIF:
            orientation = orientation_of(reader.read_at(at + 8, length))
            if orientation in TURNED:
                yield _chunk(name, orientation_alone(orientation))
        elif not name[0] & _ANCILLARY or name in _SHOWN:
            yield Span(at, end)
        at = end
        if name == b"IEND":
            return


def _chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
