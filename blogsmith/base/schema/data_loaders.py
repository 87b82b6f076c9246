"""TOML and JSON front matter, as in Hugo: the data and the location of every value.

Python's `tomllib` parses TOML. If there is a syntax error, only the lines before it are used. `tomllib`
returns no locations, so a second pass finds them.

JSON is a subset of YAML. The YAML loader therefore finds the locations in JSON, and rejects JSON that a page
may not contain.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..diagnostics.fixes import Fix, make_replacement
from ..diagnostics.model import Place, Reporter, TextMap
from ..patterns import lazy_pattern
from .yaml_errors import FLATTER, MAX_DEPTH, SHORTER, TOO_DEEP
from .yaml_loader import MAX_BYTES, SINGLE_QUOTES, Located, YamlPath, load
from .yaml_scalars import MAX_DIGITS, is_too_long

STRING = r'"""[\s\S]*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
"""Pattern of a TOML string; JSON strings match it too."""

_KEYS = rf"(?<![\w-])(?:(?:[\w-]+|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')[ \t]*\.[ \t]*){{{MAX_DEPTH}}}"
_NESTING = lazy_pattern(rf"(?P<keys>{_KEYS})|{STRING}|#[^\n]*|[\[\]{{}}]")


def is_too_deep(text: str) -> bool:
    """Return whether brackets are nested, or keys joined by dots, more than `MAX_DEPTH` deep. Deeper nesting
    would exhaust a recursive parser. Long dotted keys are also slow: the time to parse one grows with the
    square of its length."""
    depth = 0
    for found in _NESTING.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > MAX_DEPTH or found["keys"]:
            return True
    return False


def is_value_too_deep(value: Any) -> bool:
    """Return whether parsed data is nested too deep, counting braces, table headers and dotted keys
    together."""
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
    """Return the map for a string of whole lines whose first line is `first_line` of the file."""
    return TextMap(text, tuple((first_line + number, 1) for number in range(text.count("\n") + 1)))


_QUOTES = "write keys and strings in double quotes, and no comma after the last entry"
_BACKSLASH = r"write a backslash twice, as in `\\theta`"
_TRAILING = ("Illegal trailing comma", "unexpected comma after the last entry", "remove the comma")
_AFTER_COMMA = ("Expecting property name", "Expecting value")
_JSON_WORDINGS: tuple[tuple[str, str, str], ...] = (
    ("Expecting property name", "missing key", _QUOTES),
    _TRAILING,
    ("Expecting ',' delimiter", "missing comma before this", "end the line before it with `,`"),
    ("Expecting ':' delimiter", "missing colon before this", 'write `"key": value`'),
    ("Expecting value", "missing value", _QUOTES),
    ("Invalid control character", "missing closing quote on this line", r"write a line break as `\n`"),
    ("Unterminated string", "missing closing quote", 'end the string with `"`'),
    ("Invalid \\escape", "invalid escape", _BACKSLASH),
    ("Invalid \\uXXXX escape", "invalid escape", _BACKSLASH),
    ("Extra data", "unexpected text after the data", "remove it"),
)
"""Start of a message of Python's `json` → our message, and a hint."""
_ESCAPE_PAIR = lazy_pattern(r"\\(?:(u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|.)")
"""An escape sequence in a string. The first group matches a character written as two escapes, which YAML
cannot read."""
_KEY = lazy_pattern(r'"[^"\n]*"[ \t]*:')


class JsonProblem(Struct, frozen=True):
    """A JSON syntax error."""

    message: str
    hint: str = ""
    at: int = 0
    """Index of the error in the text."""


class ParsedObject(Struct, frozen=True):
    """The JSON object at the start of a string."""

    end: int
    """Index after the object; -1 if it has an error."""
    value: Any = None
    problem: JsonProblem = JsonProblem("")


def describe_error(error: json.JSONDecodeError) -> JsonProblem:
    """Return a description of a JSON error that is the same for every Python version. Before 3.13, the
    message of `json` does not mention a comma after the last entry."""
    before = len(error.doc[: error.pos].rstrip()) - 1
    if error.msg.startswith(_AFTER_COMMA) and error.doc[before : before + 1] == "," and _ends(error):
        _, message, hint = _TRAILING
        return JsonProblem(message, hint, before)
    words = ((ours, hint) for begin, ours, hint in _JSON_WORDINGS if error.msg.startswith(begin))
    message, hint = next(words, (f"{error.msg[:1].lower()}{error.msg[1:]}", _QUOTES))
    if hint == _BACKSLASH:
        message = f'{message} "{error.doc[error.pos : error.pos + 2]}"'
    return JsonProblem(message, hint, error.pos)


def _ends(error: json.JSONDecodeError) -> bool:
    return error.doc[error.pos : error.pos + 1] in ("]", "}")


def read_object(text: str) -> ParsedObject:
    """Return the object at the start of a string."""
    if is_too_deep(text[:MAX_BYTES]):
        return ParsedObject(-1, problem=JsonProblem(TOO_DEEP, FLATTER))
    decoder = json.JSONDecoder(parse_constant=str, parse_int=lambda text: int(text[:30]))
    try:
        value, end = decoder.raw_decode(text[: MAX_BYTES + 1])
    except json.JSONDecodeError as error:
        return ParsedObject(-1, problem=describe_error(error))
    return ParsedObject(end, value)


def load_json(text: str, reporter: Reporter, *, first_line: int = 1) -> Located | None:
    """Return the data of a JSON object that starts on line `first_line` of the reporter's file. Report every
    problem, and use the valid rest. Return None only if the input is too large to be read."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        reporter.error(
            "yaml-feature", f"JSON is longer than {MAX_BYTES // 1024} kB", Place(first_line), SHORTER
        )
        return None
    origin = text_map(text, first_line)
    found = read_object(text)
    if found.end < 0:
        mistake = found.problem
        fix = _safe_fix(origin, mistake.at)
        reporter.error("json-syntax", mistake.message, _error_range(origin, mistake.at), mistake.hint, fix)
        # JSON is YAML, and the YAML loader returns the data before the error
        return load(text, Reporter(reporter.path, reporter.lines), first_line=first_line)
    blanked = _ESCAPE_PAIR.sub(lambda escape: "x" * len(escape[0]) if escape[1] else escape[0], text)
    located = load(blanked, reporter, first_line=first_line, escape_hint=_BACKSLASH)
    if located is None or blanked == text:
        return located
    return replace(located, value=found.value)


def _error_range(origin: TextMap, at: int) -> Place:
    """Return the location from the error to the end of its line. If the error is at the end of a line, return
    its last character."""
    start = at
    while start > 0 and not origin.text[start : start + 1].strip():
        start -= 1
    end = origin.text.find("\n", start)
    rest = origin.text[start : end if end >= 0 else len(origin.text)]
    return origin.place(start, max(1, len(rest.rstrip())))


def _safe_fix(origin: TextMap, at: int) -> Fix | None:
    """Return a fix if only a comma or an unescaped backslash is wrong, otherwise None. at: index of the
    error."""
    text = origin.text
    before = len(text[:at].rstrip())
    is_extra = text[before - 1 : before] == "," and text[before:].lstrip()[:1] in ("}", "]")
    if is_extra or (text[at : at + 1] == "," and text[at + 1 :].lstrip()[:1] in ("}", "]")):
        place = origin.place(before - 1 if is_extra else at, 1)
        return make_replacement(place.line, place.column, ",", "", title="remove the comma", is_safe=True)
    if "\n" in text[before:at] and _KEY.match(text, at):
        place = origin.place(before - 1, 1)
        return make_replacement(place.line, place.column + 1, "", ",", title="add a comma", is_safe=True)
    if text[at : at + 1] == "\\":
        place = origin.place(at, 1)
        return make_replacement(place.line, place.column, "\\", "\\\\", is_safe=True)
    return None


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
    ("Unterminated string", "missing closing quote", 'end the string with `"`'),
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
    """Return the data of a TOML document that starts on line `first_line` of the reporter's file. Report
    every problem, and use the valid rest. Return None only if the input is too large or too deep."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        reporter.error(
            "yaml-feature", f"TOML is longer than {MAX_BYTES // 1024} kB", Place(first_line), SHORTER
        )
        return None
    is_deep = is_too_deep(text)
    sound, value = ("", {}) if is_deep else _read(text, reporter, first_line)
    if is_deep or is_value_too_deep(value):
        reporter.error("yaml-feature", TOO_DEEP, Place(first_line), FLATTER)
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
    written = lines[line - 1][column - 1 :].strip()
    message, hint = next(
        ((ours, hint) for begin, ours, hint in _WORDINGS if said.startswith(begin)),
        (f"invalid TOML: {said[:1].lower()}{said[1:]}", "write `key = value`, with strings in quotes"),
    )
    if said.startswith("Invalid date"):
        message, hint = f'invalid date "{written}"', "write an existing day, such as `2026-03-14`"
    meant = _correct_pair(lines[line - 1])
    if said.startswith("Expected '='") and meant is not None:
        hint = f"write `{meant.strip()}`"
    length = len(lines[line - 1][column - 1 :].rstrip())
    place, fix = Place(line + first_line - 1, column, max(1, length)), None
    if meant is not None:
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
        """Find the locations in the pair of key and value at `at`. Return the index after the value."""
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
        """Find the locations in the value at `at`. Return the index after the value."""
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
