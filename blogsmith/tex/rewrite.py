"""TeX that authors write turned into TeX that the converters draw right.

Works on balanced, macro-free tokens; a new token stands where the one it replaces stood. Rules are
per construct and small. Left to later: sizes, `\\smash` and boxes, row gaps (`\\\\[5pt]` only loses
its gap), `smallmatrix`, `CD`, and everything of physics, siunitx and mhchem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from .lexer import (
    Token,
    group_end,
    read_argument,
    read_name,
    read_optional,
    skip_spaces,
    text_of,
    tokenize,
)
from .numbering import trim, unwrap


class Rewritten(NamedTuple):
    """What replaces the tokens from the rule's index up to `end`."""

    tokens: list[Token]
    end: int


Rule = Callable[[Sequence[Token], int], Rewritten | None]

_UNWRAPPED = ("equation", "equation*", "displaymath", "math", "subequations")
_UNNUMBERED: Mapping[str, str] = MappingProxyType(
    {
        "align": "aligned",
        "align*": "aligned",
        "flalign": "aligned",
        "flalign*": "aligned",
        "alignat": "aligned",
        "alignat*": "aligned",
        "alignedat": "aligned",
        "split": "aligned",
        "gather": "gathered",
        "gather*": "gathered",
        "multline": "multline*",
    }
)
_NUMBERED: Mapping[str, str] = MappingProxyType(
    {
        "align": "align*",
        "flalign": "align*",
        "flalign*": "align*",
        "alignat": "align*",
        "alignat*": "align*",
        "gather": "gather*",
    }
)
_COUNTED = frozenset(("alignat", "alignat*", "alignedat"))
_POSITIONED = frozenset(("aligned", "gathered", "alignedat", "split"))
_REFERENCES = frozenset(("\\ref", "\\eqref"))
_TEXT_COMMANDS = frozenset(("\\text", "\\textrm", "\\textbf", "\\textit", "\\textsf", "\\texttt", "\\mbox"))
# Each level reads what is inside once more; a converter refuses what is left as it is.
_MAX_NESTING = 20
_GAP = re.compile(
    r"\s*[-+]?\s*(\d+\.?\d*|\.\d+)\s*(em|ex|pt|mu|cm|mm|in|pc|px|bp|dd|cc|sp|\\jot|\\[a-z]+(skip|width))\s*"
)


def rewrite(tokens: Sequence[Token], *, numbered: bool = False) -> list[Token]:
    """`tokens` for a converter. numbered: the outermost environment gets numbers row by row."""
    inner = tokens
    for _ in range(3):  # subequations, equation and what stands in it
        inner = unwrap(inner, *_UNWRAPPED)
    outer = skip_spaces(inner, 0) if numbered else -1
    done: list[Token] = []
    pending: list[tuple[Sequence[Token], int]] = [(inner, 0)]
    while pending:
        source, index = pending.pop()
        _walk(source, index, done, pending, outer if source is inner else -1)
    return _without_last_break(done)


def _walk(
    source: Sequence[Token],
    index: int,
    done: list[Token],
    pending: list[tuple[Sequence[Token], int]],
    outer: int,
) -> None:
    """Copy `source` from `index` on to `done`; a rewritten stretch is walked in its turn."""
    while index < len(source):
        token = source[index]
        if token.text == "\\begin":
            found = _begin(source, index, _NUMBERED if index == outer else _UNNUMBERED)
        elif token.text == "\\end":
            _drop_last_break(done)
            found = _end(source, index, outer)
        else:
            rule = _RULES.get(token.text)
            found = rule(source, index) if rule else None
        if found is None:
            done.append(token)
            index += 1
        elif token.text == "\\substack" and found.tokens[0].text != token.text:
            pending.append((source, found.end))
            pending.append((found.tokens, 0))
            return
        else:
            done += found.tokens
            index = found.end


def _made(tex: str, at: Token) -> list[Token]:
    return [Token(token.text, at.offset, at.length) for token in tokenize(tex)]


def _begin(tokens: Sequence[Token], index: int, names: Mapping[str, str]) -> Rewritten | None:
    opened = read_name(tokens, index)
    if opened is None:
        return None
    name, end = opened
    if name in _POSITIONED:
        position = read_optional(tokens, end, limit=5)
        end = position.end if position and text_of(position.tokens) in ("t", "c", "b") else end
    if name in _COUNTED:
        count = read_argument(tokens, end)
        end = count.end if count else end
    if name == "eqnarray" or name == "eqnarray*":
        return Rewritten(_made("\\begin{array}{rcl}", tokens[index]), end)
    if name == names.get(name, name) and end == opened.end:
        return None
    return Rewritten(_made(f"\\begin{{{names.get(name, name)}}}", tokens[index]), end)


def _end(tokens: Sequence[Token], index: int, outer: int) -> Rewritten | None:
    closed = read_name(tokens, index)
    if closed is None:
        return None
    names = _NUMBERED if outer >= 0 and skip_spaces(tokens, closed.end) >= len(tokens) else _UNNUMBERED
    name = "array" if closed.text in ("eqnarray", "eqnarray*") else names.get(closed.text, closed.text)
    return Rewritten(_made(f"\\end{{{name}}}", tokens[index]), closed.end)


def _drop_last_break(done: list[Token]) -> None:
    """A row break before `\\end` would make an empty row."""
    end = len(done)
    while end and done[end - 1].text == " ":
        end -= 1
    if end and done[end - 1].text == "\\\\":
        del done[end - 1 :]


def _without_last_break(tokens: list[Token]) -> list[Token]:
    _drop_last_break(tokens)
    return trim(tokens)


def _row_break(tokens: Sequence[Token], index: int) -> Rewritten | None:
    """`\\\\*[5pt]` → `\\\\`; a bracket that holds no length belongs to the formula."""
    end = index + 1
    if end < len(tokens) and tokens[end].text == "*":
        end += 1
    gap = read_optional(tokens, end, limit=30)
    if gap and _GAP.fullmatch(text_of(gap.tokens)):
        end = gap.end
    return Rewritten(_made("\\\\", tokens[index]), end)


def _dropped(tokens: Sequence[Token], index: int) -> Rewritten:
    return Rewritten([], index + 1)


def _dropped_with_argument(tokens: Sequence[Token], index: int) -> Rewritten | None:
    """`\\label{…}`, `\\tag*{…}`: the page prints them, not the formula."""
    after = skip_spaces(tokens, index + 1)
    is_starred = after < len(tokens) and tokens[after].text == "*"
    argument = read_argument(tokens, after + is_starred)
    return Rewritten([], argument.end) if argument else None


def _bold(tokens: Sequence[Token], index: int) -> Rewritten | None:
    """`\\boldsymbol{0}`: math-core leaves digits light."""
    start = skip_spaces(tokens, index + 1)
    end = start + 1
    while end < len(tokens) and tokens[end].text.isdecimal():
        end += 1
    is_number = end > start + 1 and end < len(tokens) and (tokens[start].text, tokens[end].text) == ("{", "}")
    at = tokens[index]
    made = [Token("\\mathbf", at.offset, at.length), *tokens[start : end + 1]]
    return Rewritten(made, end + 1) if is_number else None


def _substack(tokens: Sequence[Token], index: int) -> Rewritten | None:
    """A one-column matrix; the style stands in each row because math-core's tables reset it."""
    argument = read_argument(tokens, index + 1)
    if argument is None:
        return None
    if _count(argument.tokens, ("\\substack",)) > _MAX_NESTING:
        return Rewritten(list(tokens[index : argument.end]), argument.end)
    at = tokens[index]
    rows = _made("\\begin{matrix}\\scriptstyle ", at)
    for token in argument.tokens:
        rows.append(token)
        if token.text == "\\\\":
            rows += _made("\\scriptstyle ", at)
    return Rewritten([*rows, *_made("\\end{matrix}", at)], argument.end)


def _reference(tokens: Sequence[Token], index: int) -> Rewritten:
    """`\\ref` → `\\eqref`: both print the number in parentheses, and the converters know only one."""
    return Rewritten(_made("\\eqref", tokens[index]), index + 1)


def _text(tokens: Sequence[Token], index: int) -> Rewritten | None:
    """`\\text{a $x$ b}` → `{\\text{a }{x}\\text{ b}}`; dollars in deeper groups stay.

    A reference in the text is taken out like a formula.
    """
    at, start = tokens[index], skip_spaces(tokens, index + 1)
    end = group_end(tokens, start) if start < len(tokens) and tokens[start].text == "{" else -1
    if end < 0:
        return None
    if _count(tokens[start:end], _TEXT_COMMANDS) > _MAX_NESTING:
        return Rewritten(list(tokens[index : end + 1]), end + 1)
    command = Token("\\text" if at.text == "\\mbox" else at.text, at.offset, at.length)
    pieces = _at_dollars(_with_dollars(tokens[start + 1 : end]))
    if len(pieces) % 2 == 0:
        return None
    opening, closing = Token("{", at.offset, at.length), Token("}", at.offset, at.length)
    made: list[Token] = []
    for number, piece in enumerate(pieces):
        if number % 2:
            made += [opening, *rewrite(piece), closing]
        elif piece or len(pieces) == 1:
            made += [command, opening, *piece, closing]
    return Rewritten(made if len(pieces) == 1 else [opening, *made, closing], end + 1)


def _count(tokens: Sequence[Token], names: Container[str]) -> int:
    return sum(token.text in names for token in tokens)


def _with_dollars(tokens: Sequence[Token]) -> list[Token]:
    """`tokens` of a text with every reference outside formulas between dollars."""
    made: list[Token] = []
    index, in_formula = 0, False
    while index < len(tokens):
        token = tokens[index]
        in_formula ^= token.text == "$"
        argument = read_argument(tokens, index + 1) if token.text in _REFERENCES and not in_formula else None
        end = argument.end if argument else index + 1
        dollar = [Token("$", token.offset, token.length)] if argument else []
        made += [*dollar, *tokens[index:end], *dollar]
        index = end
    return made


def _at_dollars(tokens: Sequence[Token]) -> list[list[Token]]:
    pieces: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text == "{") - (token.text == "}")
        if token.text == "$" and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "\\\\": _row_break,
        "\\cr": _row_break,
        "\\boldsymbol": _bold,
        "\\bm": _bold,
        "\\label": _dropped_with_argument,
        "\\tag": _dropped_with_argument,
        "\\ref": _reference,
        "\\notag": _dropped,
        "\\nonumber": _dropped,
        "\\substack": _substack,
        **dict.fromkeys(sorted(_TEXT_COMMANDS), _text),
    }
)
