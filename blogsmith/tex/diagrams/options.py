"""Options of tikz-cd: what each does to an arrow or a label.

The names are those of tikz-cd 1.0, of quiver, and the most common ones of TikZ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ..parse.colors import css_color, mixed_color
from ..parse.errors import ParseError
from ..parse.lengths import ems
from ..parse.parser import Parser
from ..parse.reader import Macro
from .records import End, step

SHIFT = 0.24
"""Distance of a shift by one unit, 0.56ex."""
_ARROWS = """
dashed, densely dashed, loosely dashed, dash dot, dashrightarrow: dash=dashed
dotted, densely dotted, loosely dotted: dash=dotted; hook, hookrightarrow: tail=hook; hook': tail=hook'
hookleftarrow: head=hook' tail=to; mapsto, maps to, longmapsto: tail=bar; mapsfrom: head=bar tail=to
tail, rightarrowtail: tail=tail; leftarrowtail: head=tail tail=to; tail reversed: tail=to
2tail: tail=two_tails; 2tail reversed: tail=two_heads; two heads, twoheadrightarrow: head=two_heads
twoheadleftarrow: head= tail=two_heads; harpoon, rightharpoonup: head=harpoon
harpoon', rightharpoondown: head=harpoon'; leftharpoonup: head= tail=harpoon'
leftharpoondown: head= tail=harpoon; squiggly, rightsquigarrow: is_squiggly=1
leftsquigarrow: is_squiggly=1 head= tail=to; leftrightsquigarrow: is_squiggly=1 tail=to; no head: head=
no tail: tail=; dash, no tips: head= tail=; equal, equals: lines=2 head= tail=
rightarrow, to head: head=to; leftarrow, dashleftarrow: head= tail=to; leftrightarrow: tail=to
Rightarrow, double, double line: lines=2; Leftarrow: lines=2 head= tail=to
Leftrightarrow: lines=2 tail=to; phantom, draw=none, no body: lines=0; crossing over: is_crossing=1
bend left: bend=30; bend right: bend=-30; shift left: shift=0.24; shift right: shift=-0.24
loop: looseness=8; loop above: leaving=105 entering=75 looseness=8
loop below: leaving=285 entering=255 looseness=8; loop left: leaving=195 entering=165 looseness=8
loop right: leaving=15 entering=345 looseness=8; thin, solid, draw, overlay:; very thin: thickness=0.5
semithick: thickness=1.5; thick: thickness=2; very thick: thickness=3; ultra thick: thickness=4
"""
"""Options without a value, and the fields of an arrow that they set, as a table."""
_LABELS = """
description: side=on; marking: side=over is_sloped=1; swap, ', auto=right: is_swapped=1; sloped: is_sloped=1
at start: position=0; very near start: position=0.125; near start: position=0.25; midway: position=0.5
near end: position=0.75; very near end: position=0.875; at end: position=1; above: side=above
below: side=below; left: side=west; right: side=east; auto, auto=left, allow upside down, fill:
"""
_NUMBERS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {"bend left": ("bend", 1), "bend right": ("bend", -1), "out": ("leaving", 1), "in": ("entering", 1)}
    | {"looseness": ("looseness", 1)}
)
"""Option with a number → field and factor."""
_LENGTHS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {"distance": ("distance", 1), "min distance": ("distance", 1), "line width": ("thickness", 25)}
)
_IGNORED = frozenset(
    (
        *("inner sep", "outer sep", "inner xsep", "inner ysep", "font", "scale"),
        *("crossing over clearance", "allow upside down"),
    )
)
"""Options with a value that affect only some space or the size of a label."""
_ANCHORS: Mapping[str, str] = MappingProxyType(
    {"north": "below", "south": "above", "east": "west", "west": "east", "center": "over", "mid": "over"}
)
"""Anchor of a label's own border at the arrow → side of the arrow where the label is."""
_SPEC = lazy_pattern(r"(<<|<|>>|>|\||to)?-(>>|>|<<|<|\||to)?")
HEADS = {"": "", ">": "to", ">>": "two heads", "<": "tail", "<<": "two tails", "|": "bar", "to": "to"}
TAILS = {"": "", "<": "to", "<<": "two heads", ">": "tail", ">>": "two tails", "|": "bar", "to": "to"}
"""Tail of an arrow such as `>->` → value of `Arrow.tail`."""
_LETTERS = lazy_pattern(r"[udlrUDLR]+")
_CELL = lazy_pattern(r"(\d{1,4})-(\d{1,4})")
_COLOR = lazy_pattern(r"\{?\s*(rgb|RGB|HTML|gray|cmyk)(?:,\s*255)?\s*[:,]\s*(.*?)\}?", re.DOTALL)
_MAX_OPTIONS = 1_000
_STYLE = "\\tikzset "


class Option(Struct, frozen=True):
    """One option between commas."""

    tokens: tuple[str, ...]
    """Tokens without space around them."""
    text: str
    key: str
    value: tuple[str, ...] = ()
    """Tokens after the equals sign, without outer braces; empty if there is no value."""
    at: tuple[str, ...] = ()
    """Tokens that messages point to; for an option in an author's style, the style as used in the diagram."""

    @property
    def value_text(self) -> str:
        """Return the value as one string."""
        return "".join(self.value).strip()

    def misuse(self, message: str, hint: str = "") -> ParseError:
        """Return an error about the option, for the caller to raise."""
        return ParseError("math-syntax", message, self.at[0], end=self.at[-1], hint=hint)


class Look(Struct):
    """Fields of an arrow and of its labels, while options are read."""

    arrow: dict[str, Any] = field(default_factory=dict)
    label: dict[str, Any] = field(default_factory=dict)
    color: str = ""
    """Color of the labels."""


@cache
def _table(rows: str) -> Mapping[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for row in re.split("[;\n] *", rows.strip()):
        names, _, written = row.partition(":")
        pairs = (pair.partition("=")[::2] for pair in written.split())
        fields = {name: _field(value) for name, value in pairs}
        found |= dict.fromkeys(names.split(", "), MappingProxyType(fields))
    return found


def _field(value: str) -> str | float:
    is_number = value.lstrip("-")[:1].isdigit()
    return (int(value) if value.isdigit() else float(value)) if is_number else value.replace("_", " ")


def define_styles(parser: Parser, command: str) -> None:
    r"""Define the styles of `\tikzset` or `\tikzcdset`, for all later formulas of the page."""
    for option in split_options(parser.argument()):
        name, _, kind = option.key.rpartition("/.")
        # a style with an argument is TikZ code
        if kind == "style" and "#" not in option.tokens:
            body = Macro(0, None, tuple(map(str, option.value)))
            parser.define(f"{_STYLE}{short_name(name)}", body, everywhere=True)


def short_name(name: str) -> str:
    """Return the key of a style without its folder, `/tikz/` or `commutative diagrams/`."""
    return name.removeprefix("/tikz/").removeprefix("commutative diagrams/").strip()


def read_options(parser: Parser, tokens: Sequence[str]) -> list[Option]:
    """Return the options between commas. The author's own styles are replaced by their options."""
    pending, found = split_options(tokens)[::-1], list[Option]()
    for _ in range(_MAX_OPTIONS):
        if not pending:
            return found
        option = pending.pop()
        own = parser.macros.get(f"{_STYLE}{short_name(option.key)}")
        if isinstance(own, Macro):
            pending += [replace(inner, at=option.at) for inner in split_options(own.body)[::-1]]
        else:
            found.append(option)
    raise ParseError("math-limit", f"too many options: {_MAX_OPTIONS:,} are allowed", parser.command)


def split_options(tokens: Sequence[str]) -> list[Option]:
    """Return the options between commas outside braces and quotation marks."""
    pieces: list[list[str]] = [[]]
    depth, is_quoted = 0, False
    for token in tokens:
        depth += (token == "{") - (token == "}")
        is_quoted ^= token == '"' and not depth
        if token == "," and not depth and not is_quoted:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [make_option(piece) for raw in pieces if (piece := strip_spaces(raw))]


def make_option(tokens: Sequence[str]) -> Option:
    """Return one option, made of `tokens`."""
    text = "".join(tokens)
    value = strip_braces(tokens[tokens.index("=") + 1 :]) if "=" in tokens and tokens[0] != '"' else []
    key = text.partition("=")[0].strip() if tokens[0] != '"' else '"'
    return Option(tuple(tokens), text, key, tuple(value), at=tuple(tokens))


def strip_spaces(tokens: Sequence[str]) -> list[str]:
    """Return the tokens without the space tokens at the start and at the end."""
    filled = [index for index, token in enumerate(tokens) if token != " "]
    return list(tokens[filled[0] : filled[-1] + 1]) if filled else []


def strip_braces(tokens: Sequence[str]) -> list[str]:
    """Return the tokens without leading and trailing spaces. If one pair of braces encloses the rest, return
    its content without leading and trailing spaces."""
    found = strip_spaces(tokens)
    depths = list(accumulate((token == "{") - (token == "}") for token in found))
    is_group = len(found) > 1 and found[0] == "{" and not depths[-1] and 0 not in depths[:-1]
    return strip_spaces(found[1:-1]) if is_group else found


def apply_label_option(parser: Parser, look: Look, option: Option) -> bool:
    """Apply an option to the label in `look`. Return False if the option is unknown for labels."""
    key, label = option.key, look.label
    if (fields := _table(_LABELS).get(option.text)) is not None:
        label.update(fields)
    elif key in ("pos", "rotate"):
        number = _number(option)
        label["position" if key == "pos" else "rotation"] = (
            max(0.0, min(1.0, number)) if key == "pos" else number
        )
    elif key == "name":
        label["name"] = option.value_text
    elif key == "anchor":
        label["side"] = _ANCHORS.get(option.value_text, "left")
    elif key in ("xshift", "yshift"):
        label["shift"] = _moved(label.get("shift", (0.0, 0.0)), option)
    elif (color := _color(parser, option, ("text", "color"))) is not None:
        look.color = color
    else:
        return key in _IGNORED
    return True


def apply_arrow_option(parser: Parser, look: Look, option: Option, here: End) -> bool:
    """Apply an option to the arrow or the label in `look`. Return False if the option is unknown."""
    key, value, arrow = option.key, option.value_text, look.arrow
    if (fields := _table(_ARROWS).get(option.text)) is not None:
        arrow.update(fields)
    elif _LETTERS.fullmatch(option.text):
        arrow["target"] = step(here, option.text)
    elif spec := _SPEC.fullmatch(option.text):
        arrow.update(tail=TAILS[spec[1] or ""], head=HEADS[spec[2] or ""])
    elif key in ("from", "to") and value:
        arrow["source" if key == "from" else "target"] = _end(here, value)
    elif key in ("start anchor", "end anchor"):
        arrow[key] = option
    elif key in _NUMBERS:
        name, factor = _NUMBERS[key]
        arrow[name] = factor * _number(option)
    elif key in _LENGTHS:
        name, factor = _LENGTHS[key]
        arrow[name] = factor * _length(option)
    elif key in ("shift left", "shift right"):
        length = ems(value)
        arrow["shift"] = (_number(option) * SHIFT if length is None else length) * (
            1 if key[6] == "l" else -1
        )
    elif key in ("shorten <", "shorten >", "shorten"):
        (start, end), length = arrow.get("shorten", (0.0, 0.0)), _length(option)
        arrow["shorten"] = (start if key == "shorten >" else length, end if key == "shorten <" else length)
    elif key in ("xshift", "yshift"):
        arrow["offset"] = _moved(arrow.get("offset", (0.0, 0.0)), option)
    elif key == "curve":
        heights = [_length(inner) for inner in split_options(option.value) if inner.key == "height"]
        arrow["curve"] = -sum(heights)
    elif (color := _color(parser, option, ("draw", "color"))) is not None:
        arrow["color"] = color
        look.color = look.color if key == "draw" else color
    else:
        return apply_label_option(parser, look, option)
    return True


def _end(here: End, value: str) -> End:
    if cell := _CELL.fullmatch(value):
        return End(int(cell[1]) - 1, int(cell[2]) - 1)
    return step(here, value) if _LETTERS.fullmatch(value) else End(name=value)


def _moved(before: tuple[float, float], option: Option) -> tuple[float, float]:
    x, y, length = *before, _length(option)
    return (x + length, y) if option.key == "xshift" else (x, y - length)


def _color(parser: Parser, option: Option, keys: Sequence[str]) -> str | None:
    """Return the color that an option sets, as CSS; "" for the page's text color; None if it sets none."""
    text = option.value_text if option.key in keys else option.text if not option.value else "?"
    found = _COLOR.fullmatch(text)
    if found is None:
        return "" if text == "black" else mixed_color(parser, text)
    model, parts = found[1], found[2]
    if ";" in parts:
        # as quiver writes it: rgb,255:red,92;green,92;blue,214
        model, parts = "RGB", ",".join(re.findall(r"[\d.]+", parts))
    try:
        return css_color([parts], model, "color")
    except ParseError:
        return None


def _number(option: Option) -> float:
    try:
        number = float(option.value_text)
    except ValueError:
        number = float("nan")
    if not abs(number) <= 1000:
        message = f'invalid number "{option.value_text}" of "{option.key}"'
        raise option.misuse(message, "write a number such as `0.3`")
    return number


def _length(option: Option) -> float:
    """Return a length in em. A number without a unit is in points."""
    length = ems(option.value_text)
    length = 0.1 * _number(option) if length is None else length
    if abs(length) > 100:
        message = f'invalid length "{option.value_text}" of "{option.key}"'
        raise option.misuse(message, "write a length such as `3pt` or `1.5em`")
    return length
