"""The frame of every figure: id, number, caption, and a description for screen readers.

Images, galleries, diagrams, figures of cells and blocks of shortcodes print these parts through this module.
The number comes from `Numbers.number_figure`, so an id that begins with `fig-` numbers each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..base.diagnostics.model import TextMap
from ..syntax.figures import parse_inline
from ..syntax.headings import plain_text
from .context import Rendering
from .prose import escape_html

if TYPE_CHECKING:
    from ..syntax.records import Shortcode


def figure_attributes(name: str, description: str = "") -> str:
    """Return the attributes of a `<figure>`. description: of a figure that has several parts."""
    id_ = f' id="{escape_html(name)}"' if name else ""
    return id_ + (f' aria-label="{escape_html(description)}"' if description else "")


def figure_caption(rendering: Rendering, number: str, html: str) -> str:
    """Return the `<figcaption>` with its number, between line ends; empty without number and text."""
    name = escape_html(rendering.language.translate("Figure {number}", number=number))
    label = f'<span class="figure-label">{name}</span>' if number else ""
    if not label and not html:
        return ""
    return f"\n<figcaption>{label}{' ' if label and html else ''}{html}</figcaption>\n"


def figure_of_call(
    rendering: Rendering,
    call: Shortcode,
    caption: TextMap | None,
    description: str = "",
    poster: str = "",
) -> Mapping[str, Markup]:
    """Return what the template of a shortcode prints of its figure. poster: the `<img>` of its panel."""
    html = inline_html(rendering, caption) if caption else ""
    return {
        "attributes": Markup(figure_attributes(call.id, description)),
        "caption": Markup(figure_caption(rendering, call.number, html).strip("\n")),
        "poster": Markup(poster),
    }


# Small texts inside arguments: captions, labels and titles, with formulas and inline Markdown.


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
