"""Which page comes before and after which: by date in a section, by part in a series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Reporter
from ..model.documents import Document
from ..model.template_views import Link, PageView, SeriesPart
from .archive import series_path
from .frame import OLDEST, Frame, Rendered, Unpublished
from .relations import Relations


def add_neighbours(
    rendered: Sequence[Rendered], views: Mapping[str, PageView], around: Mapping[str, Relations]
) -> None:
    """Find the older and newer post of the same section; undated pages keep the order of their paths."""
    sections: dict[str, list[Rendered]] = {}
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
    rendered: Sequence[Rendered],
    unpublished: Sequence[Unpublished],
    views: Mapping[str, PageView],
    around: Mapping[str, Relations],
    frame: Frame,
) -> None:
    """Find the parts of every series; within one, the next part comes before the next post by date."""
    members: dict[str, list[Rendered]] = {}
    for item in rendered:
        if item.document.front.series:
            members.setdefault(item.document.front.series.name, []).append(item)
    for name, items in members.items():
        parts = _parts(items, [u for u in unpublished if u.series == name], views)
        path = series_path(name)
        for item in items:
            url, found = views[item.url].url, around[item.url]
            found.series_name, found.series_url = name, frame.address(path) if path else ""
            found.series = tuple(replace(part, current=True) if part.url == url else part for part in parts)
        in_order = [part for part in parts if part.url]
        for before, after in pairwise(in_order):
            _join_parts(before, after, around, frame)


def series_problems(documents: Sequence[Document]) -> list[Diagnostic]:
    """Warnings for two posts that are the same part of a series, each at the later file."""
    found: list[Diagnostic] = []
    taken: dict[tuple[str, int], str] = {}
    for document in sorted(documents, key=lambda document: str(document.path)):
        series = document.front.series
        if series is None or series.part is None:
            continue
        first = taken.setdefault((series.name, series.part), str(document.path))
        if first != str(document.path):
            reporter = Reporter(str(document.path), document.source.text.split("\n"))
            message = f'part {series.part} of series "{series.name}" is {first} already'
            place = document.front.places.get("part") or document.front.places.get("series")
            reporter.warn("series-part", message, place, "give each post a part of its own")
            found += reporter.diagnostics
    return found


def _parts(
    items: Sequence[Rendered], missing: Sequence[Unpublished], views: Mapping[str, PageView]
) -> list[SeriesPart]:
    """Published and unpublished parts in order; parts without a number follow by date."""
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


def _join_parts(before: SeriesPart, after: SeriesPart, around: Mapping[str, Relations], frame: Frame) -> None:
    first = before.url.removeprefix(frame.config.base_path)
    second = after.url.removeprefix(frame.config.base_path)
    around[first].next = Link(after.title, after.url, after.title_html)
    around[second].previous = Link(before.title, before.url, before.title_html)
