"""The page `/search/` of each language: all that can be found, as a list by section that needs no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from ..config.schema import Config
from ..model.documents import TocEntry
from ..model.template_views import PageGroup, PageView
from .frame import Frame, Rendered
from .generated_views import plain_view

SEARCH_PATH = "/search/"
MOST_HEADINGS = 2_000
"""On the page; above it lists titles alone, or it would weigh megabytes."""


def plan_search(config: Config) -> dict[str, str]:
    """Site path of the page → what it is in words; empty for a site without search."""
    return {SEARCH_PATH: "the search page"} if config.search else {}


def search_page(
    rendered: Sequence[Rendered],
    views: Mapping[str, PageView],
    sections: Mapping[str, str],
    titles: Mapping[str, str],
    frame: Frame,
) -> Iterator[PageView]:
    """The page of an edition with search. views: by site path; titles: section → its title."""
    if not frame.config.search:
        return
    has_headings = sum(_count(item.body.toc) for item in rendered) <= MOST_HEADINGS
    groups: dict[str, list[PageView]] = {}
    for item in rendered:
        view = views[item.url]
        is_found = item.document.front.search and not view.draft
        if is_found and (item.kind in ("post", "page") or view.body):
            section = item.section if item.section in sections else ""
            # whatever the page shows of them itself
            groups.setdefault(section, []).append(replace(view, toc=item.body.toc if has_headings else ()))
    ordered = sorted(groups, key=lambda section: (bool(section), section))
    found = tuple(PageGroup(titles.get(section, ""), tuple(groups[section])) for section in ordered)
    title = frame.language.translate("Search")
    # search engines are not to list it, so neither does the sitemap
    yield replace(plain_view("search", SEARCH_PATH, title, frame, ()), canonical_url="", page_groups=found)


def _count(entries: Sequence[TocEntry]) -> int:
    return sum(1 + _count(entry.children) for entry in entries)
