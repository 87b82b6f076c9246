"""The files of a Quarto project: documents that become pages, and all others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from pathlib import Path, PurePosixPath
from typing import Any

from ...model.paths import collapse_path
from ..model import Notice
from ..notebooks.markdown import NotebookText, notebook_text
from ..notebooks.notebook import NotebookError, read_notebook
from ..notebooks.page import CellNotices
from ..protection import complete_front, hold_back, part_protected
from ..source_files import SKIPPED, read_text, walk_files
from ..text.front_values import list_of
from ..text.loose_yaml import DataTextError, load_mapping, split_head
from ..text.title_heading import take_title
from .config import QuartoConfig, merge, rebase

SUFFIXES = frozenset((".qmd", ".md", ".rmd", ".ipynb", ".markdown"))
_OWN_FILES = re.compile(r"(?:README|LICENSE|CONTRIBUTING|CHANGELOG)\b.*", re.IGNORECASE)
_OTHERS = frozenset(("renv", "site_libs", "_freeze", "_extensions"))


@dataclass(frozen=True, slots=True)
class QuartoDocument:
    """A file that Quarto makes a page of."""

    path: PurePosixPath
    """Relative to the root of the source."""
    front: Mapping[str, Any]
    """Its own front matter."""
    options: Mapping[str, Any]
    """The same over what project and folders say."""
    body: str
    """Of a notebook its cells as Markdown."""
    first_line: int
    is_section: bool
    """The index of a folder in which there are other pages."""
    notices: tuple[Notice, ...] = field(default=())
    notebook: NotebookText | None = None
    """What came out of a notebook besides its text."""

    @property
    def address(self) -> str:
        """Site path without the base path."""
        folder = "" if self.path.parent == PurePosixPath() else f"{self.path.parent.as_posix()}/"
        name = str(self.front.get("output-file") or self.path.stem).removesuffix(".html")
        return f"/{folder}" if name == "index" else f"/{folder}{name}.html"

    @property
    def new_path(self) -> PurePosixPath:
        """Where it stands in the new site."""
        content = PurePosixPath("content") / self.path.parent
        return content / ("_index.md" if self.is_section else f"{self.path.stem}.md")


@dataclass(frozen=True, slots=True)
class QuartoFiles:
    """What there is in a project."""

    documents: tuple[QuartoDocument, ...]
    others: tuple[PurePosixPath, ...]
    """All other files that could be published."""
    notices: tuple[Notice, ...] = ()


def find_files(root: Path, config: QuartoConfig) -> QuartoFiles:
    """Every file of the project."""
    skipped = {*SKIPPED, *_OTHERS, config.output}
    paths = [path for path in walk_files(root, skipped) if config.output not in _folders(path)]
    wanted = _chosen(config)
    pages: dict[PurePosixPath, PurePosixPath] = {}
    notices: list[Notice] = []
    for path in sorted(paths, key=lambda path: (path.suffix.lower() != ".qmd", path)):
        if _is_page(path) and wanted(path):
            stem = path.with_suffix("")
            if stem in pages:
                message = f"{pages[stem]} has the same address, and stands for both"
                notices.append(Notice("dropped", message, path.as_posix()))
            else:
                pages[stem] = path
    read = (_read(root, path, config, list(pages.values())) for path in sorted(pages.values()))
    documents, held = part_protected(
        filter(None, read),
        lambda document: document.path,
        lambda document: hold_back(document.options, document.path),
    )
    notices += held
    taken = set(pages.values())
    others = tuple(path for path in paths if path not in taken and not path.name.startswith((".", "_quarto")))
    return QuartoFiles(tuple(documents), others, tuple(notices))


def _folders(path: PurePosixPath) -> list[str]:
    return [folder.as_posix() for folder in path.parents]


def _is_page(path: PurePosixPath) -> bool:
    return path.suffix.lower() in SUFFIXES and not any(part.startswith((".", "_")) for part in path.parts)


class _Chosen:
    """Whether the project renders a file, by `project: render:`."""

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
    return translate(pattern.replace("**/", "*")) + (
        f"|{re.escape(pattern)}/.*" if "*" not in pattern else ""
    )


def _chosen(config: QuartoConfig) -> _Chosen:
    written = config.mapping("project").get("render") or []
    patterns = [str(each) for each in list_of(written)]
    return _Chosen(patterns, list(chapters_of(config)) if "book" in config.values else [])


def chapters_of(config: QuartoConfig) -> Iterator[str]:
    """Files of a book, in order."""

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
    head, body, first_line = split_head(text)
    own, notices = read_front(head, path.as_posix())
    own = rebase(own, path.parent)
    options = merge(config.shared(path), own)
    return QuartoDocument(path, own, options, body, first_line, is_section, notices)


def _read_notebook(
    text: str, path: PurePosixPath, config: QuartoConfig, *, is_section: bool
) -> QuartoDocument:
    """A notebook as a document: its cells as Markdown with cells of code."""
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
    title, body = take_title(found.text) if "title" not in front else ("", found.text)
    front = {"title": title, **front} if title else front
    return replace(document, front=front, body=body, notices=tuple(notes.found), notebook=found)


def read_front(head: str, source: str) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """Front matter, and what is wrong with it; line by line where it is no YAML."""
    try:
        return complete_front(load_mapping(head), head), ()
    except DataTextError as error:
        message = f"the front matter is not YAML: {error}"
        pairs = re.findall(r"^([\w-]+):[ \t]*(.+?)[ \t]*$", head, re.MULTILINE)
        found = {key: value.strip("\"'") for key, value in pairs}
        return found, (Notice("mistake", message, source, error.line + 1),)


def resolve(target: str, path: PurePosixPath) -> PurePosixPath:
    """The file that an address in a document means, from the root of the project."""
    return collapse_path(
        PurePosixPath(target.lstrip("/")) if target.startswith("/") else path.parent / target
    )
