"""Numbers of equations and the text of links to them, plain or typeset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markdown_it.token import Token

from ..base.patterns import lazy_pattern
from ..syntax.headings import is_line_break
from ..tex.errors import TexError
from ..tex.on_demand import contains_tex, linear_text, typeset_tag
from .context import PageRendering
from .prose import escape_html

_OPENING = "\\text{"


def number_html(number: str, macros: Mapping[str, Any], *, bare: bool = False) -> str:
    """Return the number of an equation, in parentheses unless `bare`. TeX that cannot be typeset is printed
    as written, because the formula reports the error. A number is a link itself, so links in its TeX are
    removed."""
    if contains_tex(number):
        try:
            return strip_links(typeset_tag(number, macros, bare=bare))
        except TexError:
            pass
    return escape_html(number if bare else f"({number})")


def number_text(number: str) -> str:
    """Return the number as plain text, without parentheses."""
    return linear_text(f"{_OPENING}{number}}}") if contains_tex(number) else number


# Text for links and for other pages, such as titles, headings and names of statements. It contains neither
# links nor ids.


_REFERENCE = lazy_pattern(r"<a [^<>]*\bhref=[^<>]*>(.*?)</a>", re.DOTALL)
_FORMULA_ID = lazy_pattern(r'(<m[a-z]+[^<>]*?) id="[^"]*"')


def html_within_links(rendering: PageRendering, tokens: Sequence[Token]) -> str:
    """Return the HTML of inline tokens without links, notes and ids. rendering: a copy that reports
    nothing."""
    kept: list[Token] = []
    for token in tokens:
        if is_line_break(token):
            is_spaced = not kept or kept[-1].content[-1:].isspace()
            kept += [] if is_spaced else [Token("text", "", 0, content=" ")]
        elif (found := _without_links(token)) is not None:
            kept.append(found)
    return strip_links(render_title(rendering, kept))


def render_title(rendering: PageRendering, tokens: Sequence[Token]) -> str:
    """Return the HTML of inline tokens. Their formulas get accessible names."""
    before, rendering.is_title = rendering.is_title, True
    html = rendering.render(rendering, tokens)
    rendering.is_title = before
    return html


def strip_links(html: str) -> str:
    """Return `html` without links and without ids of formulas, for use inside links and on other pages."""
    if "<a " in html:
        html = _REFERENCE.sub(r"\1", html)
    return _FORMULA_ID.sub(r"\1", html) if ' id="' in html else html


def _without_links(token: Token) -> Token | None:
    """Return the token without its id. Return None for a link, note, image or raw HTML."""
    dropped = ("link_open", "link_close", "footnote_ref", "citation", "html_inline", "image")
    if token.type == "citation" and token.content:
        # a name such as @user, not a citation
        return Token("text", "", 0, content=token.content)
    if token.type in dropped:
        return None
    return (
        token.copy(attrs={k: v for k, v in token.attrs.items() if k != "id"})
        if "id" in token.attrs
        else token
    )
