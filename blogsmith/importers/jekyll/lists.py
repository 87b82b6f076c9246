"""Pages of lists that Jekyll's themes keep as templates: blogsmith makes these lists without asking."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...base.patterns import lazy_pattern
from ..model import ImportedPage, Notice

MADE_HERE = frozenset(
    ("", "/", "/404", "/404.html", "/archive", "/archives", "/tags", "/categories", "/feed.xml")
)
"""Addresses without a slash at their end at which blogsmith makes something in every site."""
_TAG = lazy_pattern(r"<!--[\s\S]*?-->|<(script|style)\b[\s\S]*?</\1>|<[^>]*>|\{%[\s\S]*?%\}|\{\{[\s\S]*?\}\}")
_LISTED = lazy_pattern(
    r"\{%-?\s*(?:for|assign)\b[^%]*\b(?:site\.(?!data\b|pages\b|static_files\b)[a-z_]+|paginator\.posts)\b"
)
_FEW = 12
"""Words that a template of a list has at most besides it: a heading, and what stands where there are no
posts."""


def list_layouts(layouts: Mapping[str, str]) -> frozenset[str]:
    """Names of the layouts that show a list of posts, tags or categories. layouts: name → template."""
    return frozenset(name for name, text in layouts.items() if _LISTED.search(text))


def is_made_here(page: ImportedPage, *, has_list_layout: bool = False) -> bool:
    """Whether a page shows a list that blogsmith makes, and next to nothing besides.

    has_list_layout: the list stands in its layout.
    """
    address = page.address.rstrip("/") or page.address
    if address.removesuffix(".html") in ("/404", "/archive", "/archives", "/tags", "/categories"):
        return True
    has_list = any(notice.is_list for notice in page.notices)
    is_empty = not _count_words(page.text)
    return (has_list and _count_words(page.text) <= _FEW) or (
        is_empty and (has_list_layout or address in MADE_HERE)
    )


def made_here(page: ImportedPage) -> Notice:
    """What is told of such a page."""
    message = "a page of lists, which blogsmith makes itself"
    hint = f"it stood at {page.address}" if page.address else ""
    return Notice("dropped", message, page.source, hint=hint, made_here=page.address)


def _count_words(text: str) -> int:
    return len(re.findall(r"\w+", _TAG.sub(" ", text)))
