"""What `markup.smart_quotes` sets: quotation marks, `--`, `---` and exactly three dots, and nothing else.

Dashes take the place of markdown-it's rule, which also makes © of `(c)`, ± of `+-`, and shortens `????`. Its
rule for quotation marks knows those of one language only; here a page has those of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

from markdown_it.rules_core import StateCore
from markdown_it.rules_core.smartquotes import smartquotes
from markdown_it.token import Token

from ..base.patterns import lazy_pattern
from .state import PageState, page_of

_RARE = lazy_pattern(r"--|\.\.\.")
_DOTS = lazy_pattern(r"(?<!\.)\.\.\.(?!\.)")
_EM_DASH = lazy_pattern(r"(?<!-)---(?!-)")
_EN_DASH = lazy_pattern(r"(?<![-\s])--(?![-\s])|(?:(?<=\s)|(?<![\s\S]))--(?:(?=\s)|(?![\s\S]))")
"""Between words, or between blanks and ends of a text: `--option` stays one."""


def quotation(state: StateCore) -> None:
    """Core rule in the place of `smartquotes`: the marks of the page's language."""
    _set_marks(state.tokens, page_of(state.env))


def _set_marks(tokens: list[Token], page: PageState) -> None:
    options = SimpleNamespace(typographer=True, quotes=page.quotation_marks)
    smartquotes(cast(StateCore, SimpleNamespace(tokens=tokens, md=SimpleNamespace(options=options))))


def set_quotes(children: list[Token], text: str, page: PageState) -> None:
    """Set marks, dashes and dots in inline tokens that no core rule sees: a caption, a label."""
    for token in _prose(children):
        token.content = set_dashes_and_dots(token.content)
    _set_marks([Token("inline", "", 0, content=text, children=children)], page)


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
