"""Collection of the references that a page cites. It precedes rendering, because the number or letter of each
reference depends on all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from markdown_it.token import Token

from ...model.documents import Document, Reference
from ...model.publications import Publication, PublicationLookup
from ...syntax.records import Citation, CitationEntry, CitationItem, get_record
from ...syntax.references.citations import ALL_KEYS, citation_tokens, is_keylike
from ..tools import SiteAccess


@dataclass(frozen=True, slots=True)
class BibliographyEntry:
    """An entry of the bibliography."""

    work: Publication
    reference: Reference | None = None
    """Entry in the front matter; None if the entry comes from a bibliography file."""


@dataclass(frozen=True, slots=True)
class PageReferences:
    """Bibliography entries and citations of a page."""

    works: Mapping[str, BibliographyEntry]
    """Citation key → entry. Entries of the front matter come first, in their order; other entries follow by
    first citation."""
    clusters: tuple[Citation, ...]
    """Citations in the text whose keys are all known, in order."""


def collect_works(
    tokens: Iterable[Token],
    references: Mapping[str, Reference],
    document: Document,
    tools: SiteAccess,
    *,
    has_bibliography: bool,
) -> tuple[PageReferences, tuple[PublicationLookup, ...]]:
    """Return the references of a page, and the search result of each cited key that the front matter does not
    define. has_bibliography: whether to search the bibliography files."""
    from ...bibliography.references import publication_from_reference

    tokens = list(tokens)
    found: dict[str, BibliographyEntry] = {
        key: BibliographyEntry(publication_from_reference(reference), reference)
        for key, reference in references.items()
    }
    answers: list[PublicationLookup] = []
    clusters = tuple(get_record(token, Citation) for token in citation_tokens(tokens))
    if has_bibliography:
        front = document.front
        wanted = dict.fromkeys(_each_key((*_keys(clusters, tokens), *front.nocite), document, tools))
        for key in wanted:
            if key not in found:
                answer = tools.find_reference(key, document)
                answers.append(answer)
                if answer.work:
                    found[key] = BibliographyEntry(answer.work)
    shown = tuple(cluster for cluster in clusters if all(item.key in found for item in cluster.items))
    return PageReferences(found, shown), tuple(answers)


def _keys(clusters: Iterable[Citation], tokens: list[Token]) -> Iterator[str]:
    for cluster in clusters:
        for item in cluster.items:
            yield item.key
    # keys in arguments of shortcodes, which are not parsed before they are rendered
    for token in tokens[-1:]:
        if token.type == "bibliography":
            entries: tuple[CitationEntry, ...] = token.meta["entries"]
            for entry in entries:
                yield entry.key


def _each_key(keys: Iterable[str], document: Document, tools: SiteAccess) -> Iterator[str]:
    for key in keys:
        yield from tools.work_keys(document) if key == ALL_KEYS else (key,)


def is_unknown_key_error(item: CitationItem, citation: Citation) -> bool:
    """Return whether the item's key is reported as an error if it is unknown. This is so if the citation is
    in brackets, or the key has a form such as `kim2020`."""
    return not citation.written or is_keylike(item.key)
