"""The font of a theme's cards: at the sizes in which it is wanted, and which characters it has.

Drawing letters is half of what a card costs, and the words of a blog's titles and bylines repeat: those that
were drawn last are kept as pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ...languages.tags import Direction
from ...model.social_cards import CardStyle
from .title import is_mixed

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

EM_PX = 100
"""Size of the font with which titles are measured."""
_KEPT_WORDS = 768
"""A word of ten letters takes 20 kB."""
_KEPT_WEIGHTS = 4
_KEPT_WIDTHS = 4096
_KEPT_LETTERS = 16
"""Longer words are drawn anew: pictures of the longest take half a megabyte."""
_COMMON = frozenset((*map(chr, range(0x20, 0x7F)), *map(chr, range(0xA0, 0x100)), *"–—‘’“”…·"))


class DrawnWord(Struct, frozen=True):
    """A word as it is put into cards."""

    picture: Image
    """Of mode `L`, no larger than the word: a number for each pixel, 0 where nothing is covered."""
    left: int
    """Of the picture, from the place where the word begins; pixels to the right."""
    top: int
    """From the base line; pixels downwards."""


class CardFonts:
    """The font of a style; each size of it is opened once, which takes a millisecond."""

    def __init__(self, style: CardStyle) -> None:
        self._style = style
        self._fonts: dict[tuple[int, int], FreeTypeFont] = {}
        self._kept_word = lru_cache(_KEPT_WORDS)(self._draw_word)
        self._kept_width = lru_cache(_KEPT_WIDTHS)(self._measure)
        self.x_height_px = lru_cache(_KEPT_WEIGHTS)(self._x_height_px)
        """Weight → height of an x in a font of `EM_PX`."""

    def at(self, size_px: int, weight: int) -> FreeTypeFont:
        """The font at a size, as bold as it can be up to a weight. OSError if the file cannot be read."""
        key = size_px, weight
        if key not in self._fonts:
            self._fonts[key] = _open_font(self._style, size_px, weight)
        return self._fonts[key]

    def word(
        self, text: str, size_px: int, weight: int, shades: bytes, direction: Direction = "ltr"
    ) -> DrawnWord:
        """A word, or several that share a line, in the font that `at` gives. OSError as there.

        shades: how much of a pixel is covered, from 0 to 255 → number of the pixel. direction: of the text
        that they stand in.
        """
        draw = self._kept_word if len(text) <= _KEPT_LETTERS else self._draw_word
        return draw(text, size_px, weight, shades, direction if is_mixed(text) else None)

    def width_px(self, text: str, size_px: int, weight: int) -> float:
        """What a text takes in its line. OSError as of `at`."""
        measure = self._kept_width if len(text) <= _KEPT_LETTERS else self._measure
        return measure(text, size_px, weight)

    def _measure(self, text: str, size_px: int, weight: int) -> float:
        return self.at(size_px, weight).getlength(text)

    def _x_height_px(self, weight: int) -> float:
        return -self.at(EM_PX, weight).getbbox("x", anchor="ls")[1]

    def _draw_word(
        self, text: str, size_px: int, weight: int, shades: bytes, direction: Direction | None
    ) -> DrawnWord:
        from PIL import Image, features

        # what orders words of both directions is not in every Pillow
        direction = direction if features.check("raqm") else None
        # `ImageDraw.text` would lay it out twice, for its size and for itself
        mask, (left, top) = self.at(size_px, weight).getmask2(text, "L", direction, anchor="ls")
        covered = Image.new("L", mask.size)
        covered.im.paste(mask, (0, 0, *mask.size))
        # `point` would take longer to read the table of shades than to apply it
        shaded = Image.frombytes("L", mask.size, covered.tobytes().translate(shades))
        return DrawnWord(shaded, left, top)


def missing_signs(text: str, style: CardStyle) -> str:
    """The characters of `text` that the font of a style cannot draw; they would be empty boxes."""
    if _COMMON.issuperset(text):
        # every font for text has them, and opening one takes 40 ms
        return ""
    signs = _signs_of(style)
    return "".join(sorted({sign for sign in text if not sign.isspace() and ord(sign) not in signs}))


def _signs_of(style: CardStyle) -> frozenset[int]:
    if style.font is None:
        return frozenset(map(ord, _COMMON))
    from fontTools.ttLib import TTFont

    with TTFont(style.font, lazy=True) as font:
        return frozenset(font.getBestCmap())


def _open_font(style: CardStyle, size_px: int, weight: int) -> FreeTypeFont:
    from PIL import ImageFont

    if style.font is None:
        found: Any = ImageFont.load_default(size_px)
        assert isinstance(found, ImageFont.FreeTypeFont), "Pillow has FreeType"
        return found
    font = ImageFont.truetype(style.font, size_px)
    try:
        axes = font.get_variation_axes()
    except OSError:
        # it has one weight
        return font
    font.set_variation_by_axes([_axis_value(axis, weight) for axis in axes])
    return font


def _axis_value(axis: Mapping[str, Any], weight: int) -> float:
    if axis["name"] not in (b"Weight", "Weight"):
        return float(axis["default"])
    return float(min(max(weight, axis["minimum"]), axis["maximum"]))
