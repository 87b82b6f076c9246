"""Tags and categories: one term for each slug, even if posts spell it differently."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import structs

from ..base.diagnostics.model import Diagnostic, Reporter, find_word_range
from ..config.schema import Config
from ..model.documents import Document, FrontMatter
from ..model.slugs import slugify
from ..model.template_views import Link
from ..model.terms import choose_spellings
from .frame import ViewContext

TAXONOMIES = (("tags", "tag"), ("categories", "category"))
"""Name of each taxonomy in URLs and front matter, and its singular for messages."""


def page_terms(front: FrontMatter, taxonomy: str) -> tuple[str, ...]:
    """Return the terms of a page as written. An unlisted page has none."""
    if front.unlisted:
        return ()
    return front.tags if taxonomy == "tags" else front.categories


def term_names(documents: Iterable[Document], config: Config) -> dict[str, dict[str, str]]:
    """Map taxonomy and slug to the name that is printed.

    Names of tags in the settings take precedence over all spellings in posts.
    """
    marks = config.slug_settings.keeps_marks
    fronts = [document.front for document in documents]
    names = {
        taxonomy: choose_spellings(
            (term for front in fronts for term in page_terms(front, taxonomy)), marks=marks
        )
        for taxonomy, _ in TAXONOMIES
    }
    tags = names["tags"]
    declared = ((slugify(tag, marks=marks), name) for tag, name in config.tags.items())
    tags |= {slug: name for slug, name in declared if slug in tags}
    return names


def term_links(written: Iterable[str], taxonomy: str, frame: ViewContext) -> tuple[Link, ...]:
    """Return links to a page's terms, each once. A term without letter or digit has an empty URL."""
    names = frame.term_names.get(frame.edition, {}).get(taxonomy, {})
    links: dict[str, Link] = {}
    for term in written:
        slug = slugify(term, marks=frame.config.slug_settings.keeps_marks)
        url = frame.printed_url(f"/{taxonomy}/{slug}/") if slug else ""
        links.setdefault(slug or term, Link(names.get(slug, term), url))
    return tuple(links.values())


def term_warnings(documents: Sequence[Document], config: Config) -> list[Diagnostic]:
    """Return warnings for terms that have no list page or share one with a different term."""
    marks = config.slug_settings.keeps_marks
    names = term_names(documents, structs.replace(config, tags={}))
    return [
        found
        for document in documents
        for found in (*_check_empty_slugs(document), *_report_alike(document, names, marks=marks))
    ]


def _check_empty_slugs(document: Document) -> Iterator[Diagnostic]:
    for taxonomy, kind in TAXONOMIES:
        for term in page_terms(document.front, taxonomy):
            if not slugify(term):
                message = f'{kind} "{term}" has no letter or digit, so it gets no page'
                hint = f"give the {kind} a name with a letter or digit"
                yield from _warn(document, taxonomy, term, message, hint)


def _warn(document: Document, taxonomy: str, term: str, message: str, hint: str) -> list[Diagnostic]:
    # few terms are wrong, so lines are split only for their pages
    reporter = Reporter(document.path.as_posix(), document.source.text.split("\n"))
    place = find_word_range(term, document.front.places.get(taxonomy), reporter.lines)
    reporter.warn("term", message, place, hint)
    return reporter.diagnostics


def _report_alike(
    document: Document, by_taxonomy: Mapping[str, Mapping[str, str]], *, marks: bool
) -> Iterator[Diagnostic]:
    """Yield warnings for terms that have the same slug as a different term, such as `C` and `C++`."""
    for taxonomy, names in by_taxonomy.items():
        for term in page_terms(document.front, taxonomy):
            name = names.get(slugify(term, marks=marks), term)
            if _normalize_term(name) != _normalize_term(term):
                kind = dict(TAXONOMIES)[taxonomy]
                message = f'{kind} "{term}" has the same URL as "{name}", so both share one page'
                hint = "write one of them in letters, such as `cpp`"
                if slugify(name, marks=True) != slugify(term, marks=True):
                    hint = "write `slugs: {marks: switch}` in blogsmith.yaml to keep their marks"
                yield from _warn(document, taxonomy, term, message, hint)


@lru_cache(maxsize=4096)
def _normalize_term(term: str) -> str:
    return re.sub(r"[\s_-]+", "", term.casefold())


def plan_terms(documents: Iterable[Document], config: Config) -> dict[str, str]:
    """Map the site path of every list of terms or of a term's posts to a description of the page."""
    found: dict[str, str] = {}
    for taxonomy, by_slug in term_names(documents, config).items():
        kind = dict(TAXONOMIES)[taxonomy]
        if by_slug:
            found[f"/{taxonomy}/"] = f"the list of all {taxonomy}"
        found |= {f"/{taxonomy}/{slug}/": f'the list of {kind} "{name}"' for slug, name in by_slug.items()}
    return found
