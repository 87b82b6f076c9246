"""Rewrites that look at one page at a time, whatever system it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..project.report import Progress
from .alert_boxes import with_alert_boxes
from .formula_scripts import without_formula_scripts
from .link_schemes import with_https_links
from .mathjax_formulas import with_tex_formulas
from .model import ImportedPage, Notice, SiteImport
from .page_processes import Workers, map_pages
from .plain_tables import with_plain_tables
from .plain_titles import with_plain_titles
from .shown_code import with_shown_code

_REWRITES: tuple[Callable[[SiteImport], SiteImport], ...] = (
    with_plain_titles,
    without_formula_scripts,
    with_https_links,
    with_tex_formulas,
    with_shown_code,
    with_plain_tables,
    with_alert_boxes,
)
"""In their order. Each changes text, front matter and notices of pages, and nothing else of a site."""


class _Rewritten(NamedTuple):
    """The parts of a page that rewrites change."""

    text: str
    front: Mapping[str, Any]
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class _Rewriter:
    """Rewrites the pages of one site. Picklable."""

    bare: SiteImport
    """The site without pages."""

    def rewrite(self, page: ImportedPage) -> _Rewritten:
        site = replace(self.bare, pages=(page,))
        for change in _REWRITES:
            site = change(site)
        (page,) = site.pages
        return _Rewritten(page.text, page.front, page.notices)


def with_rewritten_pages(site: SiteImport, progress: Progress, workers: Workers) -> SiteImport:
    """Return the import with all these rewrites."""
    rewriter = _Rewriter(SiteImport(site.root, site.system))
    pages = list[ImportedPage]()
    made = map_pages(rewriter.rewrite, site.pages, len(site.pages), workers)
    for page, new in zip(site.pages, made, strict=True):
        progress("rewrite", len(pages), len(site.pages))
        pages.append(replace(page, text=new.text, front=new.front, notices=new.notices))
    return replace(site, pages=tuple(pages))
