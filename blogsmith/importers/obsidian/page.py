"""Translation of a note of a vault: properties as front matter, and text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, name_set, parse_date
from ..model import FrontKeys, ImportedPage, Notice, NoticeKind
from ..text.front_values import one_line, read_strings
from ..text.segments import LineFinder
from .links import IMAGE_SUFFIXES, NoteLinks
from .markdown import find_tags, rewrite_note
from .vault import Note, NoteIndex, Vault

_DATES = ("date", "created", "created at", "creation date", "date created", "date_created", "createdat")
_UPDATES = ("updated", "modified", "last modified", "lastmod", "date modified", "date_modified", "updatedat")
KEYS = FrontKeys(
    name_set(
        "publish aliases alias tag tags title description banner cover image permalink lang author "
        "authors draft"
    ).union(_DATES, _UPDATES),
    name_set(
        "cssclass cssclasses position kanban-plugin excalidraw-plugin banner_x banner_y icon id "
        "obsidianuimode linter-yaml-title-alias"
    ),
)


def note_front(note: Note, tags: list[str]) -> dict[str, Any]:
    """Return the front matter of a note with blogsmith's keys in order. tags: tags in the text of
    the note."""
    front = note.front
    found: dict[str, Any] = {"title": note.title}
    if description := one_line(front.get("description")):
        found["description"] = description
    for key, names in (("date", _DATES), ("updated", _UPDATES)):
        if date := _date(front, names):
            found[key] = date
    if every := merge_tags(front, tags):
        found["tags"] = every
    if authors := [each.strip("[]") for each in read_strings(front.get("authors") or front.get("author"))]:
        found["authors"] = authors
    if lang := one_line(front.get("lang")):
        found["lang"] = lang
    if note.slug:
        found["slug"] = note.slug
    if str(front.get("publish")).casefold() == "false" or str(front.get("draft")).casefold() == "true":
        found["draft"] = True
    return found


def merge_tags(front: Mapping[str, Any], inline: list[str]) -> list[str]:
    """Return the distinct tags of the properties and of the text, ignoring case as Obsidian does."""
    written = [
        name.strip("#, ")
        for value in (front.get("tags"), front.get("tag"))
        for each in read_strings(value)
        for name in (re.split(r"[,\s]+", each) if isinstance(value, str) else [each])
    ]
    every: dict[str, str] = {}
    for name in (*written, *inline):
        if name:
            every.setdefault(name.casefold(), name)
    return list(every.values())


def _date(front: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        text = re.sub(r"(?<=\d)[ ]+(?=\d{1,2}:\d{2})", " ", one_line(front.get(name))).strip("[]")
        text = re.sub(r"(\.\d+)?(?=Z?$)", "", text, count=1)
        try:
            if text and parse_date(text):
                return text
        except ValueError:
            continue
    return ""


_BLOCK = lazy_pattern(r"#(?:\^|%5E)([A-Za-z0-9-]+)", re.IGNORECASE)
_QUOTED_SOURCE = lazy_pattern(r"\b(?:note|file|heading) not found: \"(.*?)\"(?= in |\Z)")


class NoteTranslator:
    """Translator for the notes of one vault, with their shared state."""

    def __init__(self, vault: Vault) -> None:
        self._index = NoteIndex(vault)
        self._blocks = frozenset(found.lower() for note in vault.notes for found in _BLOCK.findall(note.body))

    def translate(self, note: Note) -> ImportedPage:
        """Translate a note to a page."""
        source = note.path.as_posix()
        lines = LineFinder(note.body, note.first_line)
        notices: list[Notice] = list(note.notices)

        def add_notice(kind: NoticeKind, message: str, removed: str) -> None:
            place = _QUOTED_SOURCE.search(message)
            piece = place[1] if place else removed
            notices.append(Notice(kind, message, source, lines.find(_search_text(piece)), removed=removed))

        front = note_front(note, find_tags(note.body))
        links = NoteLinks(note, self._index, add_notice)
        text = rewrite_note(note.body, links, title=note.title, blocks=self._blocks, notice=add_notice)
        if image := self._image(note):
            front["image"] = image
        address = str(note.front.get("permalink") or "").strip("/ ")
        return ImportedPage(
            path=PurePosixPath("content") / note.content_path,
            front=front,
            text=text,
            source=source,
            original=note.body,
            first_line=note.first_line,
            address=f"/{address}/" if address else "",
            notices=tuple(notices),
        )

    def _image(self, note: Note) -> str:
        for key in ("image", "cover", "banner"):
            written: Any = note.front.get(key)
            if isinstance(written, str):
                name = re.sub(r"^!?\[\[([^\]|]*).*\]\]$", r"\1", written.strip())
                file = self._index.file(name, note.path)
                if file and file.suffix.lower() in IMAGE_SUFFIXES:
                    return NoteLinks(note, self._index, lambda *_: None).path_to(file)
        return ""


def _search_text(piece: str) -> str:
    """Return the start of a fragment, to find its line in the source. This is its first line without `]]`,
    because a message may omit the end of a link."""
    first = piece.strip().partition("\n")[0]
    return first.removesuffix("]]")
