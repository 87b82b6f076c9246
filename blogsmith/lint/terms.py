"""Tags, categories and series that posts spell differently.

All pages print one spelling of a tag or category, so the other is lost. A series in two spellings becomes two
series.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ..base.diagnostics.model import Diagnostic, Reporter, find_word_range
from ..base.patterns import lazy_pattern
from ..config.languages import find_version
from ..config.schema import Config
from ..model.documents import Document
from ..model.letters import IN_NAMES
from ..model.slugs import slugify
from ..model.terms import choose_spellings

_SINGULARS = {"tags": "tag", "categories": "category"}
_PLAIN = lazy_pattern(rf"[^\W\d_][{IN_NAMES} -]*")
"""Matches a term that needs no quotes in YAML in any context."""


def check_term_spellings(documents: Iterable[Document], config: Config) -> list[Diagnostic]:
    """Warn about each term that another post spells differently, unless the settings name it."""
    editions: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        if not document.front.unlisted:
            editions[find_version(document.front.lang, config)].append(document)
    marks = config.slug_settings.keeps_marks
    named = {slugify(tag, marks=marks) for tag in config.tags}
    found: list[Diagnostic] = []
    for members in editions.values():
        found += _spellings("tags", members, named, marks=marks)
        found += _spellings("categories", members, set(), marks=marks)
        found += _series_spellings(members)
    return found


def _spellings(
    taxonomy: str, documents: Sequence[Document], named: set[str], *, marks: bool
) -> list[Diagnostic]:
    written = [(document, term) for document in documents for term in getattr(document.front, taxonomy)]
    printed = choose_spellings((term for _, term in written), marks=marks)
    first: dict[str, Document] = {}
    for document, term in written:
        first.setdefault(term, document)
    found = []
    for document, term in written:
        slug = slugify(term, marks=marks)
        other = printed.get(slug, term)
        # `C` and `C++` have the same slug but are different terms. Every build reports the collision.
        if other != term and slug not in named and _letters(other) == _letters(term):
            found += _warn(document, taxonomy, term, other, _location(first[other], taxonomy, other))
    return found


def _series_spellings(documents: Sequence[Document]) -> list[Diagnostic]:
    """Warn about each series for which a series with more posts has the same name in a different spelling."""
    written = [(document, document.front.series.name) for document in documents if document.front.series]
    uses = Counter(name for _, name in written)
    first: dict[str, Document] = {}
    printed: dict[str, str] = {}
    for document, name in written:
        first.setdefault(name, document)
        other = printed.setdefault(_letters(name), name)
        if uses[name] > uses[other]:
            printed[_letters(name)] = name
    found = []
    for document, name in written:
        other = printed[_letters(name)]
        if other != name:
            found += _warn_of_series(document, name, other, _location(first[other], "series", other))
    return found


def _warn_of_series(document: Document, name: str, other: str, location: str) -> list[Diagnostic]:
    reporter = Reporter(str(document.path), document.source.text.split("\n"))
    place = find_word_range(name, document.front.places.get("series"), reporter.lines)
    message = f'series "{name}" is another series than "{other}" in {location}'
    fix = reporter.substitute(place, name, other, is_safe=True) if _PLAIN.fullmatch(other) else None
    reporter.warn("term-spelling", message, place, f"write `{other}`", fix)
    return reporter.diagnostics


def _letters(term: str) -> str:
    return re.sub(r"[\s_-]+", "", term.casefold())


def _location(document: Document, taxonomy: str, term: str) -> str:
    place = find_word_range(term, document.front.places.get(taxonomy), document.source.text.split("\n"))
    return f"{document.path}:{place.line}" if place else str(document.path)


def _warn(document: Document, taxonomy: str, term: str, other: str, location: str) -> list[Diagnostic]:
    reporter = Reporter(str(document.path), document.source.text.split("\n"))
    place = find_word_range(term, document.front.places.get(taxonomy), reporter.lines)
    message = f'{_SINGULARS[taxonomy]} "{term}" is printed as "{other}", as spelled in "{location}"'
    choice = (
        f", or set `tags: {{{slugify(term, marks=True)}: …}}` in blogsmith.yaml" if taxonomy == "tags" else ""
    )
    fix = reporter.substitute(place, term, other, is_safe=True) if _PLAIN.fullmatch(other) else None
    reporter.warn("term-spelling", message, place, f"write `{other}`{choice}", fix)
    return reporter.diagnostics
