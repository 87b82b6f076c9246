"""Files of a vault, which are notes and embedded files, and their names. Also settings of Quartz, if it
publishes the vault."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import alias_problem, github_slug, lazy_pattern, slugify
from ..model import ImportedFile, Notice, OldSettings
from ..protection import excluded_notice, read_front_matter, split_protected
from ..source_files import matches_gitignore, read_text, walk_files
from ..text.data import (
    DataTextError,
    Expression,
    as_list,
    load_mapping,
    read_literals,
    read_strings,
    settings_error,
    split_yaml_front_matter,
)
from ..text.pieces import heading_text
from ..text.segments import TEX, mask

_FILES = ("quartz.config.ts", "quartz.config.yaml")
_CONTENT = PurePosixPath("content")
_DEFAULT_PATTERNS = ("private", "templates", ".obsidian")
"""Patterns of excluded files in a new Quartz site; used if the site's own patterns cannot be read."""
_KNOWN_FILTERS = frozenset(("RemoveDrafts", "ExplicitPublish"))
_LINE_BREAKS = "HardLineBreaks"
_USES_LINE_BREAKS = lazy_pattern(rf"(?m)^(?:(?!//)[^\n])*\b{_LINE_BREAKS}\(")
_TRANSLATED = frozenset(
    f"configuration.{name}" for name in ("pagetitle", "baseurl", "locale", "ignorepatterns")
)


@dataclass(frozen=True, slots=True)
class QuartzConfig:
    """The settings of a Quartz site that affect the import."""

    file: str
    values: Mapping[str, Any]
    """Setting → value, for the settings in `configuration`. Nested names are joined by a dot."""
    folder: PurePosixPath
    """Folder of the vault, relative to the site."""
    patterns: tuple[str, ...]
    """Globs of excluded files, relative to the vault."""
    filters: tuple[str, ...]
    """Names of plugins that filter notes in an unknown way."""
    needs_publish: bool
    """Whether notes without `publish: true` may be private, so that they become drafts."""
    line_breaks: bool
    """Whether a plugin shows the line breaks inside paragraphs."""

    def excludes(self, path: PurePosixPath) -> bool:
        """Return whether a file is excluded from the site. path: relative to the vault."""
        return matches_gitignore(path.as_posix(), self.patterns, is_anchored=True)

    def add_visibility(self, front: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the properties of a note, with `draft: true` if the note may be private."""
        is_public = not self.needs_publish or str(front.get("publish")).casefold() == "true"
        return front if is_public else {**front, "draft": True}

    @property
    def site_settings(self) -> dict[str, Any]:
        """Return the settings of the new site that are known from Quartz's settings. Empty values are left
        out."""
        host = str(self.values.get("baseUrl") or "").removeprefix("https://").strip("/")
        found = {
            "title": str(self.values.get("pageTitle") or ""),
            "base_url": f"https://{host}" if "." in host else "",
            "lang": str(self.values.get("locale") or ""),
        }
        return {key: value for key, value in found.items() if value}

    @property
    def old_settings(self) -> OldSettings:
        """Return the settings for the report, without colors and fonts."""
        shown = {name: value for name, value in self.values.items() if not name.startswith("theme.")}
        return OldSettings(self.file, {"configuration": shown}, _TRANSLATED)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return a notice for each filter in `filters`."""
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
    unknown = tuple(sorted({*filters} - _KNOWN_FILTERS - {_LINE_BREAKS}))
    return QuartzConfig(
        file=file,
        values=values,
        folder=_CONTENT if (root / _CONTENT).is_dir() else PurePosixPath(),
        patterns=(*known, *_DEFAULT_PATTERNS) if is_unread else tuple(known),
        filters=(*unknown, "ignorePatterns") if is_unread else unknown,
        needs_publish=is_unread or bool(unknown) or "ExplicitPublish" in filters,
        line_breaks=_LINE_BREAKS in filters or _USES_LINE_BREAKS.search(text) is not None,
    )


def _read_script(text: str, file: str) -> tuple[dict[str, Any], list[str]]:
    """Return the values in `configuration` of a script, and the names of the filters."""
    literals = read_literals(text)
    inside = (path.partition("configuration.") for path in literals)
    values = {name: literals[f"{before}{mark}{name}"] for before, mark, name in inside if mark}
    filters = next((each for path, each in literals.items() if path.endswith("plugins.filters")), None)
    if filters is None:
        return values, ["filters"] if re.search(r"\bfilters\b", text) else []
    return values, [str(name).rpartition(".")[2] for name in as_list(filters)]


def _read_yaml(text: str, file: str) -> tuple[dict[str, Any], list[str]]:
    """Return the values in `configuration`, and the names of the filters. In Quartz 5, filters are plugins.
    file: name of the settings file, for errors."""
    try:
        data = load_mapping(text)
    except DataTextError as error:
        raise settings_error(text, PurePosixPath(file), error) from error
    values = data.get("configuration")
    plugins = (each for each in as_list(data.get("plugins") or []) if isinstance(each, Mapping))
    used = [str(each.get("source")) for each in plugins if each.get("enabled") is not False]
    known = {"explicit-publish": "ExplicitPublish", "hard-line-breaks": _LINE_BREAKS}
    found = [name for part, name in known.items() if any(part in source for source in used)]
    return values if isinstance(values, dict) else {}, found


def quartz_address(path: PurePosixPath) -> str:
    """Return the old URL of a note. path: relative to the vault. Source: `slugifyFilePath` of Quartz."""
    name = _slug(path.with_suffix("").as_posix())
    return "/" + re.sub(r"(?:^|(?<=/))_?index$", "", name)


def _slug(path: str) -> str:
    path = re.sub(r"\s", "-", path).replace("&", "-and-").replace("%", "-percent")
    return re.sub("[?#]", "", path)


def quartz_aliases(path: PurePosixPath, front: Mapping[str, Any], taken: Collection[str]) -> Iterable[str]:
    """Yield the URLs that redirect to a note because of its aliases. taken: URLs that are already used, in
    lower case and without the last slash.

    An alias is relative to the vault. In older versions of Quartz, it is relative to the folder of the note.
    The URLs of both cases are yielded.
    """
    for alias in read_strings(front.get("aliases") or front.get("alias")):
        inner = _slug(alias.strip("/").removesuffix(".md"))
        for folder in dict.fromkeys((PurePosixPath(), path.parent)):
            url = quartz_address(folder / inner) if inner else "/"
            if url.rstrip("/").casefold() not in taken and not alias_problem(url):
                yield url


_HEADING = lazy_pattern(r"(?m)^[ \t>]*#{1,6}[ \t]+(.+?)[ \t]*$")
_GENERATED_URLS = frozenset(("tags", "categories", "series", "archive", "assets", "404", "index"))
"""Top-level URLs that blogsmith generates."""
_UNSUPPORTED_FILES = {".canvas": "canvas", ".base": "base", ".excalidraw": "Excalidraw drawing"}
_MAX_SLUG_LENGTH = 80
"""Maximum number of characters of a slug."""
_IMAGE_SUFFIXES = (".svg", ".png")


@dataclass(frozen=True, slots=True)
class Note:
    """A note of a vault."""

    path: PurePosixPath
    """Path relative to the vault."""
    content_path: PurePosixPath
    """Path relative to `content/` of the new site."""
    slug: str
    """Slug for the front matter, needed if the file name does not give a unique and valid URL; otherwise
    empty."""
    front: Mapping[str, Any]
    """Properties, with names in lower case."""
    body: str
    first_line: int
    notices: tuple[Notice, ...] = ()

    @property
    def title(self) -> str:
        """Return the title that Obsidian shows, which is the file name unless a property overrides it."""
        written = self.front.get("title")
        return " ".join(str(written).split()) if isinstance(written, (str, int, float)) else self.path.stem

    def headings(self) -> dict[str, str]:
        """Return slug of a heading's text → id of the heading on the new page."""
        masked = mask(self.body, kinds=TEX)
        found: dict[str, str] = {}
        for heading in _HEADING.findall(masked.text):
            text = heading_text(masked.restore(heading))
            found.setdefault(slugify(text), github_slug(text))
        return found


@dataclass(frozen=True, slots=True)
class Vault:
    """The content of a vault."""

    name: str
    notes: tuple[Note, ...]
    files: tuple[PurePosixPath, ...]
    """Files that are copied, relative to the vault."""
    notices: tuple[Notice, ...]


class NoteIndex:
    """Index of the notes and files in a vault. A link may name them by a path, the end of a path, a file
    name, or an alias."""

    def __init__(self, vault: Vault, *, keeps_slugs: bool = True) -> None:
        """Index a vault. keeps_slugs: whether the URL of a note ends in the slug of its file name."""
        self._notes: dict[str, list[Note]] = {}
        self._files: dict[str, list[PurePosixPath]] = {}
        for note in vault.notes:
            parts = note.path.with_suffix("").parts
            for start in range(len(parts)):
                self._notes.setdefault("/".join(parts[start:]).casefold(), []).append(note)
        for path in vault.files:
            for start in range(len(path.parts)):
                self._files.setdefault("/".join(path.parts[start:]).casefold(), []).append(path)
        for note in vault.notes:
            for alias in read_strings(note.front.get("aliases") or note.front.get("alias")):
                self._notes.setdefault(alias.casefold(), []).append(note)
        self._slugs = Counter(map(_page_slug, vault.notes if keeps_slugs else ()))

    def note(self, target: str, source: PurePosixPath) -> Note | None:
        """Return the note that a link names; None if there is none. If there are several, return the one
        nearest to `source`. source: path of the note with the link."""
        name = _key(target)
        found = self._notes.get(name.removesuffix(".md")) or self._notes.get(name)
        return min(found, key=lambda note: _distance(note.path, source)) if found else None

    def has_unique_slug(self, target: str, note: Note) -> bool:
        """Return whether blogsmith resolves `target` to `note`, and to no other note."""
        name = slugify(_key(target).rpartition("/")[2].removesuffix(".md"))
        return self._slugs[name] == 1 and name == _page_slug(note)

    def file(self, target: str, source: PurePosixPath) -> PurePosixPath | None:
        """Return the file that a link names; None if there is none. If there are several, return the one
        nearest to `source`. source: path of the note with the link."""
        found = self._files.get(_key(target))
        return min(found, key=lambda path: _distance(path, source)) if found else None


def _page_slug(note: Note) -> str:
    return note.slug or slugify(note.content_path.stem)


def _key(target: str) -> str:
    parts = [part for part in target.strip().strip("/").split("/") if part not in (".", "..", "")]
    return "/".join(parts).casefold()


def _distance(path: PurePosixPath, source: PurePosixPath) -> tuple[int, int, str]:
    """Return the sort key of a file among files with the same name. The nearest file is first. The order is:
    files in the folder of the link, then files with short paths."""
    return (path.parent != source.parent, len(path.parts), path.as_posix())


def read_vault(root: Path, quartz: QuartzConfig | None = None) -> Vault:
    """Read the notes, and find the other files, of the vault at `root`. quartz: settings of the site that
    publishes the vault."""
    templates = _template_folder(root)
    notes: list[tuple[PurePosixPath, str]] = []
    files: list[PurePosixPath] = []
    notices: list[Notice] = []
    for path in walk_files(root):
        if quartz and quartz.excludes(path):
            if path.suffix.lower() == ".md":
                notices.append(
                    excluded_notice(f'excluded by setting "ignorePatterns" in "{quartz.file}"', path)
                )
        elif templates and path.is_relative_to(templates):
            if path.suffix == ".md":
                notices.append(Notice("dropped", "template is not imported", path.as_posix()))
        elif path.suffix.lower() == ".md" and not path.stem.lower().endswith(".excalidraw"):
            text = read_text(root / path)
            if text is None:
                notices.append(Notice("mistake", "file cannot be read as text", path.as_posix()))
            elif _is_drawing(text):
                notices.append(_unsupported_notice(path, ".excalidraw"))
            else:
                notes.append((path, text))
        elif kind := next((kind for kind in _UNSUPPORTED_FILES if kind in path.suffixes), ""):
            if path.suffix in _IMAGE_SUFFIXES:
                files.append(path)
            else:
                notices.append(_unsupported_notice(path, kind))
        elif len(path.parts) > 1 or path.name not in ("LICENSE", "package.json"):
            files.append(path)
    places = _assign_paths([path for path, _ in notes])
    read = (_read_note(path, text, *places[path]) for path, text in notes)
    every, held = split_protected(read, lambda note: note.path)
    if quartz:
        every = [replace(note, front=quartz.add_visibility(note.front)) for note in every]
    return Vault(root.resolve().name, tuple(every), tuple(files), (*notices, *held))


def _is_drawing(text: str) -> bool:
    head, _, _ = split_yaml_front_matter(text)
    return "excalidraw-plugin:" in head or "kanban-plugin:" in head


def _unsupported_notice(path: PurePosixPath, kind: str) -> Notice:
    hint = "export it as an image, and embed the image"
    return Notice("dropped", f"unsupported file type: {_UNSUPPORTED_FILES[kind]}", path.as_posix(), hint=hint)


def _template_folder(root: Path) -> str:
    """Return the template folder in the settings of the plugins Templates or Templater; empty if it is not
    set."""
    templater = ("plugins/templater-obsidian/data.json", "templates_folder")
    for name, key in (("templates.json", "folder"), templater):
        found = _app_setting(root, name, key)
        if isinstance(found, str) and found.strip("/ "):
            return found.strip("/ ")
    return ""


def _app_setting(root: Path, name: str, key: str) -> Any:
    """Return a setting in a file of `.obsidian`; None if it is not set or the file cannot be read."""
    try:
        return json.loads(read_text(root / ".obsidian" / name) or "").get(key)
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def shows_line_breaks(root: Path, quartz: QuartzConfig | None) -> bool:
    """Return whether the old site shows line breaks inside paragraphs. root: folder of the vault."""
    return quartz.line_breaks if quartz else _app_setting(root, "app.json", "strictLineBreaks") is not True


def _assign_paths(paths: Iterable[PurePosixPath]) -> dict[PurePosixPath, tuple[PurePosixPath, str]]:
    """Return old path of a note → its new path and slug. The slug is empty if the file name gives an unused
    URL. A note with the name of its folder, or of a folder next to it, becomes the index page of that
    folder."""
    every = sorted(paths, key=lambda path: path.as_posix())
    folders = {folder for path in every for folder in path.parents}
    taken: set[tuple[PurePosixPath, str]] = {(PurePosixPath(), name) for name in _GENERATED_URLS}
    taken |= {(folder.parent, slugify(folder.name)) for folder in folders if folder.name}
    pages: set[PurePosixPath] = set()
    found: dict[PurePosixPath, tuple[PurePosixPath, str]] = {}
    for path in every:
        folder = _page_folder(path, folders)
        if folder is not None and folder not in pages:
            pages.add(folder)
            found[path] = (_free_path(folder / "_index.md"), "")
            continue
        name = slugify(path.stem)[:_MAX_SLUG_LENGTH].strip("-") or "note"
        slug, number = name, 2
        while (path.parent, slug) in taken:
            slug, number = f"{name}-{number}", number + 1
        taken.add((path.parent, slug))
        place = path.with_name("note-index.md") if path.stem in ("index", "_index") else path
        found[path] = (_free_path(place.with_suffix(".md")), slug if slug != slugify(path.stem) else "")
    return found


def _free_path(path: PurePosixPath) -> PurePosixPath:
    """Return a path that does not start with a folder whose URL blogsmith generates, such as `tags/`."""
    first = path.parts[0]
    is_taken = len(path.parts) > 1 and first.casefold() in _GENERATED_URLS
    return PurePosixPath(f"{first}-notes", *path.parts[1:]) if is_taken else path


def _page_folder(path: PurePosixPath, folders: set[PurePosixPath]) -> PurePosixPath | None:
    """Return the folder that gets this note as its index page; None for an ordinary note."""
    if path.stem.casefold() in ("index", "_index") or (path.parent.name and path.stem == path.parent.name):
        return path.parent
    beside = path.with_suffix("")
    return beside if beside in folders else None


def _read_note(path: PurePosixPath, text: str, place: PurePosixPath, slug: str) -> Note:
    head, body, first_line = split_yaml_front_matter(text)
    front, found = read_front_matter(head, path.as_posix(), "invalid YAML in the properties")
    notices = tuple(replace(each, removed=head) for each in found)
    lowered = {str(key).casefold(): value for key, value in front.items()}
    return Note(path, place, slug, lowered, body, first_line, notices)


def copied_files(vault: Vault, root: Path) -> Iterable[ImportedFile]:
    """Yield all files that are not notes. Their paths in `content/` are the same as in the vault."""
    for path in vault.files:
        yield ImportedFile(PurePosixPath("content") / path, root / path)
