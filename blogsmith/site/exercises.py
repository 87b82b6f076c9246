"""Sheets of exercises: for each series, a page with its exercises, and a page with exercises and solutions.

Exercises and solutions are cut out of the finished pages. So a sheet has their numbers, formulas and results,
and no solution that a page leaves out. A sheet links each exercise to its page, so it contains only exercises
with a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from msgspec import Struct
from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..config.schema import Config
from ..model.documents import Document
from ..model.slugs import slugify
from ..model.template_views import Link, PageView
from ..model.texts import PageText
from .frame import ViewContext
from .generated_views import plain_view
from .statements import StatementGraph, page_order

EXERCISES_PATH = "/exercises/"
_TAG = lazy_pattern(r"<(/?)(?:aside|details)\b((?:[^\"'<>]|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = lazy_pattern(r'\s(id|data-exercise)="([^"]*)"')
_LABEL = lazy_pattern(r'(<span class="callout-label">)(.*?)(</span>)', re.DOTALL)
_NUMBER = lazy_pattern(r'<span class="heading-number">[^<]*</span> ')
_IN_TAG = lazy_pattern(r"<[A-Za-z](?:[^\"'<>]|\"[^\"]*\"|'[^']*')*>")
_ID = lazy_pattern(r'(\s(?:id|for|aria-[a-z]+by|aria-controls)=")([^"]+)(?=")')
_TARGET = lazy_pattern(r'(\shref="|url\()#([^")]+)')


class _Callout(Struct, frozen=True):
    """A callout in the HTML of a page."""

    start: int
    end: int
    id: str
    exercise: str
    """Id of the exercise that this callout solves; empty if the callout is not a solution."""


def sheet_paths(name: str, config: Config) -> tuple[str, str]:
    """Return the site paths of the two sheets of a series; empty if the name has no letter or digit."""
    slug = slugify(name, marks=config.slug_settings.keeps_marks)
    return (f"{EXERCISES_PATH}{slug}/", f"{EXERCISES_PATH}{slug}/solutions/") if slug else ("", "")


def plan_exercises(documents: Iterable[Document], config: Config) -> dict[str, str]:
    """Map the site paths of all sheets to descriptions for messages."""
    found: dict[str, str] = {}
    for document in documents if config.theorems.exercises else ():
        if document.front.series and sheet_paths(name := document.front.series.name, config)[0]:
            found[EXERCISES_PATH] = "the list of exercises"
            found |= dict.fromkeys(sheet_paths(name, config), f'the exercises of series "{name}"')
    return found


def exercise_pages(
    graph: StatementGraph, views: Mapping[str, PageView], frame: ViewContext
) -> list[PageView]:
    """Return the overview page of all series, and two sheets for each series. views: site path → view."""
    series: dict[str, list[PageView]] = {}
    for view in sorted(views.values(), key=page_order) if frame.config.theorems.exercises else ():
        if view.series_name and sheet_paths(view.series_name, frame.config)[0]:
            series.setdefault(view.series_name, []).append(view)
    if not series:
        return []
    ids: dict[str, list[str]] = {}
    for (url, name), statement in graph.statements.items():
        if statement.is_exercise:
            ids.setdefault(url, []).append(name)
    overview = plain_view("tags", EXERCISES_PATH, frame.language.translate("Exercises"), frame, ())
    names = sorted(series, key=str.casefold)
    sheets = [sheet for name in names for sheet in _sheets(name, series[name], ids, frame)]
    counts = {name: sum(len(ids.get(page.url, ())) for page in series[name]) for name in names}
    links = (
        Link(name, sheet.url, count=counts[name]) for name, sheet in zip(names, sheets[::2], strict=True)
    )
    section = Link(overview.title, overview.url)
    return [replace(overview, groups=tuple(links)), *(replace(sheet, section=section) for sheet in sheets)]


def _sheets(
    series: str, pages: Sequence[PageView], ids: Mapping[str, Sequence[str]], frame: ViewContext
) -> Iterator[PageView]:
    """Yield the sheet of a series without and with solutions. ids: URL of a page → ids of its exercises."""
    translate = frame.language.translate
    widgets = frozenset[str]().union(*(page.widgets for page in pages if page.url in ids))
    titles = [f"{translate(text)}: {series}" for text in ("Exercises", "Exercises and solutions")]
    views = [
        plain_view("exercises", path, title, frame, ())
        for path, title in zip(sheet_paths(series, frame.config), titles, strict=True)
    ]
    for view, other in ((views[0], views[1]), (views[1], views[0])):
        sections = (_page_section(page, ids.get(page.url, ()), solved=view is views[1]) for page in pages)
        html = "".join(sections) or f"<p>{escape(translate('Nothing is listed here yet.'))}</p>\n"
        html += f'<p><a href="{escape(other.url)}">{other.title_html}</a></p>\n'
        yield replace(view, layout="page", body=PageText.from_string(html), widgets=widgets)


def _page_section(page: PageView, ids: Sequence[str], *, solved: bool) -> str:
    """Return the HTML of those exercises of a page whose ids are in `ids`. solved: whether to include their
    solutions."""
    if not ids:
        return ""
    html = page.content
    callouts = list(_find_callouts(html))
    number = _NUMBER.match(page.heading_html)
    link = f'<a href="{escape(page.url)}">{page.title_html}</a>'
    parts = [f"<h2>{number[0] if number else ''}{link}</h2>\n"]
    by_id = {one.id: one for one in callouts}
    for name in ids:
        if (found := by_id.get(name)) is None:
            continue
        nested = [one for one in callouts if one.exercise == name]
        exercise = _linked(_cut(html, found, () if solved else nested), f"{page.url}#{name}")
        parts.append(_own_ids(exercise, page))
        outside = [one for one in nested if one.start >= found.end or one.end <= found.start]
        parts += [_own_ids(_cut(html, one), page) for one in outside if solved]
    return "".join(parts)


def _find_callouts(html: str) -> Iterator[_Callout]:
    """Yield callouts that have an id or solve an exercise."""
    opened: list[tuple[int, dict[str, str]]] = []
    for tag in _TAG.finditer(html):
        if not tag[1]:
            opened.append((tag.start(), dict(_ATTRIBUTE.findall(tag[2]))))
        elif opened:
            start, known = opened.pop()
            if known:
                yield _Callout(start, tag.end(), known.get("id", ""), known.get("data-exercise", ""))


def _cut(html: str, callout: _Callout, without: Iterable[_Callout] = ()) -> str:
    """Return the HTML of a callout. without: callouts to leave out if they are inside that callout."""
    pieces, start = [], callout.start
    for one in sorted(without, key=lambda one: one.start):
        if callout.start < one.start and one.end <= callout.end:
            pieces.append(html[start : one.start])
            start = one.end
    return "".join([*pieces, html[start : callout.end], "\n"])


def _linked(html: str, url: str) -> str:
    """Return the HTML of an exercise with a link from its label to `url`."""
    return _LABEL.sub(rf'\1<a href="{escape(url)}">\2</a>\3', html, count=1)


def _own_ids(html: str, page: PageView) -> str:
    """Return a part of a page with ids that are unique among all pages. Links to other parts point to the
    page."""
    prefix = slugify(page.url.strip("/")) + "-"
    ids = {found[2] for found in _ID.finditer(html) if found[1].endswith('id="')}

    def target(found: re.Match[str]) -> str:
        return f"{found[1]}#{prefix}{found[2]}" if found[2] in ids else f"{found[1]}{page.url}#{found[2]}"

    def tag(found: re.Match[str]) -> str:
        return _TARGET.sub(target, _ID.sub(rf"\g<1>{prefix}\g<2>", found[0]))

    return _IN_TAG.sub(tag, html)
