"""The site as browsers see it: what is at an address, and which of the pages they look at have changed."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from html import escape
from pathlib import Path

from ...base.diagnostics.model import Diagnostic, SiteError
from ...build.incremental import IncrementalPipeline
from ...build.snapshot import ResolvedSite, SiteSnapshot
from ...model.documents import Document
from ...model.generated_files import GeneratedFile, OutputFile
from ...model.template_views import PageView
from ...site.frame import OLDEST
from ...write.photos.cleaning import clean_stream
from ..http.reply import open_regular
from ..protocol import Response
from .media_types import media_type
from .render import Page, Pages
from .script_tag import ScriptTag, address, path_of

OPEN = 256
"""Pages asked for most recently, which may still be open in a tab."""
_GONE = ""

FindPage = Callable[[str, OutputFile], tuple[Page, tuple[Diagnostic, ...]] | None]
"""(Path, what is made there) → the page of an earlier preview if it is the same, and what is wrong in it."""


class ServedSite:
    """Belongs to one preview, and is used by one thread."""

    def __init__(self, line: IncrementalPipeline, tag: ScriptTag) -> None:
        self._line = line
        self.tag = tag
        self.pages = Pages(trace=line.texts)
        self._present: SiteSnapshot | None = None
        self.open_earlier: Callable[[SiteSnapshot], FindPage] | None = None
        """Where the pages are that an earlier preview has made."""
        self._former = PreviousAssets()
        self._open: OrderedDict[str, str] = OrderedDict()
        """Path → version that was sent last."""
        self._overtaken: set[str] = set()
        """Paths of which a tab may show what was sent before that, and has not been told."""

    @property
    def present(self) -> SiteSnapshot | None:
        """The site; None before there is one."""
        return self._present

    @present.setter
    def present(self, present: SiteSnapshot) -> None:
        if self._present is not None:
            self._former.add_replaced(self._present, present)
        self._present = present

    def answer(self, path: str) -> Response:
        """What is at a path, made now; while there is no site, that there is none."""
        present = self.present
        if present is None:
            self._note_missing(path)
            return Response(503, body=self._add_script(_not_made().encode(), "", ""))
        base_path = present.config.base_path
        if path == "/" and base_path:
            return Response(301, location=address(f"{base_path}/"))
        path = path_of(path, base_path)
        if path.endswith("/index.html"):
            path = path.removesuffix("index.html")
        planned = present.table.get(path) or self._former.file_at(path)
        if planned is None and f"{path}/" in present.table:
            return Response(301, location=address(f"{path}/"))
        if planned is None:
            return self._not_found(f"{base_path}/404.html", path)
        if isinstance(planned.content, PageView):
            return self._page(path, 200)
        return self._file(planned)

    def version(self, path: str) -> str:
        """Names the bytes of the page at a path; empty if there is none."""
        if self.present is not None:
            path = path_of(path, self.present.config.base_path)
        return self._version(path)

    def _version(self, path: str) -> str:
        page = self._make_page(path)
        return page.version if page else _GONE

    def page_sent(self, path: str, version: str) -> None:
        """A page was sent: it is open now."""
        if self._open.get(path, version) != version:
            self._overtaken.add(path)
        self._open[path] = version
        self._open.move_to_end(path)
        if len(self._open) > OPEN:
            self._open.popitem(last=False)

    def open_pages(self) -> list[str]:
        """Paths that may be open in a tab, the latest first."""
        return list(reversed(self._open))

    def open_sources(self) -> list[str]:
        """The Markdown files of these pages."""
        present = self.present
        views = [present.views.get(path) for path in self.open_pages()] if present else []
        return [view.path for view in views if view and view.path]

    def changed_pages(self) -> dict[str, str]:
        """Open pages with other bytes than tabs were told of → their version, empty if gone."""
        found = {}
        for path, version in list(self._open.items()):
            now = self._version(path)
            if now != version or path in self._overtaken:
                found[path] = now
        # at the end: if one cannot be judged, none counts as told
        self._open.update(found)
        self._overtaken.clear()
        return found

    def sweep(self) -> Iterator[None]:
        """Make every page that is not made yet; a step is a page."""
        present = self.present
        assert present is not None, "swept before there is a site"
        # what is made from now on is in memory
        find, self.open_earlier = self.open_earlier(present) if self.open_earlier else None, None
        for path, planned in present.table.items():
            if isinstance(planned.content, PageView) and not self.pages.is_made(present, path):
                found = find(path, planned) if find else None
                if found:
                    self.pages.take(present, path, *found)
                else:
                    self.pages.page_at(present, path)
                yield
        self.pages.keep_only(present.table)

    def finished_pages(self) -> Iterator[tuple[str, Page]]:
        """Every page that is made, by path."""
        present = self.present
        for path, planned in present.table.items() if present else ():
            if present and isinstance(planned.content, PageView) and self.pages.is_made(present, path):
                page = self.pages.page_at(present, path)
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
        present = self.present
        planned = present.table.get(path) if present else None
        if present is None or planned is None or not isinstance(planned.content, PageView):
            return None
        view = planned.content
        # a list tells of its pages: for a moment after the start they are not all read
        sources = [view.path, *(listed.path for listed in view.pages[:LISTED])]
        try:
            present = self.present = self._line.with_pages(present, sources)
        except SiteError:
            # a plugin fails; the look at the whole site tells of it
            return None
        return self.pages.page_at(present, path)

    def _file(self, planned: OutputFile) -> Response:
        type_ = media_type(planned.path.name)
        content = planned.content
        if isinstance(content, Path):
            cleaned = self._clean_picture(content)
            return Response(200, type_, file=content) if cleaned is None else Response(200, type_, cleaned)
        assert not isinstance(content, PageView), "pages are made elsewhere"
        if isinstance(content, GeneratedFile) and content.is_slow:
            return Response(200, type_, make=content)
        try:
            return Response(200, type_, content())
        except SiteError as error:
            return Response(500, "text/plain; charset=utf-8", str(error).encode())

    def _clean_picture(self, file: Path) -> bytes | None:
        """A picture without its private data; None if it has none, or is no picture."""
        if self.present is None or not self.present.composition.cleans:
            return None
        part = open_regular(file)
        if part is None:
            # reported where it is opened to be sent
            return None
        with io.BufferedReader(part.file) as stream:
            return clean_stream(stream)

    def _not_found(self, page: str, path: str) -> Response:
        self._note_missing(path)
        if self.present and page in self.present.table:
            return self._page(page, 404)
        html = _PLAIN.format(title="Not found", text=f"There is nothing at {escape(path)}.")
        return Response(404, body=self._add_script(html.encode(), "", ""))

    def _note_missing(self, path: str) -> None:
        """A page was asked for that is not there; a tab may be waiting for it."""
        if path.endswith(("/", ".html")):
            self.page_sent(path, _GONE)

    def _add_script(self, html: bytes, version: str, source: str) -> bytes:
        return self.tag.put_in(html, version, source)


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
    text = "This page cannot be made yet. It appears when what is wrong is mended."
    return _PLAIN.format(title="Not made yet", text=text)


# Files that a theme had in the site before: those of another theme, and fonts cut for other formulas.
#
# A tab may just be loading a page that names them; and a page that a new theme cannot make stays as it was,
# in the style it had.


KEPT = 512
"""Addresses, the latest ones: some themes with all their fonts."""


class PreviousAssets:
    """Belongs to one preview, and is used by one thread."""

    def __init__(self) -> None:
        self._files: dict[str, OutputFile] = {}

    def file_at(self, path: str) -> OutputFile | None:
        """What was last at a path; only to be asked where the site now has nothing."""
        return self._files.get(path)

    def add_replaced(self, before: SiteSnapshot, now: SiteSnapshot) -> None:
        """The site has become another one: keep what is gone of its theme's files."""
        if before.composition is now.composition:
            return
        context = before.context
        folder = f"{context.config.base_path}/assets/{context.theme.name}/"
        last = {
            path: planned
            for path, planned in before.table.items()
            if path.startswith(folder) and not isinstance(planned.content, PageView)
        }
        files = {path: planned for path, planned in self._files.items() if path not in last} | last
        left = [(path, planned) for path, planned in files.items() if path not in now.table]
        self._files = dict(left[-KEPT:])


# Which pages to read before all others: those that a browser waits for while the preview starts.


LISTED = 20
"""Pages of a list that are read before it is shown; of the others it tells what their front matter says."""


def awaited_sources(resolved: ResolvedSite, paths: Iterable[str]) -> list[str]:
    """Source paths of the pages at these paths, and of the newest posts that a list among them shows.

    A guess, made before it is known what lists hold: what it leaves out is read when the page is made.
    """
    found: dict[str, None] = {}
    base_path, urls = resolved.config.base_path, resolved.loaded.urls
    sources = {url: path for path, url in urls.urls.items()}
    for path in paths:
        site_path = path_of(path, base_path).removeprefix(base_path).removesuffix("index.html")
        source = sources.get(site_path, "")
        if source:
            found[source] = None
        section = urls.sections[source] if source else site_path.strip("/")
        # a list may be one that no file of the author's makes
        is_list = urls.kinds[source] in ("home", "section") if source else section in _sections(resolved)
        if is_list:
            found |= dict.fromkeys(_newest_posts(resolved, section, urls.editions.get(source, "")))
    return list(found)


def _sections(resolved: ResolvedSite) -> set[str]:
    """The sections of the site, the whole of it among them."""
    return {"", *resolved.loaded.urls.sections.values()}


def _newest_posts(resolved: ResolvedSite, section: str, edition: str) -> list[str]:
    """Source paths of the newest posts of a section; of the whole edition if it is empty."""
    urls = resolved.loaded.urls

    def posts() -> Iterator[Document]:
        for path, document in resolved.documents.items():
            is_listed = urls.kinds[path] == "post" and not document.front.unlisted
            if is_listed and urls.editions.get(path, "") == edition and section in ("", urls.sections[path]):
                yield document

    newest = sorted(posts(), key=lambda document: document.front.date or OLDEST, reverse=True)
    return [str(document.path) for document in newest[: min(LISTED, resolved.config.pagination)]]
