"""Links in Markdown, and `<a>` within a line. A link inside the text of another link is only text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import unquote

from markdown_it.token import Token

from ..base.diagnostics.model import Place
from ..base.patterns import lazy_pattern
from ..model.links import LinkTarget, LinkTitle
from ..syntax.html_nodes import html_place, raw_tag
from ..syntax.records import LinkTargetPlace, get_record
from ..syntax.references.labels import Label
from .context import OpenLink, PageRendering, Rule
from .link_titles import title_html
from .notes import name_page, reference_html
from .prose import attributes, escape_html
from .raw_html import rewrite_raw

_HREF = lazy_pattern(r"\shref\s*=", re.IGNORECASE)


def _link_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    written = str(token.attrs.get("href", ""))
    target = rendering.tools.link(written, rendering.document)
    place = get_record(token, LinkTargetPlace).place if "linktargetplace" in token.meta else None
    rendering.report_target(target, place)
    text = _wordless_text(rendering, written, target) if tokens[index + 1].type == "link_close" else ""
    if rendering.is_in_link:
        rendering.open_links.append(OpenLink(is_raw=False))
        _report_nested_link(rendering, token, place)
        return text
    rendering.open_links.append(OpenLink(is_raw=False, end="</a>"))
    return f'<a href="{escape_html(target.url)}"{attributes(token, "href")}>{text}'


def _report_nested_link(rendering: PageRendering, token: Token, place: Place | None) -> None:
    fix, written, lines = None, "", rendering.reporter.lines
    if place and place.line <= len(lines):
        written = lines[place.line - 1][place.column - 1 : place.column - 1 + place.length]
    if token.info == "auto":
        fix = rendering.reporter.substitute(place, written, written[1:-1], is_safe=True)
    rendering.report_nested(written or str(token.attrs.get("href", "")), place, fix)


def _link_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    links = rendering.open_links
    while links[-1].is_raw:
        # an `<a>` that is opened in the text of the link but not closed there
        links.pop()
    return links.pop().end


def _wordless_text(rendering: PageRendering, written: str, target: LinkTarget) -> str:
    """Return the text of a link whose author wrote no text: the name or title of its target; empty if the
    target has neither. written: the link's URL as written."""
    own = str(rendering.document.path)
    path = target.page or (own if written.startswith("#") else "")
    if not path or target.problem:
        return ""
    anchor = unquote(target.url.partition("#")[2])
    title = rendering.tools.link_title(path, anchor)
    if isinstance(title, Label):
        return name_page(rendering, path, title, reference_html(title, "full", rendering))
    if not title.parts and not written.startswith("#"):
        # the target is an element without a title, such as a span
        title = rendering.tools.link_title(path, "")
        assert isinstance(title, LinkTitle), "a page has no label"
    return title_html(rendering, title, path)


def _raw(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    html = rewrite_raw(rendering, tokens[index])
    name, is_end = raw_tag(html)
    if name != "a":
        return html
    if is_end:
        links = rendering.open_links
        return links.pop().end and html if links and links[-1].is_raw else html
    if rendering.is_in_link:
        rendering.open_links.append(OpenLink(is_raw=True))
        place = html_place(tokens[index], rendering.parsed.page.first_line, 0, len(html))
        rendering.report_nested(tokens[index].content, place)
        return ""
    if _HREF.search(html) and _is_closed(tokens, index):
        rendering.open_links.append(OpenLink(is_raw=True, end=html))
    return html


def _is_closed(tokens: Sequence[Token], index: int) -> bool:
    """Return whether an `</a>` follows the raw `<a>` at `index`."""
    return any(
        token.type == "html_inline" and raw_tag(token.content) == ("a", True) for token in tokens[index:]
    )


RULES: Mapping[str, Rule] = MappingProxyType(
    {"link_open": _link_open, "link_close": _link_close, "html_inline": _raw}
)
