"""E-books and BibTeX made from posts. Both need all pages loaded, but write no site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..api.books import (
    BuildOptions,
    Diagnostic,
    Progress,
    SiteSnapshot,
    font_bytes,
    font_face,
    no_progress,
    open_pages,
    page_signs,
    subset_font,
)
from .document import FONT, BookRequest, make_book


class SiteBook(Struct, frozen=True):
    """A book made from pages of the site."""

    data: bytes
    """Content of an EPUB 3 file."""
    name: str
    """Suggested file name, without extension."""
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
    """Make a book of `posts` or of a series. If neither is given, use all posts.

    Raise SiteError if a name is unknown, or the site has an error.
    """
    with open_pages(root, posts, options, series=series, title=title, progress=progress) as book:
        request = BookRequest(book.pages, book.title, book.site.config, book.language)
        data = make_book(_add_font(request, book.site), book.read_file)
        return SiteBook(data, book.name, len(book.pages), book.warnings)


def _add_font(request: BookRequest, site: SiteSnapshot) -> BookRequest:
    """Return the request with the math font added. The font is reduced to the symbols that the formulas of
    the book use."""
    font = site.context.theme.files.math_font
    signs = frozenset().union(*(page_signs(page) for page in request.pages))
    if font is None or not signs:
        return request
    cut = subset_font(signs, font.asset.path.stem, font.version)
    return replace(request, font=font_bytes(cut, site.context), font_face=font_face(FONT))
