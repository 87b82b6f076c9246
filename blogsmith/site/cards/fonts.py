"""The fonts of cards in various sizes, and their sets of characters.

The font of the theme has number 0. A word with letters that it lacks is drawn in the first other font that
has all of them. Drawing letters is half the cost of a card, and words repeat in the titles and bylines of a
blog, so the images of recently drawn words are cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ...languages.tags import Direction
from ...model.letters import remove_invisible, split_clusters
from ...model.social_cards import CardFace, CardStyle
from .faces import face_code_points
from .title import TitlePiece, is_mixed

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

EM_PX = 100
"""Font size for measuring titles, in px."""
_CACHED_WORDS = 768
"""Maximum number of cached words. A word of ten letters needs 20 kB."""
_CACHED_WEIGHTS = 4
_CACHED_WIDTHS = 4096
_MAX_CACHED_LENGTH = 16
"""Maximum number of characters of a cached word. Images of the longest words need half a megabyte."""
_COMMON = frozenset((*map(chr, range(0x20, 0x7F)), *map(chr, range(0xA0, 0x100)), *"–—‘’“”…·"))


_JOINERS = "\u200c\u200d"


class WordImage(Struct, frozen=True):
    """A drawn word, ready to be pasted into cards."""

    picture: Image
    """Image of mode `L`, cropped to the word. Each pixel is a colour number, 0 for the background."""
    left: int
    """Horizontal offset of the image from the start of the word, in px to the right."""
    top: int
    """Vertical offset from the baseline, in px downwards."""


class CardFonts:
    """The font of a style, and others for letters that it lacks. Each size is opened only once, because this
    costs a millisecond."""

    def __init__(self, style: CardStyle, faces: Sequence[CardFace] = ()) -> None:
        self._styles = (style, *(replace(style, font=face.path) for face in faces))
        self._faces = tuple(faces)
        self._fonts: dict[tuple[int, int, int], FreeTypeFont] = {}
        self._kept_word = lru_cache(_CACHED_WORDS)(self._draw_word)
        self._kept_width = lru_cache(_CACHED_WIDTHS)(self._measure)
        self.x_height_px = lru_cache(_CACHED_WEIGHTS)(self._x_height_px)
        """Maps a weight to the x-height of a font of size `EM_PX`, in px."""

    def font(self, size_px: int, weight: int, number: int = 0) -> FreeTypeFont:
        """Return a font at a size, in `weight` or the closest available. Raises OSError if the file cannot be
        read."""
        key = size_px, weight, number
        if key not in self._fonts:
            self._fonts[key] = _open_font(self._styles[number], size_px, weight)
        return self._fonts[key]

    def assign(self, pieces: Iterable[TitlePiece]) -> Iterator[TitlePiece]:
        """Yield the pieces, each with the number of its font. Characters that no font has are removed. If one
        font has all characters of the pieces, it is used for all of them, because a line in one font looks
        best."""
        written = tuple(pieces)
        words = [piece for piece in written if not piece.mathml]
        if all(_COMMON.issuperset(piece.text) for piece in words):
            yield from written
            return
        drawn = {id(piece): self._remove_missing(piece.text) for piece in words}
        common = self._find_font("".join(drawn.values()))
        has_previous = True
        for piece in written:
            text = drawn.get(id(piece), piece.text)
            is_glued = piece.is_glued and has_previous
            if text != piece.text and not any(map(str.isalnum, text)):
                # the removed symbol may leave its punctuation
                is_glued = True
            is_one = bool(piece.mathml) or common is not None or not text
            runs = [(common or 0, text)] if is_one else self._split_by_font(text)
            for number, part in runs if text else ():
                yield replace(piece, text=part, is_glued=is_glued, font=0 if piece.mathml else number)
                is_glued = True
            # if nothing is left of this piece, the next one gets its spacing
            has_previous = is_glued

    def _remove_missing(self, text: str) -> str:
        """Return `text` without the characters that have no shape, and without those that no font has."""
        if _COMMON.issuperset(text):
            return text
        return "".join(char for char in remove_undrawn(text) if self._find_font(char) is not None)

    def _split_by_font(self, text: str) -> list[tuple[int, str]]:
        """Return `text` in parts with the numbers of their fonts, as few as possible."""
        whole = self._find_font(text)
        if whole is not None:
            return [(whole, text)]
        runs: list[tuple[int, str]] = []
        for cluster in split_clusters(text):
            # a combining mark may come from another font than its letter
            fitting = self._find_font(cluster)
            for part in (cluster,) if fitting is not None else cluster:
                number = self._find_font(part) or 0
                if runs and runs[-1][0] == number:
                    runs[-1] = number, runs[-1][1] + part
                else:
                    runs.append((number, part))
        return runs

    def _find_font(self, text: str) -> int | None:
        """Return the number of the first font that has all characters of `text`; None if no font has."""
        code_points = {ord(char) for char in text if char not in _JOINERS and not char.isspace()}
        if code_points <= _code_points(self._styles[0]):
            return 0
        faces = enumerate(self._faces, 1)
        return next((number for number, face in faces if code_points <= face_code_points(face)), None)

    def word(
        self,
        text: str,
        size_px: int,
        weight: int,
        shades: bytes,
        direction: Direction = "ltr",
        number: int = 0,
    ) -> WordImage:
        """Return a drawn word, or several words of a line. Raises OSError like `font`.

        shades: coverage of a pixel, from 0 to 255 → colour number. direction: of the surrounding text.
        number: number of the font.
        """
        draw = self._kept_word if len(text) <= _MAX_CACHED_LENGTH else self._draw_word
        return draw(text, size_px, weight, shades, direction if is_mixed(text) else None, number)

    def width_px(self, text: str, size_px: int, weight: int, number: int = 0) -> float:
        """Return the width of `text`. Raises OSError like `font`. number: number of the font."""
        measure = self._kept_width if len(text) <= _MAX_CACHED_LENGTH else self._measure
        return measure(text, size_px, weight, number)

    def _measure(self, text: str, size_px: int, weight: int, number: int) -> float:
        return self.font(size_px, weight, number).getlength(text)

    def _x_height_px(self, weight: int) -> float:
        return -self.font(EM_PX, weight).getbbox("x", anchor="ls")[1]

    def _draw_word(
        self,
        text: str,
        size_px: int,
        weight: int,
        shades: bytes,
        direction: Direction | None,
        number: int,
    ) -> WordImage:
        from PIL import Image, features

        # only Pillow with raqm can reorder text of mixed direction
        direction = direction if features.check("raqm") else None
        # `ImageDraw.text` would lay it out twice, to measure and to draw
        mask, (left, top) = self.font(size_px, weight, number).getmask2(text, "L", direction, anchor="ls")
        covered = Image.new("L", mask.size)
        covered.im.paste(mask, (0, 0, *mask.size))
        # reading the table of shades takes `point` longer than applying it
        shaded = Image.frombytes("L", mask.size, covered.tobytes().translate(shades))
        return WordImage(shaded, left, top)


def remove_undrawn(text: str) -> str:
    """Return `text` without characters that have no shape. Joiners shape the letters around them, if Pillow
    has Raqm."""
    from PIL import features

    kept = _JOINERS if features.check("raqm") else ""
    return "".join(char for char in text if char in kept or remove_invisible(char))


def missing_characters(text: str, style: CardStyle) -> str:
    """Return the characters of `text` that the font of a style lacks. They would be drawn as empty boxes."""
    if _COMMON.issuperset(text):
        # every text font has these characters, and opening a font takes 40 ms
        return ""
    signs = _code_points(style)
    text = remove_invisible(text)
    return "".join(dict.fromkeys(sign for sign in text if not sign.isspace() and ord(sign) not in signs))


@lru_cache(4)
def _code_points(style: CardStyle) -> frozenset[int]:
    """Return the code points of the characters that the font of a style has."""
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
