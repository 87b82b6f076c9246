"""Values of front matter and settings, and whether the new site has them.

A value counts by its words, so it may have moved into another key, into the text, or into a list. A date
counts as a day, and a path of the site by the name of its file, because imports rewrite both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from ...base.patterns import lazy_pattern
from ...model.units import name_set
from ..text.plain_dates import iso_date
from .facts import words_in

Scalar: TypeAlias = str | int | float | bool
ADDRESS_KEYS = name_set("permalink slug url aliases alias redirect_from")
"""Keys that decide where a page is; whether every old address answers is checked for itself."""
_DEEPEST = 20
_TOO_DEEP = "values that are nested too deep to be compared"
_SENTENCE = 8
"""Words from which on a text may have marks of its own between them, such as links."""
_DAY = lazy_pattern(r"\d{4}-\d{1,2}-\d{1,2}\b")
_HOST = lazy_pattern(r"[A-Za-z][\w+.-]*://|//")
_CONTENT = lazy_pattern(r"https?://\S|[^\s@]+@[^\s@]+\.\w|\S+\s+\S+\s+\S")
"""What only readers can be meant to see: an address, or three words and more."""


class Leaf(NamedTuple):
    """A value that is no mapping and no list."""

    path: str
    """Keys from the outermost mapping on, joined by dots; indexes of lists left out."""
    value: Scalar


def leaves(data: Any, path: str = "", depth: int = 0) -> Iterator[Leaf]:
    """Yield the values of nested data in their order. Empty ones say nothing and are left out."""
    if isinstance(data, Mapping | list | tuple) and data and depth > _DEEPEST:
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
    """Return whether a value can only be meant for readers, whatever its key: an address or a sentence."""
    return isinstance(value, str) and _CONTENT.search(value) is not None


def is_named(path: str, messages: Iterable[str]) -> bool:
    """Return whether a message names a key in double quotes: by its path, or by a key around it."""
    parts = path.split(".")
    names = {f'"{".".join(parts[:count])}"'.casefold() for count in range(1, len(parts) + 1)}
    return any(name in message.casefold() for message in messages for name in names)


class ValueIndex:
    """The values of the new site, to be searched."""

    def __init__(self, data: Iterable[Any], texts: Iterable[str] = ()) -> None:
        """data: front matter and settings. texts: Markdown."""
        self._leaves = [leaf for each in data for leaf in leaves(each)]
        self._texts = texts
        self.keys = frozenset(key.casefold() for leaf in self._leaves for key in leaf.path.split("."))
        """Keys of all mappings, in lower case."""

    def has(self, leaf: Leaf, translated: Collection[str]) -> bool:
        """Return whether the new site has a value.

        translated: keys whose truth values an importer translates, in lower case.
        """
        if isinstance(leaf.value, bool):
            path = leaf.path.casefold()
            return path in translated or path.rpartition(".")[2] in self.keys
        return self._has_value(leaf.value)

    def _has_value(self, value: str | float) -> bool:
        if isinstance(value, int | float):
            return str(value) in self._spellings
        words = words_in(value)
        return not words or self._has_words(words) or self._has_day(value) or self._has_file(value)

    def _has_words(self, words: list[str]) -> bool:
        needed = frozenset(words)
        rarest = min((self._word_sets.get(word, ()) for word in needed), key=len, default=())
        if any(needed <= known for known in rarest):
            return True
        phrase = f" {' '.join(words)} "
        return any(
            phrase in text or (len(words) >= _SENTENCE and needed <= known) for text, known in self._prose
        )

    def _has_day(self, value: str) -> bool:
        day = iso_date(value)[:10]
        return bool(day) and day in self._days

    def _has_file(self, value: str) -> bool:
        name = _file_name(value)
        return bool(name) and (name in self._files or self._has_words(words_in(name)))

    @cached_property
    def _spellings(self) -> frozenset[str]:
        return frozenset(str(leaf.value).strip() for leaf in self._leaves)

    @cached_property
    def _word_sets(self) -> Mapping[str, Collection[frozenset[str]]]:
        """Word → the words of each value that has it, and those of each list together."""
        lists: dict[str, set[str]] = {}
        for leaf in self._leaves:
            lists.setdefault(leaf.path, set()).update(words_in(str(leaf.value)))
        every = [frozenset(words_in(spelling)) for spelling in self._spellings]
        found: dict[str, list[frozenset[str]]] = {}
        for words in (*map(frozenset, lists.values()), *every):
            for word in words:
                found.setdefault(word, []).append(words)
        return found

    @cached_property
    def _prose(self) -> list[tuple[str, frozenset[str]]]:
        found = [words_in(text) for text in self._texts]
        return [(f" {' '.join(words)} ", frozenset(words)) for words in found]

    @cached_property
    def _days(self) -> frozenset[str]:
        return frozenset(iso_date(text)[:10] for text in self._spellings if _DAY.match(text))

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(filter(None, map(_file_name, self._spellings)))


def _file_name(value: str) -> str:
    """Return the last part of a path in a site, in lower case; empty for all else."""
    path = value.strip().partition("#")[0].partition("?")[0]
    if _HOST.match(path) or re.search(r"\s", path) or not re.search(r"/|\.\w{1,5}\Z", path):
        return ""
    return re.sub(r"\.(?:html?|md|qmd|ipynb)\Z", "", path.rstrip("/").rpartition("/")[2].casefold())
