"""TeX as a flat list of tokens that know where the author wrote them, and back to text.

No category codes and no `\\verb`: a formula is commands, braces and single characters. Control
characters, noncharacters and lone surrogates disappear here, comments become a space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

# No XML may hold these, and no converter filters all of them.
_BAD = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
_BAD_CHARACTERS = re.compile(f"[{_BAD}]")
_TOKEN = re.compile(rf"\\[A-Za-z]+|\\[^{_BAD}]|[^\\%\s{_BAD}]|\s+|%[^\n]*\n?|\\", re.DOTALL)


class Token(NamedTuple):
    """One token. A tuple because a page makes ten thousands of them."""

    text: str
    """`\\alpha`, `\\\\`, `{`, `x`; any run of white space and comments is one space."""
    offset: int
    """Of its first character in the author's formula; the macro call if a macro made it."""
    length: int
    """Characters it takes there."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Tokens as TeX text, with the way back."""

    text: str
    starts: tuple[int, ...]
    """Where in `text` each token begins."""
    tokens: tuple[Token, ...]

    def token_at(self, offset: int) -> Token:
        """The token that covers `text[offset]`; the last one beyond the end."""
        if not self.tokens:
            return Token("", 0, 1)
        return self.tokens[max(0, bisect_right(self.starts, offset) - 1)]


def words(names: str) -> frozenset[str]:
    """The names in a line of names."""
    return frozenset(names.split())


def commands(names: str) -> frozenset[str]:
    """The names in a line of names, each with its backslash."""
    return frozenset("\\" + name for name in names.split())


def clean_text(text: str) -> str:
    """`text` without the characters that no XML may hold."""
    return _BAD_CHARACTERS.sub("", text)


def tokenize(tex: str) -> list[Token]:
    """The tokens of `tex`; never raises."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(tex):
        text, offset = match.group(), match.start()
        if text[0].isspace() or text[0] == "%":
            if tokens and tokens[-1].text == " ":
                continue
            tokens.append(Token(" ", offset, len(text)))
        else:
            tokens.append(Token(text, offset, len(text)))
    return tokens


def is_control_word(text: str) -> bool:
    """Is it a backslash followed by letters?"""
    return len(text) > 1 and text[0] == "\\" and text[1].isalpha() and text.isascii()


def join(tokens: Iterable[Token]) -> Joined:
    """TeX text that reads as `tokens`: a space parts a control word from a letter after it."""
    parts: list[str] = []
    starts: list[int] = []
    kept: list[Token] = []
    position, after_word = 0, False
    for token in tokens:
        if after_word and token.text[0].isalpha():
            parts.append(" ")
            position += 1
        starts.append(position)
        kept.append(token)
        parts.append(token.text)
        position += len(token.text)
        after_word = is_control_word(token.text)
    return Joined("".join(parts), tuple(starts), tuple(kept))


def text_of(tokens: Sequence[Token]) -> str:
    """`join(tokens).text`."""
    return join(tokens).text


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
