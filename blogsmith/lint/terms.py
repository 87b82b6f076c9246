"""Tags and categories that posts spell differently. Only one spelling is printed on all pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..base.diagnostics.model import Diagnostic, Reporter, find_word_range
from ..base.patterns import lazy_pattern
from ..config.languages import find_version
from ..config.schema import Config
from ..model.documents import Document
from ..model.slugs import slugify
from ..model.terms import choose_spellings

_SINGULARS = {"tags": "tag", "categories": "category"}
_PLAIN = lazy_pattern(r"[^\W\d_][\w -]*")
"""Matches a term that needs no quotes in YAML in any context."""


def check_term_spellings(documents: Iterable[Document], config: Config) -> list[Diagnostic]:
    """Warn about each term that another post spells differently, unless the settings name it."""
    editions: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        if not document.front.unlisted:
            editions[find_version(document.front.lang, config)].append(document)
    named = {slugify(tag) for tag in config.tags}
    found: list[Diagnostic] = []
    for members in editions.values():
        found += _spellings("tags", members, named)
        found += _spellings("categories", members, set())
    return found


def _spellings(taxonomy: str, documents: Sequence[Document], named: set[str]) -> list[Diagnostic]:
    written = [(document, term) for document in documents for term in getattr(document.front, taxonomy)]
    printed = choose_spellings(term for _, term in written)
    first: dict[str, Document] = {}
    for document, term in written:
        first.setdefault(term, document)
    found = []
    for document, term in written:
        slug = slugify(term)
        other = printed.get(slug, term)
        # `C` and `C++` are different terms with the same slug, which every build reports.
        if other != term and slug not in named and _letters(other) == _letters(term):
            found += _warn(document, taxonomy, term, other, _location(first[other], taxonomy, other))
    return found


def _letters(term: str) -> str:
    return re.sub(r"[\s_-]+", "", term.casefold())


def _location(document: Document, taxonomy: str, term: str) -> str:
    place = find_word_range(term, document.front.places.get(taxonomy), document.source.text.split("\n"))
    return f"{document.path}:{place.line}" if place else str(document.path)


def _warn(document: Document, taxonomy: str, term: str, other: str, location: str) -> list[Diagnostic]:
    reporter = Reporter(str(document.path), document.source.text.split("\n"))
    place = find_word_range(term, document.front.places.get(taxonomy), reporter.lines)
    message = f'{_SINGULARS[taxonomy]} "{term}" is printed as "{other}", as spelled in {location}'
    choice = f", or set `tags: {{{slugify(term)}: …}}` in blogsmith.yaml" if taxonomy == "tags" else ""
    fix = reporter.substitute(place, term, other, is_safe=True) if _PLAIN.fullmatch(other) else None
    reporter.warn("term-spelling", message, place, f"write `{other}`{choice}", fix)
    return reporter.diagnostics
