"""The files of an index after edits of some pages, made of the files as they were and not of all pages.

What stands of a page in each file is taken out, and what stands of it now is put in its place; the result is
what `SearchIndex` would make of all pages anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ...base.patterns import lazy_pattern
from .index import (
    NAMES,
    IndexedPage,
    PageFormulas,
    file_of,
    formula_file,
    formula_names,
    page_places,
    page_row,
    pages_file,
    terms_file,
    terms_name,
)
from .page_record import IndexedFormula, step

_ENTRY = lazy_pattern(r"([0-9a-z]*)((?:\.[0-9a-z]+)?[A-E](?:[0-9a-z]*[F-J])*)")
"""A page, by its distance from the last one, and the places there."""


class NotEditable(Exception):
    """All pages must be looked at."""


class IndexEdit:
    """Belongs to one build."""

    def __init__(self, read: Callable[[str], bytes], terms: int, macros: Mapping[str, str]) -> None:
        """read: name of a file → its content; KeyError if there is none. terms: how many files of them."""
        self._read = read
        self._terms = terms
        self._macros = macros
        self.files: dict[str, bytes] = {}
        """Those that are others now."""

    def edit_page(self, number: int, old: IndexedPage, new: IndexedPage) -> None:
        """Put a page in the place of what it was. NotEditable if that is not all there is to do.

        number: of the page, as they are counted in the index. Only its text may be another one.
        """
        try:
            self._edit_files(number, old, new)
        except (LookupError, ValueError, msgspec.MsgspecError) as error:
            # they are not as an index is
            raise NotEditable from error

    def _edit_files(self, number: int, old: IndexedPage, new: IndexedPage) -> None:
        before, after = old.read(), new.read()
        self._edit_terms(number, page_places(old, before), page_places(new, after))
        if before.formulas != after.formulas:
            self._edit_formulas(number, after.formulas)
        if before.sections != after.sections:
            found = self._content("pages")
            found["pages"][number] = page_row(new, after)
            self.files["pages"] = pages_file(found["order"], found["pages"], self._names())

    def _edit_terms(self, number: int, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        divided: dict[int, list[str]] = {}
        for term in sorted(old.keys() | new.keys()):
            if old.get(term) != new.get(term):
                divided.setdefault(file_of(term, self._terms), []).append(term)
        for file, terms in divided.items():
            found = self._content(terms_name(file))
            known = dict(zip(found["terms"].split(), found["places"].split(), strict=True))
            for term in terms:
                known[term] = edit_places(known.get(term, ""), number, new.get(term, ""))
            places = {term: known[term] for term in sorted(known) if known[term]}
            self.files[terms_name(file)] = terms_file(found["order"], places)

    def _edit_formulas(self, number: int, formulas: tuple[IndexedFormula, ...]) -> None:
        found = self._content("formulas")
        tokens = dict(zip(found["names"], found["tokens"].split(), strict=True))
        if len(tokens) == len(NAMES):
            # there may be tokens without a name
            raise NotEditable
        known = {page: tuple(_formula(row, tokens) for row in rows) for page, rows in found["formulas"]}
        known[number] = formulas
        pages = [PageFormulas(page, known[page]) for page in sorted(known)]
        names, order = formula_names(pages), found["order"]
        self.files["formulas"] = formula_file(order, pages, names, self._macros)
        if names.keys() != set(tokens.values()):
            found = self._content("pages")
            self.files["pages"] = pages_file(order, found["pages"], names)

    def _names(self) -> dict[str, str]:
        found = self._content("formulas")
        return dict(zip(found["tokens"].split(), found["names"], strict=True))

    def _content(self, name: str) -> dict[str, Any]:
        """A file as it is by now."""
        found: dict[str, Any] = msgspec.json.decode(self.files.get(name) or self._read(name), type=dict)
        return found


def edit_places(places: str, number: int, own: str) -> str:
    """Where a term stands in the site, when it stands in a page as `own` says; empty for nowhere."""
    found: dict[int, str] = {}
    page = -1
    for entry in _ENTRY.finditer(places):
        page += int(entry[1], 36) if entry[1] else 1
        found[page] = entry[2]
    found[number] = own
    written, last = "", -1
    for page in sorted(found):
        if found[page]:
            written += step(page - last) + found[page]
            last = page
    return written


def _formula(row: list[Any], tokens: Mapping[str, str]) -> IndexedFormula:
    *place, code = row
    return msgspec.convert([*place, " ".join(tokens[name] for name in code)], IndexedFormula)
