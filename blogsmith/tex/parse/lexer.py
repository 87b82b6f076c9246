"""Tokens of `scan` as records, for callers that inspect a formula without typesetting it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from .scan import split, split_with_positions
from .scan import text_of as join

ROW_BREAKS = ("\\\\", "\\cr", "\\newline")
r"""Tokens that end a row of a table or a display, or a line in `\substack`."""


class Token(NamedTuple):
    """One token. A tuple, because a page creates tens of thousands of them."""

    text: str
    r"""`\alpha`, `\\`, `{`, `x`; any run of white space and comments is one space."""
    offset: int
    """Offset of its first character in the author's formula. A token from a macro has the offset of the
    call."""
    length: int
    """Number of characters of the formula, from `offset` on, that belong to the token or the call."""


def commands(names: str) -> frozenset[str]:
    """Return the names in a string, each with a backslash."""
    return frozenset("\\" + name for name in names.split())


def tokenize(tex: str) -> list[Token]:
    """Return the tokens of `tex`, with numbers split into digits. Never raises."""
    tokens: list[Token] = []
    for token in split_with_positions(tex):
        parts = token if token[0].isdecimal() or token[0] == "." else (token,)
        tokens += (
            Token(part, token.offset + at, token.length if len(parts) == 1 else 1)
            for at, part in enumerate(parts)
        )
    return tokens


def tokenize_without_positions(tex: str) -> list[Token]:
    """Return the tokens without positions (all 0), in half the time of `tokenize`."""
    return list(chain.from_iterable(map(_unplaced, split(tex))))


@lru_cache(maxsize=4096)
def _unplaced(text: str) -> tuple[Token, ...]:
    """Return the records of a token from `scan`: one for each digit of a number. Cached, because formulas
    have few different tokens, and creating records is slow."""
    parts = text if text[0].isdecimal() or text[0] == "." else (text,)
    return tuple(Token(part, 0, 0) for part in parts)


def is_control_word(text: str) -> bool:
    """Return whether a token is a backslash followed by ASCII letters."""
    return len(text) > 1 and text[0] == "\\" and text[1].isalpha() and text.isascii()


def join_tokens(tokens: Sequence[Token]) -> str:
    """Return the tokens as TeX, with a space where two of them would be read as one."""
    return join([token.text for token in tokens])


def skip_spaces(tokens: Sequence[Token], index: int) -> int:
    """Return the first index, from `index` on, whose token is not a space."""
    while index < len(tokens) and tokens[index].text == " ":
        index += 1
    return index


def group_end(tokens: Sequence[Token], start: int) -> int:
    """Return the index of the `}` that closes the `{` at `start`; -1 if there is none."""
    depth = 0
    for index in range(start, len(tokens)):
        text = tokens[index].text
        if text == "{":
            depth += 1
        elif text == "}":
            depth -= 1
            if depth == 0:
                return index
    return -1


class Argument(NamedTuple):
    """One argument of a command in a token list."""

    tokens: list[Token]
    """Tokens of the argument, without its braces."""
    end: int
    """Index of the token after the argument."""


def read_argument(tokens: Sequence[Token], index: int) -> Argument | None:
    """Return the group or single token at `index`, after spaces; None if there is none."""
    index = skip_spaces(tokens, index)
    if index >= len(tokens) or tokens[index].text == "}":
        return None
    if tokens[index].text != "{":
        return Argument([tokens[index]], index + 1)
    end = group_end(tokens, index)
    return None if end < 0 else Argument(list(tokens[index + 1 : end]), end + 1)


def read_optional(tokens: Sequence[Token], index: int, limit: int = 200) -> Argument | None:
    """Return the `[…]` at `index`, after spaces; None if there is none. Brackets inside braces are ignored.

    limit: number of tokens to search; searching to the end after each bracket would be quadratic.
    """
    index = skip_spaces(tokens, index)
    if index >= len(tokens) or tokens[index].text != "[":
        return None
    depth = 0
    for end in range(index + 1, min(len(tokens), index + limit)):
        text = tokens[end].text
        depth += (text == "{") - (text == "}")
        if depth < 0:
            return None
        if text == "]" and depth == 0:
            return Argument(list(tokens[index + 1 : end]), end + 1)
    return None


class EnvironmentName(NamedTuple):
    r"""The name after a `\begin` or `\end`."""

    text: str
    end: int
    """Index after the closing brace."""


def read_name(tokens: Sequence[Token], index: int) -> EnvironmentName | None:
    """Return the environment name in braces after `tokens[index]`; None if there is none."""
    window = tokens[index + 1 : index + 60]
    argument = read_argument(window, 0)
    if argument is None:
        return None
    text = "".join(token.text for token in argument.tokens).strip()
    return EnvironmentName(text, index + 1 + argument.end) if text else None
