"""PNG encoding of images with sixteen colours, in a third of Pillow's time.

Pillow tries five filters on each row to find the smallest result, but for areas of one colour no filter is
always best. Half of the rows of a card are empty: they are not scanned, and their compressed form is cached.
Source: PNG, third edition; RFC 1950 and 1951.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BITS = 4
"""Number of bits for each pixel."""
_PADDING_PX = 8 // _BITS
_BAND = 6
"""Number of rows that are tested together for being empty."""
_PALETTE_COLORS = 3
"""Value of the PNG header for images with a palette."""
_ZLIB_HEADER, _LAST_BLOCK = b"\x78\x5e", b"\x03\x00"
_LEVEL = 3
_MOST_MEMORY = 9
_ADLER_BASE = 65521


def encode_png(image: Image, palette: Sequence[int], drawn: Iterable[tuple[int, int]]) -> bytes:
    """Encode the image as PNG. The same image and zlib version give the same bytes.

    image: of mode `L`, of even width; pixels are colour numbers. palette: red, green and blue of each
    colour. drawn: row ranges (first row, row after the last) of the parts of the image that are not empty.
    """
    header = (*image.size, (_BITS << 24) + (_PALETTE_COLORS << 16))
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", b"".join(number.to_bytes(4, "big") for number in header) + b"\0"),
            _chunk(b"PLTE", bytes(palette)),
            _chunk(b"IDAT", _deflate(image, palette, _bands(drawn, image.height))),
            _chunk(b"IEND", b""),
        )
    )


def _bands(drawn: Iterable[tuple[int, int]], height: int) -> Iterator[tuple[int, int]]:
    """Yield the row ranges rounded to whole bands, with adjacent ranges merged."""
    last = None
    for start, end in sorted((start - start % _BAND, end + -end % _BAND) for start, end in drawn):
        if last and start <= last[1]:
            last = last[0], max(last[1], end)
        else:
            if last:
                yield last
            last = start, end
    if last:
        yield last[0], min(last[1], height)


def _deflate(image: Image, palette: Sequence[int], bands: Iterable[tuple[int, int]]) -> bytes:
    """Return the rows as a zlib stream. bands: row ranges that may contain drawn pixels."""
    # each row starts with a byte for its filter type, here 0 for no filter
    width = (image.width + _PADDING_PX) * _BITS // 8
    step, total, at = width * _BAND, zlib.adler32(b""), 0
    made, empty, left = [_ZLIB_HEADER], bytes(step), 0
    for start, end in bands:
        left += (start - at) * width
        data = _rows(image, palette, start, end)
        for is_empty, found in groupby((data[n : n + step] for n in range(0, len(data), step)), empty.__eq__):
            run = b"".join(found)
            if is_empty:
                left += len(run)
                continue
            made.append(_deflate_empty(left))
            made.append(_deflate_run(run))
            total, left = zlib.adler32(run, _extend_adler_with_zeros(total, left)), 0
        at = end
    left += (image.height - at) * width
    made.append(_deflate_empty(left))
    return b"".join((*made, _LAST_BLOCK, _extend_adler_with_zeros(total, left).to_bytes(4, "big")))


def _rows(image: Image, palette: Sequence[int], start: int, end: int) -> bytes:
    padded = image.crop((-_PADDING_PX, start, image.width, end))
    padded.putpalette(palette)
    return padded.tobytes("raw", f"P;{_BITS}")


def _extend_adler_with_zeros(total: int, size: int) -> int:
    """Return the Adler-32 checksum of `size` zero bytes appended to data with the checksum `total` (RFC 1950,
    9)."""
    low, high = total & 0xFFFF, total >> 16
    return (high + size * low) % _ADLER_BASE << 16 | low


@lru_cache(1024)
def _deflate_empty(size: int) -> bytes:
    return _deflate_run.__wrapped__(bytes(size)) if size else b""


@lru_cache(16)
def _deflate_run(data: bytes) -> bytes:
    """Return deflate blocks that do not refer to earlier data and end at a byte boundary.

    The results are cached: the site name and the rule at the bottom are the same on all cards.
    """
    # Z_RLE searches only runs of equal bytes; cards have no other repetition, and a full search takes twice
    # as long
    stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, _MOST_MEMORY, zlib.Z_RLE)
    return stream.compress(data) + stream.flush(zlib.Z_SYNC_FLUSH)


def _chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
