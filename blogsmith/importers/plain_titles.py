"""Titles that are Markdown in the old site: here a title is a text with formulas.

Marks go, words and formulas stay; a link or an image in a title stands above the text of its page. In front
matter of Jekyll and Hugo a title is what it says, marks too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .model import ImportedPage, SiteImport
from .text.segments import Dialect, mask

_PLAIN_TITLES = frozenset(("jekyll", "hugo"))
_MARKS = frozenset("*_`[<~\\&")
_DOLLAR = "\ue01f"
"""A dollar that begins no formula."""


def with_plain_titles(site: SiteImport) -> SiteImport:
    """The import with titles without marks."""
    if site.system in _PLAIN_TITLES:
        return site
    return replace(site, pages=tuple(map(_page, site.pages)))


def _page(page: ImportedPage) -> ImportedPage:
    title = page.front.get("title")
    if not isinstance(title, str) or _MARKS.isdisjoint(title):
        return page
    masked = mask(title.replace("\\$", _DOLLAR), Dialect(), {"math"})
    (line,) = _parser().parseInline(masked.text)
    tokens = line.children or []
    words = "".join(token.content for token in _shown(tokens))
    plain = masked.restore(" ".join(words.split())).replace(_DOLLAR, "\\$")
    if not plain or plain == title:
        return page
    has_more = any(token.type in ("link_open", "image") for token in tokens)
    above = f"{title}\n\n" if has_more else ""
    return replace(page, front={**page.front, "title": plain}, text=above + page.text.lstrip("\n"))


def _shown(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.type in ("text", "code_inline", "image"):
            yield token


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")
