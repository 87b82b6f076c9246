"""Bibliographies that a site keeps as data, `_data/references.yml`: written as CSL-JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ..base.patterns import lazy_pattern
from .model import ImportedData
from .readable import BIBLIOGRAPHIES
from .reader_keys import entry_list, reference_entry
from .text.front_values import list_of, one_line

_NAME = lazy_pattern(r"bib|refer|citation|literature", re.IGNORECASE)
_VENUES = ("venue", "journal", "booktitle", "conference", "publisher", "school")
_YEAR = lazy_pattern(r"\d{4}")


@dataclass(frozen=True, slots=True)
class DataBibliography:
    """The works of one data file."""

    name: str
    """Of the file, without its suffix."""
    items: tuple[Mapping[str, Any], ...]
    """In CSL-JSON."""

    @property
    def file(self) -> ImportedData:
        """The bibliography in the new site."""
        text = json.dumps(self.items, indent=1, ensure_ascii=False) + "\n"
        return ImportedData(PurePosixPath(BIBLIOGRAPHIES) / f"{self.name}.json", text.encode())


def data_bibliographies(data: Mapping[str, Any]) -> tuple[DataBibliography, ...]:
    """Return the bibliographies among data files. data: name of a file → what it holds."""
    return tuple(
        DataBibliography(name, items)
        for name, value in data.items()
        if _NAME.search(name) and (items := _items(value))
    )


def _items(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the works of a file; none if it holds anything else."""
    taken: set[str] = set()
    written = list(entry_list(value))
    entries = [
        entry for each in written if isinstance(each, Mapping) and (entry := reference_entry(each, taken))
    ]
    return tuple(map(_item, entries)) if entries and len(entries) == len(written) else ()


def _item(entry: Mapping[str, Any]) -> dict[str, Any]:
    authors = entry.get("author") or entry.get("authors") or []
    names = re.split(r"\s+and\s+", authors) if isinstance(authors, str) else list_of(authors)
    people = [each if isinstance(each, Mapping) and "family" in each else _person(each) for each in names]
    item: dict[str, Any] = {"id": entry["id"], "type": "document", "title": entry["title"]}
    if people := [each for each in people if any(each.values())]:
        item["author"] = people
    if year := _YEAR.search(one_line(entry.get("year") or entry.get("date"))):
        item["issued"] = {"date-parts": [[int(year[0])]]}
    fields = {"container-title": next((one_line(entry[key]) for key in _VENUES if entry.get(key)), "")}
    fields |= {"DOI": one_line(entry.get("doi") or entry.get("DOI")), "URL": one_line(entry.get("url"))}
    fields |= {key: one_line(entry.get(key)) for key in ("volume", "issue", "note")}
    return item | {key: text for key, text in fields.items() if text}


def _person(written: Any) -> dict[str, str]:
    """Return a name in CSL: that of `Ito, A.` in two parts, every other one as it is."""
    is_mapping = isinstance(written, Mapping)
    name = one_line((written.get("name") or written.get("literal")) if is_mapping else written)
    family, comma, given = name.partition(", ")
    return {"family": family, "given": given} if comma and "," not in given else {"literal": name}
