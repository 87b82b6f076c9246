"""The PDF of one page, for builds with `pdf: true`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from ..api.books import (
    BookSource,
    Diagnostic,
    GeneratedFile,
    PageView,
    SiteError,
    SiteSnapshot,
    file_digest,
    host_url,
    lazy_pattern,
)
from .compiler import compiler_version, require_compiler
from .site_paper import compile_paper, text_fonts

_SOURCE = lazy_pattern(r"\bsrc=\"([^\"]+)\"")


class PagePdf:
    """Maker of PDF files, which the entry point `pdf` in the group `blogsmith.page_files` names."""

    def missing(self) -> Diagnostic | None:
        """Return the error if Typst is not installed."""
        try:
            require_compiler()
        except SiteError as error:
            return error.diagnostics[0]
        return None

    def key(self, site: SiteSnapshot, page: PageView) -> str:
        """Return a digest of everything that the PDF shows: the view and text of the page, its images and its
        fonts."""
        shown = (
            *(page.title_html, page.heading_html, page.subtitle, page.description_html, page.description),
            *(page.date, page.updated, page.authors, page.lang, page.canonical_url, page.citation),
            *(tuple(tag.title for tag in page.tags), page.body.digest, compiler_version()),
            *(site.config.title, host_url(site.config), site.resolved.documents[page.path].digest),
        )
        total = hashlib.sha256(repr(shown).encode("utf-8", "surrogatepass"))
        for digest in (*_image_digests(site, page), *_font_digests(site)):
            total.update(digest.encode())
        return f"pdf {total.hexdigest()}"

    def make(self, site: SiteSnapshot, page: PageView) -> tuple[bytes, tuple[Diagnostic, ...]]:
        """Return the PDF, with warnings about content that it cannot show."""
        book = BookSource(site, (page,), page.title, site.frame.find_language(page.lang), ())
        return compile_paper(book)


def _image_digests(site: SiteSnapshot, page: PageView) -> Iterator[str]:
    for address in sorted(set(_SOURCE.findall(page.content))):
        planned = site.files_by_url.get(unquote(address.partition("?")[0]))
        content = planned.content if planned else None
        if isinstance(content, Path):
            yield file_digest(content)
        elif isinstance(content, GeneratedFile) and content.key:
            yield content.key
        elif content is not None and not isinstance(content, PageView):
            yield hashlib.sha256(content()).hexdigest()


def _font_digests(site: SiteSnapshot) -> Iterator[str]:
    theme = site.context.theme.files
    for file in [*text_fonts(site), *([theme.math_font.asset.file] if theme.math_font else [])]:
        yield file_digest(file)


PAGE_PDF = PagePdf()
