"""The font of a theme's cards in various sizes, and its set of characters.

Drawing letters is half the cost of a card, and words repeat in the titles and bylines of a blog. The images
of recently drawn words are therefore cached.
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
"""Font size for measuring titles."""
_CACHED_WORDS = 768
"""Cached words. A word of ten letters takes 20 kB."""
_CACHED_WEIGHTS = 4
_CACHED_WIDTHS = 4096
_MAX_CACHED_LENGTH = 16
"""Maximum length of a cached word. Images of the longest words would take half a megabyte."""
_COMMON = frozenset((*map(chr, range(0x20, 0x7F)), *map(chr, range(0xA0, 0x100)), *"–—‘’“”…·"))


class WordImage(Struct, frozen=True):
    """A drawn word, ready to be pasted into cards."""

    picture: Image
    """Image of mode `L`, cropped to the word. Each pixel is a colour number, 0 for the background."""
    left: int
    """Horizontal offset of the image from the start of the word, in px to the right."""
    top: int
    """Vertical offset from the baseline, in px downwards."""


class CardFonts:
    """The font of a style. Each size is opened only once, since this takes a millisecond."""

    def __init__(self, style: CardStyle) -> None:
        self._style = style
        self._fonts: dict[tuple[int, int], FreeTypeFont] = {}
        self._kept_word = lru_cache(_CACHED_WORDS)(self._draw_word)
        self._kept_width = lru_cache(_CACHED_WIDTHS)(self._measure)
        self.x_height_px = lru_cache(_CACHED_WEIGHTS)(self._x_height_px)
        """Function from weight to the x-height of a font of `EM_PX`."""

    def font(self, size_px: int, weight: int) -> FreeTypeFont:
        """Return the font at a size, in `weight` or the closest available. OSError if the file cannot be
        read."""
        key = size_px, weight
        if key not in self._fonts:
            self._fonts[key] = _open_font(self._style, size_px, weight)
        return self._fonts[key]

    def word(
        self, text: str, size_px: int, weight: int, shades: bytes, direction: Direction = "ltr"
    ) -> WordImage:
        """Return a drawn word, or several words of a line. Raises OSError like `font`.

        shades: coverage of a pixel, from 0 to 255 → colour number. direction: of the surrounding text.
        """
        draw = self._kept_word if len(text) <= _MAX_CACHED_LENGTH else self._draw_word
        return draw(text, size_px, weight, shades, direction if is_mixed(text) else None)

    def width_px(self, text: str, size_px: int, weight: int) -> float:
        """Return the width of `text`. Raises OSError like `font`."""
        measure = self._kept_width if len(text) <= _MAX_CACHED_LENGTH else self._measure
        return measure(text, size_px, weight)

    def _measure(self, text: str, size_px: int, weight: int) -> float:
        return self.font(size_px, weight).getlength(text)

    def _x_height_px(self, weight: int) -> float:
        return -self.font(EM_PX, weight).getbbox("x", anchor="ls")[1]

    def _draw_word(
        self, text: str, size_px: int, weight: int, shades: bytes, direction: Direction | None
    ) -> WordImage:
        from PIL import Image, features

        # only Pillow with raqm can reorder text of mixed direction
        direction = direction if features.check("raqm") else None
        # `ImageDraw.text` would lay it out twice, to measure and to draw
        mask, (left, top) = self.font(size_px, weight).getmask2(text, "L", direction, anchor="ls")
        covered = Image.new("L", mask.size)
        covered.im.paste(mask, (0, 0, *mask.size))
        # reading the table of shades takes `point` longer than applying it
        shaded = Image.frombytes("L", mask.size, covered.tobytes().translate(shades))
        return WordImage(shaded, left, top)


def missing_characters(text: str, style: CardStyle) -> str:
    """Return the characters of `text` that the font of a style lacks. They would be drawn as empty boxes."""
    if _COMMON.issuperset(text):
        # every text font has these characters, and opening a font takes 40 ms
        return ""
    signs = _supported_code_points(style)
    return "".join(sorted({sign for sign in text if not sign.isspace() and ord(sign) not in signs}))


def _supported_code_points(style: CardStyle) -> frozenset[int]:
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
        # the font has only one weight
        return font
    font.set_variation_by_axes([_axis_value(axis, weight) for axis in axes])
    return font


def _axis_value(axis: Mapping[str, Any], weight: int) -> float:
    if axis["name"] not in (b"Weight", "Weight"):
        return float(axis["default"])
    return float(min(max(weight, axis["minimum"]), axis["maximum"]))
