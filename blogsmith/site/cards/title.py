"""The title of a card as words and formulas, broken into lines of similar width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple
from unicodedata import bidirectional, category

from msgspec import Struct
from msgspec.structs import replace

from ...base.html_tags import Tag, scan_html
from ...base.patterns import lazy_pattern
from ...languages.tags import Direction
from ...model.letters import ALPHABETIC, IDEOGRAPHIC, UNSPACED, split_clusters

_MOST_PIECES = 150
_LONGEST_WORD = 100
"""Maximum number of characters of a word. Longer text would not fit, but would take time to lay out."""
_LONGEST_FORMULA = 5_000
"""Maximum number of characters of a formula's MathML. A longer formula is shown as text."""
_MOST_CHARACTERS = 50_000
_UNSPACED = lazy_pattern(f"[{UNSPACED}]")
_IDEOGRAPHIC, _ALPHABETIC = lazy_pattern(f"[{IDEOGRAPHIC}]"), lazy_pattern(f"[{ALPHABETIC}]")
_OPENING = frozenset(("Ps", "Pi"))
"""Unicode categories of opening punctuation."""
_LONG_PHRASE = 16
"""Number of characters. A longer phrase in Thai, Lao, Burmese or Khmer may be split between any letters."""
_NO_START = frozenset("ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶー々〻ゝゞヽヾะาำๅๆະາຳໆ")
"""Letters that a line must not begin with: small Kana, iteration marks, vowels of Thai and Lao."""
_NO_END = frozenset("เแโใไເແໂໃໄ\u17d2\u1039")
"""Letters that a line must not end with: vowels of Thai and Lao, and marks that stack letters."""
_RIGHT_TO_LEFT = frozenset(("R", "AL"))
"""Bidirectional classes of letters written from right to left (Unicode)."""


class TitlePiece(Struct, frozen=True):
    """An unbreakable piece of a title: a word or a formula."""

    text: str = ""
    """The word, or the linear form of the formula."""
    mathml: str = ""
    """A `<math>` element as XML; empty for a word."""
    is_glued: bool = False
    """Whether there is no space before this piece."""
    may_wrap: bool = False
    """Whether a line may start with this piece, although no space precedes it."""
    font: int = 0
    """Number of the piece's font in `CardFonts`; 0 is the font of the style."""


class Line(Struct, frozen=True):
    """Pieces on the same line."""

    pieces: tuple[TitlePiece, ...]
    width: float
    """Width in the unit that the caller chose, as all widths in this module."""


def title_pieces(html: str) -> tuple[TitlePiece, ...]:
    """Return the pieces of a title, limited in number and length to what a card can show.

    html: inline HTML made by blogsmith.
    """
    reader, start = _TitleReader(), html[:_MOST_CHARACTERS]
    for part in scan_html(start):
        if isinstance(part, str):
            reader.add_text(part)
        elif part.is_end:
            reader.close(part.name)
        else:
            reader.start(part)
            if part.is_closed:
                reader.close(part.name)
    return tuple(reader.pieces[:_MOST_PIECES])


def split_unspaced(pieces: Iterable[TitlePiece]) -> Iterator[TitlePiece]:
    """Yield the pieces of a title, with words of scripts without spaces split where a line may break. Without
    a dictionary the words of Thai, Lao, Burmese and Khmer are unknown, so only long phrases of them are
    split."""
    for piece in pieces:
        if piece.mathml or not _UNSPACED.search(piece.text):
            yield piece
            continue
        for number, text in enumerate(_split_word(piece.text)):
            yield replace(piece, text=text, is_glued=bool(number) or piece.is_glued, may_wrap=bool(number))


def _split_word(word: str) -> list[str]:
    parts: list[str] = []
    last, clusters = "", split_clusters(word)
    for cluster in clusters:
        first = cluster[0]
        is_break = _is_ideographic(first) or _is_ideographic(last[:1])
        if len(clusters) > _LONG_PHRASE:
            is_break = is_break or _is_alphabetic(first)
        # CLREQ and JLREQ: no line starts with closing punctuation or ends with opening punctuation
        fits = (first.isalnum() or category(first) in _OPENING) and first not in _NO_START
        if parts and not (
            is_break and fits and category(last[0]) not in _OPENING and last[-1] not in _NO_END
        ):
            parts[-1] += cluster
        else:
            parts.append(cluster)
        last = cluster
    return parts


def _is_ideographic(text: str) -> bool:
    return bool(_IDEOGRAPHIC.fullmatch(text))


def _is_alphabetic(text: str) -> bool:
    return bool(_ALPHABETIC.fullmatch(text))


def is_mixed(text: str) -> bool:
    """Return whether `text` contains letters written from right to left, so that its words must be laid out
    together."""
    return not text.isascii() and any(bidirectional(sign) in _RIGHT_TO_LEFT for sign in text)


def join_runs(pieces: Sequence[TitlePiece], direction: Direction) -> Sequence[TitlePiece]:
    """Return the pieces of a line. In a line with right-to-left text, join consecutive words into one piece.
    Their order depends on adjacent words (Unicode Standard Annex 9)."""
    if direction == "ltr" and not any(is_mixed(piece.text) for piece in pieces if not piece.mathml):
        return _join_wrapped(pieces)
    joined: list[TitlePiece] = []
    for (is_formula, font), found in groupby(pieces, lambda piece: (bool(piece.mathml), piece.font)):
        run = list(found)
        if is_formula:
            joined += run
        else:
            text = "".join(("" if piece.is_glued else " ") + piece.text for piece in run)
            joined.append(TitlePiece(text.lstrip(" "), is_glued=run[0].is_glued, font=font))
    return joined


def _join_wrapped(pieces: Sequence[TitlePiece]) -> Sequence[TitlePiece]:
    """Return the pieces of a line, with the parts of split words joined again: the shapes of letters depend
    on their neighbours."""
    if not any(piece.may_wrap for piece in pieces):
        return pieces
    joined: list[TitlePiece] = []
    for piece in pieces:
        if joined and piece.may_wrap and piece.font == joined[-1].font and not joined[-1].mathml:
            joined[-1] = replace(joined[-1], text=joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return joined


class _TitleReader:
    def __init__(self) -> None:
        self.pieces: list[TitlePiece] = []
        self._math: list[str] = []
        self._linear = ""
        self._has_space = True

    def start(self, tag: Tag) -> None:
        attributes = tag.attributes
        if tag.name == "math":
            self._linear = attributes.get("alttext", "")
            # inline even if the title contains display math
            attributes = {"display": "inline"}
        elif not self._math:
            return
        written = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
        self._math.append(f"<{tag.name}{written}>")

    def close(self, tag: str) -> None:
        if not self._math:
            return
        self._math.append(f"</{tag}>")
        if tag == "math":
            mathml = "".join(self._math)
            is_short = len(mathml) <= _LONGEST_FORMULA
            self._add(TitlePiece(self._linear[:_LONGEST_WORD], mathml if is_short else ""))
            self._math = []

    def add_text(self, data: str) -> None:
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
    """Break a title into as few lines as possible, of similar width. A piece wider than a line gets a line of
    its own. space: width of a space. most: number of lines above which the caller does not use the result, so
    that it need not be balanced."""
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

    @property
    def is_glued(self) -> bool:
        """Whether there is no space before the word."""
        return self.pieces[0].may_wrap


def _fill(words: Sequence[_Word], width: float, space: float) -> tuple[Line, ...]:
    lines: list[Line] = []
    row: tuple[TitlePiece, ...] = ()
    row_width = 0.0
    for word in words:
        gap = 0.0 if word.is_glued or not row else space
        if row and row_width + gap + word.width > width:
            lines.append(Line(row, row_width))
            row, row_width, gap = (), 0.0, 0.0
        row_width += gap + word.width
        row += word.pieces
    return (*lines, Line(row, row_width)) if row else tuple(lines)


def _words(pieces: Sequence[TitlePiece]) -> list[tuple[TitlePiece, ...]]:
    words: list[tuple[TitlePiece, ...]] = []
    for piece in pieces:
        if piece.is_glued and not piece.may_wrap and words:
            words[-1] += (piece,)
        else:
            words.append((piece,))
    return words
