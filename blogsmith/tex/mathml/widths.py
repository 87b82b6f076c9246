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

_ELEMENT = lazy_pattern(r"<(m[ino])( [^<>]*)?>([^<]*)</m[ino]>|<(/?)([a-z]+)([^<>]*?)(/?)>([^<]*)")
_LENGTH = lazy_pattern(r' width="(-?[\d.]+)(?:em)?"')
_SPACE = lazy_pattern(r' ([lr])space="(-?[\d.]+)(?:em)?"')
_GLYPH = 1.015
"""Size of glyphs for an em: themes even out the heights of small letters."""
_TEXT = 1.0
"""Width of words, in the font of the page's text, for the same letters of the math font."""
_WORD_SPACE = 0.2
_ROUNDED = 0.01
"""Part of a pixel at the size of text: Firefox rounds ink outside of symbols up to a whole device pixel."""
_SCRIPT, _SCRIPT_GAP = 0.71, 0.05
_BAR, _ROOT = 0.3, 0.8
_CELL, _COLUMN = 1.0, 1.0
_TALL = frozenset(("mfrac", "mtable", "munder", "munderover"))
_LEAN = 0.12
_FOOT = 0.06
_LEAN_OF_LETTER = lazy_pattern(r"math-lean-(\d+)")
_MAX_CACHED_LENGTH = 600
"""Maximum number of characters of an element whose width is cached."""
_WIDE_CHARACTER = "\u2e80"
"""First of the East Asian characters, which are one em wide."""


class _Open(Struct):
    """An element whose end has not been read."""

    name: str
    attributes: str
    scale: float
    """Font size, as a multiple of that of the formula."""
    is_display: bool
    parts: list[float] = field(default_factory=list)
    """Width of each child, in em of the formula."""
    rows: list[list[float]] = field(default_factory=list)
    """Widths of the cells of each row, if it is a table."""
    is_fenced: bool = False
    """It contains delimiters that grow with its content."""
    is_tall: bool = False
    is_limits: bool = False
    """Its first child is an operator whose limits are beside it in text style."""


def measure_element(xml: str) -> float:
    """Return the width of an element of a display. Most elements are in several displays of a site."""
    return _measure_again(xml) if len(xml) < _MAX_CACHED_LENGTH else measure(xml)


@lru_cache(4096)
def _measure_again(xml: str) -> float:
    return measure(xml)


def measure(markup: str, *, is_display: bool = True) -> float:
    """Return the approximate width of MathML elements in a row, in em of their font size."""
    root = _Open("mrow", "", 1.0, is_display)
    stack = [root]
    for leaf, leaf_look, sign, closing, name, look, empty, text in _ELEMENT.findall(markup):
        top = stack[-1]
        if leaf:
            scale, style = _inner_size(top)
            if leaf == "mo":
                top.is_fenced = top.is_fenced or "fence=" in leaf_look
                width = _operator(sign, leaf_look, style)
                top.is_limits = top.is_limits or (
                    not top.parts and not style and (sign in large_widths() or "movablelimits" in leaf_look)
                )
            elif leaf == "mi" and len(sign) == 1 and "normal" not in leaf_look:
                width = _italic_widths().get(sign) or _glyphs(sign)
                if leaf_look:
                    width += _corrections(leaf_look, has_subscript=top.name == "msub" and not top.parts)
            else:
                width = _glyphs(sign)
            top.parts.append(width * scale + _ROUNDED)
        elif closing:
            if len(stack) > 1:
                _close(stack.pop(), stack[-1])
            if text and stack[-1].name in _WORDS:
                stack[-1].parts.append(_words(text) * stack[-1].scale)
        else:
            scale, style = _inner_size(top)
            opened = _Open(name, look, scale, _style(look, style))
            if empty:
                _close(opened, top)
                continue
            stack.append(opened)
            if text and name in _WORDS:
                opened.parts.append(_words(text) * scale)
    return sum(root.parts)


def _close(element: _Open, parent: _Open) -> None:
    if element.name == "mtr":
        parent.rows.append(element.parts)
    else:
        parent.is_tall = parent.is_tall or element.is_tall or element.name in _TALL
        parent.parts.append(_CLOSE.get(element.name, _row)(element))
        parent.is_limits = parent.is_limits or (len(parent.parts) == 1 and element.is_limits)


def _style(attributes: str, inherited: bool) -> bool:
    if "displaystyle" not in attributes:
        return inherited
    return 'displaystyle="true"' in attributes


def _inner_size(parent: _Open) -> tuple[float, bool]:
    """Return the scale and the style of the next child."""
    name = parent.name
    if name in _SCRIPTED and parent.parts:
        return parent.scale * _SCRIPT, False
    if name == "mfrac":
        return parent.scale * (1.0 if parent.is_display else _SCRIPT), False
    if name == "mstyle" and 'scriptlevel="1"' in parent.attributes:
        return parent.scale * _SCRIPT, False
    if name == "mtable":
        return parent.scale, 'displaystyle="true"' in parent.attributes
    return parent.scale, parent.is_display


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


def _corrections(attributes: str, *, has_subscript: bool) -> float:
    """Return the space beside a letter whose ink is outside of its width."""
    lean = _LEAN_OF_LETTER.search(attributes)
    foot = _FOOT if "math-foot" in attributes else 0.0
    return foot + (int(lean[1]) / 100 if lean and not has_subscript else 0.0)


_VARIANTS = tuple(map(chr, range(0x1D715, 0x1D71C)))
"""Italic forms of the partial derivative's symbol and of the second forms of Greek letters."""


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


def _row(element: _Open) -> float:
    width = sum(element.parts)
    if element.is_fenced and element.is_tall:
        width += 2 * _LEAN * element.scale
    if "math-" in element.attributes and "box" in element.attributes:
        width += 0.6
    return width


def _padded(element: _Open) -> float:
    length = _LENGTH.search(element.attributes)
    return float(length[1]) * element.scale if length else _row(element)


def _cell(element: _Open) -> float:
    return 0.0 if "math-intertext" in element.attributes else sum(element.parts)


def _fraction(element: _Open) -> float:
    bar = 0.0 if 'linethickness="0"' in element.attributes else _BAR
    return max(element.parts, default=0.0) + bar * element.scale


def _scripts(element: _Open) -> float:
    base, *scripts = element.parts or (0.0,)
    if element.name == "mmultiscripts":
        return base + sum(scripts) / 2
    return base + max(scripts, default=0.0) + _SCRIPT_GAP * element.scale


def _stack(element: _Open) -> float:
    if 'accent="true"' in element.attributes:
        return element.parts[0] if element.parts else 0.0
    return _scripts(element) if element.is_limits else max(element.parts, default=0.0)


def _root(element: _Open) -> float:
    parts = element.parts[:1] if element.name == "mroot" else element.parts
    return sum(parts) + _ROOT * element.scale


def _table(element: _Open) -> float:
    return measure_table(element.attributes, element.rows, element.scale)


def measure_table(look: str, rows: Sequence[Sequence[float]], scale: float = 1.0) -> float:
    """Return the width of a table. look: its attributes. rows: widths of the cells of each row."""
    columns = [max(cells) for cells in zip_longest(*rows, fillvalue=0.0)]
    count = len(columns)
    if "math-heights" in look:
        # the first column has no width
        return sum(columns[1:])
    if "math-align" in look or "math-eqnarray" in look or "math-alignat" in look:
        pairs = (count - 1) // 2 if 'math-align"' in look else 0
        return sum(columns) + _COLUMN * pairs
    if "math-cases" in look or "math-plain" in look:
        return sum(columns) + _COLUMN * (count - 1)
    if "math-matrix" in look:
        return sum(columns) + _CELL * (count - 1)
    if "math-small" in look:
        return sum(columns) + 0.4 * scale * (count - 1)
    return sum(columns) + _CELL * count


_WORDS = frozenset(("mtext", "a", "b", "i", "code", "span"))
_SCRIPTED = frozenset(("msub", "msup", "msubsup", "mmultiscripts", "munder", "mover", "munderover"))
_CLOSE: Mapping[str, Callable[[_Open], float]] = MappingProxyType(
    {
        "mfrac": _fraction,
        "mpadded": _padded,
        "mspace": _padded,
        "mtd": _cell,
        "msqrt": _root,
        "mroot": _root,
        "mtable": _table,
        **dict.fromkeys(("msub", "msup", "msubsup", "mmultiscripts"), _scripts),
        **dict.fromkeys(("munder", "mover", "munderover"), _stack),
    }
)
