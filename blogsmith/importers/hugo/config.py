"""Settings of a Hugo site (`hugo.toml` and similar files) that an import reads, and the folders that the site
mounts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from ..model import Notice
from ..source_files import read_text, walk_files
from ..text.data import DataForm, DataTextError, as_list, load_data, settings_error

FORMS: Mapping[str, DataForm] = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
_FOLDERS = ("", "docs", "site", "blog", "src", "website", "hugo", "www")
_CONFIG_FOLDER = PurePosixPath("config/_default")


@dataclass(frozen=True, slots=True)
class HugoConfig:
    """The settings of a Hugo site. Names of settings are in lower case, because Hugo ignores their case."""

    values: Mapping[str, Any] = field(default_factory=dict)
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    """Folder of the site, relative to the root of the source."""
    file: str = "hugo.toml"
    """The settings file with the lowest precedence, relative to the root of the source."""

    def text(self, *names: str) -> str:
        """Return a setting that is a string or number, on one line; empty for any other value. names: path of
        the setting."""
        value = self.value(*names)
        return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""

    def value(self, *names: str) -> Any:
        """Return a setting; None if it is not set. names: path of the setting."""
        value: Any = self.values
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def mapping(self, *names: str) -> Mapping[str, Any]:
        """Return a setting that is a mapping; empty for any other value. names: path of the setting."""
        value = self.value(*names)
        return value if isinstance(value, Mapping) else {}

    @property
    def base_path(self) -> str:
        """Return the path of `baseURL` without the trailing slash; empty at the root of a host."""
        return urlsplit(self.text("baseurl")).path.rstrip("/")

    @property
    def default_language(self) -> str:
        """The language code of pages whose file name contains no language code."""
        return self.text("defaultcontentlanguage") or "en"

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the codes of all published languages in lower case, with the default language first."""
        written = self.value("disablelanguages")
        off = {str(each).casefold() for each in written} if isinstance(written, list) else set()
        every = (each for each in self.mapping("languages") if each not in off)
        others = (each for each in every if self.value("languages", each, "disabled") is not True)
        return tuple(dict.fromkeys([self.default_language.casefold(), *others]))

    def language_tag(self, code: str) -> str:
        """Return the value of blogsmith's key `lang` for pages in a language. code: code of the language in
        the settings."""
        names = ("locale", "languagecode")
        written = next(filter(None, (self.text("languages", code, name) for name in names)), code)
        return written.replace("_", "-")

    def language_text(self, name: str) -> str:
        """Return a setting of the default language. If the language does not set it, return the setting of
        the site."""
        language = self.default_language.casefold()
        return self.text("languages", language, name) or self.text(name)

    @property
    def is_ugly(self) -> bool:
        """Return whether URLs of pages end in `.html` instead of a slash."""
        return self.value("uglyurls") is True

    @property
    def passthrough(self) -> tuple[str, ...] | None:
        """Opening delimiters of the formulas that the passthrough extension protects from Markdown; None if
        the extension is off."""
        settings = self.mapping("markup", "goldmark", "extensions", "passthrough")
        if settings.get("enable") is not True:
            return None
        pairs = [
            pair
            for every in (settings.get("delimiters") or {}).values()
            for pair in (every if isinstance(every, list) else [])
        ]
        return tuple(str(pair[0]) for pair in pairs if isinstance(pair, list) and pair)

    def permalink(self, section: str, kind: str = "page") -> str:
        """Return the permalink pattern for a section; empty if it is not set. kind: `page` for the section's
        pages, `section` for the section itself."""
        patterns = self.mapping("permalinks")
        nested = patterns.get(kind)
        found = nested.get(section) if isinstance(nested, Mapping) else None
        found = found or (patterns.get(section) if kind == "page" else None)
        return found if isinstance(found, str) else ""


def find_config(root: Path) -> PurePosixPath | None:
    """Return the folder with the settings of a Hugo site, relative to `root`; None if there is none."""
    for folder in _FOLDERS:
        if any(True for _ in _config_files(root / folder)):
            return PurePosixPath(folder)
    return None


def _config_files(folder: Path) -> Iterator[PurePosixPath]:
    """Yield the settings files in a site's folder. Settings of later files take precedence."""
    for suffix in FORMS:
        # other systems use the name `config.toml` too
        if (folder / f"config{suffix}").is_file() and _has_hugo_folder(folder):
            yield PurePosixPath(f"config{suffix}")
    for suffix in FORMS:
        if (folder / f"hugo{suffix}").is_file():
            yield PurePosixPath(f"hugo{suffix}")
    directory = folder / _CONFIG_FOLDER
    if directory.is_dir():
        names = sorted(each.name for each in directory.iterdir() if each.suffix in FORMS)
        yield from (_CONFIG_FOLDER / name for name in names if name.startswith(("hugo.", "config.")))
        yield from (_CONFIG_FOLDER / name for name in names if not name.startswith(("hugo.", "config.")))


def _has_hugo_folder(folder: Path) -> bool:
    return (folder / "content").is_dir() and not (folder / "templates").is_dir()


def read_config(root: Path) -> HugoConfig:
    """Return the settings of the site at `root`. Raise SiteError if a settings file cannot be read."""
    folder = find_config(root) or PurePosixPath()
    values: dict[str, Any] = {}
    files = [*_config_files(root / folder)]
    for path in files:
        data = _lower(_read(root, folder / path))
        stem = path.name.partition(".")[0].casefold()
        if path.parent == _CONFIG_FOLDER and stem not in ("hugo", "config"):
            language = path.name.split(".")[1:-1]
            data = {"languages": {language[0]: {stem: data}}} if language else {stem: data.get(stem, data)}
        values = _merge(values, data)
    return HugoConfig(values, folder, (folder / (files[0] if files else "hugo.toml")).as_posix())


def _read(root: Path, path: PurePosixPath) -> dict[str, Any]:
    text = read_text(root / path) or ""
    try:
        return load_data(text, FORMS[path.suffix])
    except DataTextError as error:
        raise settings_error(text, path, error) from error


def _lower(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key).casefold(): _lower(value) for key, value in data.items()}
    return [_lower(each) for each in data] if isinstance(data, list) else data


def _merge(values: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(values)
    for key, value in more.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(value, Mapping)
        merged[key] = _merge(old, value) if both and isinstance(old, dict) else value
    return merged


COMPONENTS = ("content", "static", "data", "assets")
"""Hugo's components that an import reads, except `layouts`. Each collects the files of several folders."""
_HIDDEN = frozenset((".ds_store", ".gitkeep", ".keep"))


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder that Hugo shows at a path of a component."""

    source: PurePosixPath
    """Path relative to the root of the source."""
    target: PurePosixPath
    """Path in the component, which starts with `content/`, `static/` or a similar folder."""
    language: str
    """Language code of the mounted files; empty if the names of the files contain it."""
    excluded: tuple[str, ...] = ()
    """Patterns of excluded files, relative to `source`."""
    included: tuple[str, ...] = ()
    """Patterns of included files; empty to include all."""


@dataclass(frozen=True, slots=True)
class MountedFile:
    """A file in a mounted folder."""

    path: PurePosixPath
    """Path relative to the root of the source."""
    target: PurePosixPath
    """Path in the component, which starts with `content/`, `static/` or a similar folder."""
    language: str
    """Language code that the mount sets; empty if the name of the file contains it."""


def find_mounts(config: HugoConfig, component: str) -> tuple[Mount, ...]:
    """Return the mounts of a component (`content`, `static`, `data`, `assets` or `layouts`), highest
    precedence first."""
    own = tuple(
        _mount(entry, config, target.relative_to(component))
        for entry in _entries(config)
        if (target := _path(entry.get("target"))).parts[:1] == (component,)
    )
    # a mount in the settings replaces the default mount of a component, but not the content folders of
    # languages
    languages = tuple(_language_folders(config)) if component == "content" else ()
    return (*own, *languages) if own else (languages or tuple(_default_mounts(config, component)))


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


def _default_mounts(config: HugoConfig, component: str) -> Iterator[Mount]:
    name = f"{component}dir" if component != "assets" else "assetdir"
    language = config.default_language.casefold()
    written = config.value("languages", language, name) or config.value(name)
    for folder in written if isinstance(written, list) else [written or component]:
        yield Mount(_join_folder(config, str(folder)), PurePosixPath(), "")


def _language_folders(config: HugoConfig) -> Iterator[Mount]:
    """Yield a mount for the content folder of each language; none if languages have no folders of their
    own."""
    if not any(config.text("languages", code, "contentdir") for code in config.mapping("languages")):
        return
    # the site's content folder may contain those of languages, and the first match takes precedence
    for code in sorted(config.mapping("languages"), key=lambda code: code == config.languages[0]):
        written = config.text("languages", code, "contentdir")
        if written or code == config.languages[0]:
            folder = written or config.text("contentdir") or "content"
            yield Mount(_join_folder(config, folder), PurePosixPath(), code if written else "")


def _join_folder(config: HugoConfig, written: str) -> PurePosixPath:
    """Return the path of a folder in the settings, relative to the root of the source. For a folder outside
    of the source, the path starts with `..`, and callers ignore it."""
    parts: list[str] = []
    for part in (config.folder / written.strip("/")).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def mounted_files(root: Path, mounts: tuple[Mount, ...]) -> Iterator[MountedFile]:
    """Yield the files of the mounts. A file in several mounts is yielded only for the first of them."""
    seen: set[PurePosixPath] = set()
    for mount in mounts:
        if ".." in mount.source.parts:
            continue
        for path in _files(root / mount.source):
            whole = mount.source / path
            taken = whole in seen or path.name.startswith(".") or path.name.lower() in _HIDDEN
            if taken or not _is_included(path, mount):
                continue
            seen.add(whole)
            yield MountedFile(whole, mount.target / path, mount.language)


def _files(place: Path) -> Iterator[PurePosixPath]:
    if place.is_file():
        yield PurePosixPath()
    else:
        yield from walk_files(place, skipped=())


def _is_included(path: PurePosixPath, mount: Mount) -> bool:
    name = path.as_posix()
    if mount.included and not any(_matches(name, pattern) for pattern in mount.included):
        return False
    return not any(_matches(name, pattern) for pattern in mount.excluded)


def _matches(name: str, pattern: str) -> bool:
    pattern = pattern.lstrip("/")
    return fnmatchcase(name, pattern) or (pattern.startswith("**/") and fnmatchcase(name, pattern[3:]))


def missing_mounts(root: Path, config: HugoConfig) -> Iterator[Notice]:
    """Yield a notice for each mount whose folder is missing, and for each module that is not in `_vendor`."""
    for entry in _entries(config):
        mount = _mount(entry, config, _path(entry.get("target")))
        if not mount.target.parts or mount.target.parts[0] not in COMPONENTS:
            continue
        if ".." in mount.source.parts or not (root / mount.source).exists():
            hint = "import the folder that contains the site and this folder, or copy it into the site"
            message = f'mount source not found: "{entry.get("source")}" (target "{mount.target}")'
            yield Notice("missing", message, hint=hint)
    modules = config.value("module", "imports")
    for module in modules if isinstance(modules, list) else ():
        path = str(module.get("path") or "") if isinstance(module, Mapping) else ""
        if path and not (root / config.folder / "_vendor" / path).exists():
            hint = "run `hugo mod vendor` and import again if it contains pages or shortcodes"
            yield Notice("missing", f'module not found in the source: "{path}"', hint=hint)


def is_ignored(place: PurePosixPath, config: HugoConfig) -> bool:
    """Return whether the setting `ignoreFiles` excludes a content file. place: path below `content/`."""
    for pattern in _texts(config.value("ignorefiles")):
        try:
            if re.search(pattern, place.as_posix()):
                return True
        except re.error:
            continue
    return False


def _texts(value: Any) -> tuple[str, ...]:
    every = as_list(value)
    return tuple(each for each in every if isinstance(each, str) and each)


def _path(value: Any) -> PurePosixPath:
    return PurePosixPath(str(value or "").strip("/"))
