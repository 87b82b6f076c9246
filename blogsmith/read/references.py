"""Bibliography entries and names of people in front matter.

`references:` is a list of entries with `id` (or `key`), or a mapping from key to entry, with field names of
CSL. An entry without id, as in a list of links, is printed but cannot be cited. Fields of CSL and BibTeX that
no page shows (editor, isbn, type …) are accepted; unknown fields cause a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..base.diagnostics.model import did_you_mean
from ..base.patterns import lazy_pattern
from ..base.schema.forms import FILLED, TEXT, Form, accepts, list_form, union_form
from ..base.schema.records import one_line, text
from ..base.schema.slots import Slot
from ..model.documents import Reference
from ..model.publications import ORCID, is_orcid
from .foreign_values import CODE, lenient_text

_KEY = lazy_pattern(r"\w[\w:.+/-]*")
_URL = lazy_pattern(r"https?://[^\s<>\"]+")
_DOI = lazy_pattern(r"(?:(?:https?://(?:dx\.)?doi\.org/|doi:\s*))?(10\.\d{4,9}/[^\s<>\"]+)", re.IGNORECASE)
_YEAR = lazy_pattern(r"(\d{4})-\d{1,2}(?:-\d{1,2})?")
_HYPHENS = lazy_pattern(r"(?<=\d)[ \t]*(?:-{1,3}|—)[ \t]*(?=\w)")
"""Regular expression of the dash between the first and the last page."""
_VENUE_WORDS = (
    "venue container-title container containerTitle container_title journal journaltitle journalTitle "
    "booktitle book conference proceedings event-title event series institution organization school "
    "howpublished website publisher"
)
_VENUES = tuple(_VENUE_WORDS.split())
"""Fields that name where a work was published. The first one with a value is printed."""
_PRINTED_WORDS = (
    "id key title author authors year issued date url URL doi DOI note volume issue number pages page"
)
_PRINTED = frozenset(_PRINTED_WORDS.split())
_ACCEPTED_WORDS = (
    "type page-first edition editor editors chapter section language keyword "
    "keywords abstract accessed urldate issn isbn pmid pmcid month day address publisher-place event-place "
    "number-of-pages number-of-volumes genre medium source title-short shorttitle container-title-short "
    "eprint eprinttype eprintclass archive archiveprefix archive_location primaryclass arxiv file annotation "
    "annote crossref citation-key citation-label status version custom translator translators original-date "
    "collection-title collection-number call-number categories license copyright location place bibtex"
)
_ACCEPTED = frozenset(_ACCEPTED_WORDS.split())
"""Fields of CSL and BibTeX that no page shows, in lower case."""
_MAX_REPORTED_FIELDS = 5
"""Maximum number of unknown fields reported per entry."""


_MAPPING: Form = {"type": "object"}
_PERSON: Form = {
    "type": "object",
    "properties": {
        "name": {**FILLED, "description": "Full name."},
        "literal": {**FILLED, "description": "Full name, under its name in CSL."},
        "family": {**FILLED, "description": "Family name."},
        "given": {**TEXT, "description": "Given names."},
        "orcid": {"description": "ORCID iD of the person.", "pattern": ORCID},
        "url": {"description": "URL of the person's page, for authors of a page.", "pattern": _URL},
        "affiliation": {**TEXT, "description": "University or company, for authors of a page."},
    },
    "anyOf": [{"required": [key]} for key in ("name", "literal", "family")],
}
_PEOPLE = union_form(FILLED, _PERSON, list_form(union_form(FILLED, _PERSON)))
_YEAR_FORM = union_form(TEXT, _MAPPING)
_ENTRY: Form = {
    "type": "object",
    "properties": {
        "id": {**TEXT, "description": "Key of the reference, cited as `[@id]`.", "pattern": _KEY},
        "title": {**TEXT, "description": "Title of the work."},
        "author": {**_PEOPLE, "description": "Names: a list, or one string with ` and ` between them."},
        "year": {**_YEAR_FORM, "description": "Year or date of publication."},
        "issued": {**_YEAR_FORM, "description": "Year or date of publication, as in CSL."},
        "journal": {**TEXT, "description": "Journal or book; also `container-title` and `booktitle`."},
        "publisher": {**TEXT, "description": "Publisher."},
        "volume": {**TEXT, "description": "Volume of the journal."},
        "issue": {**TEXT, "description": "Issue within the volume; also `number`."},
        "pages": {**TEXT, "description": "First and last page, such as 5--9."},
        "doi": {"description": "DOI; the title links to it.", "pattern": _DOI},
        "url": {**TEXT, "description": "URL, http or https; the title links to it.", "pattern": _URL},
        "note": {**TEXT, "description": "Note that is shown after the reference."},
    },
}


_FORM_HINT = "write entries such as `- {id: key, title: …}`"


@accepts(union_form({"type": "object", "additionalProperties": _ENTRY}, list_form(_ENTRY)))
def read_references(slot: Slot) -> tuple[Reference, ...]:
    """Return the entries of `references:`, in the author's order, each key once."""
    if not isinstance(slot.value, dict | list):
        slot.report('"references" must be a list of entries, or a mapping from key to entry', _FORM_HINT)
        return ()
    found: dict[str, Reference] = {}
    nameless: list[Slot] = []
    for entry, key in _entries(slot):
        if not key:
            nameless.append(entry)
            key = _free_key(slot, found)
            found[key] = replace(_read_entry(entry, key), is_named=False)
            continue
        if key in found:
            first = found[key].place
            where = f" (first defined on line {first.line})" if first else ""
            entry.report(f'duplicate reference "{key}"{where}', "remove one of the two, or write another key")
        else:
            found[key] = _read_entry(entry, key)
    if nameless:
        count = f"{len(nameless)} references have" if len(nameless) > 1 else "a reference has"
        hint = "add `id: NAME` to cite it with `[@NAME]`"
        nameless[0].warn(CODE, f'{count} no "id" and cannot be cited', hint)
    return tuple(found.values())


def _free_key(slot: Slot, found: Mapping[str, Reference]) -> str:
    """Return an unused key for an entry without one: its position in the list, or the next free number."""
    entries = [entry for entry in slot.value if isinstance(entry, dict)]
    written = {str(entry.get(name)) for entry in entries for name in ("id", "key")}
    number = len(found) + 1
    while str(number) in written or str(number) in found:
        number += 1
    return str(number)


@accepts(_PEOPLE)
def read_people(slot: Slot) -> tuple[str, ...]:
    """Read a list of names, or one name. Each is a string, `{name}` or CSL's `{family, given}`."""
    if not isinstance(slot.value, list):
        return _unique_names([_person(slot, slot.quoted_name)])
    return _unique_names([_person(slot.child(index), slot.quoted_name) for index in range(len(slot.value))])


def read_orcids(slot: Slot) -> dict[str, str]:
    """Map names to ORCID iDs, for people given as mappings with an `orcid`."""
    return _read_facts(slot, "orcid", read_orcid)


def read_affiliations(slot: Slot) -> dict[str, str]:
    """Map names to affiliations, for people given as mappings with an `affiliation`."""
    return _read_facts(slot, "affiliation", lambda one: one_line(one) or "")


def read_urls(slot: Slot) -> dict[str, str]:
    """Map names to URLs, for people given as mappings with a `url`."""
    return _read_facts(slot, "url", _read_url)


def _read_facts(slot: Slot, key: str, read: Callable[[Slot], str]) -> dict[str, str]:
    slots = (
        [slot.child(index) for index in range(len(slot.value))] if isinstance(slot.value, list) else [slot]
    )
    found = {}
    for one in slots:
        if isinstance(one.value, dict) and (fact := read(one.child(key))):
            quiet = one.child("name").value or one.child("literal").value
            family, given = one.child("family").value, one.child("given").value
            found[str(quiet or (f"{family}, {given}" if given else family))] = fact
    return found


def _read_url(slot: Slot) -> str:
    written = text(slot) if isinstance(slot.value, str) else ""
    if written and not _URL.fullmatch(written):
        slot.warn(
            CODE,
            f'invalid URL "{written}": expected http or https',
            "write a URL such as `https://example.org/`",
        )
        return ""
    return written


def read_orcid(slot: Slot) -> str:
    """Read an ORCID iD. Return an empty string, after reporting an error, if its check digit is wrong."""
    written = text(slot)
    if not written:
        return ""
    found = ORCID.fullmatch(written)
    if found is None:
        slot.report(f'invalid ORCID iD "{written}"', "write it in the form `0000-0002-1825-0097`")
    elif not is_orcid(found[1]):
        slot.report(
            f'invalid ORCID iD "{found[1]}": its last digit does not match the others',
            "copy it again from orcid.org",
        )
    else:
        return found[1]
    return ""


def _unique_names(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _person(slot: Slot, key: str) -> str:
    if not isinstance(slot.value, dict):
        found = one_line(slot)
        if not found:
            slot.report(f"{key} must be a name or a list of names", f"write `{key[1:-1]}: [Ada Lovelace]`")
        return found or ""
    if name := text(slot.child("name")) or text(slot.child("literal")):
        return name
    family, given = text(slot.child("family")), text(slot.child("given"))
    if not family:
        slot.report('missing key "name", or "family" and "given"', "write `name: Ada Lovelace`")
    return f"{family}, {given}" if family and given else family


def _entries(slot: Slot) -> Iterator[tuple[Slot, str]]:
    """Yield each entry and its key; the key is empty if there is none. Report entries with an invalid key."""
    for step in slot.value if isinstance(slot.value, dict) else range(len(slot.value)):
        entry = slot.child(step)
        if not isinstance(entry.value, dict):
            entry.report("a reference must be a mapping such as `title: …`", _FORM_HINT)
            continue
        key = step if isinstance(step, str) else text(entry.child("id")) or text(entry.child("key"))
        if key and not _KEY.fullmatch(key):
            entry.report(
                f'invalid reference key "{key}"', "write letters, digits and `:`, `.`, `+`, `/`, `-`, `_`"
            )
        else:
            yield entry, key


def _read_entry(entry: Slot, key: str) -> Reference:
    return Reference(
        key,
        title=lenient_text(entry.child("title")),
        authors=_authors(entry),
        year=_year(entry),
        venue=next((venue for name in _VENUES if (venue := lenient_text(entry.child(name)))), ""),
        volume=lenient_text(entry.child("volume")),
        issue=lenient_text(_first(entry, "issue", "number")),
        pages=_HYPHENS.sub("–", lenient_text(_first(entry, "pages", "page"))),
        url=_url(entry),
        note=lenient_text(entry.child("note")),
        extra=_extra(entry),
        place=entry.place,
    )


def _extra(entry: Slot) -> dict[str, Any]:
    """Return the fields that are not printed. Warn about unknown ones."""
    extra = {key: value for key, value in entry.value.items() if key not in _PRINTED and key not in _VENUES}
    unknown = [key for key in extra if key.casefold() not in _ACCEPTED and not key.startswith("_")]
    for key in unknown[:_MAX_REPORTED_FIELDS]:
        hint = did_you_mean(key, (*_PRINTED, *_VENUES)) or "write it under `note`"
        entry.key(key).warn("front-matter-key", f'"{key}" of a reference is not printed', hint)
    return extra


def is_known_field(name: str) -> bool:
    """Return whether an entry may have a field, printed or not."""
    return name in _PRINTED or name in _VENUES or name.casefold() in _ACCEPTED


def _first(entry: Slot, *keys: str) -> Slot:
    """Return the value of the first key that is set."""
    return next((slot for key in keys if (slot := entry.child(key)).value is not None), entry.child(keys[0]))


def _authors(entry: Slot) -> tuple[str, ...]:
    """Read `author` or `authors`. In a string, names may be joined by ` and `, as in BibTeX."""
    slot = _first(entry, "author", "authors")
    if isinstance(slot.value, str):
        return _unique_names([name.strip() for name in re.split(r"\s+and\s+", slot.value)])
    return () if slot.value is None else read_people(slot)


def _year(entry: Slot) -> str:
    """Read `year`, `date` or CSL's `issued`. For a full date, return its year."""
    slot = _first(entry, "year", "issued", "date")
    if isinstance(slot.value, dict):
        return _date_parts(slot)
    written = text(slot)
    found = _YEAR.fullmatch(written)
    return found[1] if found else written


def _date_parts(slot: Slot) -> str:
    """Return the year of `{date-parts: [[2017, 6, 12]]}`."""
    match slot.value:
        case {"date-parts": [[year, *_], *_]} | {"year": year} | {"raw": year} if isinstance(year, str | int):
            return str(year)
    slot.report(f"{slot.quoted_name} must be a year, or a mapping as in CSL", "write `year: 2017`")
    return ""


def _url(entry: Slot) -> str:
    """Read `url`, otherwise the URL of the DOI."""
    for key in ("url", "URL"):
        if url := text(entry.child(key)):
            if _URL.fullmatch(url):
                return url
            _report_address(entry.child(key), url)
            return ""
    for key in ("doi", "DOI"):
        if doi := text(entry.child(key)):
            if found := _DOI.fullmatch(doi):
                return f"https://doi.org/{found[1]}"
            entry.child(key).report(
                f'invalid DOI "{doi}"', "write a DOI that starts with `10.`, such as `10.1000/182`"
            )
    return ""


def _report_address(slot: Slot, url: str) -> None:
    """Report an invalid URL: as an error if its scheme may run code, otherwise as a warning."""
    message = f'invalid URL "{url}": expected http or https'
    if ":" in url.partition("/")[0]:
        slot.report(message, "write a URL such as `https://example.org/`")
    else:
        is_host = url.casefold().startswith("www.")
        hint = f"write `https://{url}`" if is_host else "link to a page or file of this site in the text"
        slot.warn(CODE, f"{message}, so the title has no link", hint)
