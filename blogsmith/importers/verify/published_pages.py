"""Comparison with pages that the old system published, for `blogsmith import --against public/`.

Only the article of an old page is compared: the element that contains the text of a post in most themes.
Elements of the article that themes and systems add (contents, dates, numbers, buttons) are recognized by
their class names and removed. Words that appear on most pages of a layout are removed too.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from ...api.importing import lazy_pattern
from ..model import Difference, ImportedPage
from ..page_work import ONE_PROCESS, Workers, map_pages
from ..source_files import read_text, walk_files
from ..text.html import ElementEnds
from ..text.segments import LineFinder
from .facts import Facts, losses, read_facts, split_words, strip_emphasis


def _tag(elements: str, names: str, attributes: str = "class") -> str:
    """Return a regular expression for an opening tag of one of `elements` with one of `names` as a class.
    elements, names, attributes: alternatives separated by `|`; `attributes` may contain `id`."""
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
"""Patterns for the element that contains the text of a page in a theme, most specific first."""
_FIRST_WHOLE_PAGE_FORM = 5
"""Index of the first pattern in `_ARTICLES` that matches a whole page, including header and footer."""
_COMMENT = lazy_pattern(r"<!--[\s\S]*?-->")
_FRAME = lazy_pattern(r"<(?:nav|footer)\b[^<>]*>", re.IGNORECASE)
"""Matches elements of a whole page that are not text of its article."""
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
            # on the old page a script draws diagrams, on the new one the build
            _tag("div|pre", "mermaid"),
            # mainly Sphinx
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
"""Matches elements that themes and systems generate: contents, dates, numbers, links to other pages."""
_MARKED_FORMULA = lazy_pattern(_tag("span|div", r"arithmatex|math\s+notranslate"), re.IGNORECASE)
_FORMULA = lazy_pattern(
    r"\$\$[^$]{1,4000}\$\$|\$[^$]{1,1000}\$|\\\([\s\S]{1,1000}?\\\)|\\\[[\s\S]{1,4000}?\\\]"
)
_FALSE_FORMULA_CHARACTER = lazy_pattern(r"\$|\\(?=[(\[])|^[ \t]*\d+\.(?=[ \t])", re.MULTILINE)
"""Matches dollars and brackets outside of formulas, and list numbers that the published page shows as
text."""
_ORDINAL = lazy_pattern(r"(?<=\d)<sup>(st|nd|rd|th)</sup>")


@dataclass(frozen=True, slots=True)
class Article:
    """The element of a published page that contains its text."""

    form: int
    """Index in `_ARTICLES` of the pattern that matched; the length of `_ARTICLES` if none did. Pages with the
    same index have the same layout."""
    html: str


def extract_article(page: str) -> Article:
    """Return the article of a published page, without elements that the theme adds."""
    page = _COMMENT.sub("", page)
    ends = ElementEnds(page)
    for form, pattern in enumerate(_ARTICLES):
        found = pattern.search(page)
        if found and (end := ends.find_end(found.start())) is not None:
            html = page[found.start() : end]
            return Article(
                form,
                _remove_layout(html if form < _FIRST_WHOLE_PAGE_FORM else _remove_elements(_FRAME, html)),
            )
    return Article(len(_ARTICLES), _remove_layout(page))


def _remove_layout(html: str) -> str:
    html = _remove_elements(_LAYOUT, _ORDINAL.sub(r"\1", _escape_formulas(html)))
    return _keep_marked_formulas(html)


def _escape_formulas(html: str) -> str:
    """Escape `<` in formulas, because in HTML it would start a tag. Some systems, such as Hugo, leave it
    unescaped."""

    def escape(found: re.Match[str]) -> str:
        return found[0] if ">" in found[0] else found[0].replace("<", "&lt;")

    return _FORMULA.sub(escape, html)


def _keep_marked_formulas(html: str) -> str:
    """Remove characters that would look like a formula, if the page marks formulas with elements. The
    formulas themselves are not changed."""
    parts = list(_split(_MARKED_FORMULA, html))
    if len(parts) == 1:
        return html
    return "".join(_FALSE_FORMULA_CHARACTER.sub("", prose) + element for prose, element in parts)


def _remove_elements(pattern: re.Pattern[str], html: str) -> str:
    """Remove the elements whose opening tags match a pattern. An element without an end stays."""
    return "".join(prose for prose, _ in _split(pattern, html))


def _split(pattern: re.Pattern[str], html: str) -> Iterator[tuple[str, str]]:
    """Yield (HTML before an element, element) for the elements whose opening tags match a pattern. The
    element of the last pair is empty."""
    position = start = 0
    ends = ElementEnds(html)
    while found := pattern.search(html, position):
        position = found.end()
        if (end := ends.find_end(found.start())) is not None:
            yield html[start : found.start()], html[found.start() : end]
            start = position = end
    yield html[start:], ""


_READING_TIME = lazy_pattern(
    r"(?i)(\d+)[\s-]*(minutes?|mins?)\b[\s(]*(?:to\s+)?(?:read|reading)?|reading\s+time:?\s*(\d+)"
)
_HEAD_WORDS = 100
"""Number of words at the start of an article that may contain its reading time."""


def layout_words(page: ImportedPage, title: str, old: Facts) -> Counter[str]:
    """Return the words that a layout may show in addition to the text, each with its maximum count.

    title: title of the site. old: content of the published page.
    """
    shown = Counter(split_words(" ".join([title, *map(str, page.front.values())])))
    for written in (page.front.get("date"), page.front.get("updated")):
        shown.update(_date_words(str(written)))
    # at the start of an article, and again at its end
    twice = Counter({word: 2 * count for word, count in shown.items()})
    return twice + _reading_time(old)


def _date_words(written: str) -> list[str]:
    try:
        date = dt.date.fromisoformat(written[:10])
    except ValueError:
        return []
    day = date.day
    ending = "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    month, weekday = calendar.month_name[date.month], calendar.day_name[date.weekday()]
    forms = (month, month[:3], weekday, weekday[:3], str(day), f"{day:02}", f"{day}{ending}", str(date.year))
    return split_words(" ".join((*forms, f"{date.month:02}", str(date.month))))


def _reading_time(old: Facts) -> Counter[str]:
    """Return the words of a reading time such as `5 minute read`, each with the count 1; empty if the page
    shows none."""
    found = _READING_TIME.search(" ".join(old.words[:_HEAD_WORDS]))
    return Counter(split_words(found[0])) if found else Counter()


_LAYOUT_SHARE = 0.6
"""Minimum share of the pages with one layout that contain a word, so that the word belongs to the layout."""
_MIN_PAGES = 5
"""Minimum number of pages with one layout that are needed to find its words."""
COMPARED_KINDS = frozenset(("formulas", "words"))
"""Kinds that are compared with published pages. Layouts add too many elements of other kinds."""
_LIST_PAGE = lazy_pattern(r"(?:^|/)page/?\d+/")
"""Matches URLs of the second and later pages of a paginated list, which have no content of their own."""


@dataclass(frozen=True, slots=True)
class PublishedCheck:
    """Result of the comparison with published pages."""

    counts: Mapping[str, int]
    """Number of compared pages (key `pages`), and of compared items of each kind."""
    unmatched: tuple[str, ...] = ()
    """URLs of imported pages that are not among the published pages."""
    unanswered: tuple[str, ...] = ()
    """Published URLs that do not exist on the new site."""


def check_published(
    folder: Path, found: Mapping[str, Facts], addresses: Iterable[str], answers: Container[str]
) -> PublishedCheck:
    """Count the compared items, and find URLs that only one of the two sites has. folder: published site.
    found: URL → content of published pages. addresses: old URLs of imported pages. answers: paths of the new
    site, without its base path."""
    counts = {"pages": len(found)}
    counts |= {kind: sum(f.counter(kind).total() for f in found.values()) for kind in sorted(COMPARED_KINDS)}
    unmatched = tuple(address for address in addresses if address not in found)
    published = (f"/{path}".removesuffix("index.html") for path in walk_files(folder) if _is_page(path.name))
    left = (address for address in published if not _LIST_PAGE.search(address))
    unanswered = tuple(address for address in left if not _is_answered(address, answers))
    return PublishedCheck(counts, unmatched, unanswered)


def _is_page(name: str) -> bool:
    # 404.html has no URL of its own
    return name.endswith((".html", ".htm")) and name not in ("404.html", "404.htm")


def _is_answered(address: str, answers: Container[str]) -> bool:
    bare = unquote(address)
    return any(each in answers for each in (bare, quote(bare), f"{bare.removesuffix('.html')}/"))


def published_facts(
    folder: Path, addresses: Sequence[str], workers: Workers = ONE_PROCESS
) -> dict[str, Facts]:
    """Return URL → content for published pages, without the words that most pages with the same layout share.

    Pages that do not exist are omitted.
    """
    forms: dict[int, dict[str, Facts]] = {}
    read = map_pages(partial(_read_published, folder), addresses, len(addresses), workers)
    for address, found in zip(addresses, read, strict=True):
        if found:
            forms.setdefault(found.form, {})[address] = found.facts
    return {
        address: facts for pages in forms.values() for address, facts in _remove_layout_words(pages).items()
    }


class _PublishedPage(NamedTuple):
    form: int
    """Index of the pattern in `_ARTICLES`."""
    facts: Facts


def _read_published(folder: Path, address: str) -> _PublishedPage | None:
    """Read a published page; return None if it does not exist or cannot be read."""
    file = page_file(folder, address)
    text = read_text(file) if file else None
    if text is None:
        return None
    article = extract_article(text)
    return _PublishedPage(article.form, read_facts(article.html))


def page_file(folder: Path, address: str) -> Path | None:
    """Return the file that a web host serves for a URL of a published page; None if it does not exist."""
    path = unquote(address).strip("/")
    names = [path, f"{path}/index.html", f"{path}.html"] if path else ["index.html"]
    files = (folder / name for name in names)
    return next((file for file in files if file.is_file() and file.suffix in (".html", ".htm")), None)


def _remove_layout_words(pages: Mapping[str, Facts]) -> dict[str, Facts]:
    if len(pages) < _MIN_PAGES:
        return dict(pages)
    seen: Counter[str] = Counter()
    for facts in pages.values():
        seen.update(facts.counter("words").keys())
    # words of the layout are on every page; the smallest count over all pages is their count in the layout
    common = {word for word, count in seen.items() if count >= _LAYOUT_SHARE * len(pages)}
    spare = {
        word: min(f.counter("words")[word] for f in pages.values() if f.counter("words")[word])
        for word in common
    }
    return {
        address: replace(facts, counters={**facts.counters, "words": facts.counter("words") - Counter(spare)})
        for address, facts in pages.items()
    }


def published_losses(
    page: ImportedPage, old: Facts, new: Facts, allowed: Facts, title: str = ""
) -> list[Difference]:
    """Return the losses of a page, compared with its published version. Content in `allowed` may be lost.
    Words that layouts show from front matter are ignored. title: title of the site."""
    kinds = COMPARED_KINDS - {"words"} if _lists_pages(page) else COMPARED_KINDS
    spare = allowed.counter("words") + layout_words(page, title, old)
    allowed = replace(allowed, counters={**allowed.counters, "words": spare})
    old = _restore_emphasis_characters(old, new)
    return [
        replace(difference, what=f"published {difference.what}")
        for difference in losses(f"{page.source} ({page.address})", old, new, allowed, LineFinder(""))
        if difference.what in kinds
    ]


def _lists_pages(page: ImportedPage) -> bool:
    """Return whether the old page lists other pages, so that blogsmith generates the page."""
    return page.path.name == "_index.md" or any(notice.is_list for notice in page.notices)


def _restore_emphasis_characters(old: Facts, new: Facts) -> Facts:
    """Return `old` with formulas completed from `new`, because Markdown may have removed characters from
    formulas of the published page."""
    before, after = old.counter("formulas"), new.counter("formulas")
    plain: dict[str, list[str]] = {}
    for tex in (after - before).elements():
        plain.setdefault(strip_emphasis(tex), []).append(tex)
    signed: Counter[str] = Counter()
    for tex in before.elements():
        twins = plain.get(strip_emphasis(tex)) if tex not in after else None
        signed[twins.pop() if twins else tex] += 1
    return replace(old, counters={**old.counters, "formulas": signed})
