"""Cited references, read from `.bib` and CSL-JSON files, data files, and lists in front matter.

A `.bib` file is copied, and the pages that cite it name it in their front matter; `blogsmith.bibliography`
reads it. Two kinds of entries move to the front matter key `references` instead: entries whose keys are not
allowed in `[@key]`, and entries where blogsmith's reader finds errors. A data file becomes CSL-JSON.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ..api.importing import BibtexFile, is_known_field, lazy_pattern, plain_text, read_entries, slugify
from .model import ImportedData, ImportedFile, ImportedPage, Notice
from .source_files import BIBLIOGRAPHIES, read_text
from .text.data import as_list, one_line
from .verify.site import leaves

_LITERAL_FIELDS = frozenset(("url", "doi", "eprint", "howpublished", "pdf"))
"""Fields that are not prose, where `--` and `~` are literal."""
_URL_COMMAND = lazy_pattern(r"\\(?:url|href|path)\s*\{([^{}]*)\}")


def read_bibtex(text: str) -> dict[str, dict[str, str]]:
    """Return citation key → fields of the entry. Names of fields are in lower case, values are plain text.

    `ENTRYTYPE` is the type of the entry. If a key appears twice, the first entry is used, as in BibTeX.
    """
    return {
        entry.key: {
            "ENTRYTYPE": entry.kind,
            **{name: _plain(name, one.text) for name, one in entry.fields.items()},
        }
        for entry in read_entries(text)
    }


def _read_csl(text: str) -> dict[str, dict[str, str]]:
    """Return citation key → fields of a CSL-JSON file, which contain only the title; empty if the file is
    invalid."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    entries = (item for item in as_list(items) if isinstance(item, Mapping) and "id" in item)
    return {str(item["id"]): {"title": one_line(item.get("title"))} for item in entries}


def _plain(name: str, tex: str) -> str:
    if name in _LITERAL_FIELDS:
        address = _URL_COMMAND.sub(r"\1", tex).replace("\\", "").strip("{} ")
        if " " not in address:
            return address
    # only ordinary spaces, because names are split at them
    return plain_text(tex).replace("\u00a0", " ").replace("\u202f", " ")


def make_reference(key: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return an entry for the front matter key `references`. It contains the fields that blogsmith supports,
    in a fixed order."""
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


_INVALID_KEY_CHARACTERS = lazy_pattern(r"[^\w:.+/-]+")


def fit_key(key: str) -> str:
    """Replace each character of a citation key that is not allowed in `[@key]` by a hyphen. Allowed are
    letters, digits and `:.+/-`."""
    fit = _INVALID_KEY_CHARACTERS.sub(
        "-", unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    ).strip("-.:+/")
    return fit or "entry"


_FOLDER = PurePosixPath(BIBLIOGRAPHIES)
Entries = Mapping[str, Mapping[str, str]]
"""Citation key → fields of the entry, which are name → plain text."""


class SourceBibliographies:
    """The `.bib` and CSL-JSON files of one source, each read once, and the entries that pages of the new site
    need from them."""

    def __init__(self) -> None:
        self._entries: dict[Path, Entries] = {}
        self._files: dict[Path, BibtexFile] = {}
        self._names: dict[str, Path] = {}
        """File name in the new site → file of the source."""

    def entries(self, file: Path) -> Entries:
        """Return all entries of a file; empty if it cannot be read."""
        if file not in self._entries:
            read = _read_csl if file.suffix.lower() == ".json" else read_bibtex
            self._entries[file] = read(read_text(file) or "")
        return self._entries[file]

    def all_entries(self, files: Iterable[Path]) -> dict[str, Mapping[str, str]]:
        """Return the entries of several files. If a key appears twice, the first file takes precedence."""
        found: dict[str, Mapping[str, str]] = {}
        for file in files:
            found = {**self.entries(file), **found}
        return found

    def page_front_matter(self, keys: Iterable[str], files: Sequence[Path]) -> dict[str, Any]:
        """Return the front matter keys `bibliography` and `references` for a page that cites `keys`, which
        are defined in `files`."""
        named: dict[str, None] = {}
        references = []
        for key in keys:
            file = next((file for file in files if key in self.entries(file)), None)
            if file is not None and self._is_readable_entry(file, key):
                named.setdefault((_FOLDER / self._name(file)).as_posix())
            elif file is not None:
                references.append(make_reference(fit_key(key), self.entries(file)[key]))
        written = [*named]
        found: dict[str, Any] = {"references": references} if references else {}
        return ({"bibliography": written[0] if len(written) == 1 else written} if written else {}) | found

    def _is_readable_entry(self, file: Path, key: str) -> bool:
        """Return whether blogsmith can read the entry from the copied file without diagnostics, and without
        changing its key."""
        if fit_key(key) != key or file.suffix.lower() == ".json":
            return fit_key(key) == key
        if file not in self._files:
            self._files[file] = BibtexFile(file.name, read_text(file) or "")
        work = self._files[file].find(key)
        return work is not None and work.work is not None and not work.diagnostics

    def _name(self, file: Path) -> str:
        """Return the file's name in the new site. If the name is taken, parent folders are prepended."""
        parts = (file if file.suffix.lower() == ".json" else file.with_suffix(".bib")).parts
        tried = ("-".join(parts[-at:]) for at in range(1, len(parts) + 1))
        name = next(name for name in tried if self._names.get(name, file) == file)
        self._names[name] = file
        return name

    def copied_files(self) -> tuple[ImportedFile, ...]:
        """Return the files that pages name, sorted by path."""
        return tuple(ImportedFile(_FOLDER / name, file) for name, file in sorted(self._names.items()))


_ADDRESS = lazy_pattern(r"(?i)https?://\S+|/[^\s/]\S*|[\w./-]+\.(?:pdf|html?|pptx?|key|odp)(?:[?#]\S*)?")
_URL = lazy_pattern(r"https?://[^\s<>\"]+")
_TITLES = ("title", "name", "label", "text")
_LINKS = ("url", "URL", "link", "href", "src", "file")
_MAX_KEY_LENGTH = 40
"""Maximum number of characters of a key made from a title."""


def add_reader_keys(
    page: ImportedPage, front: Mapping[str, Any], bibliography_keys: Collection[str]
) -> tuple[ImportedPage, frozenset[str]]:
    """Translate the keys `references` and `slides` of old front matter. Return the new page, and each of
    these two keys if its whole content is in that page. bibliography_keys: keys of the site's
    bibliography."""
    done = set()
    written = front.get("references")
    if written and (values := _reference_front(page, written, bibliography_keys)):
        page = replace(page, front={**page.front, **values})
        done.add("references")
    written = front.get("slides")
    links = [_link(each) for each in as_list(written)] if written else []
    if links and all(links):
        text = f"{page.text.rstrip()}\n\n**Slides:** {', '.join(links)}\n"
        message = 'front matter key "slides" becomes a line of links at the end of the page'
        notice = Notice("changed", message, page.source)
        page = replace(page, text=text, notices=(*page.notices, notice))
        fields = [len(list(leaves(each))) for each in as_list(written) if isinstance(each, Mapping)]
        done |= {"slides"} if all(count <= len(("title", "url")) for count in fields) else set()
    return page, frozenset(done)


def _reference_front(page: ImportedPage, written: Any, works: Collection[str]) -> dict[str, Any]:
    """Return the front matter keys `references` and `nocite`; empty if `written` is not a list of references.
    works: keys of the site's bibliography."""
    entries = list(entry_list(written))
    named = [fit_key(each) for each in entries if isinstance(each, str)]
    if named and len(named) == len(entries) and works and set(named) <= {*works}:
        return {"nocite": [f"@{key}" for key in named]}
    others = as_list(page.front.get("references") or [])
    taken = {str(entry.get("id")) for entry in others} | {*works}
    own = [entry for each in entries if (entry := reference_entry(each, taken))]
    if not own or len(own) < len(entries):
        return {}
    found: dict[str, Any] = {"references": [*others, *own]}
    keys = [str(entry["id"]) for entry in own]
    # if the text cites none of them, list all, as the old layout did
    if "nocite" not in page.front and not any(f"@{key}" in page.text for key in keys):
        has_others = bool(works or others or page.front.get("bibliography"))
        found["nocite"] = [f"@{key}" for key in keys] if has_others else "@*"
    return found


def entry_list(written: Any) -> Iterator[Any]:
    """Yield the entries of a list, or of a mapping from key to entry."""
    if isinstance(written, Mapping) and all(isinstance(each, Mapping) for each in written.values()):
        yield from ({"id": key, **each} for key, each in written.items())
    else:
        yield from as_list(written)


def reference_entry(written: Any, taken: set[str]) -> dict[str, Any] | None:
    """Convert an entry to blogsmith's form; return None if it has neither a title nor a URL. taken: citation
    keys already in use; the key of this entry is added."""
    if isinstance(written, str) and written.strip():
        text = one_line(written)
        written = {"title": text, **({"url": text} if _URL.fullmatch(text) else {})}
    if not isinstance(written, Mapping):
        return None
    fields = {str(key): value for key, value in written.items() if value not in (None, "", [], {})}
    title, address = _find_title(fields)
    if not title and not address:
        return None
    named = one_line(fields.get("id") or fields.get("key"))
    rest = {
        key: value
        for key, value in fields.items()
        if key not in (*_TITLES, *_LINKS, "id", "key") and is_known_field(key)
    }
    found = {"id": _free_key(named or title or address, taken, is_title=not named), "title": title or address}
    found |= {"url": address} if _URL.fullmatch(address) else {}
    shown = {str(leaf.value) for leaf in leaves({**found, **rest})}
    notes = [str(leaf.value) for leaf in leaves(fields) if str(leaf.value) not in {named, *shown}]
    if notes:
        rest["note"] = "; ".join(filter(None, [one_line(rest.get("note")), *map(one_line, notes)]))
    return {**found, **rest}


def _free_key(text: str, taken: set[str], *, is_title: bool) -> str:
    """Return a citation key made from `text` that is not in `taken`, and add it there. is_title: whether
    `text` is a title or URL instead of a key."""
    start = slugify(text)[:_MAX_KEY_LENGTH].strip("-") or "reference" if is_title else fit_key(text)
    key, number = start, 2
    while key in taken:
        key, number = f"{start}-{number}", number + 1
    taken.add(key)
    return key


def _find_title(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return (title, URL) of an entry. Each is empty if the entry has none."""
    title = next((text for name in _TITLES if (text := one_line(fields.get(name)))), "")
    address = next((text for name in _LINKS if (text := one_line(fields.get(name)))), "")
    return title, address


def _link(written: Any) -> str:
    """Return a Markdown link; empty if the value contains no URL."""
    title, address = _find_title(written if isinstance(written, Mapping) else {"url": written})
    title = re.sub(r"([\\\[\]*_`$<>])", r"\\\1", title or "Slides")
    is_address = _ADDRESS.fullmatch(address) and "<" not in address and ">" not in address
    return f"[{title}](<{address}>)" if is_address else ""


_NAME = lazy_pattern(r"bib|refer|citation|literature", re.IGNORECASE)
_DATA_VENUES = ("venue", "journal", "booktitle", "conference", "publisher", "school")
_YEAR = lazy_pattern(r"\d{4}")


@dataclass(frozen=True, slots=True)
class DataBibliography:
    """The references of one data file, as a bibliography."""

    name: str
    """Name of the file without its extension."""
    items: tuple[Mapping[str, Any], ...]
    """Entries in CSL-JSON."""

    @property
    def file(self) -> ImportedData:
        """Return the bibliography file for the new site."""
        text = json.dumps(self.items, indent=1, ensure_ascii=False) + "\n"
        return ImportedData(PurePosixPath(BIBLIOGRAPHIES) / f"{self.name}.json", text.encode())


def data_bibliographies(data: Mapping[str, Any]) -> tuple[DataBibliography, ...]:
    """Return the bibliographies among data files. data: name of a file → its content."""
    return tuple(
        DataBibliography(name, items)
        for name, value in data.items()
        if _NAME.search(name) and (items := _items(value))
    )


def _items(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the references in the content of a data file as CSL-JSON. Return none if one of its items is not
    a reference."""
    taken: set[str] = set()
    written = list(entry_list(value))
    entries = [
        entry for each in written if isinstance(each, Mapping) and (entry := reference_entry(each, taken))
    ]
    return tuple(map(_item, entries)) if entries and len(entries) == len(written) else ()


def _item(entry: Mapping[str, Any]) -> dict[str, Any]:
    authors = entry.get("author") or entry.get("authors") or []
    names = re.split(r"\s+and\s+", authors) if isinstance(authors, str) else as_list(authors)
    people = [each if isinstance(each, Mapping) and "family" in each else _person(each) for each in names]
    item: dict[str, Any] = {"id": entry["id"], "type": "document", "title": entry["title"]}
    if people := [each for each in people if any(each.values())]:
        item["author"] = people
    if year := _YEAR.search(one_line(entry.get("year") or entry.get("date"))):
        item["issued"] = {"date-parts": [[int(year[0])]]}
    fields = {"container-title": next((one_line(entry[key]) for key in _DATA_VENUES if entry.get(key)), "")}
    fields |= {"DOI": one_line(entry.get("doi") or entry.get("DOI")), "URL": one_line(entry.get("url"))}
    fields |= {key: one_line(entry.get(key)) for key in ("volume", "issue", "note")}
    return item | {key: text for key, text in fields.items() if text}


def _person(written: Any) -> dict[str, str]:
    """Return a name as CSL-JSON. `Ito, A.` has a family and a given name; any other name is a literal."""
    is_mapping = isinstance(written, Mapping)
    name = one_line((written.get("name") or written.get("literal")) if is_mapping else written)
    family, comma, given = name.partition(", ")
    return {"family": family, "given": given} if comma and "," not in given else {"literal": name}
