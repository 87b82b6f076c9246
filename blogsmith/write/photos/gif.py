"""GIF: comments and the data of programs go, and all behind its end; pictures, loops and colours stay."""

from __future__ import annotations

from collections.abc import Iterator

from .container import ByteReader, Damaged, Part, Span

_COMMENT, _APPLICATION = 0xFE, 0xFF
_SHOWN = frozenset({b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012"})
"""How often an animation runs, and a colour profile."""
_PICTURE, _EXTENSION, _END = 0x2C, 0x21, 0x3B


def gif_parts(reader: ByteReader) -> Iterator[Part]:
    """What is published of a GIF; `Damaged` if its blocks cannot be told apart."""
    at = 13 + _colours(reader.read_at(10, 1)[0])
    yield Span(0, at)
    while True:
        kind = reader.read_at(at, 1)[0]
        if kind == _END:
            yield Span(at, at + 1)
            return
        if kind == _PICTURE:
            # a byte between the colours and the data says how these are packed
            end = _blocks_end(reader, at + 11 + _colours(reader.read_at(at + 9, 1)[0]))
            yield Span(at, end)
        elif kind == _EXTENSION:
            label = reader.read_at(at + 1, 1)[0]
            end = _blocks_end(reader, at + 2)
            if label != _COMMENT and (label != _APPLICATION or reader.read_at(at + 3, 11) in _SHOWN):
                yield Span(at, end)
        else:
            raise Damaged
        at = end


def _colours(flags: int) -> int:
    """Bytes of the table of colours that these flags announce."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _blocks_end(reader: ByteReader, at: int) -> int:
    """Where data end that stand in blocks with their lengths."""
    while length := reader.read_at(at, 1)[0]:
        at += length + 1
    return at + 1
