"""Common parts of figures: id, number, caption, and a description for screen readers.

All kinds of figures print these parts through this module: images, galleries, diagrams, figures of cells,
shortcodes. Each figure whose id starts with `fig-` gets its number from `PageNumbers.number_figure`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..base.diagnostics.model import TextMap
from ..syntax.figures import parse_inline
from ..syntax.headings import plain_text
from .context import PageRendering
from .prose import escape_html

if TYPE_CHECKING:
    from ..syntax.records import Shortcode


def figure_attributes(name: str, description: str = "") -> str:
    """Return the attributes of a `<figure>`: its id `name`, if not empty, and the accessible name
    `description` of a figure with several parts."""
    id_ = f' id="{escape_html(name)}"' if name else ""
    return id_ + (f' aria-label="{escape_html(description)}"' if description else "")


def figure_caption(rendering: PageRendering, number: str, html: str) -> str:
    """Return the `<figcaption>` between line ends. Empty if there is neither a number nor a text (`html`)."""
    name = escape_html(rendering.language.translate("Figure {number}", number=number))
    label = f'<span class="figure-label">{name}</span>' if number else ""
    if not label and not html:
        return ""
    return f"\n<figcaption>{label}{' ' if label and html else ''}{html}</figcaption>\n"


def shortcode_figure(
    rendering: PageRendering,
    call: Shortcode,
    caption: TextMap | None,
    description: str = "",
    poster: str = "",
) -> Mapping[str, Markup]:
    """Return the attributes, caption and poster of a figure for a shortcode's template. description:
    accessible name. poster: `<img>` shown before a video."""
    html = inline_html(rendering, caption) if caption else ""
    return {
        "attributes": Markup(figure_attributes(call.id, description)),
        "caption": Markup(figure_caption(rendering, call.number, html).strip("\n")),
        "poster": Markup(poster),
    }


# Short text in arguments: captions, labels and titles, with formulas and inline Markdown.


def inline_html(rendering: PageRendering, text: TextMap) -> str:
    """Return the HTML of an argument. Errors are reported at their position in the argument."""
    tokens = parse_inline(rendering.tools.md, text, rendering.parsed.page)
    _move_diagnostics(rendering)
    return rendering.render(rendering, tokens)


def _move_diagnostics(rendering: PageRendering) -> None:
    """Report the errors that parsing of captions has added to the parser's reporter."""
    of_parsing = len(rendering.parsed.diagnostics)
    for diagnostic in rendering.parsed.page.reporter.diagnostics[of_parsing:]:
        rendering.reporter.add(diagnostic)


def plain_argument(rendering: PageRendering, text: TextMap) -> str:
    """Return an argument as plain text."""
    return plain_text(parse_inline(rendering.tools.md, text, rendering.parsed.page), rendering.parsed.page)
