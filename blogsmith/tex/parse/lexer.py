"""The tokens of `scan` as records, for callers that look at a formula and do not typeset it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from .scan import split, split_placed
from .scan import text_of as join

ROW_BREAKS = ("\\\\", "\\cr", "\\newline")
"""What ends a row: of tables, of displays, of what stands below a sum."""


class Token(NamedTuple):
    """One token. A tuple because a page makes ten thousands of them."""

    text: str
    """`\\alpha`, `\\\\`, `{`, `x`; any run of white space and comments is one space."""
    offset: int
    """Of its first character in the author's formula; the macro call if a macro made it."""
    length: int
    """Characters it takes there."""


def commands(names: str) -> frozenset[str]:
    """The names in a line of names, each with its backslash."""
    return frozenset("\\" + name for name in names.split())


def tokenize(tex: str) -> list[Token]:
    """The tokens of `tex` with a number in its digits; never raises."""
    tokens: list[Token] = []
    for token in split_placed(tex):
        parts = token if token[0].isdecimal() or token[0] == "." else (token,)
        tokens += (
            Token(part, token.offset + at, token.length if len(parts) == 1 else 1)
            for at, part in enumerate(parts)
        )
    return tokens


def tokenize_unplaced(tex: str) -> list[Token]:
    """The same in half the time, for callers that do not ask where a token stands: all are at 0."""
    return list(chain.from_iterable(map(_unplaced, split(tex))))


@lru_cache(maxsize=4096)
def _unplaced(text: str) -> tuple[Token, ...]:
    """One token of `scan`. Remembered: formulas have few different ones, and making a record takes longer."""
    parts = text if text[0].isdecimal() or text[0] == "." else (text,)
    return tuple(Token(part, 0, 0) for part in parts)


def is_control_word(text: str) -> bool:
    """Is it a backslash followed by letters?"""
    return len(text) > 1 and text[0] == "\\" and text[1].isalpha() and text.isascii()


def text_of(tokens: Sequence[Token]) -> str:
    """TeX text that reads as `tokens`."""
    return join([token.text for token in tokens])


def skip_spaces(tokens: Sequence[Token], index: int) -> int:
    """The first index from `index` on that holds no space."""
    while index < len(tokens) and tokens[index].text == " ":
        index += 1
    return index


def group_end(tokens: Sequence[Token], start: int) -> int:
    """Index of the `}` that closes the `{` at `start`, or -1."""
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
    """One argument of a command as found in a token list."""

    tokens: list[Token]
    """Without its braces."""
    end: int
    """Index after the argument."""


def read_argument(tokens: Sequence[Token], index: int) -> Argument | None:
    """The group or single token at `index`, spaces skipped; None if there is none."""
    index = skip_spaces(tokens, index)
    if index >= len(tokens) or tokens[index].text == "}":
        return None
    if tokens[index].text != "{":
        return Argument([tokens[index]], index + 1)
    end = group_end(tokens, index)
    return None if end < 0 else Argument(list(tokens[index + 1 : end]), end + 1)


def read_optional(tokens: Sequence[Token], index: int, limit: int = 200) -> Argument | None:
    """The `[…]` at `index`, spaces skipped, brackets inside braces not counted; else None.

    limit: tokens to look at; a search to the end after each bracket would be quadratic.
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


class Named(NamedTuple):
    """The name that follows a `\\begin` or `\\end`."""

    text: str
    end: int
    """Index after the closing brace."""


def read_name(tokens: Sequence[Token], index: int) -> Named | None:
    """The name of the environment in braces after `tokens[index]`; None if there is none."""
    window = tokens[index + 1 : index + 60]
    argument = read_argument(window, 0)
    if argument is None:
        return None
    text = "".join(token.text for token in argument.tokens).strip()
    return Named(text, index + 1 + argument.end) if text else None
