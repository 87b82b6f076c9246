"""Files of a Quarto project, which are settings and documents. Also the index for links between pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ...api.importing import (
    Diagnostic,
    NotebookError,
    SiteError,
    collapse_path,
    lazy_pattern,
    slug_problem,
    slugify,
)
from ..model import Notice
from ..notebooks.markdown import ImportedText, notebook_text
from ..notebooks.notebook import read_notebook
from ..notebooks.page import CellNotices
from ..protection import check_access, read_front_matter, split_protected
from ..source_files import SKIPPED, read_text, walk_files
from ..text.data import DataTextError, as_list, load_mapping, split_yaml_front_matter
from ..text.pieces import split_title

NAMES = ("_quarto.yml", "_quarto.yaml")
_METADATA = ("_metadata.yml", "_metadata.yaml")
_PROJECT_KEYS = frozenset(("project", "website", "book", "manuscript", "profile", "metadata-files"))
PATH_KEYS = ("bibliography", "csl", "include-in-header", "include-before-body", "metadata-files")


@dataclass(frozen=True, slots=True)
class QuartoConfig:
    """The settings of a project."""

    name: str
    """Name of the settings file; empty if the project has none."""
    values: Mapping[str, Any]
    folders: Mapping[PurePosixPath, Mapping[str, Any]] = field(default_factory=dict)
    """Folder → content of its `_metadata.yml`."""
    notices: tuple[Notice, ...] = ()

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Return the setting `key` if it is a mapping; otherwise an empty mapping."""
        found = self.values.get(key)
        return found if isinstance(found, dict) else {}

    @property
    def site(self) -> Mapping[str, Any]:
        """Return the settings under `website:`, overridden by those under `book:`."""
        return {**self.mapping("website"), **self.mapping("book")}

    @property
    def output(self) -> str:
        """Return the output folder of the project."""
        default = "_book" if "book" in self.values else "_site"
        return str(self.mapping("project").get("output-dir") or default).strip("/")

    @property
    def base_url(self) -> str:
        """Return the URL of the site without trailing slash; empty if it is not set."""
        address = str(self.site.get("site-url") or "").strip().rstrip("/")
        return address if address.startswith(("https://", "http://")) else ""

    @property
    def base_path(self) -> str:
        """Return the path of `base_url`, such as `/blog`; empty at the root of a domain."""
        return urlsplit(self.base_url).path.rstrip("/")

    def shared(self, path: PurePosixPath) -> dict[str, Any]:
        """Return the options that a page gets from the project and from `_metadata.yml` in its folders."""
        found: dict[str, Any] = {key: value for key, value in self.values.items() if key not in _PROJECT_KEYS}
        for folder in reversed(path.parents):
            found = merge(found, self.folders.get(folder, {}))
        return found


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two sets of options as Quarto does. Mappings are merged key by key. Any other value in `above`
    replaces the value in `below`."""
    found = dict(below)
    for key, value in above.items():
        old = found.get(key)
        found[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found


def find_config(root: Path) -> Path | None:
    """Return the path of the project's settings file; None if there is none."""
    return next((root / name for name in NAMES if (root / name).is_file()), None)


def read_config(root: Path) -> QuartoConfig:
    """Return the settings of the project and its folders. Raise SiteError if the project's settings file is
    not valid YAML."""
    file = find_config(root)
    values: dict[str, Any] = {}
    if file:
        try:
            values = load_mapping(read_text(file) or "")
        except DataTextError as error:
            message = f'invalid YAML in line {error.line} of "{file.name}": {error}'
            hint = "correct this line in the source"
            raise SiteError(Diagnostic("import-source", message, hint=hint)) from error
    folders, notices = {}, []
    for path, found in _read_folders(root):
        if isinstance(found, Notice):
            notices.append(found)
        else:
            folders[path] = found
    values = rebase(values, PurePosixPath())
    return QuartoConfig(file.name if file else "", values, folders, tuple(notices))


def _read_folders(root: Path) -> Iterator[tuple[PurePosixPath, dict[str, Any] | Notice]]:
    for path in walk_files(root):
        if path.name in _METADATA:
            try:
                yield path.parent, rebase(load_mapping(read_text(root / path) or ""), path.parent)
            except DataTextError as error:
                message = f"invalid YAML: {error}"
                yield path.parent, Notice("mistake", message, path.as_posix(), error.line)


def rebase(values: Mapping[str, Any], folder: PurePosixPath) -> dict[str, Any]:
    """Return settings with file names relative to the root of the project. folder: folder of the names in
    `values`."""
    found = dict(values)
    for key in PATH_KEYS:
        if key in found:
            found[key] = _rebase_value(found[key], folder)
    for name, value in found.items():
        if name == "format" and isinstance(value, dict):
            found[name] = {
                key: rebase(each, folder) if isinstance(each, dict) else each for key, each in value.items()
            }
    return found


def _rebase_value(value: Any, folder: PurePosixPath) -> Any:
    if isinstance(value, list):
        return [_rebase_value(each, folder) for each in value]
    if not isinstance(value, str) or "\n" in value or re.match(r"\w+:", value):
        return value
    return _collapse(value, folder).as_posix()


def _collapse(address: str, folder: PurePosixPath) -> PurePosixPath:
    return collapse_path(PurePosixPath(address.lstrip("/")) if address.startswith("/") else folder / address)


SUFFIXES = frozenset((".qmd", ".md", ".rmd", ".ipynb", ".markdown"))
_OWN_FILES = re.compile(r"(?:README|LICENSE|CONTRIBUTING|CHANGELOG)\b.*", re.IGNORECASE)
_SKIPPED_FOLDERS = frozenset(("renv", "site_libs", "_freeze", "_extensions"))


@dataclass(frozen=True, slots=True)
class QuartoDocument:
    """A file that becomes a page in Quarto."""

    path: PurePosixPath
    """Path relative to the root of the source."""
    front: Mapping[str, Any]
    """Front matter of the file."""
    options: Mapping[str, Any]
    """Options of the page, which are its front matter, and defaults from the project and folders."""
    body: str
    """Text after the front matter; for a notebook, its cells as Markdown."""
    first_line: int
    is_section: bool
    """Whether the document is the index of a folder that contains other pages, or of the project."""
    notices: tuple[Notice, ...] = field(default=())
    notebook: ImportedText | None = None
    """Converted notebook, with its files and cells; None if the document is not a notebook."""

    @property
    def address(self) -> str:
        """Return the URL path of the document in the old site, without the site's base path."""
        folder = "" if self.path.parent == PurePosixPath() else f"{self.path.parent.as_posix()}/"
        name = str(self.front.get("output-file") or self.path.stem).removesuffix(".html")
        return f"/{folder}" if name == "index" else f"/{folder}{name}.html"

    @property
    def new_path(self) -> PurePosixPath:
        """Return the path of the page in the new site."""
        content = PurePosixPath("content") / self.path.parent
        return content / ("_index.md" if self.is_section else f"{self.path.stem}.md")


@dataclass(frozen=True, slots=True)
class QuartoFiles:
    """Documents and files of a project."""

    documents: tuple[QuartoDocument, ...]
    others: tuple[PurePosixPath, ...]
    """All files that are not pages and could be published."""
    notices: tuple[Notice, ...] = ()


def find_files(root: Path, config: QuartoConfig) -> QuartoFiles:
    """Return all documents and files of the project."""
    skipped = {*SKIPPED, *_SKIPPED_FOLDERS, config.output}
    paths = [path for path in walk_files(root, skipped) if config.output not in map(str, path.parents)]
    wanted = _render_filter(config)
    pages: dict[PurePosixPath, PurePosixPath] = {}
    notices: list[Notice] = []
    for path in sorted(paths, key=lambda path: (path.suffix.lower() != ".qmd", path)):
        if _is_page(path) and wanted(path):
            stem = path.with_suffix("")
            if stem in pages:
                message = f'page is omitted because "{pages[stem]}" has the same URL'
                notices.append(Notice("dropped", message, path.as_posix()))
            else:
                pages[stem] = path
    read = (_read(root, path, config, list(pages.values())) for path in sorted(pages.values()))
    documents, held = split_protected(
        filter(None, read),
        lambda document: document.path,
        lambda document: check_access(document.options, document.path),
    )
    notices += held
    taken = set(pages.values())
    others = tuple(path for path in paths if path not in taken and not path.name.startswith((".", "_quarto")))
    return QuartoFiles(tuple(documents), others, tuple(notices))


def _is_page(path: PurePosixPath) -> bool:
    return path.suffix.lower() in SUFFIXES and not any(part.startswith((".", "_")) for part in path.parts)


class _RenderFilter:
    """Filter of the files that the project renders, by `project: render:` and the chapters of a book."""

    def __init__(self, patterns: Sequence[str], chapters: Sequence[str]) -> None:
        self._only = [re.compile(_glob(each)) for each in patterns if not each.startswith("!")]
        self._not = [re.compile(_glob(each[1:])) for each in patterns if each.startswith("!")]
        self._chapters = frozenset(chapters)

    def __call__(self, path: PurePosixPath) -> bool:
        text = path.as_posix()
        if any(each.fullmatch(text) for each in self._not):
            return False
        if self._chapters:
            return text in self._chapters
        if self._only:
            return any(each.fullmatch(text) for each in self._only)
        return not (path.suffix.lower() == ".md" and _OWN_FILES.fullmatch(path.name))


def _glob(pattern: str) -> str:
    pattern = pattern.strip().lstrip("/").removeprefix("./")
    if pattern.endswith("/"):
        pattern += "**"
    below = "" if "*" in pattern else f"|{re.escape(pattern)}/.*"
    return translate(pattern.replace("**/", "*")) + below


def _render_filter(config: QuartoConfig) -> _RenderFilter:
    written = config.mapping("project").get("render") or []
    patterns = [str(each) for each in as_list(written)]
    return _RenderFilter(patterns, list(find_chapters(config)) if "book" in config.values else [])


def find_chapters(config: QuartoConfig) -> Iterator[str]:
    """Yield the files of a book's chapters and appendices, in order."""

    def visit(entries: Any) -> Iterator[str]:
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, str):
                yield entry
            elif isinstance(entry, dict):
                for key in ("part", "href", "file"):
                    if PurePosixPath(str(entry.get(key, ""))).suffix.lower() in SUFFIXES:
                        yield str(entry[key])
                yield from visit(entry.get("chapters"))

    book = config.mapping("book")
    yield from visit(book.get("chapters"))
    yield from visit(book.get("appendices"))


def _read(
    root: Path, path: PurePosixPath, config: QuartoConfig, pages: Sequence[PurePosixPath]
) -> QuartoDocument | None:
    text = read_text(root / path)
    if text is None:
        return None
    is_section = path.stem == "index" and (
        path.parent == PurePosixPath()
        or any(path.parent in other.parents and other != path for other in pages)
    )
    if path.suffix == ".ipynb":
        return _read_notebook(text, path, config, is_section=is_section)
    head, body, first_line = split_yaml_front_matter(text)
    own, notices = read_front_matter(head, path.as_posix(), by_line=True)
    own = rebase(own, path.parent)
    options = merge(config.shared(path), own)
    return QuartoDocument(path, own, options, body, first_line, is_section, notices)


def _read_notebook(
    text: str, path: PurePosixPath, config: QuartoConfig, *, is_section: bool
) -> QuartoDocument:
    """Return a notebook as a document. Its text is that of the cells as Markdown."""
    notes = CellNotices(path.as_posix())
    try:
        notebook = read_notebook(text)
    except NotebookError as error:
        notes("mistake", str(error), error.line)
        return QuartoDocument(path, {}, config.shared(path), "", 1, is_section, tuple(notes.found))
    front = rebase(notebook.front, path.parent)
    options = merge(config.shared(path), front)
    document = QuartoDocument(path, front, options, "", 1, is_section)
    found = notebook_text(notebook, document.new_path, notes)
    title, body = split_title(found.text) if "title" not in front else ("", found.text)
    front = {"title": title, **front} if title else front
    return replace(document, front=front, body=body, notices=tuple(notes.found), notebook=found)


def resolve(target: str, path: PurePosixPath) -> PurePosixPath:
    """Return the file that a link points to, relative to the root of the project. path: document with the
    link."""
    return _collapse(target, path.parent)


_LABEL = lazy_pattern(
    r"\{[^{}\n]*#((?:fig|tbl|eq|sec|lst|thm|lem|cor|prp|def|exm|exr|cnj|rem|alg)-[\w.:-]+)|#\|\s*label:\s*((?:fig|tbl)-[\w.-]+)"
)
_SCHEME = re.compile(r"(?:[A-Za-z][\w+.-]*:|//|#)")


@dataclass(frozen=True, slots=True)
class ProjectIndex:
    """All documents and files of a project."""

    documents: Mapping[PurePosixPath, QuartoDocument]
    others: frozenset[PurePosixPath]
    base_path: str = ""
    base_url: str = ""
    drafts: Sequence[str] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Content of `_variables.yml`."""
    labels: Mapping[str, tuple[PurePosixPath, ...]] = field(default_factory=dict)
    """Label → documents that define it."""
    by_stem: Mapping[PurePosixPath, PurePosixPath] = field(default_factory=dict)
    """Path of a document without suffix → its path with suffix."""

    def find_slug(self, label: str, document: QuartoDocument) -> str:
        """Return the slug of the only other page that defines a label. Return an empty string if `document`
        defines it, or if no page or several pages do."""
        places = self.labels.get(label, ())
        if document.path in places or len(places) != 1:
            return ""
        found = self.documents.get(places[0])
        last = PurePosixPath(found.address.removesuffix("index.html") if found else "").name.removesuffix(
            ".html"
        )
        name = places[0].parent.name if places[0].stem == "index" else places[0].stem
        return last if last and not slug_problem(last) else slugify(name)

    def resolve(self, address: str, document: QuartoDocument) -> tuple[str, frozenset[PurePosixPath]]:
        """Return the URL in the new site for a link. Also return the copied file that it points to, as a set
        of at most one path."""
        written = address.strip()
        if self.base_url and (written + "/").startswith(f"{self.base_url}/"):
            written = written[len(self.base_url) :] or "/"
        if not written or _SCHEME.match(written):
            return address, frozenset()
        path, mark, anchor = written.partition("#")
        path = unquote(path.partition("?")[0])
        if self.base_path and path.startswith(f"{self.base_path}/"):
            path = path[len(self.base_path) :]
        target = resolve(path, document.path)
        if found := self._document(target, path):
            return posixpath.relpath(found.new_path, document.new_path.parent) + mark + anchor, frozenset()
        if target in self.others:
            return (f"/{target.as_posix()}" if path.startswith("/") else path), frozenset((target,))
        return written, frozenset()

    def _document(self, target: PurePosixPath, path: str) -> QuartoDocument | None:
        """Return the document that a link points to; None if there is none. The link may contain the
        document's file, its old URL, or the folder that has it as its index. target: `path` relative to the
        root of the project."""
        if target in self.documents:
            return self.documents[target]
        stem = target.with_suffix("") if target.suffix.lower() in (".html", *SUFFIXES) else None
        stems = [stem] if stem else [target / "index"] if path.endswith("/") or not target.suffix else []
        return next((self.documents[self.by_stem[each]] for each in stems if each in self.by_stem), None)


def index_site(
    root: Path, config: QuartoConfig, documents: Sequence[QuartoDocument], others: Sequence[PurePosixPath]
) -> ProjectIndex:
    """Build the index of a project. others: files that are not documents."""
    labels: dict[str, tuple[PurePosixPath, ...]] = {}
    for document in documents:
        for found in set(_LABEL.findall(document.body)):
            label = found[0] or found[1]
            labels[label] = (*labels.get(label, ()), document.path)
    drafts = config.site.get("drafts") or []
    return ProjectIndex(
        documents={document.path: document for document in documents},
        others=frozenset(others),
        base_path=config.base_path,
        base_url=config.base_url,
        drafts=tuple(str(each).lstrip("/") for each in as_list(drafts)),
        variables=_variables(root),
        labels=labels,
        by_stem={document.path.with_suffix(""): document.path for document in documents},
    )


def _variables(root: Path) -> dict[str, Any]:
    try:
        return load_mapping(read_text(root / "_variables.yml") or "")
    except DataTextError:
        return {}
