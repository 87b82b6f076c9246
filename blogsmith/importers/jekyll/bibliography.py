"""Where a Jekyll site keeps its `.bib` files, and which of them a page means."""

from __future__ import annotations

from pathlib import Path

from ..bibliography.bibtex import read_bibtex
from ..source_files import read_text, walk_files
from ..text.front_values import list_of
from .site import JekyllSite
from .source import JekyllDocument

Entries = dict[str, dict[str, str]]


class Bibliographies:
    """The `.bib` files of one site, each read once."""

    def __init__(self, site: JekyllSite) -> None:
        self._site = site
        self._read: dict[Path, Entries] = {}
        self._common: Entries | None = None

    def entries(self, document: JekyllDocument) -> Entries:
        """Key → fields, of the file that a page names, and behind it those of the site."""
        written = document.front.get("bibliography")
        names = list_of(written)
        found: Entries = {}
        for name in names:
            if isinstance(name, str) and (file := self._find(name.strip())):
                found = self._entries(file) | found
        return self._site_entries() | found

    def _find(self, name: str) -> Path | None:
        folder = self._site.root / self._site.config.folder
        places = ("assets/bibliography", "_bibliography", "", "assets/bib", "assets", "bibliography")
        return next((file for place in places if (file := folder / place / name).is_file()), None)

    def _site_entries(self) -> Entries:
        if self._common is None:
            folder = self._site.root / self._site.config.folder / "_bibliography"
            self._common = {}
            for path in walk_files(folder) if folder.is_dir() else ():
                if path.suffix == ".bib":
                    self._common = self._entries(folder / path) | self._common
        return self._common

    def _entries(self, file: Path) -> Entries:
        if file not in self._read:
            self._read[file] = read_bibtex(read_text(file) or "")
        return self._read[file]
