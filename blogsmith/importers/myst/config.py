"""Settings of a book in `_config.yml`, `myst.yml`, `conf.py` or `config.ini`, and its table of contents."""

from __future__ import annotations

import configparser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from ...api.importing import Diagnostic, SiteError, name_set
from ..model import Notice
from ..source_files import read_text
from ..text.data import DataTextError, as_list, load_python, load_yaml

_CHILDREN = ("parts", "subtrees", "chapters", "sections", "entries", "children")


@dataclass(frozen=True, slots=True)
class BookEntry:
    """An entry of a table of contents, which is a page, a link, a glob of pages, or the caption of a group of
    pages."""

    depth: int
    """Nesting depth; 0 at the top level of the table of contents."""
    title: str = ""
    """Title; if empty, the page's own title is used."""
    file: str = ""
    """Path of a page, usually without its suffix; empty if the entry is not a page."""
    url: str = ""
    """URL of a link; empty if the entry is not a link."""
    pattern: str = ""
    """Glob of pages; empty if the entry is not a glob."""


def read_toc(data: Any) -> tuple[str, list[BookEntry]]:
    """Return the root page, and the other entries in order. The root page is empty if there is none. data:
    content of `_toc.yml`, or of `project.toc` in `myst.yml`."""
    if isinstance(data, Mapping):
        return str(data.get("root") or ""), list(_child_entries(data, 0))
    entries = list(_items(data, 0))
    if entries and entries[0].file:
        return entries[0].file, entries[1:]
    return "", entries


def _child_entries(data: Mapping[str, Any], depth: int) -> Iterator[BookEntry]:
    for name in _CHILDREN:
        yield from _items(data.get(name), depth)


def _items(items: Any, depth: int) -> Iterator[BookEntry]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, str):
            yield BookEntry(depth, file=item)
            continue
        if not isinstance(item, Mapping) or item.get("hidden") is True:
            continue
        file, url, pattern = (str(item.get(name) or "") for name in ("file", "url", "glob"))
        pattern = pattern or str(item.get("pattern") or "")
        title = str(item.get("title") or item.get("caption") or item.get("part") or item.get("header") or "")
        if file or url or pattern or title:
            yield BookEntry(depth, title, file, url, pattern)
        yield from _child_entries(item, depth + 1 if file or url or title else depth)


Flavour = Literal["jupyter-book", "mystmd", "sphinx", "d2lbook"]
FOLDERS = (
    *("", "docs", "book", "doc", "content", "source", "docs/source", "doc/source", "lectures", "site"),
    "notebooks",
)
"""Folders of a repository to search for a book, in this order."""
_OTHER_SITES = name_set("mkdocs.yml zensical.toml _posts _quarto.yml hugo.toml hugo.yaml archetypes")


@dataclass(frozen=True, slots=True)
class BookConfig:
    """Settings of a book, in the same form for all kinds of settings files."""

    flavour: Flavour
    folder: PurePosixPath
    """Folder of the book in its repository."""
    title: str = ""
    authors: tuple[str, ...] = ()
    description: str = ""
    base_url: str = ""
    macros: Mapping[str, str] = field(default_factory=dict)
    """Name of a TeX macro, with backslash → its TeX definition."""
    bibliographies: tuple[str, ...] = ()
    """Bibliography files relative to `folder`; if empty, all `.bib` files of the book are used."""
    substitutions: Mapping[str, str] = field(default_factory=dict)
    inventories: Mapping[str, str] = field(default_factory=dict)
    redirects: Mapping[str, str] = field(default_factory=dict)
    """File of an old page → file of the page that replaces it."""
    root: str = ""
    """Page that becomes the home page, usually without suffix; empty if the settings name none."""
    toc: tuple[BookEntry, ...] = ()
    only_toc: bool = False
    """Whether pages that are not in the table of contents are omitted."""
    excluded: tuple[str, ...] = ()
    numbers_headings: bool = False
    execute: str = ""
    """`off` if the book never runs cells; otherwise empty."""
    timeout_s: float = 0
    file: str = ""
    """Name of the settings file in `folder`."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Content of the settings file."""
    notices: tuple[Notice, ...] = ()


def find_book(root: Path) -> tuple[Flavour, PurePosixPath] | None:
    """Return the kind of book in a repository, and the book's folder; None if the repository has no book."""
    # a folder of another system may contain a book, but is not one itself
    folders = FOLDERS[:1] if any((root / name).exists() for name in _OTHER_SITES) else FOLDERS
    for name in folders:
        folder = root / name
        if (folder / "myst.yml").is_file() or (folder / "myst.yaml").is_file():
            return "mystmd", PurePosixPath(name)
        if (folder / "_toc.yml").is_file():
            return "jupyter-book", PurePosixPath(name)
    for name in folders:
        if "myst" in _read_limited(root / name / "conf.py"):
            return "sphinx", PurePosixPath(name)
    return ("d2lbook", PurePosixPath()) if "notebooks" in _read_limited(root / "config.ini") else None


def _read_limited(file: Path) -> str:
    return (read_text(file) or "")[:200_000] if file.is_file() else ""


def read_config(root: Path) -> BookConfig:
    """Return the settings of the book in the repository at `root`. Raise SiteError if no book is found or its
    settings cannot be read."""
    found = find_book(root)
    if found is None:
        message = f'missing "_toc.yml", "myst.yml" or "conf.py" in "{root}"'
        raise SiteError(Diagnostic("import-source", message, hint="write the folder that contains it"))
    flavour, folder = found
    readers = {"jupyter-book": _read_book, "mystmd": _read_myst, "sphinx": _read_sphinx, "d2lbook": _read_d2l}
    return readers[flavour](root / folder, folder)


def _load(file: Path, folder: PurePosixPath) -> dict[str, Any]:
    try:
        data = load_yaml(read_text(file) or "") if file.is_file() else None
    except DataTextError as error:
        path = (folder / file.name).as_posix()
        hint = "correct this file in the source"
        raise SiteError(Diagnostic("import-source", f'cannot read "{path}": {error}', hint=hint)) from error
    return {str(key): value for key, value in data.items()} if isinstance(data, dict) else {"": data}


def _map(value: Any) -> dict[str, Any]:
    return {str(key): each for key, each in value.items()} if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    items = as_list(value)
    return tuple(str(each) for each in items if isinstance(each, (str, int, float)) and str(each).strip())


def _macros(value: Any) -> dict[str, str]:
    """Return name of a macro with backslash → TeX. value: macros in the form of MathJax or mystmd. Macros
    with optional arguments are omitted."""
    found: dict[str, str] = {}
    for name, body in _map(value).items():
        body = _map(body).get("macro") if isinstance(body, dict) else body
        if isinstance(body, list) and len(body) < 3:
            body = body[0] if body else ""
        if isinstance(body, str):
            found["\\" + name.lstrip("\\")] = body
    return found


def _read_book(folder: Path, path: PurePosixPath) -> BookConfig:
    config = _load(folder / "_config.yml", path)
    toc = _load(folder / "_toc.yml", path)
    root, entries = read_toc(toc.get("") if set(toc) == {""} else toc)
    sphinx = _map(_map(config.get("sphinx")).get("config"))
    execute, substitutions = _map(config.get("execute")), _map(config.get("parse")).get("myst_substitutions")
    return BookConfig(
        flavour="jupyter-book",
        file="_config.yml",
        values={key: value for key, value in config.items() if key},
        folder=path,
        title=str(config.get("title") or ""),
        authors=_texts(config.get("author")),
        description=str(config.get("description") or ""),
        base_url=str(_map(config.get("html")).get("baseurl") or ""),
        macros=_sphinx_macros(sphinx),
        bibliographies=_texts(config.get("bibtex_bibfiles") or sphinx.get("bibtex_bibfiles")),
        substitutions=_values(substitutions or sphinx.get("myst_substitutions")),
        inventories=_inventories(sphinx.get("intersphinx_mapping")),
        redirects=_values(sphinx.get("rediraffe_redirects")),
        root=root,
        toc=tuple(entries),
        only_toc=config.get("only_build_toc_files") is True,
        excluded=_texts(config.get("exclude_patterns")),
        execute="off" if str(execute.get("execute_notebooks")).lower() in ("off", "false") else "",
        timeout_s=float(execute["timeout"]) if isinstance(execute.get("timeout"), (int, float)) else 0,
    )


def _sphinx_macros(config: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("mathjax3_config", "mathjax_config", "mathjax4_config"):
        settings = _map(config.get(name))
        for part in (settings.get("tex"), settings.get("TeX"), settings):
            found |= _macros(_map(part).get("macros") or _map(part).get("Macros"))
    return found


def _values(value: Any) -> dict[str, str]:
    return {key: str(each) for key, each in _map(value).items() if isinstance(each, (str, int, float))}


def _inventories(value: Any) -> dict[str, str]:
    found = {
        name: each[0] if isinstance(each, (list, tuple)) and each else each
        for name, each in _map(value).items()
    }
    return {name: str(each) for name, each in found.items() if isinstance(each, str)}


def _read_myst(folder: Path, path: PurePosixPath) -> BookConfig:
    file = folder / "myst.yml"
    file = file if file.is_file() else folder / "myst.yaml"
    config = _load(file, path)
    project, site = _map(config.get("project")), _map(config.get("site"))
    written = project.get("toc")
    if written is None and (folder / "_toc.yml").is_file():
        toc = _load(folder / "_toc.yml", path)
        written = toc.get("") if set(toc) == {""} else toc
    root, entries = read_toc(written) if written is not None else ("", [])
    authors = project.get("authors") or project.get("author")
    numbering = project.get("numbering")
    headings = _map(numbering).get("headings", _map(numbering).get("heading_1"))
    headings = headings if isinstance(numbering, dict) else numbering
    return BookConfig(
        flavour="mystmd",
        file=file.name,
        values={key: value for key, value in config.items() if key},
        folder=path,
        title=str(project.get("title") or site.get("title") or ""),
        authors=author_names(authors),
        description=str(project.get("description") or ""),
        macros=_macros(project.get("math")),
        bibliographies=_texts(project.get("bibliography")),
        substitutions=_values(project.get("substitutions")),
        root=root,
        toc=tuple(entries),
        only_toc=bool(entries),
        excluded=_texts(project.get("exclude")),
        numbers_headings=bool(headings),
        notices=_exports(project, path),
    )


def _exports(project: Mapping[str, Any], path: PurePosixPath) -> tuple[Notice, ...]:
    if not project.get("exports") and not project.get("downloads"):
        return ()
    message = "exports and downloads are omitted: blogsmith generates only web pages"
    return (Notice("dropped", message, (path / "myst.yml").as_posix()),)


def author_names(value: Any) -> tuple[str, ...]:
    """Return the names of authors. value: one author or a list of authors; an author is a string or a mapping
    with a name."""
    items = as_list(value)
    names = [_map(each).get("name") if isinstance(each, dict) else each for each in items]
    parts = [_map(name) for name in names if isinstance(name, dict)]
    texts = [str(name) for name in names if isinstance(name, (str, int))]
    return tuple([*texts, *(f"{each.get('given', '')} {each.get('family', '')}".strip() for each in parts)])


def _read_sphinx(folder: Path, path: PurePosixPath) -> BookConfig:
    """Read the plain assignments in `conf.py`, which is never executed."""
    values = load_python(read_text(folder / "conf.py") or "")
    source = (path / "conf.py").as_posix()
    message = "only MyST pages of the Sphinx site are imported, without custom extensions"
    hint = "convert reStructuredText pages to MyST, and import again"
    return BookConfig(
        flavour="sphinx",
        file="conf.py",
        values=values,
        folder=path,
        title=str(values.get("html_title") or values.get("project") or ""),
        authors=_texts(values.get("author")),
        base_url=str(values.get("html_baseurl") or ""),
        macros=_sphinx_macros(values),
        bibliographies=_texts(list(values.get("bibtex_bibfiles") or [])),
        substitutions=_values(values.get("myst_substitutions")),
        inventories=_inventories(values.get("intersphinx_mapping")),
        root=str(values.get("root_doc") or values.get("master_doc") or "index"),
        excluded=_texts(list(values.get("exclude_patterns") or [])),
        notices=(Notice("changed", message, source, hint=hint),),
    )


def _read_d2l(folder: Path, path: PurePosixPath) -> BookConfig:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_text(folder / "config.ini") or "")
    except configparser.Error:
        parser.clear()
    excluded = parser.get("build", "exclusions", fallback="").split()
    return BookConfig(
        flavour="d2lbook",
        file="config.ini",
        values={name: dict(parser.items(name)) for name in parser.sections()},
        folder=path,
        title=parser.get("project", "title", fallback=""),
        authors=_texts(parser.get("project", "author", fallback="")),
        root="index",
        only_toc=True,
        excluded=tuple(excluded),
        execute="off",
    )
