"""Bibliography entries and names of people in front matter: CSL's names, flattened.

Takes a list of entries with `id` (or `key`), or a mapping from key to entry. Fields of CSL that no
page shows (volume, page, type …) are accepted and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.documents import Reference
from ..patterns import lazy_pattern
from ..schema.readers import one_line, text
from ..schema.slots import Slot

_KEY = lazy_pattern(r"\w[\w:.+/-]*")
_URL = lazy_pattern(r"https?://[^\s<>\"]+")
_DOI = lazy_pattern(r"(?:(?:https?://(?:dx\.)?doi\.org/|doi:\s*))?(10\.\d{4,9}/[^\s<>\"]+)", re.IGNORECASE)
_YEAR = lazy_pattern(r"(\d{4})-\d{1,2}(?:-\d{1,2})?")
_VENUES = ("venue", "container-title", "journal", "booktitle", "publisher")


def read_references(slot: Slot) -> tuple[Reference, ...]:
    """The entries of `references:`, in the author's order, each key once."""
    if not isinstance(slot.value, dict | list):
        slot.wrong("references must be a list of entries, or a mapping from key to entry")
        return ()
    found: dict[str, Reference] = {}
    for entry, key in _entries(slot):
        if key in found:
            first = found[key].place
            where = f", first on line {first.line}" if first else ""
            entry.wrong(f'reference "{key}" is given twice{where}')
        else:
            found[key] = _read_entry(entry, key)
    return tuple(found.values())


def read_people(slot: Slot) -> tuple[str, ...]:
    """Names: a list, or one person; each a text, `{name}` or CSL's `{family, given}`."""
    if not isinstance(slot.value, list):
        return _unique_names([_person(slot, slot.name)])
    return _unique_names([_person(slot.at(index), slot.name) for index in range(len(slot.value))])


def _unique_names(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _person(slot: Slot, key: str) -> str:
    if not isinstance(slot.value, dict):
        found = one_line(slot)
        if not found:
            slot.wrong(f"{key} must be a name or a list of names")
        return found or ""
    if name := text(slot.at("name")) or text(slot.at("literal")):
        return name
    family, given = text(slot.at("family")), text(slot.at("given"))
    if not family:
        slot.wrong("a person needs name, or family and given")
    return f"{family}, {given}" if family and given else family


def _entries(slot: Slot) -> Iterator[tuple[Slot, str]]:
    """Each entry and its key; entries without a sound key are reported and left out."""
    for step in slot.value if isinstance(slot.value, dict) else range(len(slot.value)):
        entry = slot.at(step)
        if not isinstance(entry.value, dict):
            entry.wrong("a reference must be a mapping such as `title: …`")
            continue
        key = step if isinstance(step, str) else text(entry.at("id")) or text(entry.at("key"))
        if not key:
            entry.wrong("a reference needs an id", "the text posts cite it by: [@id]")
        elif not _KEY.fullmatch(key):
            entry.wrong(f'"{key}" cannot be cited', "letters, digits and : . + / - _")
        else:
            yield entry, key


def _read_entry(entry: Slot, key: str) -> Reference:
    return Reference(
        key,
        title=text(entry.at("title")),
        authors=_authors(entry),
        year=_year(entry),
        venue=next((venue for name in _VENUES if (venue := text(entry.at(name)))), ""),
        url=_url(entry),
        note=text(entry.at("note")),
        place=entry.place,
    )


def _first(entry: Slot, *keys: str) -> Slot:
    """What stands under the first of the keys that is there, else under none."""
    return next((slot for key in keys if (slot := entry.at(key)).value is not None), entry.at(keys[0]))


def _authors(entry: Slot) -> tuple[str, ...]:
    """`author` or `authors`; a text may join names by BibTeX's ` and `."""
    slot = _first(entry, "author", "authors")
    if isinstance(slot.value, str):
        return _unique_names([name.strip() for name in re.split(r"\s+and\s+", slot.value)])
    return () if slot.value is None else read_people(slot)


def _year(entry: Slot) -> str:
    """`year`, `date`, or CSL's `issued`; of a whole date its year, else the text as written."""
    slot = _first(entry, "year", "issued", "date")
    if isinstance(slot.value, dict):
        return _date_parts(slot)
    written = text(slot)
    found = _YEAR.fullmatch(written)
    return found[1] if found else written


def _date_parts(slot: Slot) -> str:
    """The year of `{date-parts: [[2017, 6, 12]]}`."""
    match slot.value:
        case {"date-parts": [[year, *_], *_]} | {"year": year} | {"raw": year} if isinstance(year, str | int):
            return str(year)
    slot.wrong(f"{slot.name} must be a year, or a mapping as in CSL", "write `year: 2017`")
    return ""


def _url(entry: Slot) -> str:
    """`url`, else the address of the DOI."""
    for key in ("url", "URL"):
        if url := text(entry.at(key)):
            if _URL.fullmatch(url):
                return url
            entry.at(key).wrong(f'"{url}" is no http or https address')
            return ""
    for key in ("doi", "DOI"):
        if doi := text(entry.at(key)):
            if found := _DOI.fullmatch(doi):
                return f"https://doi.org/{found[1]}"
            entry.at(key).wrong(f'"{doi}" is no DOI', "a DOI starts with 10., as in 10.1000/182")
    return ""
