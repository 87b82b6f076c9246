r"""A formula as pieces by which notation is compared: `\mathcal L` and `\mathcal{L}` are the same one.

Not a parser: a piece is a letter, a sign, a command, or a command that makes one symbol of its
argument together with it. Definitions are left out, for they are where notation is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..tex.parse.lexer import Token, commands, read_argument, tokenize

_MAX_LENGTH = 64_000
"""Characters; a longer formula is refused anyway."""
_ONE_SYMBOL = commands(
    "mathbb mathbf mathcal mathfrak mathit mathnormal mathrm mathscr mathsf mathtt mathbfit Bbb bold frak "
    "boldsymbol bm pmb operatorname text textrm textbf textit textsf texttt textnormal textup mbox hbox "
    "label tag ref eqref begin end color textcolor colorbox class href url hspace kern mkern"
)
_WITH_COLUMNS = frozenset({"array", "darray", "subarray", "alignat", "alignat*", "alignedat"})
"""Environments with an argument that prints nothing."""
_DEFINERS = commands("newcommand renewcommand providecommand DeclareMathOperator def gdef edef xdef let")


class Piece(NamedTuple):
    """One piece, and where its author wrote it."""

    text: str
    """A token, or a command, a blank and its argument without blanks and braces."""
    start: int
    end: int
    """Braces around a lone piece belong to it."""


def split_formula(tex: str) -> list[Piece]:
    """The pieces of `tex`; none if its braces do not match, since then none of it means much."""
    found: list[Piece] = []
    if len(tex) > _MAX_LENGTH:
        return found
    tokens = [token for token in tokenize(tex) if token.text != " "]
    if not _is_balanced(tokens):
        return found
    index = 0
    while index < len(tokens):
        if tokens[index].text in _DEFINERS:
            index = _skip_definition(tokens, index)
            continue
        end = _piece_end(tokens, index)
        _append(found, tokens[index:end])
        index = end
    return found


def _append(found: list[Piece], tokens: Sequence[Token]) -> None:
    """Add the piece made of `tokens`; a brace that closes on a lone piece takes it in."""
    end = tokens[-1].offset + tokens[-1].length
    if tokens[0].text == "}" and len(found) > 1 and found[-2].text == "{" != found[-1].text:
        lone, opening = found.pop(), found.pop()
        found.append(Piece(lone.text, opening.start, end))
        return
    argument = "".join(token.text for token in tokens[1:] if token.text not in ("{", "}"))
    found.append(Piece(f"{tokens[0].text} {argument}".rstrip(), tokens[0].offset, end))


def _is_balanced(tokens: Sequence[Token]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token.text == "{") - (token.text == "}")
        if depth < 0:
            return False
    return depth == 0


def _piece_end(tokens: Sequence[Token], index: int) -> int:
    """Index after the piece that begins at `index`."""
    text = tokens[index].text
    if text not in _ONE_SYMBOL:
        return index + 1
    is_starred = index + 1 < len(tokens) and tokens[index + 1].text == "*"
    argument = read_argument(tokens, index + 1 + is_starred)
    if argument is None:
        return index + 1
    name = "".join(token.text for token in argument.tokens)
    columns = read_argument(tokens, argument.end) if text == "\\begin" and name in _WITH_COLUMNS else None
    return columns.end if columns else argument.end


def _skip_definition(tokens: Sequence[Token], index: int) -> int:
    """Index after the definition whose command stands at `index`."""
    is_starred = index + 1 < len(tokens) and tokens[index + 1].text == "*"
    name = read_argument(tokens, index + 1 + is_starred)
    at = name.end if name else index + 1
    if tokens[index].text == "\\let":
        at += at < len(tokens) and tokens[at].text == "="
        return at + 1
    while at < len(tokens) and tokens[at].text != "{":
        at += 1
    body = read_argument(tokens, at)
    return body.end if body else len(tokens)
