"""A file on its way into the site: a picture loses its private data, anything else stays as it is.

The first bytes decide what a file is, and whatever is no picture costs nothing more. Pixels are never
decoded: containers are written again without what says nothing of the picture (lossless by construction).
Files are read in blocks, so a large one takes no memory. What is damaged is published as it is.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import BinaryIO

from .container import BLOCK, ByteReader, Damaged, Part, Span, chunks, join_spans
from .exif import private_tags
from .films import film_tells
from .gif import gif_parts
from .heif import heif_parts
from .jpeg import jpeg_parts
from .png import png_parts
from .webp import webp_parts

_HEAD = 64
"""Bytes that decide."""
_BRANDS = (b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")

_FILMS = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
"""Boxes that films begin with."""

_Parts = Callable[[ByteReader], Iterable[Part]]


def read_published(stream: BinaryIO) -> Iterator[bytes]:
    """What is published of a file, a block at a time."""
    parts = _cleaned_parts(stream)
    if parts is not None:
        yield from chunks(stream, parts)
        return
    stream.seek(0)
    while block := stream.read(BLOCK):
        yield block


def clean_bytes(data: bytes) -> bytes:
    """The same of bytes in memory."""
    parts = _cleaned_parts(io.BytesIO(data))
    return data if parts is None else b"".join(chunks(io.BytesIO(data), parts))


def clean_stream(stream: BinaryIO) -> bytes | None:
    """What is published of a file, if that is not the file as it is."""
    parts = _cleaned_parts(stream)
    return None if parts is None else b"".join(chunks(stream, parts))


def private_rest(stream: BinaryIO) -> tuple[str, ...]:
    """What a picture or film still tells when it is published, in words; `Damaged` if nobody can know."""
    stream.seek(0)
    head = stream.read(_HEAD)
    parts_of = _format(head)
    if parts_of is jpeg_parts:
        # what can be damaged stands in front
        parts_of = partial(jpeg_parts, whole=False)
    if parts_of:
        for _ in parts_of(ByteReader(stream)):
            pass
    elif head[:4] in (b"II*\0", b"MM\0*"):
        return private_tags(ByteReader(stream))
    elif head[4:8] in _FILMS:
        return film_tells(ByteReader(stream))
    return ()


def _cleaned_parts(stream: BinaryIO) -> tuple[Part, ...] | None:
    """The parts that are published; None if that is the file as it is."""
    stream.seek(0)
    parts_of = _format(stream.read(_HEAD))
    if parts_of is None:
        return None
    reader = ByteReader(stream)
    try:
        parts = join_spans(parts_of(reader))
    except Damaged:
        return None
    return None if parts == (Span(0, reader.size),) else parts


def _format(head: bytes) -> _Parts | None:
    """How a file that begins so is taken apart; None for what is no picture."""
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
