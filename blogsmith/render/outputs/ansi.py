"""Printed text as HTML: terminal colours become classes, and all other control characters are removed.

Each run of one style is one flat `<span>`, so no sequence can leave a tag open. 256 and 24-bit colours become
the nearest of the 16 that a theme can keep readable on its background. The time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ...base.diagnostics.characters import remove_forbidden
from ...base.patterns import lazy_pattern

NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
"""Names of colours 0 to 7; colours 8 to 15 have the prefix `bright-`."""

# The 16 colours of xterm.
_RGB = (
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
)
_CUBE = (0, 95, 135, 175, 215, 255)
_STYLE_OF: Mapping[int, str] = MappingProxyType(
    {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike"}
)
_ENDED_BY: Mapping[int, frozenset[str]] = MappingProxyType(
    {
        # code 21 is a double underline on most terminals, and ends bold on others
        22: frozenset({"bold", "dim"}),
        23: frozenset({"italic"}),
        24: frozenset({"underline"}),
        27: frozenset({"inverse"}),
        29: frozenset({"strike"}),
    }
)

# ECMA-48: a control sequence; a string with its terminator; a short escape; the start of an invalid sequence
_ESCAPE = lazy_pattern(
    r"\x1b(?:\[([0-9;:]{0,64})m|\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|[ -/]+[0-~]|[0-~])?"
)
# ISO 8613-6: `38:2:space:r:g:b`; and kinds of underline, such as `4:3`
_COLOUR_SPACE = lazy_pattern(r"\b([34]8):2:\d*:(?=\d+:\d+:\d+)")
_UNDERLINE = lazy_pattern(r"\b4:[1-9]\d*")
_LINE_END = lazy_pattern(r"\r\n?")
_CONTROL = lazy_pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DIRECTION = lazy_pattern("[\u202a-\u202e\u2066-\u2069]")
_ISOLATES, _END = "\u2066\u2067\u2068", "\u2069"
# Characters that HTML files must not contain.
_NO_CHARACTER = lazy_pattern("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class _Style(Struct, frozen=True):
    """Style of text. Colours are numbers from 0 to 15, or None for the text or background colour of the
    page."""

    ink: int | None = None
    ground: int | None = None
    styles: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def _classes(look: _Style) -> str:
    ink, ground = look.ink, look.ground
    if "inverse" in look.styles:
        ink, ground = (0 if ground is None else ground), (7 if ink is None else ink)
    names = [f"ansi-{_name(ink)}"] if ink is not None else []
    names += [f"ansi-bg-{_name(ground)}"] if ground is not None else []
    return " ".join([*names, *(f"ansi-{style}" for style in sorted(look.styles - {"inverse"}))])


def ansi_html(text: str) -> str:
    """Return `text` as HTML, with `<span class="ansi-…">` around coloured or styled text."""
    pieces: list[str] = []
    shown, classes = "", ""
    for more, look in _stretches(_LINE_END.sub("\n", text)):
        if look != classes:
            pieces.append(_span(shown, classes))
            shown, classes = "", look
        shown += more
    return "".join([*pieces, _span(shown, classes)])


def plain_output(text: str) -> str:
    """Return `text` without escape sequences and without characters that pages must not contain."""
    return _clean(_ESCAPE.sub("", _LINE_END.sub("\n", text)))


def isolate(text: str) -> str:
    """Return a line of text isolated, so that direction controls in it, such as U+202E, cannot change the
    order of the text around it. Lines of a `<pre>` need no isolation, because browsers treat each line as a
    paragraph."""
    if not _DIRECTION.search(text):
        return text
    depth = 0
    kept = []
    for character in text:
        depth += (character in _ISOLATES) - (character == _END)
        if depth >= 0:
            kept.append(character)
        depth = max(depth, 0)
    # the end of an isolate also ends embeddings that were opened inside it (UAX 9, BD9)
    return f"\u2068{''.join(kept)}{_END * (depth + 1)}"


def _clean(text: str) -> str:
    return remove_forbidden(_NO_CHARACTER.sub("�", _CONTROL.sub("", text)))


def _span(text: str, classes: str) -> str:
    shown = escape(text, quote=False)
    return f'<span class="{classes}">{shown}</span>' if shown and classes else shown


def _stretches(text: str) -> Iterator[tuple[str, str]]:
    """Yield (text, CSS classes) for each run of text between escape sequences."""
    plain = _ESCAPE.sub("", text)
    clean = str if _clean(plain) == plain else _clean
    look, classes, at = _Style(), "", 0
    for found in _ESCAPE.finditer(text):
        if found.start() > at:
            yield clean(text[at : found.start()]), classes
        if found[1] is not None:
            look = _apply_codes(look, found[1])
            classes = _classes(look)
        at = found.end()
    yield clean(text[at:]), classes


@lru_cache(maxsize=4096)
def _apply_codes(look: _Style, parameters: str) -> _Style:
    """Return the style after `ESC [ parameters m`."""
    plain = _UNDERLINE.sub("4", _COLOUR_SPACE.sub(r"\1:2:", parameters))
    codes = [int(part or 0) for part in re.split("[;:]", plain)]
    at = 0
    while at < len(codes):
        code = codes[at]
        if code in (38, 48):
            colour, used = _wide_colour(codes[at + 1 : at + 6])
            look = _set_colour(look, colour, ground=code == 48)
            at += used
        else:
            look = _apply_simple_code(look, code)
        at += 1
    return look


def _set_colour(look: _Style, colour: int | None, *, ground: bool) -> _Style:
    return replace(look, ground=colour) if ground else replace(look, ink=colour)


def _apply_simple_code(look: _Style, code: int) -> _Style:
    """Return the style after one SGR code without arguments. Unknown codes change nothing."""
    if code == 0:
        return _Style()
    if 1 <= code <= 9 and code in _STYLE_OF:
        return replace(look, styles=look.styles | {_STYLE_OF[code]})
    if 21 <= code <= 29:
        return replace(look, styles=look.styles - _ENDED_BY.get(code, frozenset()))
    for first, ground, bright in ((30, False, 0), (40, True, 0), (90, False, 8), (100, True, 8)):
        if first <= code < first + 8:
            return _set_colour(look, code - first + bright, ground=ground)
    if code in (39, 49):
        return _set_colour(look, None, ground=code == 49)
    return look


def _wide_colour(codes: list[int]) -> tuple[int | None, int]:
    """Return (nearest of the 16 colours, number of codes used) for the codes after 38 or 48. The colour is
    None if the codes are invalid."""
    if codes[:1] == [5] and len(codes) >= 2:
        return _palette_colour(codes[1]), 2
    if codes[:1] == [2] and len(codes) >= 4:
        return _nearest((codes[1], codes[2], codes[3])), 4
    return None, len(codes)


def _palette_colour(number: int) -> int | None:
    if number < 16:
        return number
    if number > 255:
        return None
    if number >= 232:
        grey = 8 + 10 * (number - 232)
        return _nearest((grey, grey, grey))
    cube = number - 16
    return _nearest((_CUBE[cube // 36], _CUBE[cube // 6 % 6], _CUBE[cube % 6]))


@lru_cache(maxsize=4096)
def _nearest(colour: tuple[int, int, int]) -> int:
    red, green, blue = colour
    distances = [(red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2 for r, g, b in _RGB]
    return distances.index(min(distances))


def _name(colour: int) -> str:
    return f"bright-{NAMES[colour - 8]}" if colour >= 8 else NAMES[colour]
