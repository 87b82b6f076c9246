"""Small texts inside arguments: captions, labels and titles, with formulas and inline Markdown."""

from __future__ import annotations

from ..base.diagnostics.model import TextMap
from ..syntax.figures import parse_inline
from ..syntax.headings import plain_text
from .context import Rendering


def inline_html(rendering: Rendering, text: TextMap) -> str:
    """HTML of a text written in an argument; mistakes in it are reported at their place."""
    tokens = parse_inline(rendering.tools.md, text, rendering.parsed.page)
    _take_reports(rendering)
    return rendering.render(rendering, tokens)


def _take_reports(rendering: Rendering) -> None:
    """Captions are parsed while rendering; what the parser found there belongs to this stage."""
    of_parsing = len(rendering.parsed.diagnostics)
    for diagnostic in rendering.parsed.page.reporter.diagnostics[of_parsing:]:
        rendering.reporter.add(diagnostic)


def plain(rendering: Rendering, text: TextMap) -> str:
    """The same as plain text."""
    return plain_text(parse_inline(rendering.tools.md, text, rendering.parsed.page), rendering.parsed.page)
