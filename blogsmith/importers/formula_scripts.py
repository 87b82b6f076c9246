"""Scripts in posts that set formulas in readers' browsers: builds do that here, so pages load none of them.

Old posts often load MathJax themselves, from addresses that are gone by now. Macros that such a script
defines become those of its page.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..base.patterns import lazy_pattern
from .macros import script_macros
from .model import ImportedPage, Notice, SiteImport
from .text.segments import CODE, mask
from .text.tags import tag_attributes

_ELEMENT = lazy_pattern(
    r"[ \t]*(?:(?P<script><script\b[^<>]*>)(?P<code>[\s\S]*?)</script\s*>|(?P<sheet><link\b[^<>]*>))"
    r"[ \t]*\n?",
    re.IGNORECASE,
)
_TAG = lazy_pattern(r"<(?:script|link)\b", re.IGNORECASE)
_ADDRESS = lazy_pattern(
    r"mathjax|katex|asciimath|mathtex-script|/polyfill(?:\.min)?\.js|polyfill\.io", re.IGNORECASE
)
"""In addresses of what sets formulas, and of what MathJax's own manual loads before it."""
_CODE = lazy_pattern(r"\b(?:MathJax|renderMathInElement|katex\.render)\b")
_SETTINGS = "text/x-mathjax-config"


def without_formula_scripts(site: SiteImport) -> SiteImport:
    """The import without them, each page with a notice."""
    return replace(site, pages=tuple(_page(page) for page in site.pages))


def _page(page: ImportedPage) -> ImportedPage:
    has_element = _TAG.search(page.text) is not None
    if not has_element or not (_ADDRESS.search(page.text) or _CODE.search(page.text)):
        return page
    removed = list[str]()

    def take(found: re.Match[str]) -> str:
        if not _sets_formulas(found):
            return found[0]
        removed.append(found[0])
        return "\n" if found[0].endswith("\n") else ""

    masked = mask(page.text, kinds=CODE - {"opaque"})
    text = _ELEMENT.sub(take, masked.text)
    if not removed:
        return page
    written = masked.restore("".join(removed))
    notice = Notice("dropped", "a script that sets formulas, which builds do", page.source, removed=written)
    front = _with_macros(page, script_macros(written))
    return replace(page, text=masked.restore(text), front=front, notices=(*page.notices, notice))


def _sets_formulas(element: re.Match[str]) -> bool:
    values = tag_attributes(element["script"] or element["sheet"])
    address = values.get("src", "") or values.get("href", "")
    if element["sheet"] or address:
        return _ADDRESS.search(address) is not None
    return values.get("type", "") == _SETTINGS or _CODE.search(element["code"]) is not None


def _with_macros(page: ImportedPage, macros: dict[str, str]) -> dict[str, object]:
    front = dict(page.front)
    if macros:
        math = dict(front.get("math") or {})
        front["math"] = {**math, "macros": {**macros, **math.get("macros", {})}}
    return front
