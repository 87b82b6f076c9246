"""Sanitizing of drawings: SVG from any renderer becomes inline SVG of the page, or ValueError is raised.

The drawing is parsed as XML, its stylesheet becomes attributes, and its colours are replaced with those of
the theme. Only allowed content is written: shapes, text, markers and gradients. Scripts, event handlers,
links, images, HTML, animations, filters and fonts are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape
from itertools import groupby
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...languages.language import ENGLISH, Language
from .ink import TexWriter, read_tones
from .styles import flatten_groups, local_name, merge_patterns, resolve_styles, round_numbers
from .writer import Writer

MAX_CHARACTERS = 4_000_000
"""Maximum number of characters of a renderer's output. Useful drawings are far smaller."""
MAX_ELEMENTS = 20_000
MAX_LABELS = 200
"""Maximum number of characters of a text alternative made from the labels."""

FONT = "var(--diagram-font,Helvetica,Arial,sans-serif)"
"""Font of all labels. Renderers calculate the widths of boxes for these letters."""

_BOX = lazy_pattern(r"\s*(-?[\d.]+)[\s,]+(-?[\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)\s*")
_MIN_SCALE = 0.72
"""Minimum scale of a drawing; at this scale, letters of 15 px have 11 px. A drawing that is still too wide
scrolls."""
_PX_PER_PT = 4 / 3
_NARROW_PX = 320
"""Width in pixels that fits between the margins of any phone."""


class Drawing(Struct, frozen=True):
    """A sanitized drawing."""

    markup: str
    """Markup after `<svg `, up to `</svg>`; `html` inserts the text alternative into it."""
    label: str
    """The drawing's own title and description; empty if it has none."""
    labels: str
    """All text of the drawing, joined; used if there is no title."""
    min_width_px: int
    """Minimum width of the drawing in pixels; it scrolls if there is less room."""

    def html(self, title: str = "", language: Language = ENGLISH, alt: str = "") -> str:
        """Return the SVG. Its accessible name is the first of these that is not empty: `alt`, the drawing's
        own title, `title`, the labels."""
        kind = language.translate("Diagram")
        listed = language.translate("Diagram: {labels}", labels=self.labels) if self.labels else kind
        name = alt or self.label or title or listed
        svg = f'<svg role="img" aria-label="{escape(name)}" {self.markup}'
        if self.min_width_px <= _NARROW_PX:
            return svg
        return (
            f'<div class="diagram-scroll" tabindex="0" role="group" aria-label="{escape(kind)}">{svg}</div>'
        )


@lru_cache(maxsize=512)
def sanitize_drawing(svg: str, prefix: str, source: str) -> Drawing:
    """Return the drawing in `svg`, safe to be part of a page. ValueError with the reason if that is
    impossible. prefix: put before every id, so that two drawings of a page do not conflict. source: the
    author's source of the drawing, whose colours are kept."""
    root = _parse(svg)
    return _make_drawing(root, Writer(root, resolve_styles(root), prefix, source), _size(root))


@lru_cache(maxsize=512)
def sanitize_tex_drawing(svg: str, prefix: str) -> Drawing:
    """Return a drawing from `dvisvgm` in a form that is safe in a page, as `sanitize_drawing` does.

    The unit of the drawing is a point. `ink.py` describes how colours are adapted to light and dark pages.
    """
    root = _parse(svg)
    width, height = _size(root)
    flatten_groups(root)
    merge_patterns(root)
    tones = read_tones(root)
    writer = TexWriter(root, resolve_styles(root), prefix, tones)
    return _make_drawing(root, writer, (width * _PX_PER_PT, height * _PX_PER_PT))


def _make_drawing(root: Element, writer: Writer, size: tuple[float, float]) -> Drawing:
    body = writer.children()
    width, height = size
    shrunk = round(width * _MIN_SCALE)
    style = f' style="min-width:{shrunk}px"' if shrunk > _NARROW_PX else ""
    box = escape(round_numbers(root.get("viewBox", f"0 0 {width:g} {height:g}")))
    start = f'font-family="{FONT}" viewBox="{box}" width="{round(width)}" height="{round(height)}"{style}'
    return Drawing(f"{start}>{body}</svg>", _drawing_label(root), _labels(root), shrunk)


def _parse(svg: str) -> Element:
    if len(svg) > MAX_CHARACTERS:
        raise ValueError("it is too large for a page")
    if "<!ENTITY" in svg:
        raise ValueError("it declares entities")
    try:
        root = ElementTree.fromstring(svg)
    except (ElementTree.ParseError, UnicodeEncodeError) as error:
        raise ValueError(f"it is not valid XML: {error}") from None
    if local_name(root) != "svg":
        raise ValueError(f"it is <{local_name(root)}>, expected <svg>")
    if sum(1 for _ in root.iter()) > MAX_ELEMENTS:
        raise ValueError("it has too many elements for a page")
    return root


def _size(root: Element) -> tuple[float, float]:
    """Return width and height in pixels. One unit of the view box counts as one pixel, so text of size 14 has
    14 px."""
    box = _BOX.fullmatch(root.get("viewBox", ""))
    sizes: Mapping[str, str] = {name: root.get(name, "") for name in ("width", "height")}
    found = box.groups()[2:] if box else tuple(value.removesuffix("px") for value in sizes.values())
    try:
        width, height = (float(value) for value in found)
    except ValueError:
        raise ValueError("it has no size") from None
    if not 0 < width < 1e5 or not 0 < height < 1e5:
        raise ValueError("it has no size")
    return width, height


def _drawing_label(root: Element) -> str:
    """Return `<title>` and `<desc>` of the whole drawing as one string."""
    texts = [_text(child) for child in root if local_name(child) in ("title", "desc")]
    return ": ".join(dict.fromkeys(text for text in texts if text))


def _labels(root: Element) -> str:
    joined = ", ".join(dict.fromkeys(text for parent in root.iter() for text in _texts(parent)))
    return joined if len(joined) <= MAX_LABELS else f"{joined[:MAX_LABELS].rpartition(', ')[0]} …"


def _texts(parent: Element) -> Iterator[str]:
    """Yield the text of each label directly in `parent`. The lines of a label are joined."""
    texts = (child for child in parent if local_name(child) == "text")
    for _, lines in groupby(texts, key=lambda text: text.get("x")):
        joined = " ".join(_text(line) for line in lines).strip()
        if joined:
            yield joined


def _text(element: Element) -> str:
    return " ".join(" ".join(element.itertext()).split())
