"""Files of a MkDocs site, which are pages, notebooks and copied files. Also reads the navigation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern
from ..model import Notice
from ..protection import check_access, excluded_notice, is_draft, read_front_matter, withheld_notice
from ..source_files import read_text, walk_files
from ..text.data import split_yaml_front_matter
from .config import MkDocsConfig
from .links import NavEntry, folder_nav, read_nav, read_summary

_META = lazy_pattern(r"[A-Za-z][\w-]*:[ \t]*\S.*|[ ]{4,}\S.*|\t\S.*")
_META_KEY = lazy_pattern(r"([A-Za-z][\w-]*):[ \t]*(.*)")
_SKIPPED_SUFFIXES = frozenset((".css", ".js", ".map", ".scss", ".less", ".py", ".ts"))


@dataclass(frozen=True, slots=True)
class MkDocsDocument:
    """A page of the source."""

    path: PurePosixPath
    """Path relative to the folder of the pages."""
    source: str
    """Path relative to the root of the source."""
    front: dict[str, Any]
    body: str
    first_line: int
    notices: tuple[Notice, ...] = ()


@dataclass(slots=True)
class MkDocsFiles:
    """The pages, copied files and navigation of a site."""

    documents: list[MkDocsDocument] = field(default_factory=list)
    copied: list[PurePosixPath] = field(default_factory=list)
    """Paths of files to copy, relative to the folder of the pages."""
    notebooks: list[PurePosixPath] = field(default_factory=list)
    """Paths of notebooks that are pages, relative to the folder of the pages."""
    nav: list[NavEntry] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def find_files(root: Path, config: MkDocsConfig) -> MkDocsFiles:
    """Return the pages, notebooks and other files of the site, and the navigation."""
    top = root / config.docs
    found = MkDocsFiles()
    for path in walk_files(top):
        if path.name.startswith("."):
            continue
        source, is_page = (config.docs / path).as_posix(), path.suffix in (".md", ".markdown", ".ipynb")
        if setting := config.excluding_setting(path.as_posix()):
            if is_page:
                message = f'excluded by {setting} in "{config.file.name}"'
                found.notices.append(excluded_notice(message, source))
        elif config.is_draft(path.as_posix()) and path.suffix not in (".md", ".markdown"):
            if is_page:
                message = f'excluded by setting "draft_docs" in "{config.file.name}"'
                found.notices.append(excluded_notice(message, source))
        elif path.suffix in (".md", ".markdown"):
            _add_page(found, top, path, source, config)
        elif path.suffix == ".ipynb" and _reads_notebook(path, config):
            found.notebooks.append(path)
        elif path.suffix == ".ipynb":
            hint = "add `mkdocs-jupyter` to `plugins` in mkdocs.yml, and import again"
            message = "notebook is copied as a file because MkDocs publishes no page for it"
            found.notices.append(Notice("changed", message, source, hint=hint))
            found.copied.append(path)
        elif not (
            path.suffix.lower() in _SKIPPED_SUFFIXES or path.parts[0] == "overrides" or path.name[0] == "."
        ):
            found.copied.append(path)
    pages = [*(document.path for document in found.documents), *found.notebooks]
    found.nav = _navigation(top, config, sorted(pages))
    known = {path.as_posix() for path in pages}
    held = {each.source for each in found.notices if each.kind == "withheld"}
    missing = [
        entry.file
        for entry in found.nav
        if entry.file and entry.file not in known and (config.docs / entry.file).as_posix() not in held
    ]
    for file in missing:
        if not file.endswith("/"):
            message = f'page in the navigation not found: "{file}"'
            found.notices.append(Notice("missing", message, config.file.as_posix()))
    known -= {each.path.as_posix() for each in found.documents if is_draft(each.front)}
    found.nav = [entry for entry in found.nav if not entry.file or entry.file in known]
    return found


def _reads_notebook(path: PurePosixPath, config: MkDocsConfig) -> bool:
    """Return whether a plugin or extension turns this notebook into a page."""
    options = config.plugins.get("mkdocs-jupyter", config.plugins.get("jupyter"))
    if options is None:
        return "jupyter" in config.extensions or "mknotebooks" in config.plugins
    ignored = options.get("ignore") or []
    return not any(_matches(path, str(each)) for each in ignored if isinstance(ignored, list))


def _matches(path: PurePosixPath, pattern: str) -> bool:
    name, pattern = path.as_posix(), pattern.strip("/")
    return fnmatch(name, pattern) or fnmatch(path.name, pattern) or name.startswith(f"{pattern}/")


def _add_page(found: MkDocsFiles, top: Path, path: PurePosixPath, source: str, config: MkDocsConfig) -> None:
    text = read_text(top / path)
    if text is None:
        return
    head, body, first = split_yaml_front_matter(text)
    front, notices = read_front_matter(head, source, "invalid front matter")
    found.notices.extend(notices)
    if not head:
        front, body, first = split_meta(text)
    if notice := check_access(front, source) or _encryption_notice(front, source, config):
        found.notices.append(notice)
        return
    if config.is_draft(path.as_posix()):
        front["draft"] = True
    found.documents.append(MkDocsDocument(path, source, front, body, first))


def _encryption_notice(front: dict[str, Any], source: str, config: MkDocsConfig) -> Notice | None:
    """Return a notice for a page that the plugin `encryptcontent` encrypts because of the settings or a key
    other than `password`; None for other pages."""
    if "encryptcontent" not in config.plugins:
        return None
    for key in ("level", "obfuscate", "use_secret"):
        if front.get(key):
            return withheld_notice(f'encrypted by front matter key "{key}"', source)
    # an empty value means that the page is public
    is_open = any(key in front and not front[key] for key in ("password", "level"))
    if config.encrypts_all and not is_open:
        return withheld_notice(f'encrypted by plugin "encryptcontent" in "{config.file.name}"', source)
    return None


def split_meta(text: str) -> tuple[dict[str, Any], str, int]:
    """Read the `key: value` lines of Python-Markdown's extension `meta`. Return these keys, the text after
    them, and its line number. Without such lines, return an empty mapping and the whole text."""
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


def _navigation(top: Path, config: MkDocsConfig, pages: Iterable[PurePosixPath]) -> list[NavEntry]:
    if config.values.get("nav"):
        return read_nav(config.values["nav"])
    if "literate-nav" in config.plugins:
        name = str(config.plugins["literate-nav"].get("nav_file") or "SUMMARY.md")
        if text := read_text(top / name):
            return read_summary(split_yaml_front_matter(text)[1])
    blog = config.blog_folder
    return folder_nav([path for path in pages if not blog or path.parts[0] != blog])
