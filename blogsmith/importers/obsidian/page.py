"""One note of a vault → a page of ours."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from ...base.patterns import lazy_pattern
from ..model import ImportedPage, Notice, NoticeKind
from ..text.segments import Lines
from .front import note_front
from .links import PICTURES, NoteLinks
from .markdown import rewrite_note, tags_in
from .vault import Note, NoteIndex, Vault

_BLOCK = lazy_pattern(r"#(?:\^|%5E)([A-Za-z0-9-]+)", re.IGNORECASE)
_PLACES = lazy_pattern(r"(?:link|embed) (!?\[\[.*?\]\])|link to \"(.*?)\"|the heading \"(.*?)\"")


class NoteTranslator:
    """Translates the notes of one vault; keeps what they share."""

    def __init__(self, vault: Vault) -> None:
        self._index = NoteIndex(vault)
        self._blocks = frozenset(found.lower() for note in vault.notes for found in _BLOCK.findall(note.body))

    def translate(self, note: Note) -> ImportedPage:
        """The page."""
        source = note.path.as_posix()
        lines = Lines(note.body, note.first_line)
        notices: list[Notice] = list(note.notices)

        def add_notice(kind: NoticeKind, message: str, removed: str) -> None:
            place = _PLACES.search(message)
            piece = next(filter(None, place.groups()), "") if place else removed
            notices.append(Notice(kind, message, source, lines.find(_begin(piece)), removed=removed))

        front = note_front(note, tags_in(note.body))
        links = NoteLinks(note, self._index, add_notice)
        text = rewrite_note(note.body, links, title=note.title, blocks=self._blocks, notice=add_notice)
        if image := self._image(note):
            front["image"] = image
        address = str(note.front.get("permalink") or "").strip("/ ")
        return ImportedPage(
            path=PurePosixPath("content") / note.place,
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
                if file and file.suffix.lower() in PICTURES:
                    return NoteLinks(note, self._index, lambda *_: None).path_to(file)
        return ""


def _begin(piece: str) -> str:
    """The first line of a piece, to find it by: a shown link may have an end that the message left out."""
    first = piece.strip().partition("\n")[0]
    return first.removesuffix("]]")
