"""The files of a site: pages with their place in the navigation, and what is copied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from ...patterns import lazy_pattern
from ..model import Notice
from ..source_files import read_text, walk_files
from ..text.loose_yaml import DataTextError, load_mapping, split_head
from .config import MkDocsConfig
from .navigation import NavEntry, folder_nav, read_nav, read_summary

_META = lazy_pattern(r"[A-Za-z][\w-]*:[ \t]*\S.*|[ ]{4,}\S.*|\t\S.*")
_META_KEY = lazy_pattern(r"([A-Za-z][\w-]*):[ \t]*(.*)")
_UNCOPIED = frozenset((".css", ".js", ".map", ".scss", ".less", ".py", ".ts"))
_OTHERS = {".ipynb": "a notebook is not read"}


@dataclass(frozen=True, slots=True)
class MkDocsDocument:
    """A page as it is read."""

    path: PurePosixPath
    """Relative to the folder of the pages."""
    source: str
    """Relative to the root of the source."""
    front: dict[str, Any]
    body: str
    first_line: int
    notices: tuple[Notice, ...] = ()


@dataclass(slots=True)
class MkDocsFiles:
    """All files of a site that matter."""

    documents: list[MkDocsDocument] = field(default_factory=list)
    copied: list[PurePosixPath] = field(default_factory=list)
    """Relative to the folder of the pages."""
    nav: list[NavEntry] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def find_files(root: Path, config: MkDocsConfig) -> MkDocsFiles:
    """The files of the site."""
    top = root / config.docs
    found = MkDocsFiles()
    out = [line.strip() for line in config.text_lines("exclude_docs") if line.strip()]
    for path in walk_files(top):
        if any(_matches(path, pattern) for pattern in out):
            continue
        source = (config.docs / path).as_posix()
        if path.suffix in (".md", ".markdown"):
            _add_page(found, top, path, source)
        elif path.suffix in _OTHERS:
            hint = "import it by itself, --from notebooks"
            found.notices.append(Notice("left", _OTHERS[path.suffix], source, hint=hint))
        elif not (path.suffix.lower() in _UNCOPIED or path.parts[0] == "overrides" or path.name[0] == "."):
            found.copied.append(path)
    found.nav = _navigation(top, config, found.documents)
    known = {document.path.as_posix() for document in found.documents}
    missing = [entry.file for entry in found.nav if entry.file and entry.file not in known]
    for file in missing:
        if not file.endswith((".ipynb", "/")):
            message = f"page {file} of the navigation is not there"
            found.notices.append(Notice("missing", message, config.file.as_posix()))
    found.nav = [entry for entry in found.nav if not entry.file or entry.file in known]
    return found


def _matches(path: PurePosixPath, pattern: str) -> bool:
    name, pattern = path.as_posix(), pattern.strip("/")
    return fnmatch(name, pattern) or fnmatch(path.name, pattern) or name.startswith(f"{pattern}/")


def _add_page(found: MkDocsFiles, top: Path, path: PurePosixPath, source: str) -> None:
    text = read_text(top / path)
    if text is None:
        return
    head, body, first = split_head(text)
    front: dict[str, Any] = {}
    try:
        front = load_mapping(head)
    except DataTextError as error:
        message = f"the front matter cannot be read: {error}"
        found.notices.append(Notice("mistake", message, source, error.line + 1))
    if not head:
        front, body, first = split_meta(text)
    found.documents.append(MkDocsDocument(path, source, front, body, first))


def split_meta(text: str) -> tuple[dict[str, Any], str, int]:
    """Lines `key: value` at the head of a page, as Python-Markdown's `meta` has them; the text behind, and
    its first line."""
    lines = text.split("\n")
    end = 0
    while end < len(lines) and _META.fullmatch(lines[end]) and (end or _META_KEY.fullmatch(lines[0])):
        end += 1
    if not end or (end < len(lines) and lines[end].strip()):
        return {}, text, 1
    found: dict[str, Any] = {}
    key = ""
    for line in lines[:end]:
        if pair := _META_KEY.fullmatch(line):
            key = pair[1].lower()
            found[key] = pair[2].strip()
        elif key:
            found[key] = f"{found[key]} {line.strip()}".strip()
    return found, "\n".join(lines[end:]), end + 1


def _navigation(top: Path, config: MkDocsConfig, documents: Iterable[MkDocsDocument]) -> list[NavEntry]:
    if config.values.get("nav"):
        return read_nav(config.values["nav"])
    if "literate-nav" in config.plugins:
        name = str(config.plugins["literate-nav"].get("nav_file") or "SUMMARY.md")
        if text := read_text(top / name):
            return read_summary(split_head(text)[1])
    blog = config.blog_folder
    return folder_nav([each.path for each in documents if not blog or each.path.parts[0] != blog])
