"""Dashes and dots of `markup.smart_quotes`: `--`, `---` and exactly three dots, and nothing else.

Takes the place of markdown-it's rule, which also makes © of `(c)`, ± of `+-`, and shortens `????`.
"""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..patterns import lazy_pattern

_RARE = lazy_pattern(r"--|\.\.\.")
_DOTS = lazy_pattern(r"(?<!\.)\.\.\.(?!\.)")
_EM_DASH = lazy_pattern(r"(?<!-)---(?!-)")
_EN_DASH = lazy_pattern(r"(?<![-\s])--(?![-\s])|(?:(?<=\s)|(?<![\s\S]))--(?:(?=\s)|(?![\s\S]))")
"""Between words, or between blanks and ends of a text: `--option` stays one."""


def typography(state: StateCore) -> None:
    """Core rule behind the inline pass."""
    for token in state.tokens:
        if token.type == "inline" and _RARE.search(token.content):
            for text in _prose(token.children or ()):
                text.content = set_dashes_and_dots(text.content)


def set_dashes_and_dots(text: str) -> str:
    """The text with typographic dashes and dots."""
    return _EN_DASH.sub("–", _EM_DASH.sub("—", _DOTS.sub("…", text)))


def _prose(children: list[Token] | tuple[Token, ...]) -> Iterator[Token]:
    """The texts that are no bare address."""
    is_address = False
    for token in children:
        if token.type in ("link_open", "link_close") and token.info == "auto":
            is_address = token.type == "link_open"
        elif token.type == "text" and not is_address:
            yield token
