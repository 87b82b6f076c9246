"""Settings of Quartz, which publishes a vault: title, excluded files, drafts, and the URLs of notes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import alias_problem
from ..model import Notice, OldSettings
from ..source_files import matches_gitignore, read_text
from ..text.data import (
    DataTextError,
    Expression,
    as_list,
    load_mapping,
    read_literals,
    read_strings,
    settings_error,
)

_FILES = ("quartz.config.ts", "quartz.config.yaml")
_CONTENT = PurePosixPath("content")
_DEFAULT_PATTERNS = ("private", "templates", ".obsidian")
"""Default patterns of a new Quartz site."""
_KNOWN_FILTERS = frozenset(("RemoveDrafts", "ExplicitPublish"))
_TRANSLATED = frozenset(
    f"configuration.{name}" for name in ("pagetitle", "baseurl", "locale", "ignorepatterns")
)


@dataclass(frozen=True, slots=True)
class QuartzConfig:
    """The settings of a Quartz site that an import reads."""

    file: str
    values: Mapping[str, Any]
    """Values of `configuration`, by name; nested names are joined by a dot."""
    folder: PurePosixPath
    """Folder of the vault, relative to the site."""
    patterns: tuple[str, ...]
    """Globs of excluded files, relative to the vault."""
    filters: tuple[str, ...]
    """Names of filters whose effect on notes is unknown."""
    needs_publish: bool
    """Whether notes without `publish: true` may be private, so that they become drafts."""

    def excludes(self, path: PurePosixPath) -> bool:
        """Return whether a file is excluded from the site. path: relative to the vault."""
        return matches_gitignore(path.as_posix(), self.patterns, is_anchored=True)

    def add_visibility(self, front: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the properties of a note, with `draft: true` if the note may be private."""
        is_public = not self.needs_publish or str(front.get("publish")).casefold() == "true"
        return front if is_public else {**front, "draft": True}

    @property
    def site_settings(self) -> dict[str, Any]:
        """Return the settings of the new site that replace those of Quartz."""
        host = str(self.values.get("baseUrl") or "").removeprefix("https://").strip("/")
        found = {
            "title": str(self.values.get("pageTitle") or ""),
            "base_url": f"https://{host}" if "." in host else "",
            "lang": str(self.values.get("locale") or ""),
        }
        return {key: value for key, value in found.items() if value}

    @property
    def old_settings(self) -> OldSettings:
        """Return the settings as the report names them, without colors and fonts."""
        shown = {name: value for name, value in self.values.items() if not name.startswith("theme.")}
        return OldSettings(self.file, {"configuration": shown}, _TRANSLATED)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return a notice for each filter whose effect is unknown."""
        hint = "remove `draft: true` from notes that readers may see"
        message = 'unknown filter "{}": notes without "publish: true" become drafts'
        return tuple(Notice("changed", message.format(name), self.file, hint=hint) for name in self.filters)


def read_quartz(root: Path) -> QuartzConfig | None:
    """Return the settings of the Quartz site at `root`; None if there is none."""
    file = next((name for name in _FILES if (root / name).is_file()), "")
    text = read_text(root / file) if file else None
    if text is None:
        return None
    read = _read_yaml if file.endswith(".yaml") else _read_script
    values, filters = read(text, file)
    patterns = values.get("ignorePatterns", _DEFAULT_PATTERNS)
    # if the list cannot be read, it is unknown which folders are private
    is_unread = any(not isinstance(each, str) or isinstance(each, Expression) for each in as_list(patterns))
    is_unread = is_unread or ("ignorePatterns" not in values and "ignorePatterns" in text)
    known = [str(each) for each in patterns] if isinstance(patterns, (list, tuple)) else []
    unknown = tuple(sorted({*filters} - _KNOWN_FILTERS))
    return QuartzConfig(
        file=file,
        values=values,
        folder=_CONTENT if (root / _CONTENT).is_dir() else PurePosixPath(),
        patterns=(*known, *_DEFAULT_PATTERNS) if is_unread else tuple(known),
        filters=(*unknown, "ignorePatterns") if is_unread else unknown,
        needs_publish=is_unread or bool(unknown) or "ExplicitPublish" in filters,
    )


def _read_script(text: str, file: str) -> tuple[dict[str, Any], list[str]]:
    """Return the values of `configuration`, and the names of the filters."""
    literals = read_literals(text)
    inside = (path.partition("configuration.") for path in literals)
    values = {name: literals[f"{before}{mark}{name}"] for before, mark, name in inside if mark}
    filters = next((each for path, each in literals.items() if path.endswith("plugins.filters")), None)
    if filters is None:
        return values, ["filters"] if re.search(r"\bfilters\b", text) else []
    return values, [str(name).rpartition(".")[2] for name in as_list(filters)]


def _read_yaml(text: str, file: str) -> tuple[dict[str, Any], list[str]]:
    """Return the values of `configuration`, and the names of the filters, which are plugins in Quartz 5."""
    try:
        data = load_mapping(text)
    except DataTextError as error:
        raise settings_error(text, PurePosixPath(file), error) from error
    values = data.get("configuration")
    plugins = (each for each in as_list(data.get("plugins") or []) if isinstance(each, Mapping))
    is_explicit = any(
        "explicit-publish" in str(each.get("source")) and each.get("enabled") is not False for each in plugins
    )
    return values if isinstance(values, dict) else {}, ["ExplicitPublish"] if is_explicit else []


def quartz_address(path: PurePosixPath) -> str:
    """Return the URL of a note. path: relative to the vault. Source: `slugifyFilePath` of Quartz."""
    name = _slug(path.with_suffix("").as_posix())
    return "/" + re.sub(r"(?:^|(?<=/))_?index$", "", name)


def _slug(path: str) -> str:
    path = re.sub(r"\s", "-", path).replace("&", "-and-").replace("%", "-percent")
    return re.sub("[?#]", "", path)


def quartz_aliases(path: PurePosixPath, front: Mapping[str, Any], taken: Collection[str]) -> Iterable[str]:
    """Yield the URLs that redirect to a note. taken: used URLs, in lower case and without the last slash.

    Older versions of Quartz read an alias relative to the folder of the note.
    """
    for alias in read_strings(front.get("aliases") or front.get("alias")):
        inner = _slug(alias.strip("/").removesuffix(".md"))
        for folder in dict.fromkeys((PurePosixPath(), path.parent)):
            url = quartz_address(folder / inner) if inner else "/"
            if url.rstrip("/").casefold() not in taken and not alias_problem(url):
                yield url
