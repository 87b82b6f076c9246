"""Books and BibTeX of posts. Both load all pages, and neither writes a site."""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError, did_you_mean
from ..build.incremental import IncrementalPipeline, UpdateRequest
from ..build.load import load_site
from ..build.render import PageCache
from ..build.snapshot import SiteSnapshot
from ..model.slugs import slugify
from ..model.template_views import PageView
from ..project.context import open_site
from ..project.program import open_rows
from ..project.report import BuildLog, BuildOptions, Progress, no_progress
from ..project.select import select_posts
from ..site.citation_data import post_bibtex
from ..site.epub.book import FONT, BookRequest, make_book
from ..site.frame import OLDEST, canonical
from ..site.math_font import font_cut_of, font_face, page_signs
from ..stages.fonts import font_bytes


class SiteBook(Struct, frozen=True):
    """A book made from pages of the site."""

    data: bytes
    """Content of an EPUB 3 file."""
    name: str
    """Suggested file name, without suffix."""
    chapters: int
    warnings: tuple[Diagnostic, ...]
    """Warnings about the pages of the book."""


def make_site_book(
    root: Path,
    posts: Sequence[str],
    options: BuildOptions,
    *,
    series: str = "",
    title: str = "",
    progress: Progress = no_progress,
) -> SiteBook:
    """Make a book of `posts` or of a series, or of all posts if neither is given.

    Raise SiteError if a name is unknown, or the site has an error.
    """
    log = BuildLog(progress)
    # The HTML of pages is read from the cache rows on demand.
    with open_rows(root) as rows:
        line = IncrementalPipeline(root, options, lambda: options.now, limit_s=None, log=log, rows=rows)
        (site,) = deque(line.update_all(None, UpdateRequest()), maxlen=1)
        assert site is not None, "the last step gives the site"
        found = log.report()
        if errors := [diagnostic for diagnostic in found if diagnostic.severity == "error"]:
            raise SiteError(*errors)
        pages = _choose_pages(site, root, posts, series)
        language = site.frame.find_language(pages[0].lang)
        request = BookRequest(pages, title or _title(site, pages, posts, series), site.config, language)
        data = make_book(_with_font(request, site), lambda path: _read_file(site, path))
    own = {page.path for page in pages}
    warnings = tuple(diagnostic for diagnostic in found if diagnostic.path in own)
    return SiteBook(data, slugify(request.title) or "book", len(pages), warnings)


def _choose_pages(site: SiteSnapshot, root: Path, posts: Sequence[str], series: str) -> tuple[PageView, ...]:
    """Return the pages of the book in reading order: parts of a series by number, other pages by date."""
    written = {view.path: view for view in site.views.values() if view.path and view.kind in ("post", "page")}
    if series:
        return _series_pages(site, written, series)
    loaded = site.resolved.loaded
    known = [document.path for document in loaded.documents]
    chosen = select_posts(root, posts, [*known, *(document.path for document, _ in loaded.left_out.values())])
    if chosen is None:
        # A translation would repeat the content.
        found = [view for view in written.values() if view.kind == "post" and view.date and not view.edition]
    else:
        found = [written[path] for path in chosen if path in written]
    # Files named one by one keep the order of their names on the command line.
    is_listed = chosen is not None and len(posts) == len(chosen)
    if not found or (is_listed and len(found) < len(posts)):
        missing = next((path for path in chosen or () if path not in written), "")
        message = f"{missing} is not published" if missing else "there is no page to make a book of"
        hint = "a post with `draft: true` or a later date needs --drafts or --future"
        raise SiteError(Diagnostic("book-empty", message, hint=hint))
    return tuple(found if is_listed else sorted(found, key=lambda view: (view.date or OLDEST, view.path)))


def _series_pages(site: SiteSnapshot, written: dict[str, PageView], series: str) -> tuple[PageView, ...]:
    parts = next((view.series for view in written.values() if view.series_name == series), ())
    by_url = {view.url: view for view in written.values()}
    found = tuple(by_url[part.url] for part in parts if part.url in by_url)
    if not found:
        names = sorted({view.series_name for view in written.values() if view.series_name})
        hint = did_you_mean(series, names) or (f"series: {', '.join(names)}" if names else "")
        raise SiteError(Diagnostic("book-empty", f'there is no series "{series}"', hint=hint))
    return found


def _title(site: SiteSnapshot, pages: Sequence[PageView], posts: Sequence[str], series: str) -> str:
    if len(pages) == 1:
        return pages[0].title
    if series:
        return series
    sections = {page.section.title for page in pages if page.section}
    return sections.pop() if posts and len(sections) == 1 else site.config.title


def _with_font(request: BookRequest, site: SiteSnapshot) -> BookRequest:
    """Return the request with the math font, reduced to the symbols that its formulas use."""
    font = site.context.theme.files.math_font
    signs = frozenset().union(*(page_signs(page) for page in request.pages))
    if font is None or not signs:
        return request
    cut = font_cut_of(signs, font.asset.path.stem, font.version)
    return replace(request, font=font_bytes(cut, site.context), font_face=font_face(FONT))


def _read_file(site: SiteSnapshot, path: str) -> bytes | None:
    """Return the content of a file of the built site, or None if there is none.

    path: including the base path.
    """
    planned = site.table.get(path)
    content = planned.content if planned else None
    if content is None or isinstance(content, PageView):
        return None
    if isinstance(content, Path):
        return content.read_bytes()
    return content()


# Citations of posts, without building the site.


def cite_posts(root: Path, posts: Sequence[str], now: dt.datetime) -> tuple[str, ...]:
    """Return the BibTeX of posts, including drafts. Raise SiteError for an unknown name.

    The entries have no URL if the site has no base URL.
    """
    context, memory = open_site(root), PageCache(None)
    log = BuildLog(no_progress)
    loaded = load_site(context, memory, BuildOptions(now=now, drafts=True, future=True), log)
    chosen = select_posts(root, posts, [document.path for document in loaded.documents]) or ()
    documents = {str(document.path): document for document in loaded.documents}
    entries = []
    for path in chosen:
        document = documents[path]
        url = canonical(context.config, loaded.urls.urls[path])
        title = memory.parse(document).title_text
        entries.append(post_bibtex(document.front, title, url, context.config))
    return tuple(entries)
