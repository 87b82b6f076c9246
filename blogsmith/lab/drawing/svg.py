"""Drawings as SVG: a canvas, and the result that a cell shows.

Pages show images in `<img>`, where an SVG has no access to the colours and fonts of the page. So everything
is drawn twice, for light and for dark pages, on a transparent background. The same call gives the same
bytes: lengths are rounded, and nothing has an id.
"""

from __future__ import annotations

import math
import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from .inks import DARK, LIGHT, Inks

WIDTH = 520
"""Width of a drawing in px, slightly less than a column of text."""
TEXT_PX = 15.0
SMALL_PX = 14.0
"""Font size in px. On a phone, where a drawing shrinks to two thirds, text of this size is still larger than
9 px."""
_HEADING_LINE_PX = 20.0

FONTS = "'Avenir Next',Avenir,'Source Sans 3','Source Sans Pro','Segoe UI','Helvetica Neue','Liberation Sans'"
_SCRIPT = re.compile("(script):", re.IGNORECASE)
_DARK_TYPE = "image/svg+xml;scheme=dark"

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """Finished drawing. As the value of a cell, or if passed to `display`, it is shown as an image on the
    page."""

    light: str
    """SVG for light pages."""
    dark: str
    title: str
    words: str
    """Description of the drawing for readers who cannot see it."""

    def __str__(self) -> str:
        end = "" if self.title.endswith((".", "?", "!", ":", "…")) else "."
        return f"{self.title}{end} {self.words}"

    __repr__ = __str__

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self), "image/svg+xml": self.light, _DARK_TYPE: self.dark}

    def save(self, path: str | Path) -> tuple[Path, Path]:
        """Write `name.svg` and, for dark pages, `name-dark.svg`. Return both paths.

        Raises `ValueError` if the path does not end with `.svg`.
        """
        light = Path(path)
        if light.suffix != ".svg":
            raise ValueError(f"a drawing is saved as .svg, not as {light.name}")
        dark = light.with_name(f"{light.stem}-dark.svg")
        light.write_text(self.light, encoding="utf-8", newline="\n")
        dark.write_text(self.dark, encoding="utf-8", newline="\n")
        return light, dark


class Sheet:
    """Canvas for an SVG in the colours of one scheme. Lengths are in px, with the origin at the top left."""

    def __init__(self, inks: Inks) -> None:
        self.inks = inks
        self._parts: list[str] = []

    def rect(self, x: float, y: float, width: float, height: float, fill: str, stroke: str = "") -> None:
        """Draw a rectangle: without `fill` only its outline, without `stroke` only its area."""
        line = f' stroke="{stroke}"' if stroke else ""
        size = f'width="{number(width)}" height="{number(height)}"'
        self._add(f'<rect x="{number(x)}" y="{number(y)}" {size} fill="{fill or "none"}"{line}/>')

    @contextmanager
    def sharp(self) -> Iterator[None]:
        """Draw shapes without antialiasing in this context, so that no gap appears between adjacent cells."""
        self._add('<g shape-rendering="crispEdges">')
        yield
        self._add("</g>")

    def path(self, data: str, attributes: Mapping[str, str | float]) -> None:
        """Draw a path, filled unless `fill` is `none`.

        data: the `d` attribute.
        attributes: further attributes, with `_` for `-`.
        """
        shown = [f' {name.replace("_", "-")}="{_value(value)}"' for name, value in attributes.items()]
        self._add(f'<path d="{data}"{"".join(shown)}/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1) -> None:
        data = f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}"
        self.path(data, {"stroke": stroke, "stroke_width": width})

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = SMALL_PX,
        fill: str = "",
        anchor: Anchor = "start",
        bold: bool = False,
        turn: float = 0,
    ) -> None:
        """Draw text.

        x, y: start, middle or end of the base line, depending on `anchor`.
        turn: rotation in degrees, clockwise.
        """
        placed = f'x="{number(x)}" y="{number(y)}"'
        if turn:
            placed = f'transform="translate({number(x)} {number(y)}) rotate({number(turn)})"'
        look = f' font-size="{number(size)}"' if size != SMALL_PX else ""
        look += f' fill="{fill}"' if fill and fill != self.inks.soft else ""
        look += f' text-anchor="{anchor}"' if anchor != "start" else ""
        look += ' font-weight="600"' if bold else ""
        self._add(f"<text {placed}{look}>{written(words)}</text>")

    def heading(self, words: str) -> None:
        """Draw the title at the top left, in several lines if it is long."""
        for line, text in enumerate(_lines(words)):
            y = 17 + line * _HEADING_LINE_PX
            self.text(0, y, text, size=TEXT_PX, fill=self.inks.ink, bold=True)

    def picture(self, x: float, y: float, width: float, height: float, png: bytes, *, sharp: bool) -> None:
        """Draw a PNG stretched over the rectangle.

        sharp: keep the edges of pixels when they are enlarged.
        """
        edges = ' style="image-rendering:pixelated"' if sharp else ""
        place = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
        data = b64encode(png).decode("ascii")
        self._add(f'<image {place} preserveAspectRatio="none"{edges} href="data:image/png;base64,{data}"/>')

    def svg(self, width: float, height: float, title: str, words: str) -> str:
        """Return the finished file."""
        size = math.ceil(width), math.ceil(height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}"'
            f' viewBox="0 0 {size[0]} {size[1]}" role="img" font-family="{FONTS},sans-serif"'
            f' font-size="{number(SMALL_PX)}" fill="{self.inks.soft}">'
        )
        told = f"<title>{written(title)}</title>\n<desc>{written(words)}</desc>"
        return "\n".join([head, told, *self._parts, "</svg>\n"])

    def _add(self, part: str) -> None:
        self._parts.append(part)


def drawn_twice(title: str, words: str, draw: Callable[[Sheet], tuple[float, float]]) -> Drawing:
    """Draw on a canvas for light pages and one for dark pages.

    draw: draws and returns the width and height used.
    """
    light, dark = (sheet.svg(*draw(sheet), title, words) for sheet in (Sheet(inks) for inks in (LIGHT, DARK)))
    return Drawing(light, dark, title, words)


def number(value: float) -> str:
    """Format a number with two decimals. More decimals would differ between machines."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def written(words: str) -> str:
    """Return text for an element.

    Characters that XML forbids are replaced by symbols, such as `␊` for a line feed.
    """
    shown = "".join(_visible(character) for character in words)
    # blogsmith would take text that looks like an event handler or a `javascript:` URL for code, anywhere in
    # a file.
    return _SCRIPT.sub(r"\1&#58;", escape(shown, quote=False).replace("=", "&#61;"))


def width_of(words: str, size: float = SMALL_PX) -> float:
    """Estimate the width of a text in px. The estimate is more often too large than too small."""
    return size * sum(_em(character) for character in words)


def heading_size(words: str) -> tuple[float, float]:
    """Return width and height of a title in px, or 0 without a title."""
    lines = _lines(words)
    # bold is wider
    width = max((width_of(line, TEXT_PX) * 1.08 for line in lines), default=0.0)
    return width, _HEADING_LINE_PX * len(lines) + 6 if lines else 0.0


def shortened(words: str, most: int = 20) -> str:
    """Truncate a text to `most` characters."""
    return words if len(words) <= most else words[: most - 1] + "…"


def _lines(words: str) -> list[str]:
    """Break text into lines that fit the width of a drawing."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, TEXT_PX) * 1.08 <= WIDTH:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else number(value)


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    is_no_text = 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE
    return "\ufffd" if is_no_text else character


def _em(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character):
        return 0.0
    if character in "iljtfrI.,:;'|!()[]/ \u202f\u2009·-":
        return 0.34
    if character in "mwMW@%—…":
        return 0.9
    return 0.68 if character.isupper() else 0.57
