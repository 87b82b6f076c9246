"""PNG with a palette, for matrices that need too many rectangles. Format: W3C PNG, third edition."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from .inks import channels


def indexed_png(rows: Sequence[bytes], palette: Sequence[str], transparent: int = -1) -> bytes:
    """Return a PNG. Its bytes depend on the build of zlib.

    rows: one byte per pixel, the index of its colour.
    palette: at most 256 colours as `#rrggbb`.
    transparent: index of a transparent colour; negative for none.
    """
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"PLTE", b"".join(bytes(channels(colour)) for colour in palette))]
    if transparent >= 0:
        chunks.append((b"tRNS", b"\xff" * transparent + b"\0"))
    # each row starts with the number of its filter: none
    raw = b"".join(b"\0" + row for row in rows)
    # In noise, matches that zlib finds cost more than they save.
    data = min((_deflated(raw, way) for way in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY)), key=len)
    chunks += [(b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _deflated(raw: bytes, strategy: int) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, strategy)
    return stream.compress(raw) + stream.flush()


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
