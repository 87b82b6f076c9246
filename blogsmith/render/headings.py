"""Headings with links to themselves and with accessible names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..base.html_tags import read_text
from ..syntax.headings import plain_text
from ..syntax.records import Heading, get_record
from ..tex.on_demand import spoken_text
from .context import PageRendering, Rule
from .numbers import html_within_links
from .prose import attributes, escape_html

_COMPUTED = frozenset(("math_inline", "value"))
"""Types of tokens whose text is only known after rendering."""


def _heading_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Render the start tag. Its `aria-label` is the heading's text; otherwise screen readers would add the
    name of the link in the heading."""
    token = tokens[index]
    heading = get_record(token, Heading)
    name = rendering.heading_name = spoken_name(rendering, tokens[index + 1].children or ())
    label = f' aria-label="{escape_html(" ".join(filter(None, (heading.number, name))))}"' if name else ""
    label = "" if "aria-label" in token.attrs else label
    number = f'<span class="heading-number">{heading.number}</span> ' if heading.number else ""
    old = f'<span id="{escape_html(heading.old_id)}"></span>' if heading.old_id else ""
    start = f'<{token.tag} id="{escape_html(heading.id)}"{attributes(token, "id")}{label}>'
    return f"{start}{old}{number}"


def spoken_name(rendering: PageRendering, children: Sequence[Token]) -> str:
    """Return inline tokens as plain text, with formulas as they are spoken and with the values of cells."""
    if _COMPUTED.isdisjoint(child.type for child in children):
        return " ".join(plain_text(children, rendering.parsed.page).split())
    html = html_within_links(rendering.copy_without_report(), children)
    return " ".join(spoken_text(read_text(html), html).split())


def _heading_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    heading = get_record(tokens[index - 2], Heading)
    text = rendering.language.translate("Link to section {heading}", heading=rendering.heading_name)
    label = escape_html(text.rstrip())
    anchor = f'<a class="heading-anchor" href="#{escape_html(heading.id)}" aria-label="{label}"></a>'
    return f" {anchor}</{tokens[index].tag}>\n"


RULES: Mapping[str, Rule] = MappingProxyType({"heading_open": _heading_open, "heading_close": _heading_close})
