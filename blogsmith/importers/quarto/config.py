"""`_quarto.yml` and `_metadata.yml`: what Quarto knows of a project, as far as it decides what pages are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from ...base.diagnostics.model import Diagnostic, SiteError
from ...model.paths import collapse_path
from ..model import Notice
from ..source_files import read_text, walk_files
from ..text.loose_yaml import DataTextError, load_mapping

NAMES = ("_quarto.yml", "_quarto.yaml")
_METADATA = ("_metadata.yml", "_metadata.yaml")
_OF_PROJECT = frozenset(("project", "website", "book", "manuscript", "profile", "metadata-files"))
PATH_KEYS = ("bibliography", "csl", "include-in-header", "include-before-body", "metadata-files")


@dataclass(frozen=True, slots=True)
class QuartoConfig:
    """The settings of a project."""

    name: str
    """File they are read from; empty for none."""
    values: Mapping[str, Any]
    folders: Mapping[PurePosixPath, Mapping[str, Any]] = field(default_factory=dict)
    """Folder → what its `_metadata.yml` says."""
    notices: tuple[Notice, ...] = ()

    def mapping(self, key: str) -> Mapping[str, Any]:
        """The mapping under a key; empty if there is none."""
        found = self.values.get(key)
        return found if isinstance(found, dict) else {}

    @property
    def site(self) -> Mapping[str, Any]:
        """What stands under `website:` or `book:`."""
        return {**self.mapping("website"), **self.mapping("book")}

    @property
    def output(self) -> str:
        """Folder that the project is written to."""
        default = "_book" if "book" in self.values else "_site"
        return str(self.mapping("project").get("output-dir") or default).strip("/")

    @property
    def base_url(self) -> str:
        """Where the site lives, with its path and without a slash behind; empty if it does not say."""
        address = str(self.site.get("site-url") or "").strip().rstrip("/")
        return address if address.startswith(("https://", "http://")) else ""

    @property
    def base_path(self) -> str:
        """The path of that: `/blog`, or empty."""
        return urlsplit(self.base_url).path.rstrip("/")

    def shared(self, path: PurePosixPath) -> dict[str, Any]:
        """What project and folders say of a page, below what it says itself."""
        found: dict[str, Any] = {key: value for key, value in self.values.items() if key not in _OF_PROJECT}
        for folder in reversed(path.parents):
            found = merge(found, self.folders.get(folder, {}))
        return found


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two sets of options, as Quarto merges them: mappings key by key, of all else the upper one counts."""
    found = dict(below)
    for key, value in above.items():
        old = found.get(key)
        found[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found


def find_config(root: Path) -> Path | None:
    """The project's settings, if there are any."""
    return next((root / name for name in NAMES if (root / name).is_file()), None)


def read_config(root: Path) -> QuartoConfig:
    """Settings of the project and of its folders. SiteError if the project's are no YAML."""
    file = find_config(root)
    values: dict[str, Any] = {}
    if file:
        try:
            values = load_mapping(read_text(file) or "")
        except DataTextError as error:
            message = f"{file.name}:{error.line} is not YAML: {error}"
            raise SiteError(Diagnostic("import-source", message)) from error
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
                message = f"it is not YAML: {error}"
                yield path.parent, Notice("mistake", message, path.as_posix(), error.line)


def rebase(values: Mapping[str, Any], folder: PurePosixPath) -> dict[str, Any]:
    """The same with files named from the root of the project."""
    found = dict(values)
    for key in PATH_KEYS:
        if key in found:
            found[key] = _rebased(found[key], folder)
    for name, value in found.items():
        if name == "format" and isinstance(value, dict):
            found[name] = {
                key: rebase(each, folder) if isinstance(each, dict) else each for key, each in value.items()
            }
    return found


def _rebased(value: Any, folder: PurePosixPath) -> Any:
    if isinstance(value, list):
        return [_rebased(each, folder) for each in value]
    if not isinstance(value, str) or "\n" in value or re.match(r"\w+:", value):
        return value
    return collapse_path(
        PurePosixPath(value.lstrip("/")) if value.startswith("/") else folder / value
    ).as_posix()
