"""The site as browsers see it: the content of each URL, and the open pages that have changed.

The HTML of a page is rendered on request, and cached while a build would give the same HTML. A page whose
source or template has an error keeps its last valid HTML.
"""

from __future__ import annotations

import io
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.timeout import LIMIT_S, PageTimeout, time_limit
from ...build.incremental import IncrementalPipeline
from ...build.plan import OutputPlan
from ...build.snapshot import ResolvedSite, SiteSnapshot
from ...model.documents import Document
from ...model.generated_files import GeneratedFile, OutputFile
from ...model.template_views import PageView, SiteView
from ...model.texts import TextTrace
from ...render.templates.theme import Theme
from ...site.frame import OLDEST
from ...write.photos.cleaning import clean_stream
from ..http.reply import open_part
from ..page_store import media_type
from ..protocol import Response
from .script_tag import ScriptTag, browser_path, content_version, path_of

_COMPRESSION_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Page:
    """A page with the HTML of a build, including line markers."""

    version: str
    packed: bytes
    """HTML, compressed with zlib because thousands of pages are cached."""
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
    """The page; None if it could never be rendered without an error."""
    problems: tuple[Diagnostic, ...] = ()
    texts: frozenset[str] = frozenset()
    """Source paths of other pages whose text the templates of this page have read."""
    templates: frozenset[str] = frozenset()
    """Names of theme files that the templates requested, as in `Theme.watch_templates`."""


class PageOrigin(NamedTuple):
    """Diagnostics and inputs of a page that was just rendered, to be stored for the next preview."""

    problems: tuple[Diagnostic, ...]
    """Diagnostics about content that the page's Content-Security-Policy blocks."""
    texts: frozenset[str]
    """Source paths of other pages whose text the templates of this page have read. This field and `templates`
    are used as in `OutputKeys.inputs`."""
    templates: frozenset[str]


class RenderedPages:
    """Cache of the rendered pages of one preview, used by one thread."""

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
        """Return the page at a path of `present`. Return None if its template fails and has never rendered
        the page without an error."""
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
        """Add a page of the previous preview whose inputs have not changed since then."""
        view, composition = present.files_by_url[path].content, present.plan
        assert isinstance(view, PageView), "not a page"
        self._made[path] = _RenderedPage(view, composition.site, composition.context.theme, page, problems)

    def page_origin(self, path: str) -> PageOrigin | None:
        """Return the diagnostics and inputs of a page. Return None if the page comes from the previous
        preview, or if its template fails."""
        made = self._made.get(path)
        return PageOrigin(made.problems, made.texts, made.templates) if made and made.templates else None

    def is_made(self, present: SiteSnapshot, path: str) -> bool:
        """Return whether the page at a path is cached and up to date."""
        view, made = present.files_by_url[path].content, self._made.get(path)
        return made is not None and isinstance(view, PageView) and _is_current(made, view, present.plan)

    def problems(self, present: SiteSnapshot | None) -> list[Diagnostic]:
        """Return the diagnostics about templates and blocked content of rendered pages, in the order of the
        site."""
        made = (self._made.get(path) for path in (present.files_by_url if present else ()))
        return [found for one in made if one for found in one.problems]

    def keep_only(self, paths: Iterable[str]) -> None:
        """Drop all cached pages except those at `paths`."""
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


MAX_OPEN_PAGES = 256
"""Maximum number of pages that are treated as open in a tab. Those requested last are kept."""
_NO_VERSION = ""

FindPage = Callable[[str, OutputFile], tuple[Page, tuple[Diagnostic, ...]] | None]
"""Function that finds a page of the previous preview. Its arguments are the path of the page and the planned
file. It returns the page and its diagnostics, or None if the inputs of the page have changed."""


class ServedSite:
    """Site of one preview, used by one thread."""

    def __init__(self, line: IncrementalPipeline, tag: ScriptTag) -> None:
        self._line = line
        self.tag = tag
        self.pages = RenderedPages(trace=line.texts)
        self._present: SiteSnapshot | None = None
        self.open_earlier: Callable[[SiteSnapshot], FindPage] | None = None
        """Function that returns a `FindPage` for the pages of the previous preview; None after it has been
        called."""
        self._previous_assets = PreviousAssets()
        self._open: OrderedDict[str, str] = OrderedDict()
        """Path of an open page → version that was last sent to a tab."""
        self._outdated_paths: set[str] = set()
        """Paths for which a tab may show an older version, because it was not notified of the change."""

    @property
    def snapshot(self) -> SiteSnapshot | None:
        """The site; None until it is loaded."""
        return self._present

    @snapshot.setter
    def snapshot(self, present: SiteSnapshot) -> None:
        if self._present is not None:
            self._previous_assets.add_replaced(self._present, present)
        self._present = present

    def answer(self, path: str) -> Response:
        """Return the response for a path, rendered now. Without a site, return an error page."""
        present = self.snapshot
        if present is None:
            self._note_missing(path)
            return Response(503, body=self._add_script(_not_made().encode(), "", ""))
        base_path = present.config.base_path
        if path == "/" and base_path:
            return Response(301, location=browser_path(f"{base_path}/"))
        path = path_of(path, base_path)
        if path.endswith("/index.html"):
            path = path.removesuffix("index.html")
        planned = present.files_by_url.get(path) or self._previous_assets.find(path)
        if planned is None and f"{path}/" in present.files_by_url:
            return Response(301, location=browser_path(f"{path}/"))
        if planned is None:
            return self._not_found(f"{base_path}/404.html", path)
        if isinstance(planned.content, PageView):
            return self._page(path, 200)
        return self._file(planned)

    def version(self, path: str) -> str:
        """Return the version of the page at a path; empty if there is none."""
        if self.snapshot is not None:
            path = path_of(path, self.snapshot.config.base_path)
        return self._version(path)

    def _version(self, path: str) -> str:
        page = self._make_page(path)
        return page.version if page else _NO_VERSION

    def page_sent(self, path: str, version: str) -> None:
        """Mark a page as open in a tab."""
        if self._open.get(path, version) != version:
            self._outdated_paths.add(path)
        self._open[path] = version
        self._open.move_to_end(path)
        if len(self._open) > MAX_OPEN_PAGES:
            self._open.popitem(last=False)

    def open_pages(self) -> list[str]:
        """Return the paths that may be open in a tab, the latest first."""
        return list(reversed(self._open))

    def open_sources(self) -> list[str]:
        """Return the Markdown files of the open pages."""
        present = self.snapshot
        views = [present.views.get(path) for path in self.open_pages()] if present else []
        return [view.path for view in views if view and view.path]

    def changed_pages(self) -> dict[str, str]:
        """Return the open pages that have changed since tabs were last notified: path → new version. The
        version is empty if the page no longer exists."""
        found = {}
        for path, version in list(self._open.items()):
            now = self._version(path)
            if now != version or path in self._outdated_paths:
                found[path] = now
        # at the end: if a page raises an error, none of them counts as reported
        self._open.update(found)
        self._outdated_paths.clear()
        return found

    def render_all(self) -> Iterator[None]:
        """Render every page that is not up to date, one page per step."""
        present = self.snapshot
        assert present is not None, "there is no site yet"
        # from now on, all rendered pages are in memory
        find, self.open_earlier = self.open_earlier(present) if self.open_earlier else None, None
        for path, planned in present.files_by_url.items():
            if isinstance(planned.content, PageView) and not self.pages.is_made(present, path):
                found = find(path, planned) if find else None
                if found:
                    self.pages.add_stored(present, path, *found)
                else:
                    self.pages.render_page(present, path)
                yield
        self.pages.keep_only(present.files_by_url)

    def finished_pages(self) -> Iterator[tuple[str, Page]]:
        """Yield every page that is up to date, with its path."""
        present = self.snapshot
        for path, planned in present.files_by_url.items() if present else ():
            if present and isinstance(planned.content, PageView) and self.pages.is_made(present, path):
                page = self.pages.render_page(present, path)
                if page:
                    yield path, page

    def _page(self, path: str, status: int) -> Response:
        page = self._make_page(path)
        if page is None:
            self._note_missing(path)
            return Response(500, body=self._add_script(_not_made().encode(), "", ""))
        if status == 200:
            self.page_sent(path, page.version)
        return Response(status, body=self._add_script(page.html, page.version, page.source))

    def _make_page(self, path: str) -> Page | None:
        present = self.snapshot
        planned = present.files_by_url.get(path) if present else None
        if present is None or planned is None or not isinstance(planned.content, PageView):
            return None
        view = planned.content
        # a list shows pages that, shortly after the start, have not all been read
        sources = [view.path, *(listed.path for listed in view.pages[:MAX_LISTED_PAGES])]
        try:
            present = self.snapshot = self._line.render_pages(present, sources)
        except SiteError:
            # a plugin fails; the update of the whole site reports the error
            return None
        return self.pages.render_page(present, path)

    def _file(self, planned: OutputFile) -> Response:
        type_ = media_type(planned.path.name)
        content = planned.content
        if isinstance(content, Path):
            cleaned = self._clean_image(content)
            return Response(200, type_, file=content) if cleaned is None else Response(200, type_, cleaned)
        assert not isinstance(content, PageView), "pages are rendered elsewhere"
        if isinstance(content, GeneratedFile) and content.is_slow:
            return Response(200, type_, make=content)
        try:
            return Response(200, type_, content())
        except SiteError as error:
            return Response(500, "text/plain; charset=utf-8", str(error).encode())

    def _clean_image(self, file: Path) -> bytes | None:
        """Return an image without private data. Return None if the file contains no private data or is not an
        image."""
        if self.snapshot is None or not self.snapshot.plan.removes_metadata:
            return None
        part = open_part(file)
        if part is None:
            # the error is reported when the file is opened for sending
            return None
        with io.BufferedReader(part.file) as stream:
            return clean_stream(stream)

    def _not_found(self, page: str, path: str) -> Response:
        self._note_missing(path)
        if self.snapshot and page in self.snapshot.files_by_url:
            return self._page(page, 404)
        html = _PLAIN.format(title="Not found", text=f"No page or file at {escape(path)}.")
        return Response(404, body=self._add_script(html.encode(), "", ""))

    def _note_missing(self, path: str) -> None:
        """Record the request for a missing page, because the tab that requested it may wait for the page to
        appear."""
        if path.endswith(("/", ".html")):
            self.page_sent(path, _NO_VERSION)

    def _add_script(self, html: bytes, version: str, source: str) -> bytes:
        return self.tag.insert(html, version, source)


_PLAIN = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; form-action 'none'; base-uri 'none'">
<title>{title}</title>
</head>
<body><p>{text}</p></body>
</html>
"""


def _not_made() -> str:
    text = "This page cannot be rendered yet. It appears when the errors are fixed."
    return _PLAIN.format(title="Not available yet", text=text)


# Files of the theme in an earlier version of the site: those of another theme, and fonts for other formulas.
# A tab may still load a page that uses them, and a page that a new theme cannot render keeps its old HTML and
# style.


MAX_PREVIOUS_ASSETS = 512
"""Maximum number of theme files of earlier versions, enough for several themes with all their fonts. The
oldest are dropped."""


class PreviousAssets:
    """Theme files of earlier versions of the site; used by one thread."""

    def __init__(self) -> None:
        self._files: dict[str, OutputFile] = {}

    def find(self, path: str) -> OutputFile | None:
        """Return the file that was last served at a path. Call this only for paths that the current site does
        not have."""
        return self._files.get(path)

    def add_replaced(self, before: SiteSnapshot, now: SiteSnapshot) -> None:
        """Store the theme files of the site `before` that the site `now` does not have."""
        if before.plan is now.plan:
            return
        context = before.context
        folder = f"{context.config.base_path}/assets/{context.theme.name}/"
        last = {
            path: planned
            for path, planned in before.files_by_url.items()
            if path.startswith(folder) and not isinstance(planned.content, PageView)
        }
        files = {path: planned for path, planned in self._files.items() if path not in last} | last
        left = [(path, planned) for path, planned in files.items() if path not in now.files_by_url]
        self._files = dict(left[-MAX_PREVIOUS_ASSETS:])


# Choice of the pages to read first: those that a browser waits for while the preview starts.


MAX_LISTED_PAGES = 20
"""Maximum number of pages of a list that are read completely before the list is shown. Of further pages, only
the front matter is read."""


def awaited_sources(resolved: ResolvedSite, paths: Iterable[str]) -> list[str]:
    """Return the source paths of the pages at these paths. For a list among them, add the newest posts, which
    the list probably shows. This is a guess, because the content of lists is not known yet. Pages that are
    missing here are read when the list is rendered."""
    found: dict[str, None] = {}
    base_path, urls = resolved.config.base_path, resolved.loaded.urls
    sources = {url: path for path, url in urls.urls.items()}
    for path in paths:
        site_path = path_of(path, base_path).removeprefix(base_path).removesuffix("index.html")
        source = sources.get(site_path, "")
        if source:
            found[source] = None
        section = urls.sections[source] if source else site_path.strip("/")
        # a list may have no source file
        is_list = urls.kinds[source] in ("home", "section") if source else section in _sections(resolved)
        if is_list:
            found |= dict.fromkeys(_newest_posts(resolved, section, urls.editions.get(source, "")))
    return list(found)


def _sections(resolved: ResolvedSite) -> set[str]:
    """Return the sections of the site, including the site root as an empty string."""
    return {"", *resolved.loaded.urls.sections.values()}


def _newest_posts(resolved: ResolvedSite, section: str, edition: str) -> list[str]:
    """Return the source paths of the newest posts of a section. If `section` is empty, return those of the
    whole language version. edition: language of this version."""
    urls = resolved.loaded.urls

    def posts() -> Iterator[Document]:
        for path, document in resolved.documents.items():
            is_listed = urls.kinds[path] == "post" and not document.front.unlisted
            if is_listed and urls.editions.get(path, "") == edition and section in ("", urls.sections[path]):
                yield document

    newest = sorted(posts(), key=lambda document: document.front.date or OLDEST, reverse=True)
    return [str(document.path) for document in newest[: min(MAX_LISTED_PAGES, resolved.config.pagination)]]
