"""Detection of the system in `rows.py` that generated a site, and the site's settings. Settings files are
parsed, but never executed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern
from ..hugo.config import HugoConfig
from ..model import OldSettings
from ..source_files import read_text
from ..text.data import (
    DataTextError,
    Expression,
    as_list,
    load_data,
    load_mapping,
    load_python,
    one_line,
    read_literals,
    settings_error,
)
from .rows import SETTINGS, MarkdownSystem, Section

_FORMULAS = lazy_pattern(r"(?i)katex|mathjax|remark-math|nextra")
_FOLDERS = ("", "website", "docs", "site", "www", "blog")
"""Folders of a repository that may contain the site."""
_MORE_FILES = {"pelicanconf.py": ("publishconf.py",)}
_EXCLUDING = ("exclude", "ignore", "ignored_content", "article_excludes", "page_excludes", "srcexclude")
_CHOICE = lazy_pattern(r"\{([a-z_.]+)\|([^{}]*)\}")
_JULIA = lazy_pattern(
    r"(?m)^(?:@def[ \t]+)?(\w+)[ \t]*=[ \t]*(?:[^\"\n]*\"([^\"\n]*)\"\)?|(true|false))[ \t]*(?:#.*)?$"
)
_JULIA_LIST = lazy_pattern(r"(?m)^(?:@def[ \t]+)?(\w+)[ \t]*=[ \t]*\[([^\[\]]*)\]")
_PELICAN = {
    "slug": ":slug",
    "category": ":category",
    "date:%Y": ":year",
    "date:%m": ":month",
    "date:%d": ":day",
}


@dataclass(frozen=True, slots=True)
class MarkdownSite:
    """A site that one of the systems in `rows.py` generated."""

    root: Path
    row: MarkdownSystem
    folder: PurePosixPath
    """Folder of the site, relative to the source."""
    file: str
    """Settings file, relative to the source; empty if there is none."""
    values: Mapping[str, Any]
    """Path of a setting in lower case, such as `docs.path` → value."""

    def value(self, path: str) -> Any:
        """Return the value of a setting; None if it is not set. path: path of the setting. If it contains a
        dot, it may be only the end of the path."""
        if path in self.values or "." not in path:
            return self.values.get(path)
        return next((value for name, value in self.values.items() if name.endswith(f".{path}")), None)

    def text(self, name: str) -> str:
        """Return the value for a setting of the new site as a string; empty if the old site does not set it.
        name: key of `SETTINGS`."""
        found = (one_line(self.value(path)) for path in SETTINGS[name].split())
        return next(filter(None, found), "")

    def fill(self, pattern: str) -> str:
        """Replace each `{setting|default}` in a pattern, and convert the placeholders of Pelican and Hexo."""

        def choose(found: re.Match[str]) -> str:
            value = self.value(found[1])
            return value.strip("/") if isinstance(value, str) else found[2]

        filled = _CHOICE.sub(choose, pattern)
        filled = re.sub(r"\{([^{}]+)\}", lambda found: _PELICAN.get(found[1], found[0]), filled)
        return re.sub("/{2,}", "/", filled.replace(":title", ":name"))

    @property
    def sections(self) -> tuple[Section, ...]:
        """The folders with pages, according to the system and the settings, with paths relative to the
        source."""
        found = [*self.row.sections, *self._nikola_sections()]
        return tuple(each for section in found for each in self._expand(section))

    def _expand(self, section: Section) -> Iterator[Section]:
        folder = _normalize(self.folder / self.fill(section.folder))
        filled = replace(
            section,
            folder=folder,
            target=self.fill(section.target).strip("/"),
            address=self.fill(section.address),
            dated=self.fill(section.dated),
        )
        if not folder.endswith("*"):
            yield filled
            return
        top = self.root / folder.removesuffix("*")
        for place in sorted(top.iterdir()) if top.is_dir() else ():
            if place.is_dir() and place.name[0] not in "_.":
                route = filled.address.replace("/*", find_route(self.root / self.folder, place.name), 1)
                yield replace(filled, folder=folder[:-1] + place.name, target=place.name, address=route)

    def _nikola_sections(self) -> Iterator[Section]:
        for name in ("posts", "pages"):
            rows = self.value(name) if self.row.name == "nikola" else ()
            for row in dict.fromkeys(tuple(map(str, each[:2])) for each in rows or () if len(each) > 1):
                yield Section(row[0].partition("*")[0].strip("/"), row[1], f"/{row[1]}/:folders/:slug/")

    @property
    def excluded(self) -> tuple[str, ...] | None:
        """Patterns of excluded files in the settings; None if the patterns cannot be read."""
        found: list[str] = []
        for path, value in self.values.items():
            if path.rpartition(".")[2] in _EXCLUDING:
                if any(isinstance(each, Expression) or not isinstance(each, str) for each in as_list(value)):
                    return None
                found += map(str, as_list(value))
        ignored = read_text(self.root / self.folder / ".eleventyignore") or ""
        return (*found, *(ignored.split("\n") if self.row.name == "eleventy" else ()))

    @property
    def encrypted_tags(self) -> frozenset[str]:
        """Tags whose posts the plugin hexo-blog-encrypt encrypts, in lower case."""
        names = (each.get("name") if isinstance(each, Mapping) else each for each in self._encrypted())
        return frozenset(str(name).strip().casefold() for name in names if name)

    def _encrypted(self) -> list[Any]:
        return as_list(self.value("encrypt.tags") or [])

    @property
    def hugo_config(self) -> HugoConfig:
        """The settings as a Hugo site would write them, because the importer for Hugo translates the
        pages."""
        delimiters = {"inline": [["$", "$"], [r"\(", r"\)"]], "block": [["$$", "$$"], [r"\[", r"\]"]]}
        if self.row.calls == "mdx":
            delimiters = {"inline": [["$", "$"] if self._has_formulas else [r"\(", r"\)"]]}
        extensions: dict[str, Any] = {"typographer": self.row.smart_quotes}
        if not self.row.escapes_formulas:
            extensions["passthrough"] = {"enable": True, "delimiters": delimiters}
        has_breaks = self.row.line_breaks and self.value("marked.breaks") is not False
        renderer = {"unsafe": True, "hardwraps": has_breaks}
        base = self.text("base").strip("/")
        url = self.text("url").rstrip("/")
        values = {
            "title": self.text("title"),
            "description": self.text("description"),
            "author": self.text("author"),
            "baseurl": f"{url}/{base}".rstrip("/") if not url.endswith(f"/{base}") else url,
            "languagecode": self.text("lang") or "en",
            "enableemoji": self.row.name == "docusaurus" or self.value("markdown.render_emoji") is True,
            "permalinks": self._permalinks(),
            "markup": {"goldmark": {"extensions": extensions, "renderer": renderer}},
        }
        return HugoConfig(values, self.folder, self.file)

    def _permalinks(self) -> dict[str, str]:
        """Return URL patterns with a date in Hugo's syntax, by section of the new site."""
        found: dict[str, str] = {}
        for section in self.sections:
            pattern = section.dated or section.address
            if ":year" in pattern and "{" not in pattern and not pattern.endswith(".html"):
                found[section.target] = re.sub(r":(?:name|slug)\b", ":slugorfilename", pattern)
        return found

    @property
    def _has_formulas(self) -> bool:
        """Whether the files of a site in JavaScript mention a plugin for formulas."""
        files = (
            self.file,
            *((self.folder / name).as_posix() for name in ("package.json", "next.config.mjs")),
        )
        return any(_FORMULAS.search(read_text(self.root / file) or "") for file in files)

    @property
    def old_settings(self) -> tuple[OldSettings, ...]:
        """Settings for the report; empty if the site has no settings file."""
        read = {path for paths in SETTINGS.values() for path in paths.split()}
        read |= {found[1] for each in self.row.sections for found in _CHOICE.finditer(f"{each}")}
        shown = {path: value for path, value in self.values.items() if isinstance(value, (str, bool))}
        return (OldSettings(self.file, shown, frozenset(read)),) if self.file else ()


def find_site(root: Path, row: MarkdownSystem) -> MarkdownSite | None:
    """Return the site of a system in the folder `root` or one of `_FOLDERS` in it; None if there is none."""
    for name in _FOLDERS:
        top = root / name
        file = next((mark for mark in row.marks if _has(top, mark)), "").partition(":")[0]
        is_it = file and (not row.needs or any(_has(top, need) for need in row.needs))
        if is_it and not any((top / other).exists() for other in row.unless):
            folder = PurePosixPath(name)
            return MarkdownSite(root, row, folder, (folder / file).as_posix(), _read(top, folder, file))
    return None


def _has(folder: Path, mark: str) -> bool:
    """Return whether a folder contains a file. mark: path of the file, or `path: text in the file`."""
    path, _, text = mark.partition(": ")
    return (folder / path).exists() and (not text or text in (read_text(folder / path) or ""))


def _read(top: Path, folder: PurePosixPath, file: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in (file, *_MORE_FILES.get(file, ())):
        if (text := read_text(top / name)) is not None:
            values |= {key: value for key, value in _load(text, folder / name).items() if value != ""}
    return values


def _load(text: str, path: PurePosixPath) -> dict[str, Any]:
    if path.suffix == ".py":
        return _flatten(load_python(text))
    if path.suffix == ".md":
        values: dict[str, Any] = {name: value or word == "true" for name, value, word in _JULIA.findall(text)}
        for name, items in _JULIA_LIST.findall(text):
            parts = [item.strip() for item in items.split(",") if item.strip()]
            values[name] = [each.strip('"') if each[0] == '"' else Expression(each) for each in parts]
        return {name.casefold(): value for name, value in values.items()}
    if path.suffix not in (".toml", ".yml", ".yaml"):
        return {name.casefold(): value for name, value in read_literals(text).items()}
    try:
        return _flatten(load_data(text, "toml") if path.suffix == ".toml" else load_mapping(text))
    except DataTextError as error:
        raise settings_error(text, path, error) from error


def _flatten(values: Mapping[str, Any], prefix: str = "", depth: int = 6) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}".casefold()
        if isinstance(value, Mapping) and depth:
            found |= _flatten(value, f"{name}.", depth - 1)
        else:
            found[name] = value
    return found


def _normalize(path: PurePosixPath) -> str:
    """Return a path relative to the source without `..`. A `..` that leads out of the source is ignored."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            del parts[-1:]
        else:
            parts.append(part)
    return "/".join(parts)


_LIST_PARAMETER = lazy_pattern(r"\[(?:\.\.\.)?(?:tags?|page|categor\w*|series|year|authors?|topic)\]")
_COLLECTION = lazy_pattern(r"getCollection\(\s*[\"']([\w-]+)[\"']")


def find_route(site: Path, collection: str) -> str:
    """Return the URL path of a collection in an Astro site. It is the folder of a page such as `[slug].astro`
    that reads the collection. Pages for lists, such as `[tag].astro`, are ignored. If there is no page, the
    path is the name of the collection."""
    top = site / "src/pages"
    for page in sorted(top.rglob("*.astro")) if top.is_dir() else ():
        parts = page.relative_to(top).with_suffix("").parts
        place = next((at for at, part in enumerate(parts) if part.startswith("[")), None)
        is_list = any(_LIST_PARAMETER.fullmatch(part) for part in parts)
        if place is None or is_list or collection not in _COLLECTION.findall(read_text(page) or ""):
            continue
        return "".join(f"/{part}" for part in parts[:place])
    return f"/{collection}"
