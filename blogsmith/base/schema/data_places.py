"""Where the keys and values of TOML and JSON stand: their libraries give values alone.

Walks over a text that the library has read without a mistake, so it checks nothing; what both notations
share (quotes, lists, tables in braces) is walked over by the same code.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..diagnostics.model import Place, Reporter, TextMap
from ..patterns import lazy_pattern
from .yaml_errors import MAX_DEPTH
from .yaml_loader import Located, YamlPath
from .yaml_scalars import MAX_DIGITS, is_too_long

_BLANK = lazy_pattern(r"(?:[ \t\n]+|#[^\n]*)*")
_STRING = lazy_pattern(r'"""[\s\S]*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'')
_BARE_KEY = lazy_pattern(r"[^\s=:.\[\]{}\"',]+")
_SCALAR = lazy_pattern(r"[^,\]}\n#]*[^,\]}\n#\s]")
_KEYS = rf"(?<![\w-])(?:(?:[\w-]+|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')[ \t]*\.[ \t]*){{{MAX_DEPTH}}}"
_NESTING = lazy_pattern(rf"(?P<keys>{_KEYS})|{_STRING.pattern}|#[^\n]*|[\[\]{{}}]")
_ESCAPE = lazy_pattern(r"\\([tn])[A-Za-z]")
_REFUSED = lazy_pattern("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def is_too_deep(text: str) -> bool:
    """Whether brackets are nested or keys joined by points deeper than anybody would write, and than a parser
    may go that is recursive, and that takes the square of the length of a key."""
    depth = 0
    for found in _NESTING.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > MAX_DEPTH or found["keys"]:
            return True
    return False


def is_value_too_deep(value: Any) -> bool:
    """The same of what was read: tables in braces, headers and keys with points add up."""
    level = [value]
    for _ in range(MAX_DEPTH + 2):
        level = [
            part
            for each in level
            if isinstance(each, dict | list)
            for part in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def text_map(text: str, first_line: int) -> TextMap:
    """Where a text stands that begins on this line of its file."""
    return TextMap(text, tuple((first_line + number, 1) for number in range(text.count("\n") + 1)))


@dataclass(slots=True)
class DataWalker:
    """Finds the places in one text. Lives as long as that is read."""

    origin: TextMap
    reporter: Reporter
    escape_hint: str
    """How a backslash is written."""
    places: dict[YamlPath, Place] = field(default_factory=dict)
    key_places: dict[YamlPath, Place] = field(default_factory=dict)
    texts: dict[YamlPath, str] = field(default_factory=dict)
    """Scalars as written, those in quotes apart."""

    @property
    def text(self) -> str:
        """What is walked over."""
        return self.origin.text

    def located(self, value: Any, plain: Callable[[Any, str], Any]) -> Located:
        """The value with its places. plain: a scalar and its spelling → a text, number, truth or None."""
        return Located(self._convert(value, (), plain), self.places, self.key_places, self.texts)

    def _convert(self, value: Any, path: YamlPath, plain: Callable[[Any, str], Any]) -> Any:
        if isinstance(value, dict):
            entries = ((key, self._convert(item, (*path, key), plain)) for key, item in value.items())
            return {_REFUSED.sub(" ", key): item for key, item in entries}
        if isinstance(value, list):
            return [self._convert(item, (*path, at), plain) for at, item in enumerate(value)]
        if isinstance(value, str):
            return self._checked(value, self.places.get(path))
        spelling = self.texts.get(path, "")
        if isinstance(value, int) and is_too_long(spelling):
            message, hint = f"a number has at most {MAX_DIGITS} digits", "put it in quotes if it is a text"
            self.reporter.error("yaml-feature", message, self.places.get(path), hint)
            return self.texts.pop(path)
        if not isinstance(value, int | float):
            self.texts.pop(path, None)
        return plain(value, spelling)

    def _checked(self, value: str, place: Place | None) -> str:
        """The text without characters that no page may hold, which are reported."""
        if not (wrong := _REFUSED.search(value)):
            return value
        message = f"this text holds the character U+{ord(wrong[0]):04X}"
        self.reporter.error("yaml-escape", message, place, self.escape_hint)
        return _REFUSED.sub(" ", value)

    def skip(self, at: int) -> int:
        """Index behind blanks, line ends and comments."""
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, path: YamlPath) -> int:
        """Index behind the value that begins here."""
        character = self.text[at : at + 1]
        if character == "[":
            end = self._list(at + 1, path)
        elif character == "{":
            end = self._table(at + 1, path)
        else:
            end = self._scalar(at, path)
        self.places[path] = self.origin.place(at, end - at)
        return end

    def _scalar(self, at: int, path: YamlPath) -> int:
        found = _STRING.match(self.text, at)
        if found:
            if found[0].startswith('"') and "$" in found[0]:
                self._warn_of_escapes(at, found.end())
            return found.end()
        found = _SCALAR.match(self.text, at)
        if not found:
            return at + 1
        self.texts[path] = found[0]
        return found.end()

    def _warn_of_escapes(self, start: int, end: int) -> None:
        r"""`\t` of `\theta` is a tab in double quotes."""
        for found in _ESCAPE.finditer(self.text, start, end):
            before = self.text[start : found.start()]
            # an odd number in front: the last one is escaped itself
            if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
                what = "tab" if found[1] == "t" else "line break"
                message, place = (
                    f"\\{found[1]} in double quotes is a {what}",
                    self.origin.place(found.start(), 2),
                )
                self.reporter.warn("yaml-escape", message, place, self.escape_hint)

    def _list(self, at: int, path: YamlPath) -> int:
        count = 0
        while (at := self.skip(at)) < len(self.text) and self.text[at] != "]":
            if self.text[at] == ",":
                at += 1
                continue
            at = self.value(at, (*path, count))
            count += 1
        return at + 1

    def _table(self, at: int, path: YamlPath) -> int:
        while (at := self.skip(at)) < len(self.text) and self.text[at] != "}":
            at = at + 1 if self.text[at] == "," else self.pair(at, path)
        return at + 1

    def pair(self, at: int, path: YamlPath) -> int:
        """Index behind a key, its `=` or `:`, and its value."""
        names, end = self.key(at)
        inner = (*path, *names)
        place = self.origin.place(at, end - at)
        first = self.key_places.setdefault(inner, place)
        if first is not place:
            message = f'key "{names[-1]}" is given twice, first on line {first.line}'
            self.reporter.error("yaml-duplicate-key", message, place)
        for length in range(len(path) + 1, len(inner)):
            self.places.setdefault(inner[:length], place)
            self.key_places.setdefault(inner[:length], place)
        return self.value(self.skip(self.skip(end) + 1), inner)

    def key(self, at: int) -> tuple[list[str], int]:
        """The parts of a key, which dots join, and the index behind it."""
        names: list[str] = []
        while True:
            found = _STRING.match(self.text, at) or _BARE_KEY.match(self.text, at)
            if not found:
                return names or [""], at + 1
            names.append(_unquoted(found[0]))
            after = self.skip(found.end())
            if self.text[after : after + 1] != ".":
                return names, found.end()
            at = self.skip(after + 1)


def _unquoted(key: str) -> str:
    if key.startswith("'"):
        return key[1:-1]
    if not key.startswith('"'):
        return key
    try:
        return str(json.loads(key))
    except ValueError:
        # TOML has \UXXXXXXXX besides
        return key[1:-1]
