"""TOML front matter, as in Hugo: the data and the location of every value.

Python's `tomllib` parses it. If there is a syntax error, only the lines before it are used. The library
returns no locations, so a second pass finds them.
"""

from __future__ import annotations

from typing import Any

from ..diagnostics.fixes import make_replacement
from ..diagnostics.model import Place, Reporter, TextMap
from ..patterns import lazy_pattern
from .json_loader import STRING, is_too_deep, is_value_too_deep, text_map
from .yaml_errors import TOO_DEEP
from .yaml_loader import MAX_BYTES, SINGLE_QUOTES, Located, YamlPath
from .yaml_scalars import MAX_DIGITS, is_too_long

_WHERE = lazy_pattern(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")
_PAIR = lazy_pattern(r"([ \t]*[A-Za-z0-9_-]+)[ \t]*[:=][ \t]*(\S.*)")
_PLAIN = lazy_pattern(r"[^\W\d][^\"'#\[\]{}=\\]*")
"""A string without quotes that cannot be any other TOML value."""
_ESCAPED = lazy_pattern(r"(?s)(?!\A)'|\\[\"\\]")
_SKIPPED = lazy_pattern(r"(?:[ \t\n,]+|#[^\n]*)*")
_STRING = lazy_pattern(STRING)
_BARE_KEY = lazy_pattern(r"[^\s=.\[\]{}\"',]+")
_SCALAR = lazy_pattern(r"[^,\]}\n#]*[^,\]}\n#\s]")
_ESCAPE = lazy_pattern(r"(?s)\\(?:([tn])(?=[A-Za-z])|.)")
_FORBIDDEN = lazy_pattern("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that no page may contain."""
_TEXTS = 'write strings in quotes: `title = "…"`'
_WORDINGS: tuple[tuple[str, str, str], ...] = (
    ("Expected '=' after a key", 'missing "=" between a key and its value', "write YAML between lines `---`"),
    ("Unescaped '\\'", "invalid escape in double quotes", SINGLE_QUOTES),
    (
        "Illegal character '\\n'",
        "missing closing quote on this line",
        "write long strings between three quotes",
    ),
    ("Unterminated string", "missing closing quote", ""),
    ("Invalid value", "invalid TOML value", _TEXTS),
    ("Expected newline or end of document", "unexpected text after the value", _TEXTS),
    ("Unclosed array", 'missing closing "]" or comma in the list', "end it with `]`"),
    ("Unclosed inline table", 'missing closing "}" or comma in the table', "end it with `}`"),
    ("Cannot overwrite a value", "duplicate key", "keep one of them"),
    ("Cannot declare", "duplicate table", "keep one of them"),
    ("Duplicate inline table key", "duplicate key", "keep one of them"),
    ("Invalid initial character for a key", "missing key", "write a key of letters, digits, `-` and `_`"),
)
"""Start of the library's message → our message, and a hint."""


def load_toml(text: str, reporter: Reporter, *, first_line: int = 1) -> Located | None:
    """Return the data of a TOML document that starts on line `first_line` of the reporter's file. Every
    problem is reported, as in `yaml_loader.load`. Return None only if the input is too large or too deep."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        reporter.error("yaml-feature", f"TOML is longer than {MAX_BYTES // 1024} kB", Place(first_line))
        return None
    is_deep = is_too_deep(text)
    sound, value = ("", {}) if is_deep else _read(text, reporter, first_line)
    if is_deep or is_value_too_deep(value):
        reporter.error("yaml-feature", TOO_DEEP, Place(first_line))
        return None
    found = _Places(text_map(sound, first_line), reporter)
    found.walk()
    return Located(found.convert(value), found.places, found.key_places, found.texts)


def _read(text: str, reporter: Reporter, first_line: int) -> tuple[str, dict[str, Any]]:
    """Return the longest beginning of the document that can be parsed, and its data."""
    import tomllib

    try:
        return text, tomllib.loads(text)
    except ValueError as error:
        line = _report(error, text, reporter, first_line)
    before = "\n".join(text.split("\n")[: line - 1])
    try:
        return before, tomllib.loads(before)
    except ValueError:
        return "", {}


def _report(error: ValueError, text: str, reporter: Reporter, first_line: int) -> int:
    """Report a syntax error. Return its line, counted in `text`."""
    lines = text.split("\n")
    found = _WHERE.search(str(error))
    line, column = (int(found[1]), int(found[2])) if found and found[1] else (len(lines), 1)
    line, column = _error_position(lines, line, column)
    said = _WHERE.sub("", str(error))
    message, hint = next(
        ((ours, hint) for begin, ours, hint in _WORDINGS if said.startswith(begin)),
        (f"invalid TOML: {said[:1].lower()}{said[1:]}", ""),
    )
    length = len(lines[line - 1][column - 1 :].rstrip())
    place, fix = Place(line + first_line - 1, column, max(1, length)), None
    if (meant := _correct_pair(lines[line - 1])) is not None:
        fix = make_replacement(
            place.line, 1, lines[line - 1], meant, title=f"write {meant.strip()}", is_safe=True
        )
    reporter.error("toml-syntax", message, place, hint, fix)
    return line


def _correct_pair(line: str) -> str | None:
    """Return a corrected line if the author wrote `key = value` as in YAML or Python; otherwise None."""
    pair = _PAIR.fullmatch(line)
    if pair is None:
        return None
    key, value = pair[1], pair[2].strip()
    quoted = f"'{value[1:-1]}'" if value[:1] == value[-1:] == '"' and not _ESCAPED.search(value) else value
    for meant in (value, {"True": "true", "False": "false"}.get(value, quoted), f'"{value}"'):
        if _is_pair(found := f"{key} = {meant}") and (meant != f'"{value}"' or _PLAIN.fullmatch(value)):
            return found
    return None


def _is_pair(line: str) -> bool:
    import tomllib

    try:
        return len(tomllib.loads(line)) == 1
    except (ValueError, RecursionError):
        return False


def _error_position(lines: list[str], line: int, column: int) -> tuple[int, int]:
    """Return the line and column that the library names. If that is after the end of a line, return the start
    of the line."""
    while line > 1 and not lines[line - 1].strip():
        line, column = line - 1, 1
    shown = lines[line - 1]
    if column > len(shown.rstrip()):
        column = len(shown) - len(shown.lstrip()) + 1
    return line, column


class _Places:
    """Second pass over a document: finds locations. It checks nothing, because the library has parsed the
    document without errors."""

    def __init__(self, origin: TextMap, reporter: Reporter) -> None:
        self.origin = origin
        self.text = origin.text
        self.reporter = reporter
        self.places: dict[YamlPath, Place] = {(): origin.place(0)}
        self.key_places: dict[YamlPath, Place] = {}
        self.texts: dict[YamlPath, str] = {}

    def walk(self) -> None:
        """Find the locations of keys and values, and of the headers `[table]` and `[[list of tables]]`."""
        counts: dict[YamlPath, int] = {}
        path: YamlPath = ()
        at = self._skip(0)
        while at < len(self.text):
            if self.text[at] == "[":
                path, at = self._header(at, counts)
            else:
                at = self._pair(at, path)
            at = self._skip(at)

    def _header(self, at: int, counts: dict[YamlPath, int]) -> tuple[YamlPath, int]:
        is_list = self.text.startswith("[[", at)
        start = self._skip(at + 1 + is_list)
        names, end = self._key(start)
        place = self.origin.place(start, end - start)
        path: YamlPath = ()
        for position, name in enumerate(names):
            path = (*path, name)
            self._name(path, place)
            if position == len(names) - 1 and is_list:
                counts[path] = counts.get(path, -1) + 1
            if path in counts:
                path = (*path, counts[path])
                self.places.setdefault(path, place)
        return path, self._skip(end) + 1 + is_list

    def _pair(self, at: int, path: YamlPath) -> int:
        """Return the index after a key, its `=` and its value."""
        names, end = self._key(at)
        place = self.origin.place(at, end - at)
        for name in names:
            path = (*path, name)
            self._name(path, place)
        return self._value(self._skip(self._skip(end) + 1), path)

    def _name(self, path: YamlPath, place: Place) -> None:
        self.places.setdefault(path, place)
        self.key_places.setdefault(path, place)

    def _key(self, at: int) -> tuple[list[str], int]:
        """Return the parts of the dotted key at an index, and the index after it."""
        names: list[str] = []
        while found := _STRING.match(self.text, at) or _BARE_KEY.match(self.text, at):
            names.append(_unquoted(found[0]))
            after = self._skip(found.end())
            if self.text[after : after + 1] != ".":
                return names, found.end()
            at = self._skip(after + 1)
        return names or [""], at + 1

    def _value(self, at: int, path: YamlPath) -> int:
        """Return the index after the value that begins at `at`."""
        opening, end, count = self.text[at : at + 1], at + 1, 0
        if opening in ("[", "{"):
            while (end := self._skip(end)) < len(self.text) and self.text[end] not in "]}":
                end = self._value(end, (*path, count)) if opening == "[" else self._pair(end, path)
                count += 1
            end += 1
        elif found := _STRING.match(self.text, at):
            end = found.end()
            if opening == '"' and "$" in found[0]:
                self._warn_of_escapes(found[0], at)
        elif found := _SCALAR.match(self.text, at):
            end, self.texts[path] = found.end(), found[0]
        self.places[path] = self.origin.place(at, end - at)
        return end

    def _skip(self, at: int) -> int:
        """Return the index after spaces, line endings, commas and comments."""
        found = _SKIPPED.match(self.text, at)
        return found.end() if found else at

    def _warn_of_escapes(self, text: str, start: int) -> None:
        r"""Warn about TeX in double quotes, where for example the `\t` of `\theta` is a tab."""
        for found in _ESCAPE.finditer(text):
            if found[1]:
                what = "tab" if found[1] == "t" else "line break"
                message = f'"\\{found[1]}" in double quotes is a {what}'
                place = self.origin.place(start + found.start(), 2)
                self.reporter.warn("yaml-escape", message, place, SINGLE_QUOTES)

    def convert(self, value: Any, path: YamlPath = ()) -> Any:
        """Convert a value to the type that YAML would give it: dates, times and too long integers become
        strings."""
        if isinstance(value, dict):
            return {_FORBIDDEN.sub(" ", key): self.convert(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self.convert(item, (*path, at)) for at, item in enumerate(value)]
        place = self.places.get(path)
        if isinstance(value, str):
            if wrong := _FORBIDDEN.search(value):
                message = f"character U+{ord(wrong[0]):04X} is not allowed in a string"
                self.reporter.error("yaml-escape", message, place, SINGLE_QUOTES)
            return _FORBIDDEN.sub(" ", value)
        if isinstance(value, int) and is_too_long(self.texts.get(path, "")):
            message, hint = (
                f"a number may have at most {MAX_DIGITS} digits",
                "put it in quotes if it is a string",
            )
            self.reporter.error("yaml-feature", message, place, hint)
            return self.texts.pop(path)
        return value if isinstance(value, int | float) else self.texts.pop(path, str(value))


def _unquoted(key: str) -> str:
    import tomllib

    return next(iter(tomllib.loads(f"{key} = 0"))) if key[0] in "\"'" else key
