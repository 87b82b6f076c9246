"""The HTML of pages, each made when it is asked for and kept as long as it is what a build would write.

A page whose source or template is wrong stays as it was when it was last right.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.timeout import LIMIT_S, TookTooLong, time_limit
from ...build.plan import OutputPlan
from ...build.snapshot import SiteSnapshot
from ...model.template_views import PageView, SiteView
from ...model.texts import TextTrace
from ...render.templates.theme import Theme
from .script_tag import version_of

_QUICKLY = 1


@dataclass(frozen=True, slots=True)
class Page:
    """One page as a build would write it, with marks of its lines."""

    version: str
    packed: bytes
    """Its HTML, deflated: a thousand of them are kept."""
    source: str
    """Path of its Markdown file, or empty."""

    @property
    def html(self) -> bytes:
        """As it is sent, without the tag of the preview."""
        return zlib.decompress(self.packed)


@dataclass(frozen=True, slots=True)
class _Made:
    view: PageView
    site: SiteView
    theme: Theme
    page: Page | None
    """None if it could not be made and never was."""
    problems: tuple[Diagnostic, ...] = ()
    texts: frozenset[str] = frozenset()
    """Source paths of other pages whose texts its templates have read."""
    templates: frozenset[str] = frozenset()
    """As `Theme.watch_templates` gives them."""


class MadeFrom(NamedTuple):
    """What else is known of a page that was made just now."""

    problems: tuple[Diagnostic, ...]
    """What its policy stops."""
    texts: frozenset[str]
    """As in `OutputKeys.inputs`, like the next one."""
    templates: frozenset[str]


class Pages:
    """Belongs to one preview, and is used by one thread."""

    def __init__(self, limit_s: float = LIMIT_S, trace: TextTrace | None = None) -> None:
        """limit_s: how long the templates of one page may take. trace: notes which texts are read."""
        self._limit_s = limit_s
        self._trace = trace or TextTrace()
        self._made: dict[str, _Made] = {}
        self._count = 0

    def take_count(self) -> int:
        """How many pages got other bytes since this was asked last."""
        count, self._count = self._count, 0
        return count

    def page_at(self, present: SiteSnapshot, path: str) -> Page | None:
        """The page at a path of `present`; None if its template fails and it was never right."""
        view = present.table[path].content
        assert isinstance(view, PageView), "other files are no pages"
        composition = present.composition
        made = self._made.get(path)
        if made is None or not _is_of(made, view, composition):
            made = self._made[path] = self._make(view, composition, made, _is_wrong(present, view))
        return made.page

    def take(self, present: SiteSnapshot, path: str, page: Page, problems: tuple[Diagnostic, ...]) -> None:
        """A page that an earlier preview made of the same."""
        view, composition = present.table[path].content, present.composition
        assert isinstance(view, PageView), "other files are no pages"
        self._made[path] = _Made(view, composition.site, composition.context.theme, page, problems)

    def made_of(self, path: str) -> MadeFrom | None:
        """What the page at a path was made from; None: by an earlier preview, or its template fails."""
        made = self._made.get(path)
        return MadeFrom(made.problems, made.texts, made.templates) if made and made.templates else None

    def is_made(self, present: SiteSnapshot, path: str) -> bool:
        """Whether `page_at` has nothing to do."""
        view, made = present.table[path].content, self._made.get(path)
        return made is not None and isinstance(view, PageView) and _is_of(made, view, present.composition)

    def problems(self, present: SiteSnapshot | None) -> list[Diagnostic]:
        """What is wrong with the templates of the pages that were made, in the order of the site."""
        made = (self._made.get(path) for path in (present.table if present else ()))
        return [found for one in made if one for found in one.problems]

    def keep_only(self, paths: Iterable[str]) -> None:
        """Forget pages that are gone."""
        kept = frozenset(paths)
        self._made = {path: made for path, made in self._made.items() if path in kept}

    def _make(self, view: PageView, composition: OutputPlan, last: _Made | None, is_wrong: bool) -> _Made:
        site, theme = composition.site, composition.context.theme
        good = last.page if last else None
        try:
            with time_limit(self._limit_s), self._trace.watch() as texts, theme.watch_templates() as loaded:
                page = composition.page(view)
        except SiteError as error:
            return _Made(view, site, theme, good, error.diagnostics)
        except TookTooLong:
            message = f"the page {view.url} takes longer than {self._limit_s:g} s to make"
            slow = Diagnostic("page-slow", message, view.path, hint="look for loops in its templates")
            return _Made(view, site, theme, good, (slow,))
        if is_wrong and good:
            return _Made(view, site, theme, good, page.problems)
        version = version_of(page.html)
        if good and good.version == version:
            made = good
        else:
            self._count += 1
            made = Page(version, zlib.compress(page.html, _QUICKLY), view.path)
        others = frozenset(texts - {view.path})
        return _Made(view, site, theme, made, page.problems, others, frozenset(loaded))


def _is_of(made: _Made, view: PageView, composition: OutputPlan) -> bool:
    is_same_theme = made.theme is composition.context.theme
    return is_same_theme and made.site == composition.site and (made.view is view or made.view == view)


def _is_wrong(present: SiteSnapshot, view: PageView) -> bool:
    return any(found.severity == "error" for found in present.own.get(view.path, ()))
