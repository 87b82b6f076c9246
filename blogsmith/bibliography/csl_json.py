"""CSL-JSON files, as Zotero and other reference managers write them, converted to publications.

Source: the schema of CSL 1.0.2 (csl-data.json).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..base.schema.data_loaders import describe_error
from ..model.publications import DOI, Person, Publication, WorkDate
from .bibtex_text import escape_tex, format_bibtex
from .works import ADDRESS, person_text

_DATES = ("issued", "accessed", "original-date", "event-date")
_PEOPLE = ("author", "editor", "translator", "container-author", "collection-editor")
_BIBTEX_KINDS = {
    **{"article-journal": "article", "paper-conference": "inproceedings", "chapter": "incollection"},
    **{"book": "book", "thesis": "phdthesis", "report": "techreport", "manuscript": "unpublished"},
}
_BIBTEX_FIELDS = (
    *(("title", "title"), ("journal", "container-title"), ("publisher", "publisher")),
    *(("volume", "volume"), ("number", "issue"), ("pages", "page"), ("edition", "edition")),
    ("address", "publisher-place"),
)


class CslJsonError(ValueError):
    """Raised if a file is not CSL-JSON; `offset` is the position of the error."""

    def __init__(self, message: str, offset: int, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.hint = hint or "export the bibliography as CSL JSON or BibTeX"


def read_csl_json(text: str) -> dict[str, Publication]:
    """Map keys to publications. For a duplicate key, use the first item. Raise CslJsonError if the file is
    not a list of items."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        found = describe_error(error)
        raise CslJsonError(f"invalid JSON: {found.message}", found.at, found.hint) from error
    except (ValueError, RecursionError) as error:
        raise CslJsonError("too many levels or digits in JSON", 0) from error
    items = found.get("items") if isinstance(found, dict) else found
    if not isinstance(items, list):
        raise CslJsonError("invalid bibliography: expected a list of items, [{…}, …]", 0)
    works: dict[str, Publication] = {}
    for item in items:
        if isinstance(item, dict) and (key := item.get("citation-key") or item.get("id")) is not None:
            works.setdefault(str(key), convert_item(str(key), item))
    return works


def convert_item(key: str, item: Mapping[str, Any]) -> Publication:
    """Convert an item of CSL-JSON to a publication. Values of an unexpected type are dropped."""
    texts = {
        name: str(value)
        for name, value in item.items()
        if isinstance(value, str | int | float) and name not in ("id", "type", "citation-key", *_DATES)
    }
    if "DOI" in texts:
        doi = DOI.fullmatch(texts.pop("DOI").strip())
        texts |= {"DOI": doi[1]} if doi else {}
    if not ADDRESS.fullmatch(texts.get("URL", "")):
        texts.pop("URL", None)
    people = {role: tuple(_people(item.get(role))) for role in _PEOPLE if item.get(role)}
    dates = {name: date for name in _DATES if (date := _date(item.get(name)))}
    issued = item.get("issued")
    text = str(issued.get("literal") or issued.get("raw") or "") if isinstance(issued, dict) else ""
    work = Publication(
        key=key,
        kind=str(item.get("type") or "document"),
        variables=texts,
        people=people,
        dates=dates,
        date_text="" if "issued" in dates else text,
    )
    return Publication(
        **{
            **{name: getattr(work, name) for name in work.__struct_fields__},
            "bibtex": publication_bibtex(work),
        }
    )


def _people(value: object) -> Iterator[Person]:
    for name in value if isinstance(value, list) else ():
        if isinstance(name, dict):
            parts = {part: str(name.get(part) or "") for part in ("family", "given", "suffix", "literal")}
            particle = str(name.get("non-dropping-particle") or name.get("dropping-particle") or "")
            person = Person(**parts, particle=particle)
            if person != Person():
                yield person


def _date(value: object) -> WorkDate | None:
    match value:
        case {"date-parts": [[year, *rest], *_]}:
            numbers = [*_numbers([year, *rest]), 0, 0]
            return WorkDate(*numbers[:3]) if numbers[0] else None
    return None


def _numbers(values: list[Any]) -> Iterator[int]:
    for value in values[:3]:
        text = str(value)
        if not text.isdecimal() or len(text) > 4:
            return
        yield int(text)


def publication_bibtex(work: Publication) -> str:
    """Return a publication as BibTeX."""
    names = " and ".join(person_text(person) for person in work.people.get("author", ()))
    fields = [
        ("author", names),
        *((name, escape_tex(work.variables.get(own, ""))) for name, own in _BIBTEX_FIELDS),
    ]
    kind = _BIBTEX_KINDS.get(work.kind, "misc")
    if kind in ("inproceedings", "incollection"):
        fields = [("booktitle" if name == "journal" else name, value) for name, value in fields]
    links = [("doi", work.variables.get("DOI", "")), ("url", work.variables.get("URL", ""))]
    return format_bibtex(kind, work.key, [*fields, ("year", work.year), *links])
