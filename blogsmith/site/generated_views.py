"""The view of a page without a source file, for lists that blogsmith generates."""

from __future__ import annotations

from html import escape

from ..model.template_views import PageView
from .frame import ViewContext, canonical


def plain_view(kind: str, url: str, title: str, frame: ViewContext, pages: tuple[PageView, ...]) -> PageView:
    """Return a page at path `url` of the language version that lists `pages`. Its layout is its kind."""
    return PageView(
        kind=kind,
        path="",
        url=frame.printed_url(url),
        canonical_url=canonical(frame.config, frame.root + url),
        title=title,
        title_html=escape(title, quote=False),
        description=frame.config.description if kind == "home" else "",
        lang=frame.config.lang,
        direction=frame.language.direction,
        edition=frame.edition,
        pages=pages,
        layout=kind,
    )
