"""Bibliographies of a source that come over as they are: pages name the file in place of listing its entries.

What no file gives under the name by which a page cites it stands in `references:` still: keys that have to be
written differently here, and entries that our reader finds mistakes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from ...bibliography.bibliography_file import BibtexFile
from ..model import ImportedFile
from ..readable import BIBLIOGRAPHIES
from ..source_files import read_text
from .bibtex import fit_key, read_bibtex, reference_of

_FOLDER = PurePosixPath(BIBLIOGRAPHIES)
Entries = Mapping[str, Mapping[str, str]]
"""Key → fields as plain text."""


class SourceBibliographies:
    """The `.bib` files of one source, each read once, and which of them the new site needs."""

    def __init__(self) -> None:
        self._entries: dict[Path, Entries] = {}
        self._files: dict[Path, BibtexFile] = {}
        self._names: dict[str, Path] = {}
        """Name in the new site → file."""

    def entries(self, file: Path) -> Entries:
        """All entries of a file; none if it cannot be read."""
        if file not in self._entries:
            self._entries[file] = read_bibtex(read_text(file) or "")
        return self._entries[file]

    def all_entries(self, files: Iterable[Path]) -> dict[str, Mapping[str, str]]:
        """The entries of several files, of a key that stands in two those of the first."""
        found: dict[str, Mapping[str, str]] = {}
        for file in files:
            found = {**self.entries(file), **found}
        return found

    def front_of(self, keys: Iterable[str], files: Sequence[Path]) -> dict[str, Any]:
        """`bibliography` and `references` of a page that lists these keys of these files."""
        named: dict[str, None] = {}
        references = []
        for key in keys:
            file = next((file for file in files if key in self.entries(file)), None)
            if file is not None and self._gives(file, key):
                named.setdefault((_FOLDER / self._name(file)).as_posix())
            elif file is not None:
                references.append(reference_of(fit_key(key), self.entries(file)[key]))
        written = [*named]
        found: dict[str, Any] = {"references": references} if references else {}
        return ({"bibliography": written[0] if len(written) == 1 else written} if written else {}) | found

    def _gives(self, file: Path, key: str) -> bool:
        """Whether a build reads the entry without complaint, by the key with which texts cite it."""
        if fit_key(key) != key:
            return False
        if file not in self._files:
            self._files[file] = BibtexFile(file.name, read_text(file) or "")
        work = self._files[file].find(key)
        return work is not None and work.work is not None and not work.diagnostics

    def _name(self, file: Path) -> str:
        """Its name in the new site; of two that are called the same the second has its folder in front."""
        parts = file.with_suffix(".bib").parts
        tried = ("-".join(parts[-at:]) for at in range(1, len(parts) + 1))
        name = next(name for name in tried if self._names.get(name, file) == file)
        self._names[name] = file
        return name

    def copied(self) -> tuple[ImportedFile, ...]:
        """Those that pages name, sorted by path."""
        return tuple(ImportedFile(_FOLDER / name, file) for name, file in sorted(self._names.items()))
