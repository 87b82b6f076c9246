"""Files of a vault: notes, embedded files, their names, and the files that Quartz publishes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import github_slug, lazy_pattern, slugify
from ..model import ImportedFile, Notice
from ..protection import excluded_notice, read_front_matter, split_protected
from ..source_files import matches_gitignore, read_text, walk_files
from ..text.data import split_yaml_front_matter
from ..text.front_values import read_strings
from ..text.headings import heading_text
from ..text.segments import TEX, mask

_CONFIG = "quartz.config.ts"
_CONTENT = PurePosixPath("content")
_STRING = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`")
_COMMENT = re.compile(rf"(?P<string>{_STRING.pattern})|/\*.*?\*/|//[^\n]*", re.DOTALL)
_PATTERNS = re.compile(r"\bignorePatterns\s*:\s*\[([^\]]*)\]")
_MAX_CHARACTERS = 30_000
"""Maximum number of characters of the settings to read."""
_DEFAULT_PATTERNS = ("private", "templates", ".obsidian")
"""Default patterns of a new Quartz site."""


@dataclass(frozen=True, slots=True)
class QuartzFilter:
    """The files that a Quartz site excludes."""

    patterns: tuple[str, ...]
    """Globs, relative to the folder of the notes."""
    needs_publish: bool
    """Whether only notes with `publish: true` are published: `Plugin.ExplicitPublish()`."""

    def excludes(self, path: PurePosixPath) -> bool:
        """Return whether a file is excluded from the site. path: relative to the vault."""
        inner = path.relative_to(_CONTENT) if path.is_relative_to(_CONTENT) else path
        return matches_gitignore(inner.as_posix(), self.patterns, is_anchored=True)


def vault_files(root: Path, quartz: QuartzFilter | None) -> Iterator[PurePosixPath]:
    """Yield the files of a vault. In a Quartz site, files outside of the content folder belong to Quartz."""
    if quartz and (root / _CONTENT).is_dir():
        yield from (_CONTENT / path for path in walk_files(root / _CONTENT))
    else:
        yield from walk_files(root)


def read_quartz(root: Path) -> QuartzFilter | None:
    """Return the filter of the Quartz site that contains the vault; None if there is none."""
    text = read_text(root / _CONFIG)
    if text is None:
        return None
    text = _COMMENT.sub(lambda found: found["string"] or "", text[:_MAX_CHARACTERS])
    written = _PATTERNS.search(text)
    # if the list cannot be parsed, it is unknown which folders are private
    patterns = ["".join(found) for found in _STRING.findall(written[1])] if written else _DEFAULT_PATTERNS
    return QuartzFilter(tuple(patterns), "ExplicitPublish(" in text)


_HEADING = lazy_pattern(r"(?m)^[ \t>]*#{1,6}[ \t]+(.+?)[ \t]*$")
_GENERATED_URLS = frozenset(("tags", "categories", "series", "archive", "assets", "404", "index"))
"""URLs at the top level that are generated automatically."""
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
    """Last segment of its URL, if its file name would give a URL that is taken; otherwise empty."""
    front: Mapping[str, Any]
    """Properties, with names in lower case."""
    body: str
    first_line: int
    notices: tuple[Notice, ...] = ()

    @property
    def title(self) -> str:
        """Return the title that Obsidian shows: the file name, unless a property overrides it."""
        written = self.front.get("title")
        return " ".join(str(written).split()) if isinstance(written, (str, int, float)) else self.path.stem

    def headings(self) -> dict[str, str]:
        """Return the ids of the headings by slug of their text."""
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
    """Copied files, relative to the vault."""
    notices: tuple[Notice, ...]


class NoteIndex:
    """Index of notes and files by the names that links use: path, end of a path, name or alias."""

    def __init__(self, vault: Vault) -> None:
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

    def note(self, target: str, source: PurePosixPath) -> Note | None:
        """Return the note of this name nearest to `source`; None if there is none."""
        name = _key(target)
        found = self._notes.get(name.removesuffix(".md")) or self._notes.get(name)
        return min(found, key=lambda note: _distance(note.path, source)) if found else None

    def file(self, target: str, source: PurePosixPath) -> PurePosixPath | None:
        """Return the file of this name nearest to `source`; None if there is none."""
        found = self._files.get(_key(target))
        return min(found, key=lambda path: _distance(path, source)) if found else None


def _key(target: str) -> str:
    parts = [part for part in target.strip().strip("/").split("/") if part not in (".", "..", "")]
    return "/".join(parts).casefold()


def _distance(path: PurePosixPath, source: PurePosixPath) -> tuple[int, int, str]:
    """Return the sort key for equally named files: first the folder of the link, then the shortest path."""
    return (path.parent != source.parent, len(path.parts), path.as_posix())


def read_vault(root: Path) -> Vault:
    """Read all files of the vault at `root`."""
    templates, quartz = _template_folder(root), read_quartz(root)
    notes: list[tuple[PurePosixPath, str]] = []
    files: list[PurePosixPath] = []
    notices: list[Notice] = []
    for path in vault_files(root, quartz):
        if quartz and quartz.excludes(path):
            if path.suffix.lower() == ".md":
                notices.append(
                    excluded_notice('excluded by setting "ignorePatterns" in quartz.config.ts', path)
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
    if quartz and quartz.needs_publish:
        every = [_draft_unless_published(note) for note in every]
    if quartz:
        message = "settings in quartz.config.ts are not imported; excluded files stay excluded"
        hint = "write `title`, `base_url` and `comments` in blogsmith.yaml"
        notices.append(Notice("dropped", message, "quartz.config.ts", hint=hint))
    return Vault(root.resolve().name, tuple(every), tuple(files), (*notices, *held))


def _draft_unless_published(note: Note) -> Note:
    """Return the note, as a draft unless it has `publish: true`."""
    is_public = str(note.front.get("publish")).casefold() == "true"
    return note if is_public else replace(note, front={**note.front, "draft": True})


def _is_drawing(text: str) -> bool:
    head, _, _ = split_yaml_front_matter(text)
    return "excalidraw-plugin:" in head or "kanban-plugin:" in head


def _unsupported_notice(path: PurePosixPath, kind: str) -> Notice:
    hint = "export it as an image, and embed the image"
    return Notice("dropped", f"unsupported file type: {_UNSUPPORTED_FILES[kind]}", path.as_posix(), hint=hint)


def _template_folder(root: Path) -> str:
    """Return the folder of the core plugin Templates or of Templater; empty if the vault has none."""
    templater = ("plugins/templater-obsidian/data.json", "templates_folder")
    for name, key in (("templates.json", "folder"), templater):
        try:
            found = json.loads(read_text(root / ".obsidian" / name) or "").get(key)
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        if isinstance(found, str) and found.strip("/ "):
            return found.strip("/ ")
    return ""


def _assign_paths(paths: Iterable[PurePosixPath]) -> dict[PurePosixPath, tuple[PurePosixPath, str]]:
    """Return the new path of each note, and a slug if its own would be taken.

    A note with the name of a folder next to it or around it is the page of that folder.
    """
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
            found[path] = (folder / "_index.md", "")
            continue
        name = slugify(path.stem)[:_MAX_SLUG_LENGTH].strip("-") or "note"
        slug, number = name, 2
        while (path.parent, slug) in taken:
            slug, number = f"{name}-{number}", number + 1
        taken.add((path.parent, slug))
        place = path.with_name("note-index.md") if path.stem in ("index", "_index") else path
        found[path] = (place.with_suffix(".md"), slug if slug != slugify(path.stem) else "")
    return found


def _page_folder(path: PurePosixPath, folders: set[PurePosixPath]) -> PurePosixPath | None:
    """Return the folder whose page a note is; None for an ordinary note."""
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
    """Yield all files that are not notes. They go next to the notes."""
    for path in vault.files:
        yield ImportedFile(PurePosixPath("content") / path, root / path)
