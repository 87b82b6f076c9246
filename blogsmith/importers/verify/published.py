"""The pages that the old system made, compared with ours: `blogsmith import --against public/`.

Of an old page only its article counts: the element that themes put the text of a post in. What its layout
adds inside of it (dates, buttons, lists of tags) stands on most pages, and is taken away as far as it does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote

from ...patterns import lazy_pattern
from ..model import Difference
from ..source_files import read_text, walk_files
from ..text.elements import element_end
from ..text.segments import Lines
from .compare import losses
from .facts import Facts, without_emphasis
from .html_facts import facts_of_html

_ARTICLES = (
    r"<d-article\b[^>]*>",
    r"<(?:div|section|article)\b[^>]*\b(?:post-content|entry-content|page__content|e-content|td-content)\b[^>]*>",
    r"<(?:div|section)\b[^>]*\b(?:article-content|markdown-body|md-content__inner|bd-article)\b[^>]*>",
    r"<(?:div|article)\b[^>]*\b(?:post|content)\b[^>]*>",
    r"<article\b[^>]*>",
    r"<main\b[^>]*>",
    r"<body\b[^>]*>",
)
"""Where themes put the text of a page, what says most first."""
_COMMENT = lazy_pattern(r"<!--[\s\S]*?-->")
_COMMON = 0.6
"""Share of pages on which something stands that is a part of the layout."""
_FEWEST = 5
"""Pages from which on a layout can be told from texts."""
COMPARED = frozenset(("formulas", "words"))
"""Kinds that are compared with published pages: of the others layouts add too many of their own."""
_FORMULA = lazy_pattern(
    r"\$\$[^$]{1,4000}\$\$|\$[^$]{1,1000}\$|\\\([\s\S]{1,1000}?\\\)|\\\[[\s\S]{1,4000}?\\\]"
)
_NUMBERED = lazy_pattern(r"(?:^|/)page/?\d+/")
"""The later pages of a list: they hold nothing of their own."""


@dataclass(frozen=True, slots=True)
class PublishedCheck:
    """How the pages that the old system made were compared with."""

    counts: Mapping[str, int]
    """`pages`, and the kinds of things → how many were compared."""
    unmatched: tuple[str, ...] = ()
    """Addresses of imported pages that were not published."""
    unanswered: tuple[str, ...] = ()
    """Published addresses at which the new site has nothing."""


def check_published(
    folder: Path, found: Mapping[str, Facts], addresses: Iterable[str], answers: Container[str]
) -> PublishedCheck:
    """What was compared, and what has no counterpart.

    addresses: of the imported pages. answers: paths at which the new site has something, without its base.
    """
    counts = {"pages": len(found)}
    counts |= {kind: sum(f.of(kind).total() for f in found.values()) for kind in sorted(COMPARED)}
    unmatched = tuple(address for address in addresses if address not in found)
    published = (f"/{path}".removesuffix("index.html") for path in walk_files(folder) if _is_page(path.name))
    left = (address for address in published if not _NUMBERED.search(address))
    unanswered = tuple(address for address in left if not _is_answered(address, answers))
    return PublishedCheck(counts, unmatched, unanswered)


def _is_page(name: str) -> bool:
    # hosts serve 404.html themselves
    return name.endswith((".html", ".htm")) and name not in ("404.html", "404.htm")


def _is_answered(address: str, answers: Container[str]) -> bool:
    bare = unquote(address)
    return any(each in answers for each in (bare, quote(bare), f"{bare.removesuffix('.html')}/"))


def published_facts(folder: Path, addresses: Iterable[str]) -> dict[str, Facts]:
    """Address → what its published page holds, without what most pages do; pages that are not there are left
    out."""
    found: dict[str, Facts] = {}
    for address in addresses:
        file = page_file(folder, address)
        text = read_text(file) if file else None
        if text is not None:
            found[address] = facts_of_html(_escape_formulas(article_of(text)))
    return _without_layout(found)


def _escape_formulas(html: str) -> str:
    """A page in which `<` in a formula begins no tag, as where Hugo hands formulas on as they are written."""

    def escape(found: re.Match[str]) -> str:
        return found[0] if ">" in found[0] else found[0].replace("<", "&lt;")

    return _FORMULA.sub(escape, html)


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
        for difference in losses(f"{source} ({address})", _mended(old, new), new, allowed, lines)
        if difference.what in COMPARED
    ]


def _mended(old: Facts, new: Facts) -> Facts:
    """The facts of a published page in which a formula whose signs became emphasis there is that of the new
    page."""
    before, after = old.of("formulas"), new.of("formulas")
    plain: dict[str, list[str]] = {}
    for tex in (after - before).elements():
        plain.setdefault(without_emphasis(tex), []).append(tex)
    mended: Counter[str] = Counter()
    for tex in before.elements():
        twins = plain.get(without_emphasis(tex)) if tex not in after else None
        mended[twins.pop() if twins else tex] += 1
    return replace(old, counters={**old.counters, "formulas": mended})
