"""Values of old front matter and settings, compared with the new site.

The values are read from the source again. Only the words of a value are compared, so it may move to another
key, to the text, or to a list. Dates are compared by day and site paths by file name, because imports
rewrite both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from ...api.importing import find_restrictions, lazy_pattern, name_set
from ..model import Difference, ImportedPage, Notice, OldSettings
from ..source_files import read_text
from ..text.data import DataTextError, iso_date, load_data, split_front_matter
from .facts import split_words

Scalar: TypeAlias = str | int | float | bool
ADDRESS_KEYS = name_set("permalink slug url aliases alias redirect_from")
"""Keys that determine the URL of a page; old URLs are checked separately."""
_MAX_DEPTH = 20
_TOO_DEEP = "values nested too deeply to compare"
_MIN_SENTENCE_WORDS = 8
"""Minimum number of words of a sentence. In the new site, other words may be between its words, such as URLs
of links."""
_DAY = lazy_pattern(r"\d{4}-\d{1,2}-\d{1,2}\b")
_HOST = lazy_pattern(r"[A-Za-z][\w+.-]*://|//")
_CONTENT = lazy_pattern(r"https?://\S|[^\s@]+@[^\s@]+\.\w|\S+\s+\S+\s+\S")
"""Matches a value that is meant for readers: a URL, an e-mail address, or three words and more."""


class Leaf(NamedTuple):
    """A value that is neither a mapping nor a list."""

    path: str
    """Keys from the outermost mapping inwards, joined by dots. Indexes of lists are omitted."""
    value: Scalar


def leaves(data: Any, path: str = "", depth: int = 0) -> Iterator[Leaf]:
    """Yield the values of nested data in order. Empty values are omitted."""
    if isinstance(data, Mapping | list | tuple) and data and depth > _MAX_DEPTH:
        yield Leaf(path, _TOO_DEEP)
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from leaves(value, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from leaves(value, path, depth + 1)
    elif data is not None and str(data).strip():
        yield Leaf(path, data if isinstance(data, str | int | float) else str(data))


def is_content(value: Scalar) -> bool:
    """Return whether a value is meant for readers, whatever its key: an address or a sentence."""
    return isinstance(value, str) and _CONTENT.search(value) is not None


def is_named(path: str, messages: Iterable[str]) -> bool:
    """Return whether a message names a key or setting in double quotes: its path, or that of a mapping that
    contains it.

    This holds only for messages that contain the word "key" or "setting", or start with a quoted name. Other
    quoted names are shortcodes, files and similar.
    """
    parts = path.split(".")
    names = {f'"{".".join(parts[:count])}"'.casefold() for count in range(1, len(parts) + 1)}
    about_keys = [message.casefold() for message in messages if _NAMES_KEY.search(message)]
    return any(name in message for message in about_keys for name in names)


_NAMES_KEY = lazy_pattern(r"\A\"|\b(?:key|setting)s?\b")


class ValueIndex:
    """Index of the values of the new site, for searching."""

    def __init__(self, data: Iterable[Any], texts: Iterable[str] = ()) -> None:
        """Initialize the index.

        data: front matter and settings. `texts`: Markdown of the pages.
        """
        self._leaves = [leaf for each in data for leaf in leaves(each)]
        self._texts = texts
        self.keys = frozenset(key.casefold() for leaf in self._leaves for key in leaf.path.split("."))
        """Keys of all mappings, in lower case."""

    def has(self, leaf: Leaf, translated: Collection[str]) -> bool:
        """Return whether the new site contains a value. translated: keys whose booleans an importer
        translates, in lower case."""
        if isinstance(leaf.value, bool):
            path = leaf.path.casefold()
            return path in translated or path.rpartition(".")[2] in self.keys
        return self._has_value(leaf.value)

    def _has_value(self, value: str | float) -> bool:
        if isinstance(value, int | float):
            return str(value) in self._spellings
        words = split_words(value)
        return not words or self._has_words(words) or self._has_day(value) or self._has_file(value)

    def _has_words(self, words: list[str]) -> bool:
        needed = frozenset(words)
        rarest = min((self._word_sets.get(word, ()) for word in needed), key=len, default=())
        if any(needed <= known for known in rarest):
            return True
        phrase = f" {' '.join(words)} "
        return any(
            phrase in text or (len(words) >= _MIN_SENTENCE_WORDS and needed <= known)
            for text, known in self._prose
        )

    def _has_day(self, value: str) -> bool:
        day = iso_date(value)[:10]
        return bool(day) and day in self._days

    def _has_file(self, value: str) -> bool:
        name = _file_name(value)
        return bool(name) and (name in self._files or self._has_words(split_words(name)))

    @cached_property
    def _spellings(self) -> frozenset[str]:
        return frozenset(str(leaf.value).strip() for leaf in self._leaves)

    @cached_property
    def _word_sets(self) -> Mapping[str, Collection[frozenset[str]]]:
        """Map each word to the values and lists that contain it, as sets of words."""
        lists: dict[str, set[str]] = {}
        for leaf in self._leaves:
            lists.setdefault(leaf.path, set()).update(split_words(str(leaf.value)))
        every = [frozenset(split_words(spelling)) for spelling in self._spellings]
        found: dict[str, list[frozenset[str]]] = {}
        for words in (*map(frozenset, lists.values()), *every):
            for word in words:
                found.setdefault(word, []).append(words)
        return found

    @cached_property
    def _prose(self) -> list[tuple[str, frozenset[str]]]:
        found = [split_words(text) for text in self._texts]
        return [(f" {' '.join(words)} ", frozenset(words)) for words in found]

    @cached_property
    def _days(self) -> frozenset[str]:
        return frozenset(iso_date(text)[:10] for text in self._spellings if _DAY.match(text))

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(filter(None, map(_file_name, self._spellings)))


def _file_name(value: str) -> str:
    """Return the last segment of a site path, in lower case; empty for any other value."""
    path = value.strip().partition("#")[0].partition("?")[0]
    if _HOST.match(path) or re.search(r"\s", path) or not re.search(r"/|\.\w{1,5}\Z", path):
        return ""
    return re.sub(r"\.(?:html?|md|qmd|ipynb)\Z", "", path.rstrip("/").rpartition("/")[2].casefold())


_SETTINGS_SUFFIXES = frozenset((".yml", ".yaml", ".toml", ".json"))
"""Extensions of settings files. Pages made for old lists name such a file as their source."""
FRONT, SETTINGS = "front matter", "settings"
"""Kinds of differences."""


def read_old_front(file: Path) -> dict[str, Any] | None:
    """Return the front matter of a file of any system; None if it cannot be read."""
    text = read_text(file) if file.is_file() and file.suffix not in _SETTINGS_SUFFIXES else ""
    if text is None:
        return None
    if file.suffix == ".ipynb":
        text = _first_cell(text)
    found = split_front_matter(text)
    try:
        return load_data(found.front_matter, found.form)
    except DataTextError:
        return None


def _first_cell(text: str) -> str:
    """Return the source of a notebook's first cell; empty if it is code or there is none."""
    try:
        cell = json.loads(text)["cells"][0]
        return "".join(cell["source"]) if cell["cell_type"] in ("raw", "markdown") else ""
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def old_leaves(page: ImportedPage, written: Mapping[str, Any]) -> list[Leaf]:
    """Return the distinct values of a page's old front matter. written: the front matter, read again from its
    file."""
    found = {(leaf.path.casefold(), leaf.value): leaf for leaf in leaves(page.old_front)}
    found |= {(leaf.path.casefold(), leaf.value): leaf for leaf in leaves(written)}
    return [*found.values()]


def front_losses(page: ImportedPage, old: Iterable[Leaf], new: ValueIndex) -> Iterator[Difference]:
    """Yield the values of old front matter that the new site lacks and no notice names."""
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
    """The indexes that are searched for values of old settings."""

    settings: ValueIndex
    site: ValueIndex
    """Values of settings, front matter and text."""


def lost_settings(old: OldSettings, new: NewValues) -> list[str]:
    """Return the paths of settings that the new site lacks; the path of a mapping if all of it is missing."""
    return list(dict.fromkeys(_find_lost(old.values, "", new, old.translated)))


def _find_lost(data: Any, path: str, new: NewValues, translated: Collection[str]) -> Iterator[str]:
    every = [*leaves(data, path)]
    lost = [leaf for leaf in every if not _is_taken_over(leaf, new, translated)]
    if lost and ((len(lost) == len(every) and path) or not isinstance(data, Mapping)):
        yield path
    elif lost:
        for key, value in data.items():
            yield from _find_lost(value, f"{path}.{key}" if path else str(key), new, translated)


def _is_taken_over(leaf: Leaf, new: NewValues, translated: Collection[str]) -> bool:
    if is_content(leaf.value):
        return new.site.has(leaf, ())
    parts = leaf.path.casefold().split(".")
    is_read = any(".".join(parts[:count]) in translated for count in range(1, len(parts) + 1))
    return is_read or (isinstance(leaf.value, str) and new.settings.has(leaf, ()))


def settings_losses(old: OldSettings, new: NewValues, notices: Iterable[Notice]) -> Iterator[Difference]:
    """Yield the settings of a file that the new site lacks and no notice names."""
    messages = [notice.message for notice in notices if notice.source in (old.file, "")]
    for path in lost_settings(old, new):
        if not is_named(path, messages):
            yield Difference(SETTINGS, path, old.file)
