"""Files of a book, which are pages, their order, and copied files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import NotebookError, name_set
from ..model import Notice
from ..notebooks.notebook import NotebookDocument, read_notebook
from ..protection import check_access, excluded_notice, read_front_matter
from ..source_files import SKIPPED, read_text, walk_files
from ..text.data import split_yaml_front_matter
from .config import BookConfig, BookEntry
from .d2l import rewrite_d2l

SUFFIXES = (".md", ".myst", ".ipynb")
"""File extensions of pages. If two files differ only in the extension, the first in this list is used."""
_UNSUPPORTED_SUFFIXES = {".rst": "unsupported format: reStructuredText", ".tex": "unsupported format: LaTeX"}
_HINTS = {".rst": "convert it to MyST with `rst-to-myst`", ".tex": "convert it to Markdown with `pandoc`"}
_NO_PAGES = frozenset(("readme", "changelog", "contributing", "code_of_conduct", "license", "security"))
_SKIPPED_FILES = name_set(
    "_toc.yml _config.yml myst.yml myst.yaml conf.py config.ini makefile make.bat license environment.yml "
    "requirements.txt setup.py setup.cfg pyproject.toml dockerfile netlify.toml package.json "
    "package-lock.json yarn.lock tox.ini noxfile.py uv.lock"
)
_UNCOPIED_SUFFIXES = name_set(".md .myst .ipynb .rst .bib .sty .cls .lock .sh .graffle")
_TOCTREE = re.compile(r"^(`{3,}|:{3,})\{toctree\}[^\n]*\n(.*?)^\1", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BookDocument:
    """A page of the source."""

    source: str
    """Path relative to the root of the source."""
    front: dict[str, Any]
    text: str
    """Text after the front matter; the content of the whole file for a notebook."""
    first_line: int
    order: int
    """1-based position in the table of contents; 0 if the table does not list the page."""
    title: str = ""
    """Title in the table of contents; empty if the table has no title for the page."""
    notebook: NotebookDocument | None = None


@dataclass(slots=True)
class BookFiles:
    """Pages and other files of a book."""

    documents: list[BookDocument] = field(default_factory=list)
    copied: list[PurePosixPath] = field(default_factory=list)
    """Paths of files to copy, relative to the folder of the book."""
    root: str = ""
    """Page that becomes the home page."""
    toc: list[BookEntry] = field(default_factory=list)
    """Entries of the table of contents whose files exist. Paths have a suffix and are relative to the folder
    of the book."""
    bibliographies: list[PurePosixPath] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def find_files(root: Path, config: BookConfig) -> BookFiles:
    """Return the pages, bibliographies and other files of the book. root: root of the source."""
    top = root / config.folder
    found = BookFiles(notices=list(config.notices))
    every = []
    for path in walk_files(top, SKIPPED | {"_build", "_sources", "site-packages"}):
        if not _is_excluded(path, config):
            every.append(path)
        elif _is_page(path):
            found.notices.append(excluded_notice("excluded by the settings", config.folder / path))
    pages = [path for path in every if path.suffix in (*SUFFIXES, *_UNSUPPORTED_SUFFIXES)]
    found.root = _resolve(config.root, pages) or _implicit_root(pages)
    found.toc = _order(config, pages, found, top)
    listed = list(dict.fromkeys([found.root, *(entry.file for entry in found.toc if entry.file)]))
    rest = [] if config.only_toc else [path.as_posix() for path in pages if _is_page(path)]
    titles = {entry.file: entry.title for entry in found.toc}
    names = dict.fromkeys([*listed, *sorted(rest, key=_rank)])
    for name in _remove_duplicates([name for name in names if name], config, found):
        order = listed.index(name) if name in listed else -1
        _add(found, top, config, PurePosixPath(name), order, titles.get(name, ""))
    wanted = set(config.bibliographies)
    found.bibliographies = [
        path for path in every if path.suffix == ".bib" and (not wanted or path.as_posix() in wanted)
    ]
    found.copied = [
        path
        for path in every
        if path.suffix.lower() not in _UNCOPIED_SUFFIXES and path.name.lower() not in _SKIPPED_FILES
    ]
    return found


def _rank(name: str) -> tuple[str, int]:
    """Return the sort key of a page. By this key, a text file comes before a notebook with the same name."""
    path = PurePosixPath(name)
    return path.with_suffix("").as_posix(), SUFFIXES.index(path.suffix) if path.suffix in SUFFIXES else 9


def _remove_duplicates(names: list[str], config: BookConfig, found: BookFiles) -> Iterator[str]:
    """Yield the names of pages. If several pages have the same URL, yield only the first and report the
    others."""
    taken: dict[PurePosixPath, str] = {}
    for name in names:
        other = taken.setdefault(PurePosixPath(name).with_suffix(""), name)
        if other == name:
            yield name
        else:
            message = f'page is omitted because "{other}" has the same URL'
            found.notices.append(Notice("dropped", message, (config.folder / name).as_posix()))


def _is_excluded(path: PurePosixPath, config: BookConfig) -> bool:
    name = path.as_posix()
    return any(
        fnmatch(name, pattern.removeprefix("./")) or name.startswith(f"{pattern.strip('/*')}/")
        for pattern in config.excluded
    )


def _is_page(path: PurePosixPath) -> bool:
    return path.suffix in SUFFIXES and path.stem.lower() not in _NO_PAGES


def _resolve(name: str, pages: list[PurePosixPath]) -> str:
    """Return the path of the page that an entry of a table of contents names, with suffix; empty if there is
    no such page."""
    name = name.strip().removeprefix("./").lstrip("/")
    known = {path.as_posix() for path in pages}
    candidates = [name, *(f"{name}{suffix}" for suffix in (*SUFFIXES, *_UNSUPPORTED_SUFFIXES))]
    return next((each for each in candidates if name and each in known), "")


def _implicit_root(pages: list[PurePosixPath]) -> str:
    names = {path.as_posix().lower(): path.as_posix() for path in pages if len(path.parts) == 1}
    for stem in ("index", "readme", "intro", "main", "landing-page"):
        if found := names.get(f"{stem}.md"):
            return found
    return next((path.as_posix() for path in pages if path.suffix in SUFFIXES), "")


def _order(config: BookConfig, pages: list[PurePosixPath], found: BookFiles, top: Path) -> list[BookEntry]:
    """Return the entries of the table of contents with paths of existing files. Report missing files."""
    if config.flavour in ("sphinx", "d2lbook"):
        return list(_walk_toctrees(found.root, pages, config, top, {found.root}, 0))
    if not config.toc and config.flavour == "mystmd":
        others = sorted(path.as_posix() for path in pages if _is_page(path) and path.as_posix() != found.root)
        return [BookEntry(0, file=name) for name in others]
    return list(_resolve_entries(config, pages, found))


def _resolve_entries(config: BookConfig, pages: list[PurePosixPath], found: BookFiles) -> Iterator[BookEntry]:
    for entry in config.toc:
        if entry.pattern:
            names = sorted(
                path.as_posix() for path in pages if fnmatch(path.as_posix(), entry.pattern.lstrip("./"))
            )
            yield from (BookEntry(entry.depth, file=name) for name in names if name != found.root)
        elif not entry.file:
            yield entry
        elif name := _resolve(entry.file, pages):
            yield BookEntry(entry.depth, entry.title, name)
        else:
            file = "myst.yml" if config.flavour == "mystmd" else "_toc.yml"
            message = f'page in the table of contents not found: "{entry.file}"'
            found.notices.append(Notice("missing", message, (config.folder / file).as_posix()))


def _walk_toctrees(
    name: str, pages: list[PurePosixPath], config: BookConfig, top: Path, seen: set[str], depth: int
) -> Iterator[BookEntry]:
    """Yield the pages that `{toctree}` lists in a page, and recursively in those pages. seen: files that were
    already yielded; this function adds to it."""
    text = _prose(read_text(top / name) or "", name)
    if config.flavour == "d2lbook":
        text = rewrite_d2l(text)
    for block in _TOCTREE.finditer(text):
        for line in block[2].split("\n"):
            target = line.rpartition("<")[2].strip().rstrip(">").strip()
            if not target or target.startswith((":", "%", "#")):
                continue
            base = PurePosixPath() if target.startswith("/") else PurePosixPath(name).parent
            path = _resolve((base / target.lstrip("/")).as_posix(), pages)
            if path and path not in seen and depth < 20:
                seen.add(path)
                yield BookEntry(depth, file=path)
                yield from _walk_toctrees(path, pages, config, top, seen, depth + 1)


def _prose(text: str, name: str) -> str:
    """Return the Markdown of a page. For a notebook, this is the text of its Markdown cells. name: name of
    the file."""
    if not name.endswith(".ipynb"):
        return text
    try:
        cells = read_notebook(text).cells
    except NotebookError:
        return ""
    return "\n\n".join(cell.source for cell in cells if cell.kind == "markdown")


def _add(
    found: BookFiles, top: Path, config: BookConfig, path: PurePosixPath, order: int, title: str
) -> None:
    source = (config.folder / path).as_posix()
    if path.suffix in _UNSUPPORTED_SUFFIXES:
        found.notices.append(
            Notice("left", _UNSUPPORTED_SUFFIXES[path.suffix], source, hint=_HINTS[path.suffix])
        )
        return
    text = read_text(top / path) if path.name else None
    if text is None:
        return
    if path.suffix == ".ipynb":
        _add_notebook(found, source, text, max(order, 0), title)
        return
    head, body, first = split_yaml_front_matter(text)
    front, notices = read_front_matter(head, source, "invalid front matter")
    found.notices.extend(notices)
    if notice := check_access(front, source):
        found.notices.append(notice)
        return
    found.documents.append(BookDocument(source, front, body, first, max(order, 0), title))


def _add_notebook(found: BookFiles, source: str, text: str, order: int, title: str) -> None:
    try:
        notebook = read_notebook(text)
    except NotebookError as error:
        found.notices.append(Notice("mistake", str(error), source, error.line))
        return
    if notice := check_access(notebook.front, source):
        found.notices.append(notice)
        return
    found.documents.append(BookDocument(source, dict(notebook.front), text, 1, order, title, notebook))
