"""Bibliographies of a Jekyll site. They are the `.bib` files that its pages cite, and lists of publications
as in jekyll-scholar and al-folio."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, name_set
from ..bibliographies import SourceBibliographies
from ..model import ImportedData
from ..source_files import read_text, walk_files
from ..text.data import as_list, one_line
from .settings import config_author
from .source import JekyllDocument, JekyllSite, PageContext, WorkList

_FOLDERS = ("assets/bibliography", "_bibliography", "", "assets/bib", "assets", "bibliography")


class PageBibliographies:
    """The `.bib` files that pages of one site use."""

    def __init__(self, site: JekyllSite) -> None:
        self._site = site
        self.copied = SourceBibliographies()
        """Files that pages cite; they are copied unchanged."""
        self._listed: dict[str, Path] = {}
        """Path in the new site → file whose publications a page lists."""

    def files(self, document: JekyllDocument) -> list[Path]:
        """Return the `.bib` files that a page names, then those of the site. If a key is in several files,
        the first file takes precedence."""
        written = document.front.get("bibliography")
        named = [
            file for name in as_list(written) if isinstance(name, str) and (file := self._find(name.strip()))
        ]
        return list(dict.fromkeys([*named, *self._common]))

    def _find(self, name: str) -> Path | None:
        folder = self._site.root / self._site.config.folder
        source = one_line(self._scholar.get("source")).strip("./") or "_bibliography"
        folders = (source if place == "_bibliography" else place for place in _FOLDERS)
        paths = (PurePosixPath(place) / each for place in folders for each in (name, f"{name}.bib"))
        tried = (folder / path for path in paths if ".." not in path.parts and not path.is_absolute())
        return next((file for file in tried if name and file.is_file()), None)

    @property
    def _scholar(self) -> dict[str, Any]:
        written = self._site.config.values.get("scholar")
        return written if isinstance(written, dict) else {}

    @cached_property
    def _common(self) -> list[Path]:
        folder = self._site.root / self._site.config.folder / "_bibliography"
        paths = walk_files(folder) if folder.is_dir() else ()
        return [folder / path for path in paths if path.suffix == ".bib"]

    def publications(self, context: PageContext) -> dict[str, Any]:
        """Return the front matter for the lists of publications that a page shows; empty if it shows none."""
        is_home = context.document.front.get("selected_papers") is True
        lists = context.lists or ([WorkList("", is_selected=True)] if is_home else [])
        default = one_line(self._scholar.get("bibliography")) or "references.bib"
        named = [self._find(each.file or default) for each in lists]
        found = list(dict.fromkeys(file for one in named for file in ([one] if one else self._common)))
        if not found:
            return {}
        paths = [(PurePosixPath("bibliography") / f"works-{file.name}").as_posix() for file in found]
        self._listed |= dict(zip(paths, found, strict=True))
        hidden = sorted({name for file in found for name in _fields(file) if name in HIDDEN_FIELDS})
        if hidden:
            listed = ", ".join(f'"{name}"' for name in hidden)
            context.notice("dropped", f"fields of publications have no effect: {listed}")
        front: dict[str, Any] = {"publications": paths[0] if len(paths) == 1 else paths}
        front |= {"selected": True} if all(each.is_selected for each in lists) else {}
        first, last = (one_line(next(iter(as_list(self._scholar.get(key) or "")), "")) for key in _NAMES)
        is_other = first and last and last not in config_author(self._site.config)
        return front | ({"authors": [f"{first} {last}"]} if is_other else {})

    def listed_files(self) -> Iterator[ImportedData]:
        """Yield the files whose publications are listed on pages, with only the values that blogsmith can
        show."""
        for path, file in self._listed.items():
            text = convert_fields(read_text(file) or "", self._site.copied)
            yield ImportedData(PurePosixPath(path), text.encode())

    def coauthors(self) -> dict[str, str]:
        """Return the setting `coauthors`: people in al-folio's `_data/coauthors.yml` who are named in listed
        publications. The file has no capital letters, and first names in all forms."""
        written = self._site.data.get("coauthors")
        texts = "\n".join(read_text(file) or "" for file in self._listed.values())
        found = {}
        for last, people in written.items() if isinstance(written, dict) else ():
            family = re.search(rf"(?<!\w){re.escape(str(last))}(?!\w)", texts, re.IGNORECASE)
            for person in as_list(people):
                first = as_list(person.get("firstname")) if isinstance(person, dict) else []
                url = one_line(person.get("url")) if first else ""
                if family and url.startswith(("http://", "https://")):
                    found[f"{one_line(first[0])} {family[0]}"] = url
        return found


def _fields(file: Path) -> Iterator[str]:
    return (found[2].lower() for found in _FIELD.finditer(read_text(file) or ""))


_NAMES = ("first_name", "last_name")
_FIELD = lazy_pattern(r"(?m)^([ \t,]*)(\w+)([ \t]*=[ \t]*[{\"])([^{}\"\n]+)(?=[}\"])")
_FILE_FIELDS = {
    **dict.fromkeys(("pdf", "slides", "poster", "supp"), "/assets/pdf/"),
    **{"html": "/assets/html/", "video": "/assets/video/", "preview": "/assets/img/publication_preview/"},
}
"""Field of a BibTeX entry → folder of the files that it names in al-folio."""
HIDDEN_FIELDS = name_set("annotation additional_info altmetric dimensions google_scholar_id")
"""Fields of al-folio that blogsmith does not show."""


def convert_fields(text: str, copied: frozenset[str]) -> str:
    """Convert the links in the BibTeX entries of al-folio. copied: old URL paths of copied files."""

    def convert(found: re.Match[str]) -> str:
        name, value = found[2].lower(), found[4].strip()
        path = f"{_FILE_FIELDS.get(name, '')}{value}"
        if path in copied:
            value = path
        elif name == "award":
            # a text in Markdown
            value = value.replace("*", "")
        elif name == "preview" and "://" not in value:
            # a missing image would be an error
            value = ""
        return f"{found[1]}{found[2]}{found[3]}{value}"

    return _FIELD.sub(convert, re.sub(r"\A---\n---\n", "", text))
