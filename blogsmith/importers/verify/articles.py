"""The author's text in a page that an old system made.

Of an old page only its article counts: the element that themes put the text of a post in. What themes and
systems put into it by themselves (contents, dates, numbers, buttons) is taken away by the names they give it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...base.patterns import lazy_pattern
from ..text.elements import ElementEnds, element_end


def _tag(elements: str, names: str, attributes: str = "class") -> str:
    """A pattern for the tag of an element one of whose classes, or whose id, is one of `names` as a whole."""
    quoted = rf"[\"'](?:[^\"'<>]*\s)?(?:{names})(?:\s[^\"'<>]*)?[\"']"
    return rf"<(?:{elements})\b[^<>]*\b(?:{attributes})=(?:{quoted}|(?:{names})(?=[\s>]))[^<>]*>"


_ARTICLES = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        r"<d-article\b[^>]*>",
        _tag(
            "div|section|article",
            "post-content|entry-content|page__content|e-content|td-content|post__content|page-content-body",
        ),
        _tag("div|section|article", "article-content|markdown-body|md-content__inner|bd-article"),
        _tag("div|section|article", "post|content|blog-post|post-body|article-body", "id|class"),
        r"<article\b[^>]*>",
        r"<main\b[^>]*>",
        r"<body\b[^>]*>",
    )
)
"""Where themes put the text of a page, what says most first."""
_WHOLE = 5
"""Patterns from here on take a page with its frame."""
_COMMENT = lazy_pattern(r"<!--[\s\S]*?-->")
_FRAME = lazy_pattern(r"<(?:nav|footer)\b[^<>]*>", re.IGNORECASE)
"""Parts of a whole page that belong to no text."""
_LAYOUT = lazy_pattern(
    "|".join(
        (
            r"<nav\b[^<>]*>",
            _tag(
                "ul|aside|ol|div|section|header|footer|p|span",
                "markdown-toc|toc|table-of-contents?|post-(?:meta|nav|tags|date|navigation|footer|share)"
                "|page__(?:meta|share|footer|related)|pagination|pager|related(?:-posts)?|share|comments"
                "|site-footer|sidebar",
                "id|class",
            ),
            # drawn by a script there, and by the build here
            _tag("div|pre", "mermaid"),
            # Sphinx above all
            _tag("span", "(?:section|caption|header-section)-number|eqno|std-numref|bibtex-citation"),
            _tag("span", r"xref\s+std"),
            _tag("code", "xref"),
            _tag("div", "citation"),
            _tag("p", r"(?:collapsed|expanded)\s+admonition-title"),
            r"<a class=\"reference internal\" href=\"[^\"<>]*#(?:equation-|id\d)[^\"<>]*\">",
        )
    ),
    re.IGNORECASE,
)
"""What themes and systems make by themselves: contents, dates, numbers, what leads to other pages."""
_MARKED_FORMULA = lazy_pattern(_tag("span|div", r"arithmatex|math\s+notranslate"), re.IGNORECASE)
_FORMULA = lazy_pattern(
    r"\$\$[^$]{1,4000}\$\$|\$[^$]{1,1000}\$|\\\([\s\S]{1,1000}?\\\)|\\\[[\s\S]{1,4000}?\\\]"
)
_NO_WORD = lazy_pattern(r"\$|\\(?=[(\[])|^[ \t]*\d+\.(?=[ \t])", re.MULTILINE)
"""Dollars that are none of a formula, and numbers of a list that only looks like one in the source."""
_ORDINAL = lazy_pattern(r"(?<=\d)<sup>(st|nd|rd|th)</sup>")


@dataclass(frozen=True, slots=True)
class Article:
    """The part of a page that holds its text."""

    form: int
    """Number of the form in which its theme names that part: pages of one form have one layout."""
    html: str


def article_of(page: str) -> Article:
    """What the author wrote of a page."""
    page = _COMMENT.sub("", page)
    for form, pattern in enumerate(_ARTICLES):
        found = pattern.search(page)
        end = element_end(page, found.start()) if found else None
        if found and end is not None:
            html = page[found.start() : end]
            return Article(form, _text_of(html if form < _WHOLE else _without(_FRAME, html)))
    return Article(len(_ARTICLES), _text_of(page))


def _text_of(html: str) -> str:
    html = _without(_LAYOUT, _ORDINAL.sub(r"\1", _escape_formulas(html)))
    return _with_marked_formulas(html)


def _escape_formulas(html: str) -> str:
    """A page in which `<` in a formula begins no tag, as where Hugo hands formulas on as they are written."""

    def escape(found: re.Match[str]) -> str:
        return found[0] if ">" in found[0] else found[0].replace("<", "&lt;")

    return _FORMULA.sub(escape, html)


def _with_marked_formulas(html: str) -> str:
    """A page whose system marks formulas by elements, without what else looks like one."""
    parts = list(_split(_MARKED_FORMULA, html))
    if len(parts) == 1:
        return html
    return "".join(_NO_WORD.sub("", prose) + element for prose, element in parts)


def _without(pattern: re.Pattern[str], html: str) -> str:
    """HTML without the elements whose tags a pattern matches; one that does not end is left."""
    return "".join(prose for prose, _ in _split(pattern, html))


def _split(pattern: re.Pattern[str], html: str) -> Iterator[tuple[str, str]]:
    """Elements whose tags a pattern matches, and the HTML in front of each; the last is empty."""
    position = start = 0
    ends = ElementEnds(html)
    while found := pattern.search(html, position):
        position = found.end()
        if (end := ends.of(found.start())) is not None:
            yield html[start : found.start()], html[found.start() : end]
            start = position = end
    yield html[start:], ""
