"""The pages that the old system made, compared with ours: `blogsmith import --against public/`.

Of an old page only its article counts: the element that themes put the text of a post in. What its layout
adds inside of it (dates, buttons, lists of tags) stands on most pages, and is taken away as far as it does.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from ...patterns import lazy_pattern
from ..model import Difference, ImportedPage
from ..source_files import read_text
from ..text.elements import ElementEnds, element_end
from ..text.segments import Lines
from .compare import losses
from .facts import Facts, words_in
from .html_facts import facts_of_html


def _tag_of_class(elements: str, names: str) -> str:
    """A pattern for a tag one of whose classes is one of `names`, each as a whole."""
    return rf"<(?:{elements})\b[^>]*\bclass=[\"'](?:[^\"']*\s)?(?:{names})(?:\s[^\"']*)?[\"'][^>]*>"


_ARTICLES = (
    r"<d-article\b[^>]*>",
    _tag_of_class(
        "div|section|article",
        "post-content|entry-content|page__content|e-content|td-content|post__content|page-content-body",
    ),
    _tag_of_class("div|section|article", "article-content|markdown-body|md-content__inner|bd-article"),
    _tag_of_class("div|article|section", "post|content|blog-post|post-body|article-body"),
    r"<article\b[^>]*>",
    r"<main\b[^>]*>",
    r"<body\b[^>]*>",
)
"""Where themes put the text of a page, what says most first."""
_COMMENT = lazy_pattern(r"<!--[\s\S]*?-->")
_LAYOUT = lazy_pattern(
    r"<(?:nav\b|(?:ul|aside|ol|div|section|header|footer|p|span)\b[^>]*\b(?:id|class)=[\"'](?:[^\"']*\s)?"
    r"(?:markdown-toc|toc|table-of-contents?|post-(?:meta|nav|tags|date|navigation|footer|share)"
    r"|page__(?:meta|share|footer|related)|pagination|pager|related(?:-posts)?|share|comments|site-footer)"
    r"(?:\s[^\"']*)?[\"'])[^>]*>",
    re.IGNORECASE,
)
"""Parts of an article that themes put there: contents, dates, what leads to other pages."""
_FRAME = lazy_pattern(r"<(?:nav|footer)\b[^>]*>", re.IGNORECASE)
"""Parts of a whole page that belong to no text."""
_READING_TIME = lazy_pattern(
    r"(\d+)[\s-]*(minutes?|mins?)\b[\s(]*(?:to\s+)?(?:read|reading)?|reading\s+time:?\s*(\d+)", re.IGNORECASE
)
_HEAD_WORDS = 100
"""Within so many words an article says how long it takes to read."""
_WHOLE = len(_ARTICLES) - 2
"""Patterns from here on take a page with its frame."""
_COMMON = 0.6
"""Share of pages on which something stands that is a part of the layout."""
_FEWEST = 5
"""Pages from which on a layout can be told from texts."""
COMPARED = frozenset(("formulas", "words"))
"""Kinds that are compared with published pages: of the others layouts add too many of their own."""


def published_facts(folder: Path, addresses: Iterable[str]) -> dict[str, Facts]:
    """Address → what its published page holds, without what most pages of its kind do; pages that are not
    there are left out."""
    kinds: dict[int, dict[str, Facts]] = {}
    for address in addresses:
        file = page_file(folder, address)
        text = read_text(file) if file else None
        if text is not None:
            kind, html = article_of(text)
            kinds.setdefault(kind, {})[address] = facts_of_html(_without(_LAYOUT, html))
    return {address: facts for pages in kinds.values() for address, facts in _without_layout(pages).items()}


def page_file(folder: Path, address: str) -> Path | None:
    """The file of a published page, as hosts find it; None if it is not there."""
    path = unquote(address).strip("/")
    names = [path, f"{path}/index.html", f"{path}.html"] if path else ["index.html"]
    files = (folder / name for name in names)
    return next((file for file in files if file.is_file() and file.suffix in (".html", ".htm")), None)


def article_of(html: str) -> tuple[int, str]:
    """The part of a page that holds its text, and the number of the form in which the theme says so."""
    html = _COMMENT.sub("", html)
    for kind, pattern in enumerate(_ARTICLES):
        found = re.search(pattern, html, re.IGNORECASE)
        end = element_end(html, found.start()) if found else None
        if found and end is not None and end - found.start() > 0:
            article = html[found.start() : end]
            return kind, article if kind < _WHOLE else _without(_FRAME, article)
    return len(_ARTICLES), html


def _without(pattern: re.Pattern[str], html: str) -> str:
    """HTML without the elements whose tags a pattern matches; one that does not end is left."""
    parts, position = [], 0
    ends = ElementEnds(html)
    while found := pattern.search(html, position):
        end = ends.of(found.start())
        parts.append(html[position : found.start() if end else found.end()])
        position = end or found.end()
    return "".join([*parts, html[position:]])


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


def published_losses(page: ImportedPage, old: Facts, new: Facts, title: str = "") -> list[Difference]:
    """What the published page has and the new one has not.

    Words that layouts make of the front matter are no loss. Of a page that shows a list of others only the
    formulas are compared: the list is made anew. title: of the site.
    """
    kinds = COMPARED - {"words"} if any(notice.is_list for notice in page.notices) else COMPARED
    allowed = Facts({"words": _front_words(page, title) + _reading_time(old)})
    mended = Counter(map(_without_emphasis, (new.of("formulas") - old.of("formulas")).elements()))
    return [
        replace(difference, what=f"published {difference.what}")
        for difference in losses(f"{page.source} ({page.address})", old, new, allowed, Lines(""))
        if difference.what in kinds
        and not (difference.what == "formulas" and mended[_without_emphasis(difference.text)])
    ]


def _without_emphasis(tex: str) -> str:
    """A formula without the signs that were taken for emphasis: the new page has them again."""
    return re.sub(r"[_*]", "", tex)


def _front_words(page: ImportedPage, title: str) -> Counter[str]:
    """What a layout may show of a page's front matter, its date in any form; each as often as may be."""
    shown = Counter(words_in(" ".join([title, *map(str, page.front.values())])))
    for written in (page.front.get("date"), page.front.get("updated")):
        shown.update(_date_words(str(written)))
    # in the head of an article, and once more at its end
    return Counter({word: 2 * count for word, count in shown.items()})


def _date_words(written: str) -> list[str]:
    try:
        date = dt.date.fromisoformat(written[:10])
    except ValueError:
        return []
    day = date.day
    ending = "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    month, weekday = calendar.month_name[date.month], calendar.day_name[date.weekday()]
    forms = (month, month[:3], weekday, weekday[:3], str(day), f"{day:02}", f"{day}{ending}", str(date.year))
    return words_in(" ".join((*forms, f"{date.month:02}", str(date.month))))


def _reading_time(old: Facts) -> Counter[str]:
    """The words of `5 minute read`, once."""
    found = _READING_TIME.search(" ".join(old.words[:_HEAD_WORDS]))
    return Counter(words_in(found[0])) if found else Counter()
