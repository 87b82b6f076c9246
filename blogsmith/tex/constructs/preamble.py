r"""The columns of an `array`: `{l|c@{\,}r}` (LaTeX2e and the array package)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..parse.errors import ParseError
from ..parse.parser import Parser

SIDES: Mapping[str, str] = MappingProxyType(
    {"l": "left", "c": "", "r": "right", "p": "left", "m": "left", "b": "left"}
)
"""Letter of a column → side its cells stand on; empty: centred."""
_MAX_COLUMNS = 500


@dataclass(slots=True)
class Column:
    """One column while the preamble is read."""

    side: str = ""
    left: list[str] = field(default_factory=list)
    """Rules at its left: `rule` or `dash`."""
    right: list[str] = field(default_factory=list)
    tight_left: bool = False
    """No room at its left: `@{}`."""
    tight_right: bool = False
    before: list[str] = field(default_factory=list)
    """Pieces printed in front of each cell."""
    behind: list[str] = field(default_factory=list)
    prefix: list[str] = field(default_factory=list)
    """Tokens that each cell begins with: `>{\\bf}`."""


def read_columns(parser: Parser, name: str) -> list[Column]:
    """The preamble in braces behind `\\begin{array}`."""
    tokens = [token for token in parser.name_argument() if token != " "]
    columns: list[Column] = []
    coming = Column()
    budget = 2 * _MAX_COLUMNS
    while tokens:
        budget -= 1
        if budget < 0:
            raise parser.syntax_error(f"{name} has too many columns")
        token = tokens.pop(0)
        if token in SIDES:
            if token in "pmb":
                _take_group(tokens)
            coming.side = SIDES[token]
            columns.append(coming)
            coming = Column()
        elif token == "*":
            tokens = _repeat_columns(parser, name, tokens) + tokens
        elif len(token) > 1 and set(token) <= set("lcr|"):
            tokens = [*token, *tokens]
        elif not _read_separator(parser, token, tokens, columns, coming):
            hint = "columns are l, c and r, with | for a rule"
            raise ParseError("math-syntax", f"{token} is no column of {name}", token, hint=hint)
    if columns:
        columns[-1].right += coming.left
    return columns


def _read_separator(
    parser: Parser, token: str, tokens: list[str], columns: list[Column], coming: Column
) -> bool:
    """Take what stands between two columns; False if `token` is nothing of that kind."""
    if token in ("|", ":"):
        coming.left.append("rule" if token == "|" else "dash")
        return True
    if token not in ("@", "!", ">", "<"):
        return False
    held = _take_group(tokens)
    if token == ">":
        coming.prefix += held
        return True
    target = columns[-1].behind if columns else coming.before
    target += parser.parse_group(held)
    if token == "@":
        coming.tight_left = True
        if columns:
            columns[-1].tight_right = True
    return True


def _repeat_columns(parser: Parser, name: str, tokens: list[str]) -> list[str]:
    """The columns that a `*{3}{c}` stands for; its star is taken."""
    count, what = "".join(_take_group(tokens)), _take_group(tokens)
    if not count.isdecimal() or len(count) > 3 or int(count) * max(1, len(what)) > _MAX_COLUMNS:
        raise parser.syntax_error(f"{name} cannot repeat a column {count or 'no'} times")
    return what * int(count)


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
