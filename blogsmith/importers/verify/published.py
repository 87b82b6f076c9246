"""The pages that the old system made, compared with ours: `blogsmith import --against public/`.

Of an old page only its article counts: the element that themes put the text of a post in. What its layout
adds inside of it (dates, buttons, lists of tags) stands on most pages, and is taken away as far as it does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from ...patterns import lazy_pattern
from ..model import Difference
from ..source_files import read_text
from ..text.elements import element_end
from ..text.segments import Lines
from .compare import losses
from .facts import Facts
from .html_facts import facts_of_html

_ARTICLES = (
    r"<d-article\b[^>]*>",
    r"<(?:div|section|article)\b[^>]*[\s\"'](?:post-content|entry-content|page__content|e-content|td-content)"
    r"[\s\"'][^>]*>",
    r"<(?:div|section|article)\b[^>]*[\s\"'](?:article-content|markdown-body|md-content__inner|bd-article)"
    r"[\s\"'][^>]*>",
    r"<(?:div|article)\b[^>]*[\s\"'](?:post|content)[\s\"'][^>]*>",
    r"<article\b[^>]*>",
    r"<main\b[^>]*>",
    r"<body\b[^>]*>",
)
"""Where themes put the text of a page, what says most first."""
_GENERATED = lazy_pattern(
    r"<span class=\"(?:section-number|caption-number|eqno|std std-numref|header-section-number)\">"
    r"(?:[^<]|<a\b[^>]*>[^<]*</a>)*</span>"
    r"|<a class=\"reference internal\" href=\"[^\"]*#(?:equation-|id\d)[^\"]*\">[^<]*</a>"
    r"|<p class=\"(?:collapsed|expanded) admonition-title\">[^<]*</p>"
    r"|<span class=\"(?:bibtex-citation|xref std [^\"]*)\"[^>]*>(?:(?!<span\b)[\s\S])*?</span>"
    r"|<code class=\"xref [^\"]*\">(?:[^<]|</?span\b[^>]*>)*</code>"
    r"|<div [^>]*class=\"citation\"[^>]*>(?:(?!<div\b)[\s\S])*?</div>"
)
"""Numbers and words that the old system made, Sphinx above all: ours has its own."""
_MARKED_MATH = lazy_pattern(
    r"(<(span|div) class=\"(?:arithmatex|math notranslate[^\"]*)\"[^>]*>[\s\S]*?</\2>)"
)
_NO_WORD = lazy_pattern(r"\$|\\(?=[(\[])|^[ \t]*\d+\.(?=[ \t])", re.MULTILINE)
"""Dollars that are none of a formula, and numbers of a list that only looks like one in the source."""
_ORDINAL = lazy_pattern(r"(?<=\d)<sup>(st|nd|rd|th)</sup>")
_COMMENT = lazy_pattern(r"<!--[\s\S]*?-->")
_COMMON = 0.6
"""Share of pages on which something stands that is a part of the layout."""
_FEWEST = 5
"""Pages from which on a layout can be told from texts."""
COMPARED = frozenset(("formulas", "words"))
"""Kinds that are compared with published pages: of the others layouts add too many of their own."""


def published_facts(folder: Path, addresses: Iterable[str]) -> dict[str, Facts]:
    """Address → what its published page holds, without what most pages do; pages that are not there are left
    out."""
    found: dict[str, Facts] = {}
    for address in addresses:
        file = page_file(folder, address)
        text = read_text(file) if file else None
        if text is not None:
            found[address] = facts_of_html(_text_of(article_of(text)))
    return _without_layout(found)


def page_file(folder: Path, address: str) -> Path | None:
    """The file of a published page, as hosts find it; None if it is not there."""
    path = unquote(address).strip("/")
    names = [path, f"{path}/index.html", f"{path}.html"] if path else ["index.html"]
    files = (folder / name for name in names)
    return next((file for file in files if file.is_file() and file.suffix in (".html", ".htm")), None)


def article_of(html: str) -> str:
    """The part of a page that holds its text."""
    html = _COMMENT.sub("", html)
    for pattern in _ARTICLES:
        found = re.search(pattern, html, re.IGNORECASE)
        end = element_end(html, found.start()) if found else None
        if found and end is not None and end - found.start() > 0:
            return html[found.start() : end]
    return html


def _text_of(html: str) -> str:
    """What the author wrote of a page."""
    return _with_marked_math(_ORDINAL.sub(r"\1", _GENERATED.sub("", html)))


def _with_marked_math(html: str) -> str:
    """A page whose system marks formulas by elements, without what else looks like one."""
    parts = _MARKED_MATH.split(html)
    if len(parts) == 1:
        return html
    # each match gives the element and its name
    prose = [_NO_WORD.sub("", part) for part in parts[::3]]
    return "".join(part for pair in zip(prose, [*parts[1::3], ""], strict=True) for part in pair)


def _without_layout(pages: Mapping[str, Facts]) -> dict[str, Facts]:
    if len(pages) < _FEWEST:
        return dict(pages)
    seen: Counter[str] = Counter()
    for facts in pages.values():
        seen.update(facts.of("words").keys())
    # a word of the layout stands once on each page; how often it may is the least that any page has of it
    common = {word for word, count in seen.items() if count >= _COMMON * len(pages)}
    spare = {word: min(f.of("words")[word] for f in pages.values() if f.of("words")[word]) for word in common}
    return {
        address: replace(facts, counters={**facts.counters, "words": facts.of("words") - Counter(spare)})
        for address, facts in pages.items()
    }


def published_losses(address: str, old: Facts, new: Facts, allowed: Facts, source: str) -> list[Difference]:
    """What a published page has and the new one has not, but for what is `allowed` to be lost."""
    lines = Lines("")
    return [
        replace(difference, what=f"published {difference.what}")
        for difference in losses(f"{source} ({address})", old, new, allowed, lines)
        if difference.what in COMPARED
    ]
