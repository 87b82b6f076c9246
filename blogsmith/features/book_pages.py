"""The pages that a book contains, for EPUB and PDF: posts, a series or a folder of the site."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, SiteError, did_you_mean, list_choices
from ..base.storage.folder import open_folder
from ..build.incremental import IncrementalPipeline, UpdateRequest
from ..build.snapshot import SiteSnapshot
from ..languages.language import Language
from ..model.slugs import slugify
from ..model.template_views import PageView
from ..project.program import open_rows
from ..project.report import BuildLog, BuildOptions, Progress
from ..project.select import select_posts
from ..site.frame import OLDEST

_OUTSIDE = ("https", "http", "mailto")
"""URL schemes of allowed links to other hosts."""


class BookSource(Struct, frozen=True):
    """Pages of a site that become one file."""

    site: SiteSnapshot
    pages: tuple[PageView, ...]
    """Pages in reading order."""
    title: str
    language: Language
    """Language of headings such as “Contents”."""
    warnings: tuple[Diagnostic, ...]
    """Warnings about these pages."""

    @property
    def name(self) -> str:
        """Suggested file name, without extension."""
        return slugify(self.title, marks=self.site.config.slug_settings.keeps_marks) or "book"

    def read_file(self, path: str) -> bytes | None:
        """Return the content of a file of the built site; None if the file does not exist. path: URL path
        with the base path."""
        planned = self.site.files_by_url.get(path)
        content = planned.content if planned else None
        if content is None or isinstance(content, PageView):
            return None
        return content.read_bytes() if isinstance(content, Path) else content()


@contextmanager
def open_pages(
    root: Path, posts: Sequence[str], options: BuildOptions, *, series: str, title: str, progress: Progress
) -> Iterator[BookSource]:
    """Yield the pages of `posts` or of a series, or all posts if neither is given. The content of pages can
    be read until the context ends. Raise SiteError if a name is unknown, or the site has an error."""
    log = BuildLog(progress)
    # the HTML of a page is read from the cache when needed, to save memory
    with open_rows(root) as rows:
        line = IncrementalPipeline(root, options, lambda: options.now, limit_s=None, log=log, rows=rows)
        (site,) = deque(line.update_site(None, UpdateRequest()), maxlen=1)
        assert site is not None, "the last step yields the site"
        found = log.report()
        if errors := [diagnostic for diagnostic in found if diagnostic.severity == "error"]:
            raise SiteError(*errors)
        pages = _choose_pages(site, root, posts, series)
        own = {page.path for page in pages}
        warnings = tuple(diagnostic for diagnostic in found if diagnostic.path in own)
        name = title or _title(site, pages, posts, series)
        yield BookSource(site, pages, name, site.frame.find_language(pages[0].lang), warnings)


def outside_address(address: str) -> str:
    """Return `address`, percent-encoded, if a link in a book may lead there: a web or mail address. Otherwise
    empty."""
    try:
        scheme = urlsplit(address).scheme.lower()
    except ValueError:
        return ""
    return percent_encode(address) if scheme in _OUTSIDE else ""


def percent_encode(address: str) -> str:
    """Return a URL in which spaces and other characters that strict readers reject are percent-encoded."""
    return quote(address, safe="%/:=&?~#+!$,;'@()*[]")


def write_book(file: Path, data: bytes, *, make: bool = False) -> None:
    """Write a book to its file in one step. Raise SiteError if that fails. make: create a missing folder."""
    try:
        with open_folder(file.parent, make=make) as folder:
            folder.replace(file.name, data)
    except OSError as error:
        message = f'cannot write "{file}": {error.strerror or error}'
        hint = "check the permissions of the folder and the free space"
        raise SiteError(Diagnostic("new-write", message, hint=hint)) from error


def _choose_pages(site: SiteSnapshot, root: Path, posts: Sequence[str], series: str) -> tuple[PageView, ...]:
    """Return the pages of the book in reading order: parts of a series by number, other pages by date."""
    written = {view.path: view for view in site.views.values() if view.path and view.kind in ("post", "page")}
    if series:
        return _series_pages(site, written, series)
    loaded = site.resolved.loaded
    known = [document.path for document in loaded.documents]
    chosen = select_posts(root, posts, [*known, *(document.path for document, _ in loaded.unbuilt.values())])
    if chosen is None:
        # a translation would repeat the post
        found = [view for view in written.values() if view.kind == "post" and view.date and not view.edition]
    else:
        found = [written[path] for path in chosen if path in written]
    # if the command names each file, the book has the order of the command
    is_listed = chosen is not None and len(posts) == len(chosen)
    if not found or (is_listed and len(found) < len(posts)):
        missing = next((path for path in chosen or () if path not in written), "")
        message = f'"{missing}" is not published' if missing else "no pages for the book"
        hint = "add `--drafts` to include drafts, or `--future` to include posts with a later date"
        raise SiteError(Diagnostic("book-empty", message, hint=hint))
    return tuple(found if is_listed else sorted(found, key=lambda view: (view.date or OLDEST, view.path)))


def _series_pages(site: SiteSnapshot, written: dict[str, PageView], series: str) -> tuple[PageView, ...]:
    parts = next((view.series for view in written.values() if view.series_name == series), ())
    by_url = {view.url: view for view in written.values()}
    found = tuple(by_url[part.url] for part in parts if part.url in by_url)
    if not found:
        names = sorted({view.series_name for view in written.values() if view.series_name})
        hint = did_you_mean(series, names) or list_choices(names)
        hint = hint or "write `series: NAME` in the front matter of its posts"
        raise SiteError(Diagnostic("book-empty", f'unknown series "{series}"', hint=hint))
    return found


def _title(site: SiteSnapshot, pages: Sequence[PageView], posts: Sequence[str], series: str) -> str:
    if len(pages) == 1:
        return pages[0].title
    if series:
        return series
    sections = {page.section.title for page in pages if page.section}
    return sections.pop() if posts and len(sections) == 1 else site.config.title
