"""Notes and figures in the margin: beside the text if there is room, otherwise in the text.

They appear in the HTML once, where they were written, and a theme moves their boxes. An inline note is in
parentheses, which are hidden if it is moved. In feeds, on phones and without stylesheets, the note is part
of the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..syntax.headings import MARGIN_CLASSES
from ..syntax.headings import is_margin_note as is_span_note
from ..syntax.kinds import MARGIN
from ..syntax.records import Callout
from .context import PageRendering, Rule
from .prose import attributes, escape_html

WIDGET = "margin"


def is_margin_note(callout: Callout) -> bool:
    """Return whether a callout is a margin note. A custom kind of the site with this name is not one, because
    it has a title."""
    return callout.kind == MARGIN.name and not callout.title


def margin_note_opening(rendering: PageRendering, callout: Callout, token: Token) -> str:
    """Return the `<aside class="margin-note">` of a `> [!MARGIN]`."""
    rendering.widgets.add(WIDGET)
    classes = " ".join(filter(None, ("margin-note", str(token.attrs.get("class", "")))))
    name = f' id="{escape_html(callout.id)}"' if callout.id else ""
    return f'<aside class="{escape_html(classes)}" role="note"{name}{attributes(token, "class", "id")}>\n'


def margin_figure_class(rendering: PageRendering, image: Token | None) -> str:
    """Return the additional class of a figure in the margin, or an empty string."""
    if image is None or "margin" not in str(image.attrs.get("class", "")).split():
        return ""
    rendering.widgets.add(WIDGET)
    return " margin-figure"


def _span_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    if not is_span_note(token):
        return rendering.default_renderer.renderToken(tokens, index, rendering.tools.md.options, {})
    rendering.widgets.add(WIDGET)
    before = tokens[index - 1].content[-1:] if index and tokens[index - 1].type == "text" else " "
    kept = [name for name in str(token.attrs["class"]).split() if name not in MARGIN_CLASSES]
    gap = "" if before.isspace() else " "
    note = f'<span class="{escape_html(" ".join(("margin-note", *kept)))}" role="note"'
    return f'{note}{attributes(token, "class")}><span class="margin-mark">{gap}(</span>'


def _span_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    depth = 0
    for token in reversed(tokens[:index]):
        depth += (token.type == "span_close") - (token.type == "span_open")
        if depth < 0:
            return '<span class="margin-mark">)</span></span>' if is_span_note(token) else "</span>"
    return "</span>"


RULES: Mapping[str, Rule] = MappingProxyType({"span_open": _span_open, "span_close": _span_close})
