"""Matrices, `array`, `cases`, small matrices and stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ..atoms import INNER, ORD, Atom
from ..construct import Environment
from ..parser import DISPLAY, SCRIPT, TEXT, Parser
from ..wrong import Wrong
from .delimiters import fence
from .grid import Grid, Layout, Row, aligned_to, cell, gap_style, print_rows, read_grid

_FENCES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "matrix": ("", ""),
        "pmatrix": ("(", ")"),
        "bmatrix": ("[", "]"),
        "Bmatrix": ("{", "}"),
        "vmatrix": ("|", "|"),
        "Vmatrix": ("‖", "‖"),
    }
)
_SIDES: Mapping[str, str] = MappingProxyType(
    {"l": "left", "c": "", "r": "right", "p": "left", "m": "left", "b": "left"}
)


def _fenced(opening: str, table: str, closing: str) -> str:
    if not opening and not closing:
        return table
    return f"<mrow>{fence(opening, 'prefix')}{table}{fence(closing, 'postfix')}</mrow>"


def _kind(name: str) -> int:
    return INNER if _FENCES.get(name.rstrip("*"), ("", ""))[0] else ORD


def _matrix(parser: Parser, name: str) -> Atom:
    side = _matrix_side(parser) if name.endswith("*") else ""
    grid = read_grid(parser, name, Layout(TEXT, rules=True))
    opening, closing = _FENCES[name.rstrip("*")]
    columns = max(len(row.cells) for row in grid.rows)
    plan = _Plan([_Column(side) for _ in range(columns)])
    return _kind(name), _fenced(opening, _ruled("math-matrix", grid, plan), closing)


def _matrix_side(parser: Parser) -> str:
    """The `[r]` of `matrix*`."""
    found = parser.optional()
    if found is None:
        return ""
    word = "".join(found).strip()
    if word not in ("l", "c", "r"):
        raise parser.wrong("the columns of a starred matrix are [l], [c] or [r]")
    return _SIDES[word]


def _small(parser: Parser, name: str) -> Atom:
    if name.endswith("*"):
        _matrix_side(parser)
    grid = read_grid(parser, name, Layout(SCRIPT))
    fences = _FENCES[name.rstrip("*").replace("smallmatrix", "matrix")]
    level = "" if parser.style >= SCRIPT else ' scriptlevel="1"'
    table = f'<mtable class="math-small"{level}>{print_rows(grid.rows, lambda _: "", ())}</mtable>'
    return _kind(name.replace("smallmatrix", "matrix")), _fenced(fences[0], table, fences[1])


def _subarray(parser: Parser, name: str) -> Atom:
    side = _SIDES.get("".join(parser.argument()).strip(), "")
    grid = read_grid(parser, name, Layout(SCRIPT, columns=1))
    level = "" if parser.style >= SCRIPT else ' scriptlevel="1"'
    return ORD, f'<mtable class="math-small"{level}>{print_rows(grid.rows, lambda _: side, ())}</mtable>'


def _cases(parser: Parser, name: str) -> Atom:
    style = DISPLAY if name.lstrip("r").startswith("d") else TEXT
    grid = read_grid(parser, name, Layout(style, text_from=2 if name.endswith("*") else 0))
    display = ' displaystyle="true"' if style == DISPLAY else ""
    table = f'<mtable class="math-cases"{display}>{print_rows(grid.rows, lambda _: "left", ())}</mtable>'
    closes = name.startswith(("rcases", "drcases"))
    return INNER, _fenced("", table, "}") if closes else _fenced("{", table, "")


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of an array's preamble."""

    side: str = ""
    left: tuple[str, ...] = ()
    """Rules at its left: `rule` or `dash`."""
    right: tuple[str, ...] = ()
    tight_left: bool = False
    """No room at its left: `@{}`."""
    tight_right: bool = False
    inserted: str = ""
    """What `@{…}` prints behind it, as TeX."""


@dataclass(slots=True)
class _Plan:
    columns: list[_Column] = field(default_factory=list)


def _plan(parser: Parser, name: str) -> _Plan:
    """The preamble in braces behind `\\begin{array}`."""
    tokens = [t for t in parser.argument() if t != " "]
    plan = _Plan()
    rules: list[str] = []
    tight = False
    budget = 1000
    while tokens:
        budget -= 1
        if budget < 0:
            raise parser.wrong(f"{name} has too many columns")
        token = tokens.pop(0)
        if token in ("|", ":"):
            rules.append("rule" if token == "|" else "dash")
        elif token in _SIDES:
            if token in "pmb":
                _take_group(tokens)
            plan.columns.append(_Column(_SIDES[token], left=tuple(rules), tight_left=tight))
            rules, tight = [], False
        elif token in ("@", "!"):
            _take_group(tokens)
            tight = token == "@"
            if plan.columns and tight:
                plan.columns[-1] = _changed(plan.columns[-1], tight_right=True)
        elif token in (">", "<"):
            _take_group(tokens)
        elif token == "*":
            count, what = _take_group(tokens), _take_group(tokens)
            number = "".join(count)
            if not number.isdigit() or int(number) * max(1, len(what)) > 500:
                raise parser.wrong(f"{name} cannot repeat a column {number or 'no'} times")
            tokens = what * int(number) + tokens
        elif len(token) > 1 and set(token) <= set("lcr|"):
            tokens = list(token) + tokens
        else:
            hint = "columns are l, c and r, with | for a rule"
            raise Wrong("math-syntax", f"{token} is no column of {name}", token, hint=hint)
    if plan.columns and rules:
        plan.columns[-1] = _changed(plan.columns[-1], right=tuple(rules))
    return plan


def _changed(
    column: _Column, *, right: tuple[str, ...] | None = None, tight_right: bool | None = None
) -> _Column:
    return _Column(
        column.side,
        column.left,
        column.right if right is None else right,
        column.tight_left,
        column.tight_right if tight_right is None else tight_right,
    )


def _take_group(tokens: list[str]) -> list[str]:
    """The group or token at the front of `tokens`, which is taken."""
    if not tokens or tokens[0] != "{":
        return [tokens.pop(0)] if tokens else []
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token == "{") - (token == "}")
        if not depth:
            inside = tokens[1:index]
            del tokens[: index + 1]
            return inside
    return []


def _array(parser: Parser, name: str) -> Atom:
    parser.optional()  # [t], [b]
    plan = _plan(parser, name)
    style = DISPLAY if name == "darray" else TEXT
    grid = read_grid(parser, name, Layout(style, rules=True))
    display = ' displaystyle="true"' if style == DISPLAY else ""
    return ORD, _ruled("", grid, plan, display)


def _ruled(look: str, grid: Grid, plan: _Plan, more: str = "") -> str:
    """The table with its rules; a rule is a class of the cells beside it."""
    width = max(len(row.cells) for row in grid.rows)
    rows = []
    for index, row in enumerate(grid.rows):
        below = grid.below if index == len(grid.rows) - 1 else []
        rows.append(f"<mtr>{''.join(_cells(row, plan, width, below))}</mtr>")
    name = f' class="{look}"' if look else ""
    return f"<mtable{name}{more}>{''.join(rows)}</mtable>"


def _cells(row: Row, plan: _Plan, width: int, below: Sequence[str]) -> list[str]:
    cells = []
    for column in range(width):
        found = plan.columns[column] if column < len(plan.columns) else _Column()
        classes = [
            *_rule(found.left, "left"),
            *_rule(found.right, "right"),
            *_rule(row.above or (("rule",) if column in row.partly_above else ()), "top"),
            *_rule(below, "bottom"),
        ]
        styles = [
            "padding-left:0" if found.tight_left else "",
            "padding-right:0" if found.tight_right else "",
            gap_style(row.gap) if column == 0 else "",
        ]
        attributes = f' class="{" ".join(classes)}"' if classes else ""
        attributes += aligned_to(found.side, ";".join(filter(None, styles)))
        cells.append(cell(row.cells[column] if column < len(row.cells) else (), attributes))
    return cells


def _rule(rules: Sequence[str], edge: str) -> list[str]:
    if not rules:
        return []
    return [f"math-{'double' if len(rules) > 1 else rules[0]}-{edge}"]


ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType(
    {name + star: _matrix for name in _FENCES for star in ("", "*")}
    | {name.replace("matrix", "smallmatrix") + star: _small for name in _FENCES for star in ("", "*")}
    | {
        name: _cases
        for name in ("cases", "dcases", "rcases", "drcases", "cases*", "dcases*", "rcases*", "drcases*")
    }
    | {"array": _array, "darray": _array, "subarray": _subarray, "tabular": _array}
)
