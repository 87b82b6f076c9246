"""Drawing of a social card as PNG: site name, title in the largest size that fits, author and date.

Each of these parts has a horizontal band of its own, drawn in a single colour. The coverage of each pixel
therefore determines its colour, a palette of 16 colours suffices, and the file is small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from ...languages.tags import Direction
from ...model.letters import split_clusters
from ...model.social_cards import HEIGHT_PX, WIDTH_PX, CardStyle, SocialCard
from .fonts import EM_PX, CardFonts, WordImage
from .formula import X_HEIGHT, Formula, lay_out_formula
from .png import encode_png
from .title import Line, TitlePiece, break_lines, join_runs, split_unspaced, title_pieces

if TYPE_CHECKING:
    from PIL.Image import Image

ELLIPSIS = TitlePiece("…", is_glued=True)
_MARGIN_PX = 90
_SIZES_PX = (92, 84, 76, 68, 60, 54, 48)
_LABEL_PX, _LABEL_WEIGHT = 34, 400
_MAX_LABEL_LETTERS = 300
"""Maximum number of characters of a line, twice as many as fit in the narrowest letters. A longer line is cut
to this length before its width is measured."""
_TOP_PX = 84
"""Baseline of the site name, in px from the top."""
_BOTTOM_PX = HEIGHT_PX - 76
"""Baseline of author and date, in px from the top."""
_TITLE_PX = (120, 500)
"""Vertical range of the title, in px from the top."""
_RULE_PX = HEIGHT_PX - 8
"""Top of the rule at the bottom edge, in px from the top."""
_LEADING = 1.18
_INK_SHADES, _LABEL_SHADES = 7, 4
"""Number of shades between background and full colour, for the title and for the other lines. Together with
the background, there are 16 colours."""


class _TitleMetrics:
    """Measures the pieces of a title. They are measured at one font size, because text scales linearly."""

    def __init__(self, fonts: CardFonts, weight: int) -> None:
        self.fonts = fonts
        self.weight = weight
        self._formulas: dict[str, Formula | None] = {}
        top = fonts.x_height_px(weight)
        # scales formulas so that their x-height equals that of words: fonts define their size in different
        # ways
        self.math_em = top / EM_PX / X_HEIGHT if top else 1.0
        """Font size of formulas, in em of the words."""

    def formula(self, piece: TitlePiece) -> Formula | None:
        """Return the layout of a formula; None for words, and for formulas that cannot be laid out."""
        if piece.mathml and piece.mathml not in self._formulas:
            self._formulas[piece.mathml] = lay_out_formula(piece.mathml)
        return self._formulas.get(piece.mathml)

    def width_em(self, piece: TitlePiece) -> float:
        """Return the width of a piece (words or a formula), in em of the font size of the title."""
        formula = self.formula(piece)
        return formula.width * self.math_em if formula else self.text_em(piece.text, piece.font)

    def text_em(self, text: str, font: int = 0) -> float:
        """Return the width of words, in em. font: number of the font in `CardFonts`."""
        return self.fonts.width_px(text, EM_PX, self.weight, font) / EM_PX

    def label_em(self, text: str) -> float:
        """Return the width of a line of words, in em."""
        pieces = self.label_pieces(text)
        if not any(piece.font for piece in pieces):
            return self.text_em(text)
        spaces = sum(not piece.is_glued for piece in pieces) - 1
        return sum(map(self.width_em, pieces)) + spaces * self.text_em(" ")

    def label_pieces(self, text: str) -> tuple[TitlePiece, ...]:
        """Return the pieces of a line, one for each word, or several if a word needs several fonts."""
        return tuple(self.fonts.assign(TitlePiece(word) for word in text.split()))

    def extent_em(self, line: Line) -> tuple[float, float]:
        """Return the height of a line above and below its baseline, in em."""
        ascent, descent = 0.78, _LEADING - 0.78
        for piece in line.pieces:
            if formula := self.formula(piece):
                ascent = max(ascent, -formula.top * self.math_em + 0.08)
                descent = max(descent, (formula.top + formula.height) * self.math_em + 0.08)
        return ascent, descent

    def height_em(self, lines: Sequence[Line]) -> float:
        """Return the total height of the lines, in em."""
        return sum(sum(self.extent_em(line)) for line in lines)


def draw_card(card: SocialCard, style: CardStyle, fonts: CardFonts | None = None) -> bytes:
    """Draw the card as PNG. The same card, style, fonts and Pillow version give the same bytes. fonts: the
    fonts of this style and those for other letters, shared by several cards; if None, fonts are opened for
    this card only. Raises OSError if a font cannot be read."""
    from PIL import Image

    fonts, shades, direction = fonts or CardFonts(style), _shades(style), card.direction
    picture = _Canvas(Image.new("L", (WIDTH_PX, HEIGHT_PX)))
    title, label = _TitleMetrics(fonts, style.weight), _TitleMetrics(fonts, _LABEL_WEIGHT)
    pieces = tuple(split_unspaced(fonts.assign(title_pieces(card.title_html))))
    _draw_title(picture, pieces, title, shades.title, direction)
    _draw_label(picture, card.site, _TOP_PX, label, shades.label, direction)
    _draw_label(picture, card.byline, _BOTTOM_PX, label, shades.byline, direction)
    picture.image.paste(shades.label[-1], (_MARGIN_PX, _RULE_PX, WIDTH_PX - _MARGIN_PX, HEIGHT_PX))
    return encode_png(picture.image, shades.palette, (*picture.rows(), (_RULE_PX, HEIGHT_PX)))


class _Canvas:
    """A card while it is drawn."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self._boxes: list[tuple[int, int, int, int]] = []
        """Left, top, right and bottom of each part drawn so far."""

    def add(self, part: Image, left: int, top: int) -> None:
        """Paste a part of the card, such as a drawn word, into the image. Where parts overlap, the darker
        pixel is used."""
        box = left, top, right, bottom = (left, top, left + part.width, top + part.height)
        if any(x < right and left < x2 and y < bottom and top < y2 for x, y, x2, y2 in self._boxes):
            from PIL import ImageChops

            part = ImageChops.lighter(self.image.crop(box), part)
        self.image.paste(part, box)
        self._boxes.append(box)

    def rows(self) -> Iterator[tuple[int, int]]:
        """Yield the first row and the row after the last of each part drawn so far."""
        for _, top, _, bottom in self._boxes:
            yield max(0, top), min(bottom, self.image.height)

    def add_word(self, word: WordImage, x: float, base: float) -> None:
        """Paste a word at the nearest whole pixels, so that one cached image of the word serves all
        positions."""
        self.add(word.picture, round(x) + word.left, round(base) + word.top)


def _fit_title(pieces: Sequence[TitlePiece], ruler: _TitleMetrics) -> tuple[int, tuple[Line, ...]]:
    """Return the largest font size in px that fits the title, and the lines of the title.

    A title that does not fit at the smallest size is truncated.
    """
    width, height = WIDTH_PX - 2 * _MARGIN_PX, _TITLE_PX[1] - _TITLE_PX[0] - _LABEL_PX
    lines: tuple[Line, ...] = ()
    for size in _SIZES_PX:
        # large font sizes are for short titles
        few = 2 if size > 76 else 3 if size > 60 else 4
        most = few if size != _SIZES_PX[-1] else None
        lines = break_lines(pieces, width / size, ruler.width_em, ruler.text_em(" "), most=most)
        is_narrow = all(line.width * size <= width for line in lines)
        if is_narrow and len(lines) <= few and ruler.height_em(lines) * size <= height:
            return size, lines
    return _SIZES_PX[-1], _shorten(lines, ruler, width / _SIZES_PX[-1], height / _SIZES_PX[-1])


def _shorten(
    lines: Sequence[Line], ruler: _TitleMetrics, width_em: float, height_em: float
) -> tuple[Line, ...]:
    """Return the lines that fit, with an ellipsis at the end."""
    kept = [line for number, line in enumerate(lines) if ruler.height_em(lines[: number + 1]) <= height_em]
    pieces = [piece for line in kept for piece in line.pieces]
    while True:
        shorter = break_lines((*pieces, ELLIPSIS), width_em, ruler.width_em, ruler.text_em(" "))
        is_narrow = all(line.width <= width_em for line in shorter)
        if not pieces or (is_narrow and ruler.height_em(shorter) <= height_em):
            return shorter
        pieces.pop()


def _draw_title(
    picture: _Canvas, pieces: Sequence[TitlePiece], ruler: _TitleMetrics, shades: bytes, direction: Direction
) -> None:
    size, lines = _fit_title(pieces, ruler)
    top, bottom = _TITLE_PX
    y = top + (bottom - top - ruler.height_em(lines) * size) / 2
    for line in lines:
        ascent, descent = ruler.extent_em(line)
        _draw_line(picture, line.pieces, ruler, size, y + ascent * size, shades, direction)
        y += (ascent + descent) * size


def _draw_label(
    picture: _Canvas, text: str, base: float, ruler: _TitleMetrics, shades: bytes, direction: Direction
) -> None:
    most = (WIDTH_PX - 2 * _MARGIN_PX) / _LABEL_PX
    if ruler.label_em(text) > most:
        clusters = split_clusters(text)[:_MAX_LABEL_LETTERS]
        while clusters and ruler.label_em("".join((*clusters, "…"))) > most:
            clusters.pop()
        text = f"{''.join(clusters).rstrip()}…"
    # drawn word by word: bylines differ, but their words repeat (months, years, a few names)
    _draw_line(picture, ruler.label_pieces(text), ruler, _LABEL_PX, base, shades, direction)


def _draw_line(
    picture: _Canvas,
    pieces: Sequence[TitlePiece],
    ruler: _TitleMetrics,
    size: int,
    base: float,
    shades: bytes,
    direction: Direction,
) -> None:
    """Draw pieces side by side, from the left or right edge by `direction`. size, base: in px."""
    x = 0.0
    for number, piece in enumerate(join_runs(pieces, direction)):
        x += ruler.text_em(" ") * size if number and not piece.is_glued else 0
        width = ruler.width_em(piece) * size
        left = _MARGIN_PX + x if direction == "ltr" else WIDTH_PX - _MARGIN_PX - x - width
        if formula := ruler.formula(piece):
            math_px = ruler.math_em * size
            filled = formula.fill(math_px).point(shades)
            picture.add(filled, round(left + formula.left * math_px), round(base + formula.top * math_px))
        else:
            word = ruler.fonts.word(piece.text, size, ruler.weight, shades, direction, piece.font)
            picture.add_word(word, left, base)
        x += width


class _Shades(Struct, frozen=True):
    """The colours of cards. Colour 0 is the background; higher numbers of a colour are closer to its full
    strength."""

    palette: tuple[int, ...]
    """Red, green and blue of colour 0, then of colour 1, and so on."""
    label: bytes
    """Coverage of a pixel, 0 to 255 → colour number, for the site name and the rule."""
    title: bytes
    byline: bytes


@lru_cache(8)
def _shades(style: CardStyle) -> _Shades:
    """Return the shades between the background and the colours of a style. All cards of a site share them."""
    from PIL import ImageColor

    ground = ImageColor.getrgb(style.paper)[:3]
    palette, tables = list(ground), list[bytes]()
    for color, steps in (
        (style.accent, _LABEL_SHADES),
        (style.ink, _INK_SHADES),
        (style.muted, _LABEL_SHADES),
    ):
        full = ImageColor.getrgb(color)[:3]
        first = len(palette) // 3
        for step in range(1, steps + 1):
            palette += [round(a + (b - a) * step / steps) for a, b in zip(ground, full, strict=True)]
        shades = [round(value * steps / 255) for value in range(256)]
        tables.append(bytes(first + shade - 1 if shade else 0 for shade in shades))
    return _Shades(tuple(palette), *tables)
