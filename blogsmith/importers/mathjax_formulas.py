r"""Formulas that MathJax takes and TeX does not: underscores in `\text`, braces escaped once too often.

Pages of all systems that set formulas with it have some.
"""

from __future__ import annotations

from dataclasses import replace

from .model import ImportedPage, SiteImport
from .text.math import escape_underscores, pair_braces
from .text.segments import Dialect, rewrite_segments


def with_tex_formulas(site: SiteImport) -> SiteImport:
    """The import with such formulas as TeX has them."""
    return replace(site, pages=tuple(_page(page) for page in site.pages))


def _page(page: ImportedPage) -> ImportedPage:
    if "\\" not in page.text:
        return page
    return replace(page, text=rewrite_segments(page.text, "math", _rewrite, Dialect()))


def _rewrite(formula: str) -> str:
    return pair_braces(escape_underscores(formula)) if "_" in formula or "\\\\{" in formula else formula
