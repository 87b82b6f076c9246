"""The archive by year, the lists of series, pagination of lists, and the neighbours of a post."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise

from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Reporter
from ..config.schema import Config
from ..model.documents import Document
from ..model.slugs import slugify
from ..model.template_views import Link, PageGroup, Pager, PageView, SeriesPart
from ..model.texts import NO_TEXT
from .frame import OLDEST, RenderedDocument, UnpublishedPost, ViewContext
from .generated_views import plain_view
from .relations import Relations


def series_path(name: str, config: Config) -> str:
    """Return the site path of a series page, or an empty string if `name` has no letter or digit."""
    slug = slugify(name, marks=config.slug_settings.keeps_marks)
    return f"/series/{slug}/" if slug else ""


def plan_archive(documents: Iterable[Document], kinds: Mapping[str, str], config: Config) -> dict[str, str]:
    """Map the site paths of the archive and of the series pages to descriptions for messages."""
    found = {}
    for document in documents:
        if kinds[str(document.path)] != "post":
            continue
        if document.front.date:
            found["/archive/"] = "the archive"
        series = document.front.series
        if series and (path := series_path(series.name, config)):
            found["/series/"] = "the list of all series"
            found[path] = f'the page of series "{series.name}"'
    return found


def archive_pages(posts: Sequence[PageView], frame: ViewContext) -> list[PageView]:
    """Return the pages of the archive of `posts`, newest first. Without a dated post there are none. If the
    posts of a year do not fit on a page, they continue on the next."""
    dated = tuple(post for post in posts if post.date)
    if not dated:
        return []
    view = plain_view("archive", "/archive/", frame.language.translate("Archive"), frame, dated)
    pages = paginate([view], frame.config.archive_pagination)
    return [replace(page, page_groups=_years(page.pages)) for page in pages]


def _years(posts: Sequence[PageView]) -> tuple[PageGroup, ...]:
    years = groupby(posts, key=lambda post: f"{post.date.year:04}" if post.date else "")
    return tuple(PageGroup(year, tuple(pages)) for year, pages in years)


def series_pages(posts: Sequence[PageView], frame: ViewContext) -> list[PageView]:
    """Return the overview of all series and one page for each, with its posts in order of their parts."""
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
        path = frame.local_path(url)
        view = plain_view("series", path, found[0].series_name, frame, ordered)
        pages.append(replace(view, series_name=found[0].series_name, series=found[0].series))
    # dated series (posts) come before undated ones (reference material such as a manual)
    pages.sort(key=lambda page: (not page.pages[0].date, page.title.casefold(), page.url))
    groups = tuple(Link(page.title, page.url, count=len(page.series)) for page in pages)
    title = frame.language.translate("Series")
    overview = replace(plain_view("tags", "/series/", title, frame, ()), groups=groups)
    section = Link(overview.title, overview.url)
    return [overview, *(replace(page, section=section) for page in pages)]


# Pagination of long lists: `/posts/`, `/posts/page/2/`, …


def page_count(entries: int, per_page: int) -> int:
    """Return the number of pages of a list with `entries` entries. With `per_page` 0 all entries are on one
    page."""
    return max(1, -(-entries // per_page)) if per_page else 1


def page_number_url(url: str, number: int) -> str:
    """Return the URL of page `number` (1-based) of the list at `url`."""
    return url if number == 1 else f"{url}page/{number}/"


def paginate(lists: Iterable[PageView], per_page: int) -> list[PageView]:
    """Split each list into pages of at most `per_page` entries."""
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
        # the author's introduction appears on the first page only, and a source file has only one page
        path="",
        body=NO_TEXT,
        description_html="",
        url=page_number_url(view.url, number),
        canonical_url=page_number_url(view.canonical_url, number) if view.canonical_url else "",
        pages=entries,
        pager=pager,
    )


# The previous and next page of a post: by date in a section, by part in a series.


def add_neighbours(
    rendered: Sequence[RenderedDocument], views: Mapping[str, PageView], around: Mapping[str, Relations]
) -> None:
    """In `around`, set the links of each post to the next older and newer post of its section. Undated pages
    are ordered by path."""
    sections: dict[str, list[RenderedDocument]] = {}
    for item in rendered:
        if item.kind == "post":
            sections.setdefault(item.section, []).append(item)
    for _, items in sorted(sections.items()):
        items.sort(key=lambda item: (item.document.front.date or OLDEST, str(item.document.path)))
        for older, newer in pairwise(items):
            first, second = views[older.url], views[newer.url]
            around[older.url].next = Link(second.title, second.url, second.title_html)
            around[newer.url].previous = Link(first.title, first.url, first.title_html)


def add_series(
    rendered: Sequence[RenderedDocument],
    unpublished: Sequence[UnpublishedPost],
    views: Mapping[str, PageView],
    around: Mapping[str, Relations],
    frame: ViewContext,
) -> None:
    """In `around`, set the parts of the series of each post. Within a series, the links to neighbours follow
    the parts, not the dates."""
    members: dict[str, list[RenderedDocument]] = {}
    for item in rendered:
        if item.document.front.series:
            members.setdefault(item.document.front.series.name, []).append(item)
    for name, items in members.items():
        parts = _parts(items, [u for u in unpublished if u.series == name], views)
        path = series_path(name, frame.config)
        for item in items:
            url, found = views[item.url].url, around[item.url]
            found.series_name, found.series_url = name, frame.printed_url(path) if path else ""
            found.series = tuple(replace(part, current=True) if part.url == url else part for part in parts)
        in_order = [part for part in parts if part.url]
        for before, after in pairwise(in_order):
            _join_parts(before, after, around, frame)


def check_series(documents: Sequence[Document]) -> list[Diagnostic]:
    """Return warnings about posts that have the same part number in a series. The warning is in the later
    file."""
    found: list[Diagnostic] = []
    taken: dict[tuple[str, int], str] = {}
    for document in sorted(documents, key=lambda document: str(document.path)):
        series = document.front.series
        if series is None or series.part is None:
            continue
        first = taken.setdefault((series.name, series.part), str(document.path))
        if first != str(document.path):
            reporter = Reporter(str(document.path), document.source.text.split("\n"))
            message = f'duplicate part {series.part} of series "{series.name}" (first in "{first}")'
            place = document.front.places.get("part") or document.front.places.get("series")
            reporter.warn("series-part", message, place, "give each post a different `part`")
            found += reporter.diagnostics
    return found


def _parts(
    items: Sequence[RenderedDocument], missing: Sequence[UnpublishedPost], views: Mapping[str, PageView]
) -> list[SeriesPart]:
    """Return published and unpublished parts in order. Parts without a number get free numbers by date."""
    dated = sorted(items, key=lambda item: (item.document.front.date or OLDEST, str(item.document.path)))
    taken = {item.document.front.series.part for item in items if item.document.front.series}
    taken |= {item.part for item in missing}
    free = iter(n for n in range(1, len(items) + len(missing) + len(taken) + 2) if n not in taken)
    parts = []
    for item in dated:
        series = item.document.front.series
        number = series.part if series and series.part else next(free)
        parts.append(
            SeriesPart(views[item.url].title, views[item.url].url, number, False, views[item.url].title_html)
        )
    parts += [SeriesPart(m.title, "", m.part or next(free), False) for m in missing]
    return sorted(parts, key=lambda part: (part.part, part.url))


def _join_parts(
    before: SeriesPart, after: SeriesPart, around: Mapping[str, Relations], frame: ViewContext
) -> None:
    first = before.url.removeprefix(frame.config.base_path)
    second = after.url.removeprefix(frame.config.base_path)
    around[first].next = Link(after.title, after.url, after.title_html)
    around[second].previous = Link(before.title, before.url, before.title_html)
