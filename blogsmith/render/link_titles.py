"""Titles of pages and sections as HTML, for links that have no words of their own."""

from __future__ import annotations

from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from ..model.links import LinkTitle, TitlePart
from ..syntax.records import Math, attach_record
from .context import PageRendering
from .numbers import html_within_links
from .prose import escape_html

_START = ((1, 1),)


def title_html(rendering: PageRendering, title: LinkTitle, path: str) -> str:
    """Return a title with its formulas typeset. A formula that is wrong is in linear form.

    path: Source path of the page that has the title. Errors are reported there.
    """
    if all(part.kind == "text" for part in title.parts):
        return escape_html("".join(part.content for part in title.parts).strip())
    quiet = rendering.copy_without_report()
    if path != str(rendering.document.path):
        quiet.use_macros({**rendering.tools.config.math.macros, **title.macros})
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
