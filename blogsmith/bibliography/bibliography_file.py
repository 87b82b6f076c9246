"""A bibliography file. It has an index of its entries, and parses each publication when it is first
needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from ..base.diagnostics.model import Diagnostic, Place, Reporter
from ..base.merge_conflicts import may_have_conflict, take_first_versions
from ..model.publications import Publication, PublicationLookup
from .bibtex_index import BibEntry, BibIndex, BibProblem, Strings, index_bibtex, read_entry, read_strings
from .csl_json import CslJsonError, read_csl_json
from .works import publication_from_entry

MOST_PARENTS = 5
"""Maximum length of a chain of entries where each entry inherits fields from the next."""
_TYPES_WITH_BOOKTITLE = frozenset(
    ("inproceedings", "conference", "incollection", "inbook", "suppbook", "inreference")
)
"""Entry types that inherit the title of the parent as `booktitle` (biblatex, appendix B)."""
_UNINHERITED_FIELDS = frozenset(
    ("title", "subtitle", "shorttitle", "crossref", "xdata", "pages", "key", "ids", "entryset")
)
"""Fields that are not inherited. The parent's title is inherited, but as `booktitle`."""


class BibtexFile:
    """Content of a `.bib` file. If the file changes, create a new object."""

    def __init__(self, path: str, text: str, index: BibIndex | None = None) -> None:
        """Create the object from the text of a file. path: path as shown in messages. index: cached index of
        exactly this text; None to build it."""
        self.path = path
        reporter = Reporter(path, text.split("\n") if may_have_conflict(text) else ())
        self._text = take_first_versions(text, reporter)
        self._conflicts = reporter.diagnostics
        self.index = index or index_bibtex(self._text)
        self._works: dict[str, PublicationLookup] = {}

    @property
    def keys(self) -> Sequence[str]:
        """All keys, in the order of the file."""
        return [*self.index.entries]

    def find(self, key: str) -> PublicationLookup | None:
        """Return the publication with this key, or None if the key does not exist."""
        if key not in self.index.entries:
            return None
        if key not in self._works:
            self._works[key] = self._read(key)
        return self._works[key]

    def place(self, key: str) -> Diagnostic | None:
        """Return a diagnostic that has no message and only gives the location of an entry; None if the key
        does not exist."""
        if key not in self.index.entries:
            return None
        return self._diagnostic(BibProblem("", self.index.entries[key][0], len(key) + 1))

    def problems(self) -> tuple[Diagnostic, ...]:
        """Return the errors in the structure of the file. Errors in single entries are not included."""
        return (*self._conflicts, *(self._diagnostic(mistake) for mistake in self.index.mistakes))

    @cached_property
    def _strings(self) -> Strings:
        return read_strings(self._text, self.index.strings)

    def _read(self, key: str) -> PublicationLookup:
        entry = self.entry(key)
        work = publication_from_entry(entry)
        mistakes = entry.problems
        if key in self.index.duplicates:
            again = self.index.duplicates[key]
            message = f'duplicate key "{key}": only the first entry is used'
            mistakes.append(BibProblem(message, again, len(key), "remove one of them", severe=False))
        return PublicationLookup(work, tuple(self._diagnostic(mistake) for mistake in mistakes))

    def entry(self, key: str) -> BibEntry:
        """Return an entry with its own and its inherited fields."""
        entry = self._own_entry(key)
        self._inherit(entry)
        return entry

    def _own_entry(self, key: str) -> BibEntry:
        start, end = self.index.entries[key]
        return read_entry(self._text, start, end, self._strings)

    def _inherit(self, entry: BibEntry) -> None:
        """Add the fields of the entries that `crossref` and `xdata` name. A field that the entry already has
        is not changed."""
        seen, child = {entry.key}, entry
        for _ in range(MOST_PARENTS):
            name = next((name for name in ("crossref", "xdata") if name in child.fields), "")
            if not name:
                return
            field = child.fields[name]
            parent_key = field.text.strip()
            if parent_key in seen or parent_key not in self.index.entries:
                circle = "refers back to this entry" if parent_key in seen else "is not an entry of this file"
                message = f'invalid {name}: "{parent_key}" {circle}'
                hint = f"add an entry with the key `{parent_key}`, or remove `{name}`"
                entry.problems.append(BibProblem(message, field.start, len(field.text), hint, severe=False))
                return
            seen.add(parent_key)
            child = self._own_entry(parent_key)
            _inherit_fields(entry, child)

    def _diagnostic(self, mistake: BibProblem) -> Diagnostic:
        start = min(mistake.start, len(self._text))
        line = self._text.count("\n", 0, start) + 1
        begin = self._text.rfind("\n", 0, start) + 1
        end = self._text.find("\n", start)
        written = self._text[begin : end if end >= 0 else len(self._text)]
        column = start - begin + 1
        length = max(1, min(mistake.length, len(written) - column + 1))
        return Diagnostic(
            "bibliography-entry",
            mistake.message,
            self.path,
            Place(line, column, length),
            written[:2_000],
            mistake.hint,
            "error" if mistake.severe else "warning",
        )


def _inherit_fields(entry: BibEntry, parent: BibEntry) -> None:
    for name, value in parent.fields.items():
        if name not in _UNINHERITED_FIELDS:
            entry.fields.setdefault(name, value)
    if entry.kind in _TYPES_WITH_BOOKTITLE and "title" in parent.fields:
        entry.fields.setdefault("booktitle", parent.fields["title"])


class CslJsonFile:
    """A CSL-JSON file. All of it is parsed when it is first needed."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._text = text
        self._mistakes: tuple[Diagnostic, ...] = ()
        self.index: BibIndex | None = None

    @cached_property
    def _works(self) -> Mapping[str, Publication]:
        try:
            return read_csl_json(self._text)
        except CslJsonError as error:
            place = BibtexFile(self.path, self._text, BibIndex({}))
            self._mistakes = (place._diagnostic(BibProblem(str(error), error.offset, hint=error.hint)),)
            return {}

    @property
    def keys(self) -> Sequence[str]:
        """All keys, in the order of the file."""
        return [*self._works]

    def find(self, key: str) -> PublicationLookup | None:
        """Return the publication with this key, or None if the key does not exist."""
        work = self._works.get(key)
        return PublicationLookup(work) if work else None

    def place(self, key: str) -> Diagnostic | None:
        """Return None, because the lines of entries in JSON are unknown."""
        return None

    def problems(self) -> tuple[Diagnostic, ...]:
        """Return the errors in the file itself. Errors in single entries are not included."""
        _ = self._works
        return self._mistakes


BibliographyFile = BibtexFile | CslJsonFile


def read_entries(text: str) -> Iterator[BibEntry]:
    """Yield every entry with all its fields. Used to convert a complete file."""
    file = BibtexFile("", text)
    for key in file.keys:
        yield file.entry(key)
