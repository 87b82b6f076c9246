"""The order of works, by the keys of a style."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cmp_to_key

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from .elements import render_macro
from .markup import PRIVATE
from .names import format_people
from .rendering_context import Cite, Scene
from .style_tree import StyleNode

_NUMBERS = name_set("volume issue number chapter-number collection-number edition citation-number")
_DIGITS = lazy_pattern(r"\d+")
_PEOPLE = frozenset(("author", "editor", "translator", "container-author", "collection-editor"))
_DATES = frozenset(("issued", "accessed", "original-date", "event-date"))


def sort_cites(sort: StyleNode | None, cites: Sequence[Cite], scene: Callable[[Cite], Scene]) -> list[Cite]:
    """The works in the order of a `sort` element; as they come without one."""
    if sort is None:
        return list(cites)
    keys = list(sort.find_all("key"))
    values = {id(cite): [_value(key, scene(cite)) for key in keys] for cite in cites}
    signs = [-1 if key.get("sort") == "descending" else 1 for key in keys]

    def compare(first: Cite, second: Cite) -> int:
        for left, right, sign in zip(values[id(first)], values[id(second)], signs, strict=True):
            if left == right:
                continue
            # what is not there comes last, in either direction
            if not left or not right:
                return -1 if left else 1
            return sign if left > right else -sign
        return 0

    return sorted(cites, key=cmp_to_key(compare))


def _value(key: StyleNode, scene: Scene) -> str:
    scene.is_sorting = True
    scene.sort_names = {
        name.replace("names", "et-al"): key.get(name)
        for name in ("names-min", "names-use-first", "names-use-last")
        if key.has(name)
    }
    if key.has("macro"):
        return collation(render_macro(key.get("macro"), scene).text)
    variable = key.get("variable")
    if variable in _PEOPLE:
        return collation(format_people(scene.people(variable), None, None, scene))
    if variable in _DATES:
        date = scene.date(variable)
        return f"{date.year:05}{date.month:02}{date.day:02}" if date else ""
    text = scene.text(variable)
    if variable in _NUMBERS:
        return _DIGITS.sub(lambda found: found[0].zfill(10), text)
    return collation(text)


def collation(text: str) -> str:
    """A text as words are ordered: without case, accents and punctuation."""
    decomposed = unicodedata.normalize("NFKD", PRIVATE.sub("", text).casefold())
    kept = (char if char.isalnum() else " " for char in decomposed if not unicodedata.combining(char))
    special = "".join(kept).translate(
        {ord("ø"): "o", ord("ł"): "l", ord("æ"): "ae", ord("þ"): "th", ord("ð"): "d"}
    )
    return " ".join(special.split())
