"""Markdown that a cell returns, as content of the page.

It is data from a program: plain CommonMark with tables and formulas, no shortcodes, cells, labels or raw
HTML. Its HTML is sanitized like that of other values, so headings are paragraphs and images on other hosts
are left out.
"""

from __future__ import annotations

import hashlib
import re

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from msgspec.structs import replace

from ..context import PageRendering
from ..prose import escape_html
from .html import CleanHtml, TableSettings, clean_html
from .values import display_block, output_math


def markdown_html(
    rendering: PageRendering, text: str, name: str, head: TableSettings | None = None
) -> CleanHtml:
    """Return Markdown as sanitized HTML. name, head: as in `clean_html`."""
    formulas: list[str] = []
    # No text can contain the digest of itself.
    mark = f"formula{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:24]}n"

    def typeset(tex: str, options: dict[str, bool]) -> str:
        is_display, tex = options["display_mode"], tex.strip()
        shown = output_math(rendering, tex, display=is_display)
        if not shown:
            formulas.append(f"<code>{escape_html(tex)}</code>")
        else:
            formulas.append(display_block(rendering, tex, shown) if is_display else shown)
        return f"{mark}{len(formulas) - 1}."

    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    markdown.use(dollarmath_plugin, allow_labels=False, renderer=typeset)
    clean = clean_html(markdown.render(text), name, head, rendering.language)
    # The plugin puts a `<span>` or a `<div>` around each formula, which has no class left.
    around = re.compile(rf"<(span|div)>\s*{mark}(\d+)\.\s*</\1>")
    return replace(clean, html=around.sub(lambda found: formulas[int(found[2])], clean.html))
