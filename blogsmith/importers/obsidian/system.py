"""Importers for Obsidian, and for Quartz, which publishes a vault."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import Progress, kind_table, lazy_pattern
from ..addresses import add_aliases, keep_url
from ..front_keys import complete_page
from ..model import ImportedPage, SiteImport, by_path
from ..page_work import ONE_PROCESS, Workers, map_pages, translate_document
from ..protection import draft_settings
from ..source_files import read_text, walk_files
from ..text.math import tex_macros
from ..text.segments import PLAIN, divide
from .independent import render_note
from .page import KEYS, NoteTranslator
from .vault import (
    Vault,
    copied_files,
    quartz_address,
    quartz_aliases,
    read_quartz,
    read_vault,
    shows_line_breaks,
)

_KIND = lazy_pattern(r"(?m)^[ \t>]*>[ \t]*\[!([A-Za-z][\w-]*)\]")
_DEFINES = lazy_pattern(r"\\(?:(?:re)?newcommand|providecommand|def|DeclareMathOperator)(?![A-Za-z])")
_WIKI = lazy_pattern(r"!?\[\[[^\[\]\n]+\]\]")
_OTHER_SYSTEM_SUFFIXES = frozenset((".toml", ".yml", ".yaml", ".qmd", ".ipynb"))
"""Suffixes of files that show that a folder belongs to another system."""
_MAX_INSPECTED_NOTES = 200
"""Maximum number of notes to inspect in a folder without Obsidian's settings, to decide whether it is a
vault."""


class Obsidian:
    """Importer for a folder with `.obsidian`, or a folder of notes with wikilinks."""

    title = "Obsidian"

    def recognises(self, root: Path) -> bool:
        """Return whether the folder is a vault. A vault has `.obsidian`, or contains notes with `[[…]]` and
        no files of another system."""
        if not root.is_dir():
            return False
        if (root / ".obsidian").is_dir():
            return True
        if any(path.suffix in _OTHER_SYSTEM_SUFFIXES for path in root.iterdir()):
            return False
        notes = (path for path in walk_files(root) if path.suffix == ".md")
        return any(_WIKI.search(read_text(root / path) or "") for path in islice(notes, _MAX_INSPECTED_NOTES))

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read the whole vault. If the folder has settings of Quartz, read these too."""
        quartz = read_quartz(root)
        folder = quartz.folder if quartz else PurePosixPath()
        vault = read_vault(root / folder, quartz)
        translate = partial(translate_document, NoteTranslator(vault, keeps_slugs=quartz is None).translate)
        pages: list[ImportedPage] = []
        made = map_pages(translate, vault.notes, len(vault.notes), workers)
        for note, page in zip(vault.notes, made, strict=True):
            progress("read", len(pages), len(vault.notes))
            if quartz:
                page = replace(page, address=quartz_address(note.path))
            pages.append(keep_url(complete_page(page, note.front, KEYS), {}))
        pages = _add_aliases(pages, vault) if quartz else pages
        settings = _settings(vault.name, pages) | (quartz.site_settings if quartz else {})
        if shows_line_breaks(root / folder, quartz):
            settings["markup"] = {"line_breaks": True}
        return SiteImport(
            root=root,
            system="quartz" if quartz else "obsidian",
            settings=settings,
            pages=by_path(_below(folder, page) for page in pages),
            files=by_path(copied_files(vault, root / folder)),
            notices=(
                *(replace(each, source=(folder / each.source).as_posix()) for each in vault.notices),
                *(quartz.notices if quartz else ()),
            ),
            old_settings=(quartz.old_settings,) if quartz else (),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the HTML of a note as Obsidian would produce it."""
        return render_note(text)


def _settings(name: str, pages: Sequence[ImportedPage]) -> dict[str, Any]:
    texts = [page.text for page in pages]
    found: dict[str, Any] = {"title": name}
    kinds = {kind.casefold() for text in texts for kind in _KIND.findall(text)} - kind_table().keys()
    if kinds:
        found["callouts"] = {
            kind: {"title": re.sub("[-_]", " ", kind).capitalize()} for kind in sorted(kinds)
        }
    if macros := _shared_macros(texts):
        found["math"] = {"macros": macros}
    found |= {"slugs": "github", "images": {"remote": "warn"}, "embeds": {"remote": "warn"}}
    return found | draft_settings(pages)


def _shared_macros(texts: Sequence[str]) -> dict[str, str]:
    """Return the macros that formulas define, sorted by name. Obsidian applies a definition in one note to
    all notes. If a macro has several definitions, the most frequent one is used."""
    found: dict[str, Counter[str]] = {}
    for text in texts:
        if _DEFINES.search(text):
            formulas = (each.text for each in divide(text, PLAIN) if each.kind == "math")
            for name, tex in (pair for formula in formulas for pair in tex_macros(formula).items()):
                found.setdefault(name, Counter())[tex] += 1
    return {name: min(bodies, key=lambda tex: (-bodies[tex], tex)) for name, bodies in sorted(found.items())}


def _add_aliases(pages: Sequence[ImportedPage], vault: Vault) -> list[ImportedPage]:
    """Add old URLs to the aliases of pages, if Quartz redirects them because of a note's aliases. The URL of
    a page, or of an earlier alias, is not added."""
    taken = {page.address.rstrip("/").casefold() for page in pages}
    found = []
    for page, note in zip(pages, vault.notes, strict=True):
        aliases = list(quartz_aliases(note.path, note.front, taken))
        taken |= {alias.rstrip("/").casefold() for alias in aliases}
        found.append(add_aliases(page, aliases))
    return found


def _below(folder: PurePosixPath, page: ImportedPage) -> ImportedPage:
    """Return the page with its source path relative to the site. folder: folder of the vault in the site."""
    source = (folder / page.source).as_posix()
    notices = tuple(replace(each, source=source) for each in page.notices)
    return replace(page, source=source, notices=notices)


class Quartz(Obsidian):
    """Importer for a vault with settings of Quartz, which publishes it."""

    title = "Quartz"

    def recognises(self, root: Path) -> bool:
        """Return whether the folder contains settings of Quartz."""
        return read_quartz(root) is not None


SYSTEM = Obsidian()
QUARTZ = Quartz()
