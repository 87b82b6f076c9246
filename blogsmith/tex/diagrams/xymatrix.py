r"""Xy-pic's `\xymatrix`, with its most common arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...base.patterns import lazy_pattern
from ..parse.lengths import ems
from ..parse.parser import Parser
from ..parse.state import SCRIPT, TEXT
from .grid import DiagramGrid, read_grid
from .layout import typeset
from .options import HEADS, TAILS, make_option, strip_braces
from .records import EMPTY, Arrow, ArrowDiagram, ArrowLabel, End, Side, SizedFormula, step
from .tikzcd import report_style

_GAP, _PADDING = 2.4, (0.36, 0.36)
_CURVE = 0.5
_SETTING = lazy_pattern(r"!?([RC]?)(=|\+=?|-=?)(.*)")
_STEM = lazy_pattern(r"[23]?[\^_]?(\|?\(|<<|<|>>|>|\|)?(--|==|::|\.\.|~~|-|=|:|\.|~)?(\)|<<|<|>>|>|\|)?")
_TAILS: Mapping[str, str] = MappingProxyType({**TAILS, "(": "hook", "|(": "hook"})
_HEADS: Mapping[str, str] = MappingProxyType({**HEADS, ")": "hook'"})
_ANGLES: Mapping[str, float] = MappingProxyType(
    {"r": 0, "ur": 45, "ru": 45, "u": 90, "ul": 135, "lu": 135, "l": 180}
    | {"dl": 225, "ld": 225, "d": 270, "dr": 315, "rd": 315}
)
_TARGET = lazy_pattern(r"[udlrUDLR]*")
_FRACTION = lazy_pattern(r"\s*(\d*\.?\d+)\s*")
_HOLE = SizedFormula("", 0.3, 0.41, -0.11)
r"""Content of `\hole`: a gap in the line."""


def read_xymatrix(parser: Parser) -> ArrowDiagram:
    r"""Read the settings and the argument after `\xymatrix`. Return the diagram. ParseError if invalid."""
    gaps, padding = {"C": _GAP, "R": _GAP}, _PADDING
    while parser.peek() == "@":
        tokens = [parser.pop()]
        while parser.peek() and parser.peek() not in "{@":
            tokens.append(parser.pop())
        found = _SETTING.fullmatch("".join(tokens[1:]))
        length = ems(found[3]) if found else None
        if found and length is not None:
            for axis in found[1] or "CR":
                start, factor = (0.0, 1) if found[2] == "=" else (gaps[axis], -1 if "-" in found[2] else 1)
                gaps[axis] = max(0.0, min(50.0, start + factor * length))
        elif tokens[1:2] not in (["!"], ["1"], ["M"], ["L"], ["W"], ["H"]):
            report_style(parser, make_option(tokens))
    grid = read_grid(parser, parser.argument(), {"\\ar": _read_arrow}, _cell)
    return grid.diagram(gaps=(gaps["C"], gaps["R"]), padding=padding)


def _cell(parser: Parser, grid: DiagramGrid, tokens: list[str]) -> SizedFormula:
    """Return a typeset cell. tokens: its content, possibly in braces after modifiers such as `*+[F]`."""
    if tokens[:1] == ["*"]:
        starts = (index for index, token in enumerate(tokens) if token[0] in "{\\")
        start = next(starts, len(tokens))
        if "".join(tokens[1:start]).strip("+=-!<> ") not in ("", "[]"):
            report_style(parser, make_option(tokens[:start]))
        tokens = tokens[start:]
    return typeset(parser, tokens, TEXT)


def _read_arrow(parser: Parser, grid: DiagramGrid, command: str) -> None:
    here = End(grid.row, grid.column)
    before, parser.command = parser.command, command
    fields: dict[str, Any] = {}
    while parser.peek() == "@":
        _read_look(parser, fields)
    labels = _labels(parser)
    while parser.peek() in ("'", "`"):
        # the arrow goes on to its target after a place on the way
        report_style(parser, make_option([parser.pop()]))
        if parser.optional() is not None:
            labels += _labels(parser)
    # a loop needs no target
    target = here if "leaving" in fields and parser.peek() != "[" else _target(parser, here)
    labels += _labels(parser)
    grid.add(Arrow(here, target, tuple(labels), token=command, **fields))
    parser.command = before


def _target(parser: Parser, here: End) -> End:
    found = parser.optional()
    text = "".join(found or ()).replace(" ", "")
    if found is None or not _TARGET.fullmatch(text):
        message = (
            f'invalid target "{text}" of an arrow' if found else f'missing target after "{parser.command}"'
        )
        raise parser.syntax_error(message, hint="write a direction such as `[r]` or `[dr]`")
    return step(here, text)


def _read_look(parser: Parser, fields: dict[str, Any]) -> None:
    """Read `@{->}`, `@/^1pc/`, `@<1ex>`, `@(ul,dl)` or a similar modifier of an arrow into `fields`."""
    opening, variant = parser.pop(), ""
    while parser.peek() in ("^", "_", "2", "3", "1", "0", "!", "?"):
        variant += parser.pop()
    token = parser.peek()
    if token == "{":
        _set_stem(parser, fields, opening, variant, parser.argument())
        return
    closing = {"<": ">", "/": "/", "(": ")"}.get(token)
    if closing:
        text = "".join(parser.read_delimited(token, closing) or ()).replace(" ", "")
    if token == "<":
        fields["shift"] = max(-50.0, min(50.0, ems(text) or 0.0))
    elif token == "/":
        length = ems(text.lstrip("^_")) or _CURVE
        fields["curve"] = max(-50.0, min(50.0, 1.33 * length * (-1 if text[:1] == "_" else 1)))
    elif token == "(":
        leaving, _, entering = text.partition(",")
        if leaving not in _ANGLES or entering not in _ANGLES:
            hint = "write two directions such as `@(ul,dl)`"
            raise parser.syntax_error(f'invalid directions "{text}" of a loop', hint=hint)
        fields.update(leaving=_ANGLES[leaving], entering=_ANGLES[entering], looseness=3.0)
    elif not variant:
        report_style(parser, make_option([opening, parser.pop()]))


def _set_stem(
    parser: Parser, fields: dict[str, Any], opening: str, variant: str, tokens: Sequence[str]
) -> None:
    """Set tail, line and head in `fields` from the content of a specification such as `@{^{(}->}`."""
    text = "".join(token for token in tokens if token not in "{} ")
    found = _STEM.fullmatch(text)
    if text in ("", "*"):
        fields["lines"] = 0
    elif not found or not any(found.groups()):
        report_style(parser, make_option([opening, *tokens]))
    else:
        tail, stem, head = found.groups("")
        if not head and not stem:
            # one tip alone, such as @{>}
            tail, head = "", tail
        marks = text[: found.start(1)] + variant if tail else text[:1] + variant
        is_double = stem[:1] in ("=", ":") or "2" in marks
        fields.update(
            tail=_TAILS[tail] + ("'" if "(" in tail and "_" in marks else ""),
            head=_HEADS.get(head, "to"),
            lines=3 if "3" in marks else 2 if is_double else 1,
            dash="dashed" if stem == "--" else "dotted" if stem[:1] in (".", ":") else "",
            is_squiggly=stem[:1] == "~",
        )


def _labels(parser: Parser) -> list[ArrowLabel]:
    sides: Mapping[str, Side] = {"^": "left", "_": "right", "|": "on"}
    labels: list[ArrowLabel] = []
    while (side := sides.get(parser.peek())) is not None:
        parser.pop()
        position = _position(parser)
        labels.append(ArrowLabel(_label_content(parser), side, position))
    return labels


def _label_content(parser: Parser) -> SizedFormula:
    if parser.peek() == "*":
        parser.pop()
        while parser.peek() in ("+", "-", "=", "!"):
            parser.pop()
    token = parser.peek()
    if token == "@":
        # a tip on the line
        parser.pop()
        parser.argument()
        return EMPTY
    if token[:1] != "\\":
        return typeset(parser, strip_braces(parser.argument()), SCRIPT)
    parser.pop()
    if token == "\\hole":
        return _HOLE
    has_argument = parser.stack and parser.stack[-1] == "{"
    argument = ["{", *parser.argument(), "}"] if has_argument else []
    return typeset(parser, ["\\text" if token == "\\txt" else token, *argument], SCRIPT)


def _position(parser: Parser) -> float:
    """Read the position of a label: `-` for the middle, `<` and `>` for the ends, `(.3)` for a fraction.
    Return it as a fraction of the length of the arrow."""
    position = 0.5
    while parser.peek() in ("-", "<", ">", "(", "!"):
        sign = parser.peek()
        if sign == "(":
            inside = parser.read_delimited("(", ")") or []
            found = _FRACTION.fullmatch("".join(inside))
            if not found:
                parser.push(["(", *inside, ")"])
                break
            position = min(1.0, float(found[1]))
            continue
        parser.pop()
        if sign == "!":
            parser.argument()
        elif sign != "-":
            position = max(0.0, min(1.0, position + (0.25 if sign == ">" else -0.25)))
    return position
