"""List of the changes of a post, after its text."""

from __future__ import annotations

from ..base.diagnostics.model import Place, TextMap
from ..model.dates import parse_date
from .context import PageRendering
from .figure_frame import inline_html
from .prose import escape_html


def changes_html(rendering: PageRendering) -> str:
    """Return the list of the changes in the front matter, newest first; empty if there are none."""
    front, language = rendering.document.front, rendering.language
    dated = [(day, change.text) for change in front.changes if (day := parse_date(change.date))]
    if not dated:
        return ""
    place = front.places.get("changes", Place(1))
    items = []
    for day, text in sorted(dated, key=lambda one: one[0].replace(tzinfo=None), reverse=True):
        date = f'<time datetime="{day.date().isoformat()}">{escape_html(language.format_date(day))}</time>'
        items.append(
            f"<li>{date}: {inline_html(rendering, TextMap(text, ((place.line, place.column),)))}</li>\n"
        )
    title = escape_html(language.translate("Changes"))
    opening = f'<section class="changes" aria-label="{title}">\n<h2>{title}</h2>\n'
    return f"{opening}<ul>\n{''.join(items)}</ul>\n</section>\n"
