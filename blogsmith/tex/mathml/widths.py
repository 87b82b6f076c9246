"""Estimates of how wide a browser draws MathML, from the widths of the math font's glyphs.

An estimate is within a few percent of what Chromium and Firefox draw (`make bench-fit` compares them). It
ignores what themes add, except the spaces of `formulas.css` in the bundled themes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from html import unescape
from itertools import zip_longest
from types import MappingProxyType

from msgspec import Struct, field

from ...base.patterns import lazy_pattern
from .atoms import DICTIONARY_BINARY, DICTIONARY_CLOSING, DICTIONARY_OPENING, DICTIONARY_RELATIONS
from .glyph_widths import DEFAULT, glyph_widths, large_widths

_LEAF = r"<m(?:[ino]|text)[ >][^<]*+</m[a-z]+>"
_START = r"<m(?:su[bp]|sqrt|style|row|under|over|frac|padded|phantom|td)[^<>]*(?<!/)>"
_FLAT = rf"{_START}(?>(?:{_LEAF}|<mspace[^<>]*/>)+)</m[a-z]+>"
_NESTED = rf"{_START}(?>(?:{_LEAF}|<mspace[^<>]*/>|{_FLAT})+)</m[a-z]+>(?![^<])"
_TOKEN = lazy_pattern(rf"{_LEAF}|{_NESTED}|<[^<>]*>[^<]*")
"""Matches an element with at most two levels of elements inside, or a tag with the text after it."""
_PARTS = lazy_pattern(r"<(/?)([a-z]+)([^<>]*?)(/?)>([^<]*)")
_LENGTH = lazy_pattern(r' width="(-?[\d.]+)(?:em)?"')
_SPACE = lazy_pattern(r' ([lr])space="(-?[\d.]+)(?:em)?"')
_GLYPH = 1.015
"""Drawn size of a glyph per nominal size: themes even out the heights of small letters."""
_TEXT = 1.0
"""Width of a word in the font of the page's text, as a multiple of its width in the math font."""
_WORD_SPACE = 0.2
_ROUNDED = 0.01
"""Part of a pixel, in em of the text: Firefox rounds ink outside of symbols up to a whole device pixel."""
_SCRIPT, _SCRIPT_GAP = 0.71, 0.05
_BAR, _ROOT = 0.3, 0.8
_CELL, _COLUMN, _STAGGER = 1.0, 1.0, 2.0
_TALL = frozenset(("mfrac", "mtable", "munder", "munderover"))
_LEAN = 0.07
_GROWN = 0.05
"""Additional width of a growing delimiter, in em. Next to tall content, `_LEAN` is added."""
_FOOT = 0.06
_LEAN_OF_LETTER = lazy_pattern(r"math-lean-(\d+)")
_WIDE_CHARACTER = "\u2e80"
"""First of the East Asian characters, which are one em wide."""


class MeasuredElement(Struct, frozen=True, gc=False):
    """An element of MathML. Its width is in em of its font size."""

    xml: str
    width: float
    children: Sequence[MeasuredElement] = ()
    """Empty for elements that contain only text."""
    is_tall: bool = False
    is_limits: bool = False
    """Whether the element starts with an operator whose limits are beside it in text style."""


class _Tag(Struct, frozen=True, gc=False):
    """A tag with the text after it."""

    name: str
    attributes: str
    length: int
    """Number of characters without the text after the tag."""
    is_end: bool
    is_empty: bool
    words: float
    """Width of the text after the tag, in em."""
    style: bool | None
    """Value of the attribute `displaystyle`; None if there is none."""


class _Open(Struct, gc=False):
    """An element whose end has not been read."""

    name: str
    attributes: str
    start: int
    is_display: bool
    inner: bool
    """Whether the next child is in display style."""
    is_scripted: bool = False
    """Whether all children after the first one are scripts or limits."""
    children: list[MeasuredElement] = field(default_factory=list)
    is_tall: bool = False


def measure(markup: str, *, is_display: bool = True) -> float:
    """Return the approximate width of MathML elements in a row, in em of their font size."""
    return sum([element.width for element in read_elements(markup, is_display=is_display)])


def read_elements(markup: str, *, is_display: bool = True) -> list[MeasuredElement]:
    """Return the top-level elements of `markup`."""
    return _read_children(_Open("mrow", "", 0, is_display, is_display), markup).children


def _read_children(top: _Open, markup: str) -> _Open:
    """Return the element `top` with the elements of `markup` as its children."""
    stack = [top]
    start = 0
    for text in _TOKEN.findall(markup):
        token = _read_in_display(text) if top.inner else _read_in_text(text)
        if isinstance(token, MeasuredElement):
            top.children.append(token)
            if token.is_tall:
                top.is_tall = True
            if top.is_scripted:
                top.inner = False
        elif token.is_end:
            if len(stack) > 1:
                closed, top = stack.pop(), stack[-1]
                _add(top, _close(closed, markup[closed.start : start + token.length]))
            if token.words and top.name in _WORDS:
                top.children.append(MeasuredElement("", token.words))
        else:
            opened = _open(token, start, top.inner)
            if token.is_empty:
                _add(top, _close(opened, text[: token.length]))
            else:
                top = opened
                stack.append(top)
        start += len(text)
    return stack[0]


def _add(parent: _Open, element: MeasuredElement) -> None:
    parent.children.append(element)
    if element.is_tall:
        parent.is_tall = True
    if parent.is_scripted:
        parent.inner = False


def _open(tag: _Tag, start: int, is_display: bool) -> _Open:
    if tag.style is not None:
        is_display = tag.style
    name = tag.name
    inner = is_display and name != "mfrac" and (name != "mtable" or tag.style is True)
    opened = _Open(name, tag.attributes, start, is_display, inner, name in _SCRIPTED)
    if tag.words and name in _WORDS:
        opened.children.append(MeasuredElement("", tag.words))
    return opened


def _close(element: _Open, xml: str) -> MeasuredElement:
    width = _CLOSE.get(element.name, _row)(element)
    children = element.children
    is_tall = element.is_tall or element.name in _TALL
    is_limits = bool(children) and children[0].is_limits
    return MeasuredElement(xml, width, children, is_tall, is_limits)


@lru_cache(4096)
def _read_in_display(text: str) -> MeasuredElement | _Tag:
    """Return the element or tag `text` in display style. Cached, because formulas share most of them."""
    return _read_token(text, is_display=True)


@lru_cache(4096)
def _read_in_text(text: str) -> MeasuredElement | _Tag:
    return _read_token(text, is_display=False)


def _read_token(text: str, *, is_display: bool) -> MeasuredElement | _Tag:
    found = _PARTS.match(text)
    assert found is not None
    end, name, attributes, empty, after = found.groups()
    start = found.start(5)
    is_element = len(text) > start + len(after)
    if is_element and name in _LEAVES:
        return _read_leaf(text, name, attributes, after, is_display=is_display)
    style = 'displaystyle="true"' in attributes if "displaystyle" in attributes else None
    words = _words(after) if after and not is_element else 0.0
    tag = _Tag(name, attributes, start, bool(end), bool(empty), words, style)
    if empty and not after:
        return _close(_open(tag, 0, is_display), text)
    if not is_element:
        return tag
    return _close(_read_children(_open(tag, 0, is_display), text[start : text.rindex("</")]), text)


def _read_leaf(xml: str, name: str, attributes: str, text: str, *, is_display: bool) -> MeasuredElement:
    if name == "mo":
        is_limits = not is_display and (text in large_widths() or "movablelimits" in attributes)
        width = _operator(text, attributes, is_display) + _ROUNDED
        if "fence=" in attributes and 'stretchy="false"' not in attributes:
            width += _GROWN
        return MeasuredElement(xml, width, is_limits=is_limits)
    if name == "mtext":
        return MeasuredElement(xml, _words(text))
    if name == "mi" and len(text) == 1 and "normal" not in attributes:
        width = _ROUNDED + (_italic_widths().get(text) or _glyphs(text))
        if attributes:
            width += _foot(attributes) + _lean(attributes)
    else:
        width = _ROUNDED + _glyphs(text)
    return MeasuredElement(xml, width)


def _glyphs(text: str) -> float:
    widths = glyph_widths()
    if "&" in text:
        text = unescape(text)
    return _GLYPH * sum(
        [widths.get(sign, DEFAULT if sign < _WIDE_CHARACTER or sign > "\U0001d3ff" else 1.0) for sign in text]
    )


@cache
def _italic_widths() -> Mapping[str, float]:
    """Return the width in em of each letter that browsers draw in italics."""
    widths = glyph_widths()
    letters = [(chr(0x61 + n), chr(0x1D44E + n)) for n in range(26) if n != 7]
    letters += [(chr(0x41 + n), chr(0x1D434 + n)) for n in range(26)]
    letters += [(chr(0x3B1 + n), chr(0x1D6FC + n)) for n in range(25)]
    letters += [("h", "\u210e"), *zip("\u2202\u03f5\u03d1\u03f0\u03d5\u03f1\u03d6", _VARIANTS, strict=True)]
    return MappingProxyType({letter: _GLYPH * widths.get(italic, DEFAULT) for letter, italic in letters})


def _foot(attributes: str) -> float:
    """Return the space that a letter needs before it because its ink begins to the left of its width."""
    return _FOOT if "math-foot" in attributes else 0.0


def _lean(attributes: str) -> float:
    """Return the space that a letter needs after it because its ink ends to the right of its width."""
    lean = _LEAN_OF_LETTER.search(attributes)
    return int(lean[1]) / 100 if lean else 0.0


_VARIANTS = tuple(map(chr, range(0x1D715, 0x1D71C)))
"""Italic `∂` and the italic variant forms of Greek letters, such as `ϕ`."""


def _words(text: str) -> float:
    spaces = text.count(" ")
    return _TEXT * _glyphs(text.replace(" ", "")) + _WORD_SPACE * spaces


def _operator(sign: str, attributes: str, is_display: bool) -> float:
    """Return the width of an operator with its spaces."""
    if sign in _INVISIBLE:
        return 0.0
    sign = unescape(sign)
    large = large_widths().get(sign)
    width = _GLYPH * large if large and is_display and 'largeop="false"' not in attributes else _glyphs(sign)
    before, after = _dictionary_spaces(sign, attributes, bool(large))
    for side, space in _SPACE.findall(attributes):
        if side == "l":
            before = float(space)
        else:
            after = float(space)
    return width + before + after


def _dictionary_spaces(sign: str, attributes: str, is_large: bool) -> tuple[float, float]:
    if sign in DICTIONARY_BINARY:
        return 0.2222, 0.2222
    if sign in DICTIONARY_OPENING or sign in DICTIONARY_CLOSING or "form=" in attributes:
        return 0.0, 0.0
    if sign in ",;":
        return 0.0, 0.1667
    if is_large:
        return 0.1667, 0.1667
    return (0.2778, 0.2778) if sign in DICTIONARY_RELATIONS else _OTHER_SPACES.get(sign, (0.0, 0.0))


_OTHER_SPACES: Mapping[str, tuple[float, float]] = MappingProxyType({":": (0.2778, 0.2778)})
_INVISIBLE = ("\u2061", "\u2062", "\u2063", "\u200b")


def _sum(elements: Sequence[MeasuredElement]) -> float:
    return sum([element.width for element in elements])


def _max(elements: Sequence[MeasuredElement]) -> float:
    return max([element.width for element in elements], default=0.0)


def _row(element: _Open) -> float:
    width = _sum(element.children)
    if element.is_tall and any("fence=" in child.xml for child in element.children if not child.children):
        width += 2 * _LEAN
    if "math-" in element.attributes and "box" in element.attributes:
        width += 0.6
    return width


def _style(element: _Open) -> float:
    scale = _SCRIPT if 'scriptlevel="1"' in element.attributes else 1.0
    return scale * _row(element)


def _padded(element: _Open) -> float:
    length = _LENGTH.search(element.attributes)
    return float(length[1]) if length else _row(element)


def _cell(element: _Open) -> float:
    return 0.0 if "math-intertext" in element.attributes else _sum(element.children)


def _fraction(element: _Open) -> float:
    bar = 0.0 if 'linethickness="0"' in element.attributes else _BAR
    return _max(element.children) * (1.0 if element.is_display else _SCRIPT) + bar


def _scripts(element: _Open) -> float:
    if not element.children:
        return _SCRIPT_GAP
    base, *scripts = element.children
    if element.name == "mmultiscripts":
        return base.width + _SCRIPT * _sum(scripts) / 2
    width = base.width + _SCRIPT * _max(scripts) + _SCRIPT_GAP
    if element.name == "msub" and "math-lean" in base.xml and base.xml.startswith("<mi "):
        # A subscript is below the ink.
        width -= _lean(base.xml)
    return width


def _stack(element: _Open) -> float:
    base, *limits = element.children or (_EMPTY,)
    if 'accent="true"' in element.attributes:
        return base.width
    if base.is_limits:
        return _scripts(element)
    return max(base.width, _SCRIPT * _max(limits))


_EMPTY = MeasuredElement("", 0.0)


def _root(element: _Open) -> float:
    return _sum(element.children[:1] if element.name == "mroot" else element.children) + _ROOT


def _table(element: _Open) -> float:
    """Return the width of a table, whose children are rows of cells."""
    rows = [[cell.width for cell in row.children] for row in element.children]
    columns = [max(cells) for cells in zip_longest(*rows, fillvalue=0.0)]
    count = len(columns)
    look = element.attributes
    if "math-heights" in look:
        # the first column has no width
        return sum(columns[1:])
    if "math-align" in look or "math-eqnarray" in look or "math-alignat" in look:
        pairs = (count - 1) // 2 if 'math-align"' in look else 0
        # the first and the last row are staggered
        stagger = _STAGGER if "math-multline" in look else 0.0
        return sum(columns) + _COLUMN * pairs + stagger
    if "math-cases" in look or "math-plain" in look:
        return sum(columns) + _COLUMN * (count - 1)
    if "math-matrix" in look:
        return sum(columns) + _CELL * (count - 1)
    if "math-small" in look:
        return sum(columns) + 0.4 * (count - 1)
    return sum(columns) + _CELL * count


_WORDS = frozenset(("mtext", "a", "b", "i", "code", "span"))
_LEAVES = frozenset(("mi", "mn", "mo", "mtext"))
_SCRIPTED = frozenset(("msub", "msup", "msubsup", "mmultiscripts", "munder", "mover", "munderover"))
_CLOSE: Mapping[str, Callable[[_Open], float]] = MappingProxyType(
    {
        "mfrac": _fraction,
        "mpadded": _padded,
        "mspace": _padded,
        "mstyle": _style,
        "mtd": _cell,
        "msqrt": _root,
        "mroot": _root,
        "mtable": _table,
        **dict.fromkeys(("msub", "msup", "msubsup", "mmultiscripts"), _scripts),
        **dict.fromkeys(("munder", "mover", "munderover"), _stack),
    }
)
