"""tikz-cd's `tikzcd` environment, as authors and quiver write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ..parse.errors import ParseError
from ..parse.lengths import ems
from ..parse.parser import Parser
from ..parse.scan import split
from ..parse.state import SCRIPT, TEXT
from .grid import DiagramGrid, read_grid
from .layout import typeset
from .options import (
    Look,
    Option,
    apply_arrow_option,
    apply_label_option,
    make_option,
    read_options,
    short_name,
    split_options,
    strip_braces,
    strip_spaces,
)
from .records import Arrow, ArrowDiagram, ArrowLabel, End, Side, SizedFormula, step

_SIZES = ("tiny", "small", "scriptsize", "normal", "large", "huge")
_SEPARATIONS: Mapping[str, Mapping[str, float]] = {
    "column": dict(zip(_SIZES, (0.6, 1.2, 1.8, 2.4, 3.6, 4.8), strict=True)),
    "row": dict(zip(_SIZES, (0.45, 0.9, 1.35, 1.8, 2.7, 3.6), strict=True)),
}
_PADDING, _CRAMPED = (0.43, 0.37), (0.15, 0.15)
"""Padding of cells: tikz-cd's `inner xsep=1ex, inner ysep=0.85ex`, and the smaller padding of `cramped`."""
_DIRECTION = lazy_pattern(r"\s*[udlrUDLR]*\s*")
_SHORT = ("rar", "lar", "dar", "uar", "drar", "dlar", "urar", "ular")
_ANCHOR = lazy_pattern(
    r"(?:\[([^\]]*)\])?\s*(-?\d+(?:\.\d+)?|(?:real )?center|(?:north|south|base|mid)?\s*(?:east|west)?)\s*"
)
_COLUMN = lazy_pattern(r"column (\d{1,3})/\.(?:append )?style")
_ARROW_STYLES, _LABEL_STYLES, _CELL_STYLES = (
    frozenset((plural, f"every {name}/.style", f"every {name}/.append style"))
    for name, plural in (("arrow", "arrows"), ("label", "labels"), ("cell", "cells"))
)
_NO_LOOK = frozenset(
    (
        *("center picture", "baseline", "remember picture", "nodes in empty cells"),
        *("arrow style", "background color"),
    )
)
"""Options of a diagram that change nothing visible, or only what the page decides itself."""


class _Settings(Struct):
    """Options of the environment, needed to read its cells and arrows."""

    separator: str = "&"
    scale: float = 1.0
    padding: tuple[float, float] = _PADDING
    gaps: dict[str, float] = field(default_factory=lambda: {"column": 2.4, "row": 1.8})
    between_centers: set[str] = field(default_factory=set)
    sides: dict[int, int] = field(default_factory=dict)
    arrow_options: list[Option] = field(default_factory=list)
    label_options: list[Option] = field(default_factory=list)


def read_tikzcd(parser: Parser, options: Sequence[str], body: Sequence[str]) -> ArrowDiagram:
    """Return the diagram of a `tikzcd` environment. ParseError if its syntax is wrong."""
    settings = _Settings()
    for option in read_options(parser, options):
        if not _set(parser, settings, option):
            report_style(parser, option)
    reader = partial(_read_arrow, settings=settings)
    commands = {f"\\{name}": reader for name in ("ar", "arrow", *_SHORT)}
    grid = read_grid(parser, body, commands, _cell, settings.separator)
    return grid.diagram(
        gaps=(settings.gaps["column"], settings.gaps["row"]),
        padding=settings.padding,
        is_between_centers=("column" in settings.between_centers, "row" in settings.between_centers),
        sides=settings.sides,
        scale=settings.scale,
    )


def report_style(parser: Parser, option: Option) -> None:
    """Report an unknown option as a warning. The diagram is drawn without the option."""
    name = option.key if len(option.key) <= 40 else f"{option.key[:39]}…"
    hint = "remove it, or write a style that the manual lists under “Commutative diagrams”"
    message = f'unknown style "{name}" in a diagram'
    parser.ignored.append(ParseError("math-diagram", message, option.at[0], end=option.at[-1], hint=hint))


def _set(parser: Parser, settings: _Settings, option: Option) -> bool:
    """Apply an option of the environment to `settings`. Return False if the option is unknown."""
    key = short_name(option.key)
    if key in ("column sep", "row sep", "sep"):
        for axis in ("column", "row") if key == "sep" else (key.partition(" ")[0],):
            _set_gap(parser, settings, axis, option)
    elif column := _COLUMN.fullmatch(key):
        return _align(settings, int(column[1]) - 1, option)
    elif key == "ampersand replacement":
        settings.separator = next(iter(option.value), "&")
    elif key == "cramped":
        settings.padding = _CRAMPED
    elif key in ("scale cd", "scale") and option.value_text.replace(".", "", 1).isdigit():
        settings.scale = max(0.3, min(3.0, float(option.value_text)))
    elif key in _ARROW_STYLES:
        settings.arrow_options += read_options(parser, option.value)
    elif key in _LABEL_STYLES:
        settings.label_options += read_options(parser, option.value)
    elif key in _CELL_STYLES:
        return not option.value
    elif apply_arrow_option(parser, Look(), option, End()):
        settings.arrow_options.append(option)
    else:
        return key in _NO_LOOK
    return True


def _set_gap(parser: Parser, settings: _Settings, axis: str, option: Option) -> None:
    """Set the gap between rows or columns. Only warn about an unknown name, which the author's preamble may
    define for LaTeX."""
    size, _, between = option.value_text.partition(",")
    known = _SEPARATIONS[axis].get(size.strip())
    written = size.strip().lstrip("+")
    # a number without a unit is one of points
    gap = known if known is not None else ems(f"{written}pt" if written[-1:].isdecimal() else written)
    if gap is None or abs(gap) > 50:
        message = f'invalid length "{size.strip()}" of "{option.key}"'
        hint = "write a length such as `3em`, or `small`, `large` or `huge`"
        if not size.strip().isalpha():
            raise option.misuse(message, hint)
        parser.ignored.append(ParseError("math-diagram", message, option.at[0], end=option.at[-1], hint=hint))
        return
    settings.gaps[axis] = gap
    if "between origins" in between:
        settings.between_centers.add(axis)


def _align(settings: _Settings, column: int, option: Option) -> bool:
    """Set the anchor of the cells of a column. Return False if the option sets anything else."""
    inner = split_options(option.value)
    if [found.key for found in inner] == ["nodes"]:
        inner = split_options(inner[0].value)
    for found in inner:
        settings.sides[column] = ("west" in found.value_text) - ("east" in found.value_text)
    return all(found.key == "anchor" for found in inner)


def _cell(parser: Parser, grid: DiagramGrid, tokens: list[str]) -> SizedFormula:
    """Return a typeset cell. tokens: its content, possibly after `|[options]|`, which may name the cell."""
    end = tokens.index("]") if tokens[:2] == ["|", "["] and "]" in tokens else 0
    if end and tokens[end + 1 : end + 2] == ["|"]:
        for option in split_options(tokens[2:end]):
            if option.key in ("alias", "name"):
                grid.names[option.value_text] = (grid.row, grid.column)
            elif not apply_label_option(parser, Look(), option):
                report_style(parser, option)
        tokens = tokens[end + 2 :]
    return typeset(parser, tokens, TEXT)


def _read_arrow(parser: Parser, grid: DiagramGrid, command: str, *, settings: _Settings) -> None:
    here, look = End(grid.row, grid.column), Look()
    before, parser.command = parser.command, command
    is_short = command[1:] in _SHORT
    if is_short:
        look.arrow["target"] = step(here, command[1:-2])
    options = [*settings.arrow_options, *read_options(parser, _bracket(parser) or ())]
    for option in options:
        if option.key != '"' and not apply_arrow_option(parser, look, option, here):
            report_style(parser, option)
    quoted = [option for option in options if option.key == '"']
    labels = [_quoted_label(parser, look, option, settings) for option in quoted]
    if not quoted and (is_short or "target" not in look.arrow) and parser.peek() == "{":
        # the syntax before tikz-cd 0.9: \arrow[options]{direction}[options]{label}
        if not is_short:
            look.arrow["target"] = _direction(parser, here)
        labels = _older_labels(parser, look, settings)
    fields = dict(look.arrow)
    offset, source = fields.pop("offset", (0.0, 0.0)), fields.pop("source", here)
    # \arrow[loop] has no target
    ends = {"start anchor": source, "end anchor": fields.pop("target", here)}
    source, target = (_anchored(parser, end, fields.pop(key, None), offset) for key, end in ends.items())
    grid.add(Arrow(source=source, target=target, labels=tuple(labels), token=command, **fields))
    parser.command = before


def _direction(parser: Parser, here: End) -> End:
    text = "".join(parser.argument())
    if not _DIRECTION.fullmatch(text):
        message = f'invalid direction "{text.strip()}"'
        raise parser.syntax_error(message, hint="write a direction such as `r`, `d` or `dr`")
    return step(here, text)


def _older_labels(parser: Parser, look: Look, settings: _Settings) -> list[ArrowLabel]:
    labels: list[ArrowLabel] = []
    while parser.peek() in ("{", "["):
        own = _bracket(parser) or []
        if parser.peek() != "{":
            parser.push(["[", *own, "]"])
            break
        labels.append(_label(parser, look, parser.argument(), read_options(parser, own), settings))
    return labels


def _bracket(parser: Parser) -> list[str] | None:
    """Read the `[…]` after a command. Return its content; None if there is none. A `]` inside braces or
    quotation marks does not end it."""
    if parser.peek() != "[":
        return None
    opening, taken = parser.stack.pop(), list[str]()
    depth, is_quoted = 0, False
    while parser.stack:
        token = parser.stack.pop()
        depth += (token == "{") - (token == "}")
        is_quoted ^= token == '"' and not depth
        if token == "]" and not depth and not is_quoted:
            parser.spend(len(taken))
            return taken
        taken.append(token)
    problem = "a quotation mark is never closed" if is_quoted else '"[" is never closed'
    hint = "add the closing quotation mark" if is_quoted else "write `]` after the options"
    raise ParseError("math-syntax", f'invalid options of "{parser.command}": {problem}', opening, hint=hint)


def _quoted_label(parser: Parser, look: Look, option: Option, settings: _Settings) -> ArrowLabel:
    """Return the label of an option such as `"f"' {near start}`."""
    tokens = option.tokens
    depth = 0
    for end in range(1, len(tokens)):
        depth += (tokens[end] == "{") - (tokens[end] == "}")
        if tokens[end] == '"' and not depth:
            break
    else:
        raise option.misuse("missing quotation mark after a label", "add the closing quotation mark")
    after, own = strip_spaces(tokens[end + 1 :]), []
    while after[:1] == ["'"]:
        own.append(make_option(["swap"]))
        after = strip_spaces(after[1:])
    own += read_options(parser, strip_braces(after))
    return _label(parser, look, tokens[1:end], own, settings)


def _label(
    parser: Parser, look: Look, tokens: Sequence[str], options: Sequence[Option], settings: _Settings
) -> ArrowLabel:
    own = Look(label=dict(look.label), color=look.color)
    swaps = bool(own.label.pop("is_swapped", False))
    for option in (*settings.label_options, *options):
        if not apply_label_option(parser, own, option):
            report_style(parser, option)
        swaps ^= bool(own.label.pop("is_swapped", False))
    fields: dict[str, Any] = own.label
    side: Side = fields.pop("side", "right" if swaps else "left")
    box = typeset(parser, tokens, SCRIPT, own.color)
    return ArrowLabel(box=box, side=side, **fields)


def _anchored(parser: Parser, end: End, anchor: Option | None, offset: tuple[float, float]) -> End:
    """Return `end` with its anchor, such as `east` or `[yshift=1ex]east`. offset: further shift."""
    if anchor is None:
        return replace(end, shift=offset)
    found = _ANCHOR.fullmatch(anchor.value_text)
    if not found:
        report_style(parser, anchor)
        return end
    inner = Look()
    for option in split_options(split(found[1] or "")):
        apply_label_option(parser, inner, option)
    x, y = inner.label.get("shift", (0.0, 0.0))
    return replace(end, anchor=found[2].strip(), shift=(x + offset[0], y + offset[1]))
