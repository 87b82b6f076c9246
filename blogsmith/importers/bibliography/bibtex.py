"""Entries of `.bib` files as fields of plain text, and as entries of `references:`.

The files are read by `blogsmith.bibliography`, which pages read them with, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from ...base.patterns import lazy_pattern
from ...bibliography.bibliography_file import read_entries
from ...bibliography.latex import plain_text

_ADDRESSES = frozenset(("url", "doi", "eprint", "howpublished", "pdf"))
"""Fields that are no prose: in them `--` and `~` are themselves."""
_IN_COMMAND = lazy_pattern(r"\\(?:url|href|path)\s*\{([^{}]*)\}")


def read_bibtex(text: str) -> dict[str, dict[str, str]]:
    """Key → fields of every entry, names in lower case, values as plain text; `ENTRYTYPE` is its type.

    Of a key that stands twice the first counts, as in BibTeX.
    """
    return {
        entry.key: {
            "ENTRYTYPE": entry.kind,
            **{name: _plain(name, one.text) for name, one in entry.fields.items()},
        }
        for entry in read_entries(text)
    }


def _plain(name: str, tex: str) -> str:
    if name in _ADDRESSES:
        address = _IN_COMMAND.sub(r"\1", tex).replace("\\", "").strip("{} ")
        if " " not in address:
            return address
    # blanks of one kind: a name is taken apart at them
    return plain_text(tex).replace("\u00a0", " ").replace("\u202f", " ")


def reference_of(key: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """An entry of `references:`, with the fields we know in our order."""
    names = [name.strip() for name in re.split(r"\s+and\s+", fields.get("author", "")) if name.strip()]
    entry: dict[str, Any] = {"id": key, "title": fields.get("title", "") or key}
    if names:
        entry["author"] = ["et al." if name == "others" else name for name in names]
    if year := fields.get("year") or fields.get("date", "")[:4]:
        entry["year"] = int(year) if year.isdecimal() else year
    venue = next((fields[name] for name in _VENUES if fields.get(name)), "")
    if venue and not venue.startswith(("http://", "https://")):
        entry["venue"] = venue
    return entry | dict(_address(fields))


_VENUES = ("journal", "journaltitle", "booktitle", "publisher", "school", "institution", "howpublished")


def _address(fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    url, doi, eprint = (fields.get(name, "").replace("\\", "") for name in ("url", "doi", "eprint"))
    url = url or fields.get("howpublished", "")
    if url.startswith(("https://", "http://")) and " " not in url:
        yield "url", url
    elif doi:
        # 10/abcde is a short form that only the resolver knows
        yield ("doi", doi) if doi.startswith("10.") else ("url", f"https://doi.org/{doi}")
    elif eprint and "arxiv" in f"{fields.get('archiveprefix', '')}{fields.get('eprinttype', '')}".lower():
        yield "url", f"https://arxiv.org/abs/{eprint}"


_UNFIT = lazy_pattern(r"[^\w:.+/-]+")


def fit_key(key: str) -> str:
    """A key as `[@key]` can name it: what is no letter, digit or one of `: . + / -` becomes a hyphen."""
    fit = _UNFIT.sub("-", unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()).strip(
        "-.:+/"
    )
    return fit or "entry"
