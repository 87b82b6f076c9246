"""The title of a card as words and formulas, broken into lines of similar width."""

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
"""Characters. Text that will not fit would still take time to lay out."""
_LONGEST_FORMULA = 5_000
"""Characters of MathML. A longer formula is shown as text."""
_MOST_CHARACTERS = 50_000
_RIGHT_TO_LEFT = frozenset(("R", "AL"))
"""Bidirectional classes of Unicode letters."""


class TitlePiece(Struct, frozen=True):
    """An unbreakable piece of a title: a word or a formula."""

    text: str = ""
    """The word, or the linear form of the formula."""
    mathml: str = ""
    """A `<math>` element as XML; empty for a word."""
    is_glued: bool = False
    """Whether there is no space before this piece."""


class Line(Struct, frozen=True):
    """Pieces on the same line."""

    pieces: tuple[TitlePiece, ...]
    width: float
    """Width in the unit of the caller, like all widths here."""


def title_pieces(html: str) -> tuple[TitlePiece, ...]:
    """Return the pieces of a title, limited in number and length to what a card can show.

    html: inline HTML made by blogsmith.
    """
    reader, start = _TitleReader(), html[:_MOST_CHARACTERS]
    if "<" in start or "&" in start:
        reader.feed(start)
        reader.close()
    elif start:
        reader.handle_data(start)
    return tuple(reader.pieces[:_MOST_PIECES])


def is_mixed(text: str) -> bool:
    """Return whether `text` contains letters written from right to left, so that its words must be laid out
    together."""
    return not text.isascii() and any(bidirectional(sign) in _RIGHT_TO_LEFT for sign in text)


def join_runs(pieces: Sequence[TitlePiece], direction: Direction) -> Sequence[TitlePiece]:
    """Return the pieces of a line. If it contains right-to-left text, consecutive words are joined into one
    piece.

    Their order depends on adjacent words (Unicode Standard Annex 9).
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
            # always inline, even if the title itself has a display
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
        # words joined by a no-break space stay together
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
    """Break a title into as few lines as possible, of similar width. A piece wider than a line is alone.

    most: with more lines than this, the result is of no use to the caller and is not balanced.
    """
    words = [_Word(word, sum(map(width_of, word))) for word in _words(pieces)]
    lines = _fill(words, width, space)
    if most is not None and len(lines) > most:
        return lines
    narrow, wide = 0.0, width
    # balanced, because a last line with a single word looks bad
    for _ in range(12):
        middle = (narrow + wide) / 2
        tried = _fill(words, middle, space)
        if len(tried) > len(lines) or any(line.width > width for line in tried):
            narrow = middle
        else:
            wide, lines = middle, tried
    return lines


class _Word(NamedTuple):
    """Pieces without spaces between them, such as a formula and the comma after it."""

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
