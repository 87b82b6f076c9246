"""Code that the old system only shows, and that would be a cell here: a plain fence that begins with `#|`.

Such lines are options of Quarto and of notebooks; in a plain fence they are comments that somebody left
behind. Without them the fence is code again, and runs nowhere.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..base.patterns import lazy_pattern
from .model import ImportedPage, Notice, SiteImport
from .text.segments import Dialect, divide

_FENCE = lazy_pattern(
    r"(?P<head>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:`{3,}|~{3,})[ \t]*"
    r"(?:python|python3|py|ipython3?)\b[^\n{]*\n)"
    r"(?P<options>(?:[ \t>]*#[ \t]?\|[^\n]*\n)+)",
    re.IGNORECASE,
)


def with_shown_code(site: SiteImport) -> SiteImport:
    """The import without options in front of code that is only shown."""
    pages = tuple(_page(page) if "#|" in page.text or "# |" in page.text else page for page in site.pages)
    return replace(site, pages=pages)


def _page(page: ImportedPage) -> ImportedPage:
    notices: list[Notice] = []
    parts = []
    for segment in divide(page.text, Dialect()):
        found = _FENCE.match(segment.text) if segment.kind == "block" else None
        if found:
            line = found["options"].strip().split("\n")[0].strip()
            message = f"{line} in front of code that is only shown"
            notices.append(Notice("dropped", message, page.source, removed=segment.text))
            parts.append(found["head"] + segment.text[found.end() :])
        else:
            parts.append(segment.text)
    return replace(page, text="".join(parts), notices=(*page.notices, *notices)) if notices else page
