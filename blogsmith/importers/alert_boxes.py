"""Boxes of Bootstrap, `<div class="alert alert-info">`, as callouts: notebooks are full of them.

One that holds blocks other than paragraphs stays HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..base.patterns import lazy_pattern
from .model import ImportedPage, SiteImport
from .text.containers import quote
from .text.elements import BLOCKS, Element, replace_blocks
from .text.html_markdown import inline_markdown
from .text.segments import Dialect, mask

_BLANK_LINES = lazy_pattern(r"\n{3,}")
_KINDS: Mapping[str, str] = {
    **{"alert-info": "INFO", "alert-primary": "NOTE", "alert-secondary": "NOTE", "alert-light": "NOTE"},
    **{"alert-success": "SUCCESS", "alert-warning": "WARNING", "alert-danger": "DANGER"},
}


def with_alert_boxes(site: SiteImport) -> SiteImport:
    """The import with callouts for such boxes."""
    return replace(site, pages=tuple(_page(page) if "alert-" in page.text else page for page in site.pages))


def _page(page: ImportedPage) -> ImportedPage:
    masked = mask(page.text, Dialect())
    text = replace_blocks(masked.text, _box)
    if text == masked.text:
        return page
    return replace(page, text=masked.restore(_BLANK_LINES.sub("\n\n", text)))


def _box(element: Element, indent: str) -> str:
    kind = next((_KINDS[name] for name in sorted(element.classes) if name in _KINDS), "")
    inner = element.inner_source()
    is_plain = not any(True for name in BLOCKS - {"p"} for _ in element.every(name))
    if element.name != "div" or "alert" not in element.classes or not kind or not is_plain or indent.strip():
        return element.source()
    if set(element.attributes) - {"class", "role", "style"}:
        return element.source()
    paragraphs = inner.replace("<p>", "\n\n").replace("</p>", "\n\n")
    # what is indented would be code
    lines = [line.strip() for line in inline_markdown(paragraphs).strip().split("\n")]
    lines = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    made = f"\n{indent}".join(quote([f"[!{kind}]", "", *lines]))
    return f"\n\n{indent}{made}\n\n" if not indent else f"{made}\n"
