"""Mounts of a Hugo site: which folders its pages, its files and its data come from, and in which language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from ..model import Notice
from ..source_files import walk_files
from ..text.front_values import list_of
from .config import HugoConfig

COMPONENTS = ("content", "static", "data", "assets")
"""Folders of a site that an import reads, besides `layouts`."""
_HIDDEN = frozenset((".ds_store", ".gitkeep", ".keep"))


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file that stands somewhere in the site."""

    source: PurePosixPath
    """Relative to the root of the source."""
    target: PurePosixPath
    """In its component: below `content/`, `static/` …"""
    language: str
    """Code of what lies there; empty: the file's name says."""
    excluded: tuple[str, ...] = ()
    """Patterns of files that are left out, relative to the source of the mount."""
    included: tuple[str, ...] = ()
    """Patterns of those that are taken; empty: all."""


@dataclass(frozen=True, slots=True)
class MountedFile:
    """A file and where it stands."""

    path: PurePosixPath
    """Relative to the root of the source."""
    place: PurePosixPath
    """In its component."""
    language: str
    """As of its mount."""


def mounts_of(config: HugoConfig, component: str) -> tuple[Mount, ...]:
    """The mounts of `content`, `static`, `data`, `assets` or `layouts`, what goes before first."""
    own = tuple(
        _mount(entry, config, target.relative_to(component))
        for entry in _entries(config)
        if (target := _path(entry.get("target"))).parts[:1] == (component,)
    )
    # a component with a mount of its own has none but those, as long as no language has a folder of its own
    languages = tuple(_language_folders(config)) if component == "content" else ()
    return (*own, *languages) if own else (languages or tuple(_usual(config, component)))


def _entries(config: HugoConfig) -> list[Mapping[str, Any]]:
    written = config.value("module", "mounts")
    return [each for each in written if isinstance(each, Mapping)] if isinstance(written, list) else []


def _mount(entry: Mapping[str, Any], config: HugoConfig, target: PurePosixPath) -> Mount:
    return Mount(
        _join_folder(config, str(entry.get("source") or "")),
        target,
        str(entry.get("lang") or "").casefold(),
        _texts(entry.get("excludefiles")),
        _texts(entry.get("includefiles")),
    )


def _usual(config: HugoConfig, component: str) -> Iterator[Mount]:
    name = f"{component}dir" if component != "assets" else "assetdir"
    language = config.default_language.casefold()
    written = config.value("languages", language, name) or config.value(name)
    for folder in written if isinstance(written, list) else [written or component]:
        yield Mount(_join_folder(config, str(folder)), PurePosixPath(), "")


def _language_folders(config: HugoConfig) -> Iterator[Mount]:
    """Content folders that languages have for themselves; empty where none has."""
    if not any(config.text("languages", code, "contentdir") for code in config.mapping("languages")):
        return
    # the folder of the site itself may hold the others: what is found first goes before
    for code in sorted(config.mapping("languages"), key=lambda code: code == config.languages[0]):
        written = config.text("languages", code, "contentdir")
        if written or code == config.languages[0]:
            folder = written or config.text("contentdir") or "content"
            yield Mount(_join_folder(config, folder), PurePosixPath(), code if written else "")


def _join_folder(config: HugoConfig, written: str) -> PurePosixPath:
    """A folder of the settings, relative to the root of the source; what leads out of it leads nowhere."""
    parts: list[str] = []
    for part in (config.folder / written.strip("/")).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def mounted_files(root: Path, mounts: tuple[Mount, ...]) -> Iterator[MountedFile]:
    """Every file of mounts, each once."""
    seen: set[PurePosixPath] = set()
    for mount in mounts:
        if ".." in mount.source.parts:
            continue
        for path in _files(root / mount.source):
            whole = mount.source / path
            taken = whole in seen or path.name.startswith(".") or path.name.lower() in _HIDDEN
            if taken or not _is_wanted(path, mount):
                continue
            seen.add(whole)
            yield MountedFile(whole, mount.target / path, mount.language)


def _files(place: Path) -> Iterator[PurePosixPath]:
    if place.is_file():
        yield PurePosixPath()
    else:
        yield from walk_files(place, skipped=())


def _is_wanted(path: PurePosixPath, mount: Mount) -> bool:
    name = path.as_posix()
    if mount.included and not any(_matches(name, pattern) for pattern in mount.included):
        return False
    return not any(_matches(name, pattern) for pattern in mount.excluded)


def _matches(name: str, pattern: str) -> bool:
    pattern = pattern.lstrip("/")
    return fnmatchcase(name, pattern) or (pattern.startswith("**/") and fnmatchcase(name, pattern[3:]))


def missing_mounts(root: Path, config: HugoConfig) -> Iterator[Notice]:
    """Mounts whose folder is not there, and modules that lie elsewhere."""
    for entry in _entries(config):
        mount = _mount(entry, config, _path(entry.get("target")))
        if not mount.target.parts or mount.target.parts[0] not in COMPONENTS:
            continue
        if ".." in mount.source.parts or not (root / mount.source).exists():
            hint = "import the folder that holds both, or copy it into the site"
            message = f"the mount {entry.get('source')} of {mount.target} is not in the source"
            yield Notice("missing", message, hint=hint)
    modules = config.value("module", "imports")
    for module in modules if isinstance(modules, list) else ():
        path = str(module.get("path") or "") if isinstance(module, Mapping) else ""
        if path and not (root / config.folder / "_vendor" / path).exists():
            hint = "run `hugo mod vendor` and import again, if it holds pages or shortcodes"
            yield Notice("missing", f"the module {path} is not in the source", hint=hint)


def is_ignored(place: PurePosixPath, config: HugoConfig) -> bool:
    """Whether `ignoreFiles` names a file of the content."""
    for pattern in _texts(config.value("ignorefiles")):
        try:
            if re.search(pattern, place.as_posix()):
                return True
        except re.error:
            continue
    return False


def _texts(value: Any) -> tuple[str, ...]:
    every = list_of(value)
    return tuple(each for each in every if isinstance(each, str) and each)


def _path(value: Any) -> PurePosixPath:
    return PurePosixPath(str(value or "").strip("/"))
