"""Titles of pages and sections as HTML, for links whose author wrote no text."""

from __future__ import annotations

from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from ..model.links import LinkTitle, TitlePart
from ..syntax.records import Math, attach_record
from ..tex.parse.macros import read_macros
from .context import PageRendering
from .numbers import html_within_links
from .prose import escape_html

_START = ((1, 1),)


def title_html(rendering: PageRendering, title: LinkTitle, path: str) -> str:
    """Return a title with its formulas typeset. A formula with an error is shown in linear form. path: source
    path of the page that has the title, which reports the errors."""
    if all(part.kind == "text" for part in title.parts):
        return escape_html("".join(part.content for part in title.parts).strip())
    quiet = rendering.copy_without_report()
    if path != str(rendering.document.path):
        quiet.use_macros(read_macros(rendering.tools.config.math.macros).extend(title.macros))
    return "".join(_part_html(quiet, part) for part in title.parts).strip()


def _part_html(quiet: PageRendering, part: TitlePart) -> str:
    if part.kind == "text":
        return escape_html(part.content)
    if part.kind == "code":
        return f"<code>{escape_html(part.content)}</code>"
    token = Token("math_inline", "math", 0, content=part.content)
    attach_record(token, Math(part.content, False, TextMap(part.content, _START)))
    html = html_within_links(quiet, [token])
    if "math-error" in html:
        return escape_html(quiet.parsed.page.options.linear_math(part.content))
    return html
