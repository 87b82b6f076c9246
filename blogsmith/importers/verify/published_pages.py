"""The pages that the old system made, compared with ours: `blogsmith import --against public/`.

What the layout of a theme adds to the text, and cannot be told by its name, stands on most pages, and is
taken away as far as it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from ...base.patterns import lazy_pattern
from ..model import Difference, ImportedPage
from ..page_processes import ONE_PROCESS, Workers, map_pages
from ..source_files import read_text, walk_files
from ..text.segments import Lines
from .articles import article_of
from .compare import losses
from .facts import Facts, without_emphasis
from .html_facts import facts_of_html
from .layout_words import layout_words

_COMMON = 0.6
"""Share of pages on which something stands that is a part of the layout."""
_FEWEST = 5
"""Pages from which on a layout can be told from texts."""
COMPARED = frozenset(("formulas", "words"))
"""Kinds that are compared with published pages: of the others layouts add too many of their own."""
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


def published_facts(
    folder: Path, addresses: Sequence[str], workers: Workers = ONE_PROCESS
) -> dict[str, Facts]:
    """Address → what its published page holds, without what most pages of its form do; pages that are not
    there are left out."""
    forms: dict[int, dict[str, Facts]] = {}
    read = map_pages(partial(_read_published, folder), addresses, len(addresses), workers)
    for address, found in zip(addresses, read, strict=True):
        if found:
            forms.setdefault(found.form, {})[address] = found.facts
    return {address: facts for pages in forms.values() for address, facts in _without_layout(pages).items()}


class _PublishedPage(NamedTuple):
    form: int
    """As in `Article`."""
    facts: Facts


def _read_published(folder: Path, address: str) -> _PublishedPage | None:
    """Return None if there is no page that can be read."""
    file = page_file(folder, address)
    text = read_text(file) if file else None
    if text is None:
        return None
    article = article_of(text)
    return _PublishedPage(article.form, facts_of_html(article.html))


def page_file(folder: Path, address: str) -> Path | None:
    """The file of a published page, as hosts find it; None if it is not there."""
    path = unquote(address).strip("/")
    names = [path, f"{path}/index.html", f"{path}.html"] if path else ["index.html"]
    files = (folder / name for name in names)
    return next((file for file in files if file.is_file() and file.suffix in (".html", ".htm")), None)


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


def published_losses(
    page: ImportedPage, old: Facts, new: Facts, allowed: Facts, title: str = ""
) -> list[Difference]:
    """What the published page has and the new one has not, but for what is `allowed` to be lost and what
    layouts make of the front matter.

    title: of the site.
    """
    kinds = COMPARED - {"words"} if _lists_pages(page) else COMPARED
    spare = allowed.of("words") + layout_words(page, title, old)
    allowed = replace(allowed, counters={**allowed.counters, "words": spare})
    old = _with_emphasis_signs(old, new)
    return [
        replace(difference, what=f"published {difference.what}")
        for difference in losses(f"{page.source} ({page.address})", old, new, allowed, Lines(""))
        if difference.what in kinds
    ]


def _lists_pages(page: ImportedPage) -> bool:
    """Whether the old page shows a list of others, which is made anew."""
    return page.path.name == "_index.md" or any(notice.is_list for notice in page.notices)


def _with_emphasis_signs(old: Facts, new: Facts) -> Facts:
    """The facts of a published page in which a formula whose signs became emphasis there is that of the new
    page."""
    before, after = old.of("formulas"), new.of("formulas")
    plain: dict[str, list[str]] = {}
    for tex in (after - before).elements():
        plain.setdefault(without_emphasis(tex), []).append(tex)
    signed: Counter[str] = Counter()
    for tex in before.elements():
        twins = plain.get(without_emphasis(tex)) if tex not in after else None
        signed[twins.pop() if twins else tex] += 1
    return replace(old, counters={**old.counters, "formulas": signed})
