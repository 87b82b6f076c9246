"""Long lists in several pages: `/posts/`, `/posts/page/2/`, …"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ..model.template_views import Pager, PageView
from ..model.texts import NO_TEXT


def page_count(entries: int, per_page: int) -> int:
    """How many pages a list of `entries` takes; per_page 0 means all on one."""
    return max(1, -(-entries // per_page)) if per_page else 1


def page_number_url(url: str, number: int) -> str:
    """Address of page `number` (1-based) of the list at `url`."""
    return url if number == 1 else f"{url}page/{number}/"


def paginate(lists: Iterable[PageView], per_page: int) -> list[PageView]:
    """Each list with at most `per_page` entries, followed by its further pages."""
    pages = []
    for view in lists:
        total = page_count(len(view.pages), per_page)
        pages += [_part(view, number, total, per_page) for number in range(1, total + 1)]
    return pages


def _part(view: PageView, number: int, total: int, per_page: int) -> PageView:
    if total == 1:
        return view
    pager = Pager(
        number,
        total,
        page_number_url(view.url, number - 1) if number > 1 else "",
        page_number_url(view.url, number + 1) if number < total else "",
    )
    entries = view.pages[(number - 1) * per_page : number * per_page]
    if number == 1:
        return replace(view, pages=entries, pager=pager)
    return replace(
        view,
        # the author's introduction stands on the first page; a source has one page
        path="",
        body=NO_TEXT,
        description_html="",
        url=page_number_url(view.url, number),
        canonical_url=page_number_url(view.canonical_url, number) if view.canonical_url else "",
        pages=entries,
        pager=pager,
    )
