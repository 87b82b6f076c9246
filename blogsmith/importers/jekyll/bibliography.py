"""Where a Jekyll site keeps its `.bib` files, and which of them a page means."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from ..source_files import walk_files
from ..text.front_values import list_of
from .site import JekyllSite
from .source import JekyllDocument


class Bibliographies:
    """The `.bib` files of one site."""

    def __init__(self, site: JekyllSite) -> None:
        self._site = site

    def files(self, document: JekyllDocument) -> list[Path]:
        """The files that a page names, and behind them those of the site; an earlier one counts first."""
        written = document.front.get("bibliography")
        named = [
            file for name in list_of(written) if isinstance(name, str) and (file := self._find(name.strip()))
        ]
        return list(dict.fromkeys([*named, *self._common]))

    def _find(self, name: str) -> Path | None:
        folder = self._site.root / self._site.config.folder
        places = ("assets/bibliography", "_bibliography", "", "assets/bib", "assets", "bibliography")
        return next((file for place in places if (file := folder / place / name).is_file()), None)

    @cached_property
    def _common(self) -> list[Path]:
        folder = self._site.root / self._site.config.folder / "_bibliography"
        paths = walk_files(folder) if folder.is_dir() else ()
        return [folder / path for path in paths if path.suffix == ".bib"]
