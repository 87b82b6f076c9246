"""The title of a card as words and formulas, and its lines, which are evenly filled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from html.parser import HTMLParser
from itertools import groupby
from typing import NamedTuple
from unicodedata import bidirectional

from msgspec import Struct

from ...languages.tags import Direction

_MOST_PIECES = 150
_LONGEST_WORD = 100
"""Characters. Laying out what nobody will see takes time all the same."""
_LONGEST_FORMULA = 5_000
"""Characters of MathML; a longer one is spelt out."""
_MOST_CHARACTERS = 50_000
_RIGHT_TO_LEFT = frozenset(("R", "AL"))
"""Classes of Unicode's letters."""


class TitlePiece(Struct, frozen=True):
    """What no line breaks in."""

    text: str = ""
    """A word, or the linear form of a formula."""
    mathml: str = ""
    """A `<math>` element as XML; empty for a word."""
    is_glued: bool = False
    """No space stands before it."""


class Line(Struct, frozen=True):
    """Pieces beside each other."""

    pieces: tuple[TitlePiece, ...]
    width: float
    """In the unit of the caller, as all widths here."""


def title_pieces(html: str) -> tuple[TitlePiece, ...]:
    """The pieces of a title, no more and no longer ones than a card can hold.

    html: inline HTML of our own making.
    """
    reader, start = _TitleReader(), html[:_MOST_CHARACTERS]
    if "<" in start or "&" in start:
        reader.feed(start)
        reader.close()
    elif start:
        reader.handle_data(start)
    return tuple(reader.pieces[:_MOST_PIECES])


def is_mixed(text: str) -> bool:
    """Whether letters of it are written from right to left: then its words are put in order as a whole."""
    return not text.isascii() and any(bidirectional(sign) in _RIGHT_TO_LEFT for sign in text)


def join_runs(pieces: Sequence[TitlePiece], direction: Direction) -> Sequence[TitlePiece]:
    """Pieces of a line; where it or a word in it runs from right to left, words in a row as one piece.

    Which of them comes first depends on those beside it (Unicode Standard Annex 9).
    """
    if direction == "ltr" and not any(is_mixed(piece.text) for piece in pieces if not piece.mathml):
        return pieces
    joined: list[TitlePiece] = []
    for is_formula, found in groupby(pieces, lambda piece: bool(piece.mathml)):
        run = list(found)
        if is_formula:
            joined += run
        else:
            text = "".join(("" if piece.is_glued else " ") + piece.text for piece in run)
            joined.append(TitlePiece(text.lstrip(" "), is_glued=run[0].is_glued))
    return joined


class _TitleReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[TitlePiece] = []
        self._math: list[str] = []
        self._linear = ""
        self._has_space = True

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "math":
            self._linear = dict(attrs).get("alttext") or ""
            # in a line, whatever stands around it
            attrs = [("display", "inline")]
        elif not self._math:
            return
        written = "".join(f' {key}="{escape(value or "")}"' for key, value in attrs)
        self._math.append(f"<{tag}{written}>")

    def handle_endtag(self, tag: str) -> None:
        if not self._math:
            return
        self._math.append(f"</{tag}>")
        if tag == "math":
            mathml = "".join(self._math)
            is_short = len(mathml) <= _LONGEST_FORMULA
            self._add(TitlePiece(self._linear[:_LONGEST_WORD], mathml if is_short else ""))
            self._math = []

    def handle_data(self, data: str) -> None:
        if self._math:
            self._math.append(escape(data, quote=False))
            return
        # a no-break space joins words as it does in text
        for number, word in enumerate(data.replace("\u00a0", "\ufffd").split()):
            if number or data[0].isspace():
                self._has_space = True
            self._add(TitlePiece(word[:_LONGEST_WORD].replace("\ufffd", "\u00a0")))
        self._has_space = self._has_space or (bool(data) and data[-1].isspace())

    def _add(self, piece: TitlePiece) -> None:
        glued = not self._has_space and bool(self.pieces)
        self.pieces.append(TitlePiece(piece.text, piece.mathml, glued))
        self._has_space = False


def break_lines(
    pieces: Sequence[TitlePiece],
    width: float,
    width_of: Callable[[TitlePiece], float],
    space: float,
    *,
    most: int | None = None,
) -> tuple[Line, ...]:
    """As few lines as it takes, of about the same width; a piece wider than the line has one of its own.

    most: of more lines than that the caller has no use; they are not evened out.
    """
    words = [_Word(word, sum(map(width_of, word))) for word in _words(pieces)]
    lines = _fill(words, width, space)
    if most is not None and len(lines) > most:
        return lines
    narrow, wide = 0.0, width
    # a title whose last line is one word looks like a mistake
    for _ in range(12):
        middle = (narrow + wide) / 2
        tried = _fill(words, middle, space)
        if len(tried) > len(lines) or any(line.width > width for line in tried):
            narrow = middle
        else:
            wide, lines = middle, tried
    return lines


class _Word(NamedTuple):
    """Pieces that stand together without a space, such as a formula and its comma."""

    pieces: tuple[TitlePiece, ...]
    width: float


def _fill(words: Sequence[_Word], width: float, space: float) -> tuple[Line, ...]:
    lines: list[Line] = []
    row: tuple[TitlePiece, ...] = ()
    row_width = 0.0
    for pieces, word_width in words:
        if row and row_width + space + word_width > width:
            lines.append(Line(row, row_width))
            row, row_width = (), 0.0
        row_width += (space if row else 0.0) + word_width
        row += pieces
    return (*lines, Line(row, row_width)) if row else tuple(lines)


def _words(pieces: Sequence[TitlePiece]) -> list[tuple[TitlePiece, ...]]:
    words: list[tuple[TitlePiece, ...]] = []
    for piece in pieces:
        if piece.is_glued and words:
            words[-1] += (piece,)
        else:
            words.append((piece,))
    return words
