"""Front matter and settings of a source, compared with the new site value by value.

The front matter is read from the old file again, by none of the code that translates it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from ...model.protection import find_restrictions
from ..model import Difference, ImportedPage, Notice, OldSettings
from ..source_files import read_text
from ..text.data import load_data, split_front
from ..text.loose_yaml import DataTextError
from .values import ADDRESS_KEYS, Leaf, ValueIndex, is_content, is_named, leaves

_DATA = frozenset((".yml", ".yaml", ".toml", ".json"))
"""Files that are settings as a whole: pages that stand for a list name them as their source."""
FRONT, SETTINGS = "front matter", "settings"
"""Kinds of differences."""


def read_old_front(file: Path) -> dict[str, Any] | None:
    """Return the front matter of a file of any system; None if it cannot be read."""
    text = read_text(file) if file.is_file() and file.suffix not in _DATA else ""
    if text is None:
        return None
    if file.suffix == ".ipynb":
        text = _first_cell(text)
    found = split_front(text)
    try:
        return load_data(found.head, found.form)
    except DataTextError:
        return None


def _first_cell(text: str) -> str:
    """Return the source of a notebook's first cell; empty if there is none."""
    try:
        cell = json.loads(text)["cells"][0]
        return "".join(cell["source"]) if cell["cell_type"] in ("raw", "markdown") else ""
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def old_leaves(page: ImportedPage, written: Mapping[str, Any]) -> list[Leaf]:
    """Return the values of a page's old front matter, each once. written: that of its file, read again."""
    found = {(leaf.path.casefold(), leaf.value): leaf for leaf in leaves(page.old_front)}
    found |= {(leaf.path.casefold(), leaf.value): leaf for leaf in leaves(written)}
    return [*found.values()]


def front_losses(page: ImportedPage, old: Iterable[Leaf], new: ValueIndex) -> Iterator[Difference]:
    """Yield the values of old front matter that the new site lacks and no notice of the page names."""
    messages = [notice.message for notice in page.notices]
    restrictions = find_restrictions(page.old_front, is_foreign=True)
    settled = {".".join(filter(_is_key, one.path)).casefold() for one in restrictions}
    translated = page.front_keys.translated
    for leaf in old:
        path = leaf.path.casefold()
        if path in settled or path.partition(".")[0] in ADDRESS_KEYS or is_named(path, messages):
            continue
        if not new.has(leaf, translated):
            yield Difference(FRONT, f"{leaf.path}: {leaf.value}", page.source)


def _is_key(step: str | int) -> TypeGuard[str]:
    return isinstance(step, str)


class NewValues(NamedTuple):
    """Where values of old settings are searched."""

    settings: ValueIndex
    whole: ValueIndex
    """Settings, front matter and texts."""


def settings_left(old: OldSettings, new: NewValues) -> list[str]:
    """Return the paths of settings that the new site lacks; that of a mapping if it has nothing of it."""
    return list(dict.fromkeys(_left(old.values, "", new, old.translated)))


def _left(data: Any, path: str, new: NewValues, translated: Collection[str]) -> Iterator[str]:
    every = [*leaves(data, path)]
    lost = [leaf for leaf in every if not _is_taken_over(leaf, new, translated)]
    if lost and ((len(lost) == len(every) and path) or not isinstance(data, Mapping)):
        yield path
    elif lost:
        for key, value in data.items():
            yield from _left(value, f"{path}.{key}" if path else str(key), new, translated)


def _is_taken_over(leaf: Leaf, new: NewValues, translated: Collection[str]) -> bool:
    if is_content(leaf.value):
        return new.whole.has(leaf, ())
    parts = leaf.path.casefold().split(".")
    is_read = any(".".join(parts[:count]) in translated for count in range(1, len(parts) + 1))
    return is_read or (isinstance(leaf.value, str) and new.settings.has(leaf, ()))


def settings_losses(old: OldSettings, new: NewValues, notices: Iterable[Notice]) -> Iterator[Difference]:
    """Yield the settings of a file that the new site lacks and no notice names."""
    messages = [notice.message for notice in notices if notice.source in (old.file, "")]
    for path in settings_left(old, new):
        if not is_named(path, messages):
            yield Difference(SETTINGS, path, old.file)
