"""All dated posts by year at `/archive/`, in several pages if they are many; every series at `/series/`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace

from ..model.documents import Document
from ..model.slugs import slugify
from ..model.template_views import Link, PageGroup, PageView
from .frame import Frame
from .generated_views import plain_view
from .pagination import paginate


def series_path(name: str) -> str:
    """Site path of a series' page; empty if the name has no letter or digit."""
    slug = slugify(name)
    return f"/series/{slug}/" if slug else ""


def plan_archive(documents: Iterable[Document], kinds: Mapping[str, str]) -> dict[str, str]:
    """Site path of the archive and of the series' pages → what it is in words."""
    found = {}
    for document in documents:
        if kinds[str(document.path)] != "post":
            continue
        if document.front.date:
            found["/archive/"] = "the archive"
        if document.front.series and series_path(document.front.series.name):
            found["/series/"] = "the list of all series"
            name = document.front.series.name
            found[series_path(name)] = f'the page of series "{name}"'
    return found


def archive(posts: Sequence[PageView], frame: Frame) -> list[PageView]:
    """The archive of `posts`, which are newest first; none without a dated post.

    A year that begins on one page may go on upon the next.
    """
    dated = tuple(post for post in posts if post.date)
    if not dated:
        return []
    view = plain_view("archive", "/archive/", frame.language.translate("Archive"), frame, dated)
    pages = paginate([view], frame.config.archive_pagination)
    return [replace(page, page_groups=_years(page.pages)) for page in pages]


def _years(posts: Sequence[PageView]) -> tuple[PageGroup, ...]:
    years = groupby(posts, key=lambda post: f"{post.date.year:04}" if post.date else "")
    return tuple(PageGroup(year, tuple(pages)) for year, pages in years)


def series_pages(posts: Sequence[PageView], frame: Frame) -> list[PageView]:
    """The overview of series and a page for each, its posts in the order of the parts."""
    members: dict[str, list[PageView]] = {}
    for post in posts:
        if post.series_url:
            members.setdefault(post.series_url, []).append(post)
    if not members:
        return []
    pages = []
    for url, found in members.items():
        part = {part.url: part.part for part in found[0].series}
        ordered = tuple(sorted(found, key=lambda post: part.get(post.url, 0)))
        path = frame.path_of(url)
        view = plain_view("series", path, found[0].series_name, frame, ordered)
        pages.append(replace(view, series_name=found[0].series_name, series=found[0].series))
    # those that come out by the day before those that are to be consulted, such as a manual
    pages.sort(key=lambda page: (not page.pages[0].date, page.title.casefold(), page.url))
    groups = tuple(Link(page.title, page.url, count=len(page.series)) for page in pages)
    title = frame.language.translate("Series")
    overview = replace(plain_view("tags", "/series/", title, frame, ()), groups=groups)
    section = Link(overview.title, overview.url)
    return [overview, *(replace(page, section=section) for page in pages)]
