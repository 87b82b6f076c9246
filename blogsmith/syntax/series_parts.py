"""Numbers by part: in a series with `numbering: by part`, all numbers of a post start with its part.

The setting is taken from the front matter of the post, otherwise from its series, otherwise from the site. A
post is read without the other posts of its series, so its front matter must contain the `part`.
"""

from __future__ import annotations

from ..config.series_rules import choose_numbering
from ..model.documents import FrontMatter
from .state import PageState

_BY_PART = "by part"


def set_chapter(front: FrontMatter, page: PageState) -> bool:
    """Set the part of the series before the numbers of the page. Return whether headings are numbered."""
    options, series = page.options, front.series
    numbering = choose_numbering(front, options.series, options.numbering)
    if numbering != _BY_PART:
        return bool(numbering)
    if series and series.part:
        page.chapter, page.series = str(series.part), series.name
        return True
    if series or front.numbering == _BY_PART:
        key, missing = ("series", "part") if series else ("numbering", "series")
        hint = f"write `series: {{name: {series.name if series else 'NAME'}, part: 1}}`"
        message = f'"numbering: by part" has no effect because "{missing}" is missing'
        page.reporter.warn("series-part", message, front.places.get(key), hint)
    return False
