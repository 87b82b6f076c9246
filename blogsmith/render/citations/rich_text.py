"""HTML for the fields of publications: formulas are typeset, CSL-JSON tags are kept, the rest is escaped."""

from __future__ import annotations

from dataclasses import replace

from msgspec.structs import replace as replace_struct

from ...base.diagnostics.model import Place, Reporter, TextMap
from ...base.patterns import lazy_pattern
from ...syntax.math.formulas import text_with_formulas
from ..context import PageRendering

_TAG = lazy_pattern(
    r'(</?(?:i|b|sup|sub)>|<span class="nocase">|<span style="font-variant: ?small-caps;">|</span>)'
)
_OPEN = {"<i>": "</i>", "<b>": "</b>", "<sup>": "</sup>", "<sub>": "</sub>"}


def rich_html(rendering: PageRendering, text: str, key: str) -> str:
    """Return the HTML of a field of the entry `key`. Errors in a formula are reported at the entry."""
    pieces, closing = list[str](), list[str]()
    for piece in _TAG.split(text):
        if piece in _OPEN:
            closing.append(_OPEN[piece])
            pieces.append(piece)
        elif piece.startswith("<span ") and _TAG.fullmatch(piece):
            closing.append("</span>")
        elif _TAG.fullmatch(piece):
            if closing[-1:] == [piece]:
                pieces.append("" if closing.pop() == "</span>" else piece)
        elif piece:
            pieces.append(text_html(rendering, piece, key))
    return "".join((*pieces, *(end for end in reversed(closing) if end != "</span>")))


def text_html(rendering: PageRendering, text: str, key: str) -> str:
    """Return the HTML of a string without tags from the entry `key`; formulas are typeset."""
    own = replace(rendering, reporter=Reporter(rendering.reporter.path))
    origin = TextMap(text, ((1, 1),) * (text.count("\n") + 1))
    html = rendering.render(own, text_with_formulas(origin))
    if own.reporter.diagnostics:
        entry = rendering.tools.work_place(key, rendering.document)
        for found in own.reporter.diagnostics:
            at = entry or replace_struct(found, place=Place(1), source_line="")
            rendering.reporter.add(
                replace_struct(found, path=at.path, place=at.place, source_line=at.source_line)
            )
    return html
