"""The built-in citation styles: numeric, and author-year."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ...base.diagnostics.model import Place, TextMap
from ...base.patterns import lazy_pattern
from ...bibliography.references import MOST_AUTHORS, publication_url, reference_from_publication
from ...model.documents import Reference
from ...model.publications import Person, Publication
from ...model.units import number_to_letters
from ...syntax.math.formulas import text_with_formulas
from ...syntax.records import Citation
from ..context import PageRendering
from ..prose import escape_html
from .cited_works import BibliographyEntry, PageReferences
from .rich_text import rich_html

_SENTENCE_END = lazy_pattern(r"[.!?](?:</\w+>)*\Z")


class CitationStyle(Protocol):
    """The style of citations and of the bibliography."""

    keys: tuple[str, ...]
    """Keys of the bibliography, in its order."""
    list_class: str
    """Class of its `<ol>`; empty for a numbered list."""

    def cite(self, rendering: PageRendering, citation: Citation, names: Sequence[str]) -> str:
        """Return the HTML of a citation whose keys are all known. names: for each item ` id="…"`, or an empty
        string."""

    def describe(self, rendering: PageRendering, key: str) -> str:
        """Return the HTML of the bibliography entry `key`, without its list item."""


def link_to(key: str, name: str, html: str) -> str:
    """Return a link from a citation to its entry. name: attribute ` id="…"` of the link, or an empty
    string."""
    return f'<a href="#ref-{escape_html(key)}"{name} role="doc-biblioref">{html}</a>'


def format_prefix(prefix: str) -> str:
    """Return the prefix of a citation followed by a space, or an empty string."""
    return f"{escape_html(prefix)} " if prefix else ""


def format_locator(locator: str) -> str:
    """Return the locator of a citation preceded by a comma, or an empty string."""
    return f", {escape_html(locator)}" if locator else ""


def short_authors(work: Publication) -> str:
    """Return the authors as named in a sentence: `Vaswani et al.`, `Kim & Lee`; empty if there are none."""
    names = [person.short for person in work.authors]
    if len(names) > 2 or (names and work.has_others):
        return f"{names[0]} et al."
    return " & ".join(names)


class NumericStyle:
    """`[1]`: the number of an entry is its position in the bibliography."""

    list_class = ""

    def __init__(self, cited: PageReferences) -> None:
        self._cited = cited
        self.keys = tuple(cited.works)
        self._numbers = {key: number for number, key in enumerate(self.keys, 1)}

    def cite(self, rendering: PageRendering, citation: Citation, names: Sequence[str]) -> str:
        """Return the HTML of a citation, as in `CitationStyle`."""
        pieces = []
        for item, name in zip(citation.items, names, strict=True):
            link = link_to(item.key, name, str(self._numbers[item.key]))
            pieces.append(f"{format_prefix(item.prefix)}{link}{format_locator(item.locator)}")
        if citation.form == "brackets":
            return f"[{', '.join(pieces)}]"
        # A number cannot be the subject of a sentence.
        said = [short_authors(self._cited.works[item.key].work) for item in citation.items]
        texts = [
            f"{escape_html(text)} [{piece}]" if text else f"[{piece}]"
            for text, piece in zip(said, pieces, strict=True)
        ]
        return ", ".join(texts)

    def describe(self, rendering: PageRendering, key: str) -> str:
        """Return the entry in the form: Authors. Title. Venue volume(issue), pages, year. Note."""
        cited = self._cited.works[key]
        reference = cited.reference or reference_from_publication(cited.work)
        parts = (escape_html(_join_authors(reference.authors)), _title(rendering, cited, reference))
        return _sentences((*parts, _format_venue(reference, reference.year), escape_html(reference.note)))


class AuthorYearStyle:
    """`(Vaswani et al., 2017)`, with the bibliography sorted by name."""

    list_class = "by-author"

    def __init__(self, cited: PageReferences, no_date: str) -> None:
        """Sort the entries. no_date: word printed for an unknown year."""
        self._cited = cited
        works = {key: one.work for key, one in cited.works.items()}
        self.keys = tuple(sorted(works, key=lambda key: _sort_key(works[key])))
        self._years = _years(works, self.keys, no_date)

    def cite(self, rendering: PageRendering, citation: Citation, names: Sequence[str]) -> str:
        """Return the HTML of a citation, as in `CitationStyle`."""
        pieces = []
        for item, name in zip(citation.items, names, strict=True):
            work, year = self._cited.works[item.key].work, self._years[item.key]
            authors = short_authors(work) or _plain(work.title)
            if citation.form == "text":
                link = link_to(item.key, name, escape_html(year))
                inner = f"{format_prefix(item.prefix)}{link}{format_locator(item.locator)}"
                pieces.append(f"{escape_html(authors)} ({inner})")
            else:
                text = year if item.hides_author else f"{authors}, {year}"
                link = link_to(item.key, name, escape_html(text))
                pieces.append(f"{format_prefix(item.prefix)}{link}{format_locator(item.locator)}")
        return ", ".join(pieces) if citation.form == "text" else f"({'; '.join(pieces)})"

    def describe(self, rendering: PageRendering, key: str) -> str:
        """Return the entry in the form: Authors (year). Title. Venue volume(issue), pages. Note."""
        cited, year = self._cited.works[key], escape_html(self._years[key])
        reference = cited.reference or reference_from_publication(cited.work)
        names = [invert_name(person) for person in cited.work.authors[:MOST_AUTHORS]]
        if cited.work.has_others or len(cited.work.authors) > MOST_AUTHORS:
            names.append("et al.")
        title = _title(rendering, cited, reference)
        head = f"{escape_html(_join_authors(names))} ({year})" if names else ""
        first = (head, title) if head else (f"{title} ({year})",)
        return _sentences((*first, _format_venue(reference, ""), escape_html(reference.note)))


def _years(works: Mapping[str, Publication], keys: Iterable[str], no_date: str) -> dict[str, str]:
    """Return the year of each key, with a letter if two citations would otherwise look the same."""
    groups: dict[tuple[str, str], list[str]] = {}
    for key in keys:
        work = works[key]
        groups.setdefault((short_authors(work) or work.title, work.year), []).append(key)
    years = {}
    for (_, year), same in groups.items():
        for index, key in enumerate(same):
            letter = number_to_letters(index + 1) if len(same) > 1 else ""
            years[key] = f"{year or no_date}{'-' if letter and not year else ''}{letter}"
    return years


def _sort_key(work: Publication) -> tuple[str, str, str]:
    names = "; ".join(f"{person.family or person.literal} {person.given}" for person in work.authors)
    return (names or _plain(work.title)).casefold(), work.year, _plain(work.title).casefold()


def _plain(text: str) -> str:
    """Return the text without its tags and dollar signs."""
    for tag in ("<i>", "</i>", "<b>", "</b>", "<sup>", "</sup>", "<sub>", "</sub>", "</span>", "$"):
        text = text.replace(tag, "")
    return text.replace('<span class="nocase">', "")


def invert_name(person: Person) -> str:
    """Return `van Gogh, V.`: family name and initials, as in lists sorted by name."""
    if person.literal:
        return person.literal
    initials = " ".join(
        "-".join(f"{part[0]}." for part in word.split("-") if part) for word in person.given.split()
    )
    return ", ".join(filter(None, (person.short, initials, person.suffix)))


def _title(rendering: PageRendering, cited: BibliographyEntry, reference: Reference) -> str:
    """Return the title, as a link if the publication is online."""
    if cited.reference is None:
        html = rich_html(rendering, reference.title, reference.key)
    else:
        # An error in a formula is reported at the entry.
        text, place = reference.title or reference.key, reference.place or Place(1)
        origin = TextMap(text, ((place.line, place.column),) * (text.count("\n") + 1))
        html = rendering.render(rendering, text_with_formulas(origin))
    title = f"<cite>{html}</cite>"
    address = reference.url or publication_url(cited.work)
    return f'<a href="{escape_html(address)}">{title}</a>' if address else title


def _format_venue(reference: Reference, year: str) -> str:
    issue = f"({reference.issue})" if reference.issue else ""
    where = " ".join(filter(None, (_plain(reference.venue), f"{reference.volume}{issue}")))
    return escape_html(", ".join(filter(None, (where, reference.pages, year))))


def _join_authors(authors: Sequence[str]) -> str:
    """Return `A, B & C`, or `A, B et al.` if the last author is `et al.`."""
    if authors and authors[-1] == "et al.":
        return f"{', '.join(authors[:-1])} et al.".strip()
    if len(authors) < 3:
        return " & ".join(authors)
    return f"{', '.join(authors[:-1])} & {authors[-1]}"


def _sentences(parts: Iterable[str]) -> str:
    # An author's initial or a title's question mark already ends a sentence.
    return " ".join(p if _SENTENCE_END.search(p) else f"{p}." for p in parts if p)
