"""Bibliography entries and names of people in front matter: CSL's names, flattened.

Takes a list of entries with `id` (or `key`), or a mapping from key to entry. Fields of CSL that no
page shows (volume, page, type …) are accepted and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..model.documents import Reference
from .fields import Fields

_KEY = re.compile(r"\w[\w:.+/-]*")
_URL = re.compile(r"https?://[^\s<>\"]+")
_DOI = re.compile(r"(?:(?:https?://(?:dx\.)?doi\.org/|doi:\s*))?(10\.\d{4,9}/[^\s<>\"]+)", re.IGNORECASE)
_YEAR = re.compile(r"(\d{4})-\d{1,2}(?:-\d{1,2})?")
_VENUES = ("venue", "container-title", "journal", "booktitle", "publisher")


def read_references(fields: Fields) -> tuple[Reference, ...]:
    """The entries of `references:`, in the author's order, each key once."""
    value = fields.values.get("references")
    if value is not None and not isinstance(value, dict | list):
        fields.wrong("references must be a list of entries, or a mapping from key to entry", "references")
        return ()
    found: dict[str, Reference] = {}
    for step, key in _entries(value, fields):
        if key in found:
            first = found[key].place
            where = f", first on line {first.line}" if first else ""
            fields.wrong(f'reference "{key}" is given twice{where}', "references", step)
        elif entry := _read_entry(fields, step, key):
            found[key] = entry
    return tuple(found.values())


def read_people(fields: Fields, key: str) -> tuple[str, ...]:
    """Names under `key`: a list, or one person; each a text, `{name}` or CSL's `{family, given}`."""
    value = fields.values.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        return _only([_person(fields, value, key)])
    return _only([_person(fields, item, key, index) for index, item in enumerate(value)])


def _only(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _person(fields: Fields, value: Any, *path: str | int) -> str:
    person = fields.below(*path) if isinstance(value, dict) else None
    if person is None:
        text = fields.as_text(value, *path)
        if not text:
            fields.wrong(f"{path[0]} must be a name or a list of names", *path)
        return text or ""
    if name := person.text("name") or person.text("literal"):
        return name
    family, given = person.text("family"), person.text("given")
    if not family:
        fields.wrong("a person needs name, or family and given", *path)
    return f"{family}, {given}" if family and given else family


def _entries(value: Any, fields: Fields) -> Iterator[tuple[str | int, str]]:
    """Step to each entry, and its key; entries without a sound key are reported and left out."""
    steps = (
        enumerate(value) if isinstance(value, list) else ((key, item) for key, item in (value or {}).items())
    )
    for step, item in steps:
        entry = fields.below("references", step) if isinstance(item, dict) else None
        if entry is None:
            fields.wrong("a reference must be a mapping such as `title: …`", "references", step)
            continue
        key = step if isinstance(step, str) else entry.text("id") or entry.text("key")
        if not key:
            fields.wrong(
                "a reference needs an id", "references", step, hint="the text posts cite it by: [@id]"
            )
        elif not _KEY.fullmatch(key):
            fields.wrong(
                f'"{key}" cannot be cited', "references", step, hint="letters, digits and : . + / - _"
            )
        else:
            yield step, key


def _read_entry(fields: Fields, step: str | int, key: str) -> Reference | None:
    entry = fields.below("references", step)
    if entry is None:
        return None
    return Reference(
        key,
        title=entry.text("title"),
        authors=_authors(entry),
        year=_year(entry),
        venue=next((venue for name in _VENUES if (venue := entry.text(name))), ""),
        url=_url(entry),
        note=entry.text("note"),
        place=entry.place(),
    )


def _authors(entry: Fields) -> tuple[str, ...]:
    """`author` or `authors`; a text may join names by BibTeX's ` and `."""
    key = "author" if entry.values.get("author") is not None else "authors"
    value = entry.values.get(key)
    if isinstance(value, str):
        return _only([name.strip() for name in re.split(r"\s+and\s+", value)])
    return read_people(entry, key)


def _year(entry: Fields) -> str:
    """`year`, `date`, or CSL's `issued`; of a whole date its year, else the text as written."""
    key = next((key for key in ("year", "issued", "date") if entry.values.get(key) is not None), "year")
    value = entry.values.get(key)
    if isinstance(value, dict):
        return _date_parts(entry, key, value)
    text = entry.text(key)
    found = _YEAR.fullmatch(text)
    return found[1] if found else text


def _date_parts(entry: Fields, key: str, value: dict[str, Any]) -> str:
    """The year of `{date-parts: [[2017, 6, 12]]}`."""
    match value:
        case {"date-parts": [[year, *_], *_]} | {"year": year} | {"raw": year} if isinstance(year, str | int):
            return str(year)
    entry.wrong(f"{key} must be a year, or a mapping as in CSL", key, hint="write `year: 2017`")
    return ""


def _url(entry: Fields) -> str:
    """`url`, else the address of the DOI."""
    for key in ("url", "URL"):
        if url := entry.text(key):
            if _URL.fullmatch(url):
                return url
            entry.wrong(f'"{url}" is no http or https address', key)
            return ""
    for key in ("doi", "DOI"):
        if doi := entry.text(key):
            if found := _DOI.fullmatch(doi):
                return f"https://doi.org/{found[1]}"
            entry.wrong(f'"{doi}" is no DOI', key, hint="a DOI starts with 10., as in 10.1000/182")
    return ""
