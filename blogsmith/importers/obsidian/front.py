"""Properties of a note → our front matter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...model.dates import parse_date
from ...model.units import name_set
from ..model import FrontKeys
from ..text.front_values import one_line, texts_in
from .vault import Note

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
    """Return the front matter of a note, in our keys and order.

    tags: those in its text.
    """
    front = note.front
    found: dict[str, Any] = {"title": note.title}
    if description := one_line(front.get("description")):
        found["description"] = description
    for key, names in (("date", _DATES), ("updated", _UPDATES)):
        if date := _date(front, names):
            found[key] = date
    if every := tags_of(front, tags):
        found["tags"] = every
    if authors := [each.strip("[]") for each in texts_in(front.get("authors") or front.get("author"))]:
        found["authors"] = authors
    if lang := one_line(front.get("lang")):
        found["lang"] = lang
    if note.slug:
        found["slug"] = note.slug
    if str(front.get("publish")).casefold() == "false" or str(front.get("draft")).casefold() == "true":
        found["draft"] = True
    return found


def tags_of(front: Mapping[str, Any], inline: list[str]) -> list[str]:
    """Tags of the properties and of the text, each once; Obsidian does not mind their case."""
    written = [
        name.strip("#, ")
        for value in (front.get("tags"), front.get("tag"))
        for each in texts_in(value)
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
