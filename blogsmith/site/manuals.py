"""Manuals: sections whose index page has the layout `manual`. All their pages show the same tree, in groups.

The index names groups and pages under `tree`. Pages that the index does not name follow, grouped by folder.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import PurePosixPath

from ..base.diagnostics.model import Diagnostic, Reporter, find_word_range
from ..config.languages import file_language
from ..config.schema import Config
from ..model.documents import Document
from ..model.template_views import Link, ManualGroup, ManualView, PageView
from .frame import RenderedDocument, ViewContext
from .index import SiteIndex, resolve_link
from .relations import Relations

LAYOUT = "manual"
_INDEX = "_index"
_LAST = 10**6
"""Sort key of pages without a `part`, so that they follow the pages with one."""


def add_manuals(
    rendered: Sequence[RenderedDocument],
    views: Mapping[str, PageView],
    around: Mapping[str, Relations],
    frame: ViewContext,
) -> None:
    """Set the tree of every page of a manual, its layout, and its neighbours in the order of the tree."""
    indexes = {item.section: item for item in rendered if _is_index(item)} if LAYOUT in frame.layouts else {}
    members: dict[str, list[RenderedDocument]] = {name: [] for name in indexes}
    for item in rendered if indexes else ():
        path = PurePosixPath(item.section)
        names = (one.as_posix().strip(".") for one in (path, *path.parents))
        name = next((name for name in names if name in indexes), None)
        if name is not None:
            members[name].append(item)
    for name, items in members.items():
        index = indexes[name]
        groups = tuple(_groups(index, items, views, frame))
        link = _page_link(views[index.url])
        ordered = [link, *(page for group in groups for page in group.pages if page.url != link.url)]
        found = {views[item.url].url: around[item.url] for item in items}
        for item in items:
            own = around[item.url]
            own.manual = ManualView(link, groups, _group_title(views[item.url].url, groups))
            own.layout = item.document.front.template or LAYOUT
            own.previous = own.next = None
        for before, after in pairwise(dict.fromkeys(ordered)):
            if before.url in found and after.url in found:
                found[before.url].next, found[after.url].previous = after, before


def tree_problems(document: Document, index: SiteIndex, config: Config) -> list[Diagnostic]:
    """Return errors for entries of `tree` that are not pages, and a warning for a `tree` without effect."""
    front = document.front
    if not front.tree:
        return []
    reporter = Reporter(str(document.path), document.source.text.split("\n"))
    place = front.places.get("tree")
    if front.template != LAYOUT or file_language(document.path, config).path.stem != _INDEX:
        message = '"tree" has no effect because the page is not the index of a manual'
        hint = "write `tree` in the `_index.md` of the folder, with `layout: manual`"
        reporter.warn("front-matter-key", message, place, hint)
    for name in (name for names in front.tree.values() for name in names):
        target = resolve_link(index, name, document)
        found = find_word_range(name, place, reporter.lines)
        if target.problem:
            reporter.error(target.code, target.problem, found, target.hint, target.fix(reporter, found))
        elif not target.page:
            hint = "write the path of a page, such as `install.md`"
            reporter.error("link-missing", f'page not found on this site: "{name}"', found, hint)
    return reporter.diagnostics


def _page_link(view: PageView) -> Link:
    return Link(view.title, view.url, view.title_html)


def _is_index(item: RenderedDocument) -> bool:
    return item.kind in ("section", "home") and item.document.front.template == LAYOUT


def _group_title(url: str, groups: Iterable[ManualGroup]) -> str:
    return next((group.title for group in groups if any(page.url == url for page in group.pages)), "")


def _groups(
    index: RenderedDocument,
    items: Sequence[RenderedDocument],
    views: Mapping[str, PageView],
    frame: ViewContext,
) -> Iterator[ManualGroup]:
    """Yield the groups that the index names, then one for each folder with further pages."""
    config = frame.settings or frame.config
    known = {
        file_language(item.document.path, config).path: item
        for item in sorted(items, key=_order)
        if item is not index
    }
    rest = {item.url: item for item in known.values()}
    folder = file_language(index.document.path, config).path.parent
    for title, names in index.document.front.tree.items():
        paths = (PurePosixPath(posixpath.normpath(folder / name)) for name in names)
        paths = (file_language(path, config).path for path in paths)
        found = _with_folders([known[path] for path in paths if path in known], known.values())
        rest = {url: item for url, item in rest.items() if url not in found}
        yield _group(title, found.values(), views)
    for section, pages in groupby(rest.values(), lambda item: item.section):
        own = list(pages)
        name = views[own[0].url].title if own[0].kind == "section" else section.rpartition("/")[2]
        yield _group("" if section == index.section else name, own, views)


def _with_folders(
    named: Sequence[RenderedDocument], known: Iterable[RenderedDocument]
) -> dict[str, RenderedDocument]:
    """Map URLs to pages in the order of `named`. After the index page of a folder, add the other pages of
    that folder."""
    found: dict[str, RenderedDocument] = {}
    urls = {item.url for item in named}
    for item in named:
        found[item.url] = item
        if item.kind == "section":
            found |= {o.url: o for o in known if o.section == item.section and o.url not in urls}
    return found


def _group(title: str, items: Iterable[RenderedDocument], views: Mapping[str, PageView]) -> ManualGroup:
    return ManualGroup(title, tuple(_page_link(views[item.url]) for item in items))


def _order(item: RenderedDocument) -> tuple[str, bool, int, str]:
    series = item.document.front.series
    part = series.part if series and series.part else _LAST
    return (item.section, item.kind != "section", part, str(item.document.path))
