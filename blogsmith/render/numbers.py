"""Numbers of equations and the texts of links to them, plain or typeset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markdown_it.token import Token

from ..base.patterns import lazy_pattern
from ..tex.errors import TexError
from ..tex.on_demand import holds_tex, linear_text, typeset_tag
from .context import Rendering
from .prose import escape_html

_OPENING = "\\text{"


def number_html(number: str, macros: Mapping[str, Any], *, bare: bool = False) -> str:
    """`(1)`; TeX that cannot be typeset, which is reported at its formula, as it is written.

    A number is a link, so links in its TeX are not.
    """
    if holds_tex(number):
        try:
            return strip_links(typeset_tag(number, macros, bare=bare))
        except TexError:
            pass
    return escape_html(number if bare else f"({number})")


def number_text(number: str) -> str:
    """The same as plain text, without parentheses."""
    return linear_text(f"{_OPENING}{number}}}") if holds_tex(number) else number


# Texts that stand in links, and on other pages: titles, headings, names of statements. They hold neither.


_REFERENCE = lazy_pattern(r"<a [^<>]*\bhref=[^<>]*>(.*?)</a>", re.DOTALL)
_FORMULA_ID = lazy_pattern(r'(<m[a-z]+[^<>]*?) id="[^"]*"')


def html_within_links(rendering: Rendering, tokens: Sequence[Token]) -> str:
    """HTML of a text in the line without links, notes and ids. rendering: one that reports nothing."""
    kept = [found for token in tokens if (found := _without_links(token)) is not None]
    return strip_links(rendering.render(rendering, kept))


def strip_links(html: str) -> str:
    """`html` without links and ids of formulas: titles and entries stand in links, and on other pages."""
    if "<a " in html:
        html = _REFERENCE.sub(r"\1", html)
    return _FORMULA_ID.sub(r"\1", html) if ' id="' in html else html


def _without_links(token: Token) -> Token | None:
    """An entry is a link itself: links, notes and anchors inside it are left out."""
    dropped = ("link_open", "link_close", "footnote_ref", "citation", "html_inline", "image")
    if token.type == "citation" and token.content:
        # a handle, not a citation
        return Token("text", "", 0, content=token.content)
    if token.type in dropped:
        return None
    return (
        token.copy(attrs={k: v for k, v in token.attrs.items() if k != "id"})
        if "id" in token.attrs
        else token
    )
