"""The files of a vault: notes, what they embed, their names, and what Quartz publishes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import github_slug, lazy_pattern, slugify
from ..model import ImportedFile, Notice
from ..protection import excluded, part_protected, read_head
from ..source_files import matches_gitignore, read_text, walk_files
from ..text.data import split_head
from ..text.front_values import texts_in
from ..text.headings import heading_text
from ..text.segments import TEX, mask

_CONFIG = "quartz.config.ts"
_CONTENT = PurePosixPath("content")
_STRING = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`")
_COMMENT = re.compile(rf"(?P<string>{_STRING.pattern})|/\*.*?\*/|//[^\n]*", re.DOTALL)
_PATTERNS = re.compile(r"\bignorePatterns\s*:\s*\[([^\]]*)\]")
_LARGEST = 30_000
"""Characters of the settings that are read."""
_DEFAULT = ("private", "templates", ".obsidian")
"""As a new Quartz site has them."""


@dataclass(frozen=True, slots=True)
class QuartzFilter:
    """What a Quartz site leaves out."""

    patterns: tuple[str, ...]
    """Globs, relative to the folder of the notes."""
    needs_publish: bool
    """Only notes with `publish: true` are published: `Plugin.ExplicitPublish()`."""

    def leaves_out(self, path: PurePosixPath) -> bool:
        """Return whether a file is no part of the site. path: relative to the vault."""
        inner = path.relative_to(_CONTENT) if path.is_relative_to(_CONTENT) else path
        return matches_gitignore(inner.as_posix(), self.patterns, is_anchored=True)


def vault_files(root: Path, quartz: QuartzFilter | None) -> Iterator[PurePosixPath]:
    """Yield the files of a vault; of a Quartz site only those in its folder of notes: all else is Quartz."""
    if quartz and (root / _CONTENT).is_dir():
        yield from (_CONTENT / path for path in walk_files(root / _CONTENT))
    else:
        yield from walk_files(root)


def read_quartz(root: Path) -> QuartzFilter | None:
    """Return what the Quartz site around a vault leaves out; None if there is none."""
    text = read_text(root / _CONFIG)
    if text is None:
        return None
    text = _COMMENT.sub(lambda found: found["string"] or "", text[:_LARGEST])
    written = _PATTERNS.search(text)
    # without a list that can be read it is not known which folders are private
    patterns = ["".join(found) for found in _STRING.findall(written[1])] if written else _DEFAULT
    return QuartzFilter(tuple(patterns), "ExplicitPublish(" in text)


_HEADING = lazy_pattern(r"(?m)^[ \t>]*#{1,6}[ \t]+(.+?)[ \t]*$")
_TAKEN = frozenset(("tags", "categories", "series", "archive", "assets", "404", "index"))
"""Addresses at the top that are made without asking."""
_FOREIGN = {".canvas": "a canvas", ".base": "a base", ".excalidraw": "a drawing of Excalidraw"}
_LONGEST = 80
"""Characters of a slug."""
_PICTURES = (".svg", ".png")


@dataclass(frozen=True, slots=True)
class Note:
    """One note of a vault."""

    path: PurePosixPath
    """Relative to the vault."""
    place: PurePosixPath
    """Relative to `content/` of the new site."""
    slug: str
    """Last part of its address, where its name would give one that is taken; empty otherwise."""
    front: Mapping[str, Any]
    """Properties, names in lower case."""
    body: str
    first_line: int
    notices: tuple[Notice, ...] = ()

    @property
    def title(self) -> str:
        """As Obsidian shows it: the name of the file, unless a property says otherwise."""
        written = self.front.get("title")
        return " ".join(str(written).split()) if isinstance(written, (str, int, float)) else self.path.stem

    def headings(self) -> dict[str, str]:
        """Words of each heading, in small letters → its id here."""
        masked = mask(self.body, kinds=TEX)
        found: dict[str, str] = {}
        for heading in _HEADING.findall(masked.text):
            text = heading_text(masked.restore(heading))
            found.setdefault(slugify(text), github_slug(text))
        return found


@dataclass(frozen=True, slots=True)
class Vault:
    """What there is in a vault."""

    name: str
    notes: tuple[Note, ...]
    files: tuple[PurePosixPath, ...]
    """What is copied, relative to the vault."""
    notices: tuple[Notice, ...]


class NoteIndex:
    """Finds notes and files by what links call them: path, end of a path, name or another name."""

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
            for alias in texts_in(note.front.get("aliases") or note.front.get("alias")):
                self._notes.setdefault(alias.casefold(), []).append(note)

    def note(self, target: str, source: PurePosixPath) -> Note | None:
        """The note of this name nearest to `source`; None if there is none."""
        name = _key(target)
        found = self._notes.get(name.removesuffix(".md")) or self._notes.get(name)
        return min(found, key=lambda note: _distance(note.path, source)) if found else None

    def file(self, target: str, source: PurePosixPath) -> PurePosixPath | None:
        """The file of this name nearest to `source`; None if there is none."""
        found = self._files.get(_key(target))
        return min(found, key=lambda path: _distance(path, source)) if found else None


def _key(target: str) -> str:
    parts = [part for part in target.strip().strip("/").split("/") if part not in (".", "..", "")]
    return "/".join(parts).casefold()


def _distance(path: PurePosixPath, source: PurePosixPath) -> tuple[int, int, str]:
    """Obsidian takes the shortest path; of equal ones that in the folder of the link."""
    return (path.parent != source.parent, len(path.parts), path.as_posix())


def read_vault(root: Path) -> Vault:
    """All files of the vault at `root`."""
    templates, quartz = _template_folder(root), read_quartz(root)
    notes: list[tuple[PurePosixPath, str]] = []
    files: list[PurePosixPath] = []
    notices: list[Notice] = []
    for path in vault_files(root, quartz):
        if quartz and quartz.leaves_out(path):
            if path.suffix.lower() == ".md":
                notices.append(excluded("ignorePatterns in quartz.config.ts leaves it out", path))
        elif templates and path.is_relative_to(templates):
            if path.suffix == ".md":
                notices.append(Notice("dropped", "templates are no notes", path.as_posix()))
        elif path.suffix.lower() == ".md" and not path.stem.lower().endswith(".excalidraw"):
            text = read_text(root / path)
            if text is None:
                notices.append(Notice("mistake", "is no text that can be read", path.as_posix()))
            elif _is_drawing(text):
                notices.append(_foreign(path, ".excalidraw"))
            else:
                notes.append((path, text))
        elif kind := next((kind for kind in _FOREIGN if kind in path.suffixes), ""):
            if path.suffix in _PICTURES:
                files.append(path)
            else:
                notices.append(_foreign(path, kind))
        elif len(path.parts) > 1 or path.name not in ("LICENSE", "package.json"):
            files.append(path)
    places = _places([path for path, _ in notes])
    read = (_read_note(path, text, *places[path]) for path, text in notes)
    every, held = part_protected(read, lambda note: note.path)
    if quartz and quartz.needs_publish:
        every = [_published_explicitly(note) for note in every]
    if quartz:
        message = "settings in quartz.config.ts are not read, except what it leaves out"
        hint = "write title, base_url and comments into blogsmith.yaml"
        notices.append(Notice("dropped", message, "quartz.config.ts", hint=hint))
    return Vault(root.resolve().name, tuple(every), tuple(files), (*notices, *held))


def _published_explicitly(note: Note) -> Note:
    """Return the note, as a draft unless it says `publish: true`."""
    is_public = str(note.front.get("publish")).casefold() == "true"
    return note if is_public else replace(note, front={**note.front, "draft": True})


def _is_drawing(text: str) -> bool:
    head, _, _ = split_head(text)
    return "excalidraw-plugin:" in head or "kanban-plugin:" in head


def _foreign(path: PurePosixPath, kind: str) -> Notice:
    hint = "export it as a picture, and show that"
    return Notice("dropped", f"{_FOREIGN[kind]} is not read", path.as_posix(), hint=hint)


def _template_folder(root: Path) -> str:
    """The folder of the core plugin for templates, if the vault has one."""
    templater = ("plugins/templater-obsidian/data.json", "templates_folder")
    for name, key in (("templates.json", "folder"), templater):
        try:
            found = json.loads(read_text(root / ".obsidian" / name) or "").get(key)
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        if isinstance(found, str) and found.strip("/ "):
            return found.strip("/ ")
    return ""


def _places(paths: Iterable[PurePosixPath]) -> dict[PurePosixPath, tuple[PurePosixPath, str]]:
    """Where each note stands, and a slug where its own would be taken.

    A note that bears the name of a folder beside or around it is the page of that folder.
    """
    every = sorted(paths, key=lambda path: path.as_posix())
    folders = {folder for path in every for folder in path.parents}
    taken: set[tuple[PurePosixPath, str]] = {(PurePosixPath(), name) for name in _TAKEN}
    taken |= {(folder.parent, slugify(folder.name)) for folder in folders if folder.name}
    pages: set[PurePosixPath] = set()
    found: dict[PurePosixPath, tuple[PurePosixPath, str]] = {}
    for path in every:
        folder = _folder_of(path, folders)
        if folder is not None and folder not in pages:
            pages.add(folder)
            found[path] = (folder / "_index.md", "")
            continue
        name = slugify(path.stem)[:_LONGEST].strip("-") or "note"
        slug, number = name, 2
        while (path.parent, slug) in taken:
            slug, number = f"{name}-{number}", number + 1
        taken.add((path.parent, slug))
        place = path.with_name("note-index.md") if path.stem in ("index", "_index") else path
        found[path] = (place.with_suffix(".md"), slug if slug != slugify(path.stem) else "")
    return found


def _folder_of(path: PurePosixPath, folders: set[PurePosixPath]) -> PurePosixPath | None:
    """The folder whose page a note is; None if it is a note like others."""
    if path.stem.casefold() in ("index", "_index") or (path.parent.name and path.stem == path.parent.name):
        return path.parent
    beside = path.with_suffix("")
    return beside if beside in folders else None


def _read_note(path: PurePosixPath, text: str, place: PurePosixPath, slug: str) -> Note:
    head, body, first_line = split_head(text)
    front, found = read_head(head, path.as_posix(), "the properties are not YAML")
    notices = tuple(replace(each, removed=head) for each in found)
    lowered = {str(key).casefold(): value for key, value in front.items()}
    return Note(path, place, slug, lowered, body, first_line, notices)


def copied_files(vault: Vault, root: Path) -> Iterable[ImportedFile]:
    """Everything that is no note, beside the notes."""
    for path in vault.files:
        yield ImportedFile(PurePosixPath("content") / path, root / path)
