"""Which cells are to run now: those of pages that are open first, then those of all others."""

from __future__ import annotations

from collections.abc import Callable

from ...build.snapshot import SiteSnapshot
from ...project.report import ExecutionOptions
from ..cells.messages import BEHIND, SHOWN, WantedPage, Work
from ..events.publisher import EventPublisher
from ..pages.site import ServedSite
from ..pages.urls import address


def request_cells(
    site: ServedSite, publisher: EventPublisher, want: Callable[[Work], None], asked: ExecutionOptions
) -> None:
    """Have the cells run that are to be run. want: takes what the runner is to see to from now on."""
    present = site.present
    if present is not None:
        publisher.keep_outcomes(present.resolved.documents)
        want(_work(present, site, asked))


def _work(present: SiteSnapshot, site: ServedSite, asked: ExecutionOptions) -> Work:
    resolved, open_posts = present.resolved, site.open_sources()
    pages = []
    for path in dict.fromkeys([*open_posts, *resolved.documents]):
        document = resolved.documents.get(path)
        page = resolved.cells(document).page if document else None
        if page:
            url = address(present.config.base_path + present.rendered[path].url)
            pages.append(WantedPage(page, url, SHOWN if path in open_posts else BEHIND))
    return Work(present.context, asked, resolved.may_run, tuple(pages))
