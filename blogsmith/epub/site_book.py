"""Books and BibTeX of posts. Both load all pages, and neither writes a site."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..api.books import (
    OLDEST,
    BuildLog,
    BuildOptions,
    Diagnostic,
    IncrementalPipeline,
    PageView,
    Progress,
    SiteError,
    SiteSnapshot,
    UpdateRequest,
    did_you_mean,
    font_bytes,
    font_face,
    no_progress,
    open_rows,
    page_signs,
    select_posts,
    slugify,
    subset_font,
)
from .document import FONT, BookRequest, make_book


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
    # the HTML of pages is read from the cache when it is needed
    with open_rows(root) as rows:
        line = IncrementalPipeline(root, options, lambda: options.now, limit_s=None, log=log, rows=rows)
        (site,) = deque(line.update_site(None, UpdateRequest()), maxlen=1)
        assert site is not None, "the last step gives the site"
        found = log.report()
        if errors := [diagnostic for diagnostic in found if diagnostic.severity == "error"]:
            raise SiteError(*errors)
        pages = _choose_pages(site, root, posts, series)
        language = site.frame.find_language(pages[0].lang)
        request = BookRequest(pages, title or _title(site, pages, posts, series), site.config, language)
        data = make_book(_add_font(request, site), lambda path: _read_file(site, path))
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
    chosen = select_posts(root, posts, [*known, *(document.path for document, _ in loaded.unbuilt.values())])
    if chosen is None:
        # a translation would tell everything twice
        found = [view for view in written.values() if view.kind == "post" and view.date and not view.edition]
    else:
        found = [written[path] for path in chosen if path in written]
    # files that are named one by one have the order in which they are named
    is_listed = chosen is not None and len(posts) == len(chosen)
    if not found or (is_listed and len(found) < len(posts)):
        missing = next((path for path in chosen or () if path not in written), "")
        message = f"{missing} is not published" if missing else "no pages for the book"
        hint = "add `--drafts` to include drafts, or `--future` to include posts with a later date"
        raise SiteError(Diagnostic("book-empty", message, hint=hint))
    return tuple(found if is_listed else sorted(found, key=lambda view: (view.date or OLDEST, view.path)))


def _series_pages(site: SiteSnapshot, written: dict[str, PageView], series: str) -> tuple[PageView, ...]:
    parts = next((view.series for view in written.values() if view.series_name == series), ())
    by_url = {view.url: view for view in written.values()}
    found = tuple(by_url[part.url] for part in parts if part.url in by_url)
    if not found:
        names = sorted({view.series_name for view in written.values() if view.series_name})
        hint = did_you_mean(series, names) or (f"known: {', '.join(names)}" if names else "")
        raise SiteError(Diagnostic("book-empty", f'unknown series "{series}"', hint=hint))
    return found


def _title(site: SiteSnapshot, pages: Sequence[PageView], posts: Sequence[str], series: str) -> str:
    if len(pages) == 1:
        return pages[0].title
    if series:
        return series
    sections = {page.section.title for page in pages if page.section}
    return sections.pop() if posts and len(sections) == 1 else site.config.title


def _add_font(request: BookRequest, site: SiteSnapshot) -> BookRequest:
    """Return the request with the math font, reduced to the symbols that its formulas use."""
    font = site.context.theme.files.math_font
    signs = frozenset().union(*(page_signs(page) for page in request.pages))
    if font is None or not signs:
        return request
    cut = subset_font(signs, font.asset.path.stem, font.version)
    return replace(request, font=font_bytes(cut, site.context), font_face=font_face(FONT))


def _read_file(site: SiteSnapshot, path: str) -> bytes | None:
    """Return the content of a file of the built site, or None if there is none.

    path: including the base path.
    """
    planned = site.files_by_url.get(path)
    content = planned.content if planned else None
    if content is None or isinstance(content, PageView):
        return None
    if isinstance(content, Path):
        return content.read_bytes()
    return content()
