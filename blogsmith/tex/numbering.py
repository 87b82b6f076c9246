"""What of a display can carry a number: its environment and the rows in it.

Only the outermost environment counts: `aligned` inside an equation is one row. Which rows get a
number, and which, is decided by the caller; this module does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lexer import Token, read_argument, read_name, skip_spaces, text_of, tokenize

ROW_ENVIRONMENTS = frozenset(
    name + star for name in ("align", "gather", "alignat", "flalign", "eqnarray") for star in ("", "*")
)
"""Numbered row by row."""
SINGLE_ENVIRONMENTS = frozenset(
    name + star for name in ("equation", "multline", "displaymath", "math") for star in ("", "*")
)
"""Numbered as a whole."""


@dataclass(frozen=True, slots=True)
class Row:
    """One stretch of a display that may have a number of its own."""

    label: str | None = None
    """Text of `\\label{…}`."""
    label_offset: int = 0
    """Of the label's text in the author's formula."""
    label_length: int = 0
    tag: str | None = None
    """Text of `\\tag{…}`, to print in place of a number."""
    bare_tag: bool = False
    """`\\tag*`: printed without parentheses."""
    notag: bool = False
    """`\\notag` or `\\nonumber` stands in it."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A display as numbering sees it."""

    environment: str
    """`align`, `equation*`, …; empty for plain `$$ … $$`."""
    rows: tuple[Row, ...]
    """At least one."""


@dataclass(frozen=True, slots=True)
class RowNumber:
    """What a row prints at its right edge."""

    number: str
    """Text between the parentheses."""
    id: str
    """Anchor of the row; empty: no anchor."""
    bare: bool = False
    """Without the parentheses."""


def split_rows(tex: str) -> Structure:
    """Environment and rows of the display `tex`; never raises, whatever is wrong is one row."""
    tokens = unwrap(tokenize(tex), "subequations")
    name = outer_environment(tokens)
    rows = [tokens]
    if name in ROW_ENVIRONMENTS:
        rows = _split(tokens)
    elif name not in SINGLE_ENVIRONMENTS:
        name = ""
    return Structure(name, tuple(_row(row) for row in rows))


def trim(tokens: Sequence[Token]) -> list[Token]:
    """`tokens` without spaces at both ends."""
    start = skip_spaces(tokens, 0)
    end = len(tokens)
    while end > start and tokens[end - 1].text == " ":
        end -= 1
    return list(tokens[start:end])


def outer_environment(tokens: Sequence[Token]) -> str:
    """Name of the environment that holds all of `tokens`, or empty."""
    tokens = trim(tokens)
    if not tokens or tokens[0].text != "\\begin":
        return ""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text == "\\begin") - (token.text == "\\end")
        if depth == 0:
            begin, end = read_name(tokens, 0), read_name(tokens, index)
            return begin.text if begin and end and end.end == len(tokens) else ""
    return ""


def unwrap(tokens: Sequence[Token], *names: str) -> list[Token]:
    """`tokens` without an outermost environment of one of `names`."""
    if outer_environment(tokens) not in names:
        return list(tokens)
    inner = trim(tokens)
    begin = read_name(inner, 0)
    last = max(index for index, token in enumerate(inner) if token.text == "\\end")
    return inner[begin.end : last] if begin else inner


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut at each `\\\\` that belongs to the outermost environment; an empty last row is dropped."""
    rows: list[list[Token]] = [[]]
    environments = braces = 0
    for token in trim(tokens):
        text = token.text
        environments += (text == "\\begin") - (text == "\\end")
        braces += (text == "{") - (text == "}")
        if text in ("\\\\", "\\cr") and environments == 1 and braces == 0:
            rows.append([])
        else:
            rows[-1].append(token)
    end = next((i for i, token in enumerate(rows[-1]) if token.text == "\\end"), 0)
    if len(rows) > 1 and not trim(rows[-1][:end]):
        rows.pop()
    return rows


def _row(tokens: Sequence[Token]) -> Row:
    label = _argument_of("\\label", tokens)
    tag = _argument_of("\\tag", tokens)
    inside = trim(label or [])
    last = inside[-1] if inside else None
    return Row(
        label=text_of(inside) if last else None,
        label_offset=inside[0].offset if last else 0,
        label_length=last.offset + last.length - inside[0].offset if last else 0,
        tag=text_of(trim(tag)) if tag else None,
        bare_tag=tag is not None and _is_starred("\\tag", tokens),
        notag=any(token.text in ("\\notag", "\\nonumber") for token in tokens),
    )


def _argument_of(command: str, tokens: Sequence[Token]) -> list[Token] | None:
    """Argument of the first `command` in `tokens`, a star allowed."""
    for index, token in enumerate(tokens):
        if token.text == command:
            after = skip_spaces(tokens, index + 1)
            argument = read_argument(tokens, after + _is_star(tokens, after))
            return argument.tokens if argument else None
    return None


def _is_starred(command: str, tokens: Sequence[Token]) -> bool:
    """Whether a star follows the first `command` in `tokens`."""
    at = next(index for index, token in enumerate(tokens) if token.text == command)
    return _is_star(tokens, skip_spaces(tokens, at + 1))


def _is_star(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].text == "*"
