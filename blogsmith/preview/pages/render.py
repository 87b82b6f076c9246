"""HTML of pages, rendered on request and cached while a build would give the same HTML.

A page whose source or template has an error keeps its last valid HTML.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.timeout import LIMIT_S, PageTimeout, time_limit
from ...build.plan import OutputPlan
from ...build.snapshot import SiteSnapshot
from ...model.template_views import PageView, SiteView
from ...model.texts import TextTrace
from ...render.templates.theme import Theme
from .script_tag import content_version

_COMPRESSION_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Page:
    """One page as in a build, with line markers."""

    version: str
    packed: bytes
    """HTML, compressed because thousands of pages are cached."""
    source: str
    """Source path of the page; empty for a generated page."""

    @property
    def html(self) -> bytes:
        """HTML without the script of the preview."""
        return zlib.decompress(self.packed)


@dataclass(frozen=True, slots=True)
class _RenderedPage:
    view: PageView
    site: SiteView
    theme: Theme
    page: Page | None
    """The page; None if rendering has failed every time."""
    problems: tuple[Diagnostic, ...] = ()
    texts: frozenset[str] = frozenset()
    """Source paths of other pages whose text its templates have read."""
    templates: frozenset[str] = frozenset()
    """Templates as returned by `Theme.watch_templates`."""


class PageOrigin(NamedTuple):
    """Diagnostics and inputs of a page that was just rendered, to be stored for the next preview."""

    problems: tuple[Diagnostic, ...]
    """Diagnostics about content that its policy blocks."""
    texts: frozenset[str]
    """Inputs as in `OutputKeys.inputs`, as is `templates`."""
    templates: frozenset[str]


class RenderedPages:
    """Pages of one preview, used by one thread."""

    def __init__(self, limit_s: float = LIMIT_S, trace: TextTrace | None = None) -> None:
        """Create an empty cache. limit_s: time limit for the templates of one page. trace: recorder of the
        pages whose text templates read."""
        self._limit_s = limit_s
        self._trace = trace or TextTrace()
        self._made: dict[str, _RenderedPage] = {}
        self._count = 0

    def take_count(self) -> int:
        """Return the number of pages that have changed since the last call."""
        count, self._count = self._count, 0
        return count

    def render_page(self, present: SiteSnapshot, path: str) -> Page | None:
        """Return the page at a path of `present`, or None if its template fails and it was never valid."""
        view = present.files_by_url[path].content
        assert isinstance(view, PageView), "not a page"
        composition = present.plan
        made = self._made.get(path)
        if made is None or not _is_current(made, view, composition):
            made = self._made[path] = self._make(view, composition, made, _is_wrong(present, view))
        return made.page

    def add_stored(
        self, present: SiteSnapshot, path: str, page: Page, problems: tuple[Diagnostic, ...]
    ) -> None:
        """Add a page of the previous preview whose inputs are the same now."""
        view, composition = present.files_by_url[path].content, present.plan
        assert isinstance(view, PageView), "not a page"
        self._made[path] = _RenderedPage(view, composition.site, composition.context.theme, page, problems)

    def page_origin(self, path: str) -> PageOrigin | None:
        """Return the diagnostics and inputs of a page. None if it comes from the previous preview, or if its
        template fails."""
        made = self._made.get(path)
        return PageOrigin(made.problems, made.texts, made.templates) if made and made.templates else None

    def is_made(self, present: SiteSnapshot, path: str) -> bool:
        """Return whether the page is cached and up to date."""
        view, made = present.files_by_url[path].content, self._made.get(path)
        return made is not None and isinstance(view, PageView) and _is_current(made, view, present.plan)

    def problems(self, present: SiteSnapshot | None) -> list[Diagnostic]:
        """Return the diagnostics of the templates of rendered pages, in the order of the site."""
        made = (self._made.get(path) for path in (present.files_by_url if present else ()))
        return [found for one in made if one for found in one.problems]

    def keep_only(self, paths: Iterable[str]) -> None:
        """Drop all other pages."""
        kept = frozenset(paths)
        self._made = {path: made for path, made in self._made.items() if path in kept}

    def _make(
        self, view: PageView, composition: OutputPlan, last: _RenderedPage | None, is_wrong: bool
    ) -> _RenderedPage:
        site, theme = composition.site, composition.context.theme
        good = last.page if last else None
        try:
            with time_limit(self._limit_s), self._trace.watch() as texts, theme.watch_templates() as loaded:
                page = composition.page(view)
        except SiteError as error:
            return _RenderedPage(view, site, theme, good, error.diagnostics)
        except PageTimeout:
            message = f'rendering "{view.url}" takes longer than {self._limit_s:g} s'
            slow = Diagnostic("page-slow", message, view.path, hint="remove long loops from its templates")
            return _RenderedPage(view, site, theme, good, (slow,))
        if is_wrong and good:
            return _RenderedPage(view, site, theme, good, page.problems)
        version = content_version(page.html)
        if good and good.version == version:
            made = good
        else:
            self._count += 1
            made = Page(version, zlib.compress(page.html, _COMPRESSION_LEVEL), view.path)
        others = frozenset(texts - {view.path})
        return _RenderedPage(view, site, theme, made, page.problems, others, frozenset(loaded))


def _is_current(made: _RenderedPage, view: PageView, composition: OutputPlan) -> bool:
    is_same_theme = made.theme is composition.context.theme
    return is_same_theme and made.site == composition.site and (made.view is view or made.view == view)


def _is_wrong(present: SiteSnapshot, view: PageView) -> bool:
    return any(found.severity == "error" for found in present.page_diagnostics.get(view.path, ()))
