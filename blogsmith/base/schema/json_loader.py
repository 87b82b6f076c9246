"""JSON front matter, as in Hugo: the data and the location of every value; checks shared with TOML.

JSON is a subset of YAML. The YAML loader therefore finds the locations, and rejects JSON that a page may not
contain.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..diagnostics.fixes import Fix, make_replacement
from ..diagnostics.model import Place, Reporter, TextMap
from ..patterns import lazy_pattern
from .yaml_errors import MAX_DEPTH, TOO_DEEP
from .yaml_loader import MAX_BYTES, Located, load

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
_BACKSLASH = r"write a backslash twice: `\\theta`"
_TRAILING = ("Illegal trailing comma", "unexpected comma after the last entry", "remove it")
_AFTER_COMMA = ("Expecting property name", "Expecting value")
_WORDINGS: tuple[tuple[str, str, str], ...] = (
    ("Expecting property name", "missing key", _QUOTES),
    _TRAILING,
    ("Expecting ',' delimiter", "missing comma before this", ""),
    ("Expecting ':' delimiter", "missing colon before this", 'write `"key": value`'),
    ("Expecting value", "missing value", _QUOTES),
    ("Invalid control character", "missing closing quote on this line", r"write a line break as `\n`"),
    ("Unterminated string", "missing closing quote", ""),
    ("Invalid \\escape", "invalid escape", _BACKSLASH),
    ("Invalid \\uXXXX escape", "invalid escape", _BACKSLASH),
)
"""Start of a message of Python's `json` → our message, and a hint."""
_PAIR = lazy_pattern(r"\\(?:(u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|.)")
"""An escape sequence in a string. The first group matches a character written as two escapes, which YAML
cannot read."""
_KEY = lazy_pattern(r'"[^"\n]*"[ \t]*:')


class JsonProblem(Struct, frozen=True):
    """A JSON syntax error."""

    message: str
    hint: str = ""
    at: int = 0
    """Index of the error."""


class ParsedObject(Struct, frozen=True):
    """The JSON object at the start of a string."""

    end: int
    """Index after the object; -1 if it has an error."""
    value: Any = None
    problem: JsonProblem = JsonProblem("")


def describe_error(error: json.JSONDecodeError) -> JsonProblem:
    """Return the same error for every Python version: before 3.13 `json` does not name a comma after the last
    entry."""
    before = len(error.doc[: error.pos].rstrip()) - 1
    if error.msg.startswith(_AFTER_COMMA) and error.doc[before : before + 1] == "," and _ends(error):
        _, message, hint = _TRAILING
        return JsonProblem(message, hint, before)
    words = ((ours, hint) for begin, ours, hint in _WORDINGS if error.msg.startswith(begin))
    message, hint = next(words, (f"invalid JSON: {error.msg[:1].lower()}{error.msg[1:]}", ""))
    return JsonProblem(message, hint, error.pos)


def _ends(error: json.JSONDecodeError) -> bool:
    return error.doc[error.pos : error.pos + 1] in ("]", "}")


def read_object(text: str) -> ParsedObject:
    """Return the object at the start of a string."""
    if is_too_deep(text[:MAX_BYTES]):
        return ParsedObject(-1, problem=JsonProblem(TOO_DEEP))
    decoder = json.JSONDecoder(parse_constant=str, parse_int=lambda text: int(text[:30]))
    try:
        value, end = decoder.raw_decode(text[: MAX_BYTES + 1])
    except json.JSONDecodeError as error:
        return ParsedObject(-1, problem=describe_error(error))
    return ParsedObject(end, value)


def load_json(text: str, reporter: Reporter, *, first_line: int = 1) -> Located | None:
    """Return the data of a JSON object that starts on line `first_line` of the reporter's file. Every problem
    is reported, as in `yaml_loader.load`. Return None only if the input is too large to be read."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        reporter.error("yaml-feature", f"JSON is longer than {MAX_BYTES // 1024} kB", Place(first_line))
        return None
    origin = text_map(text, first_line)
    found = read_object(text)
    if found.end < 0:
        mistake = found.problem
        fix = _safe_fix(origin, mistake.at)
        reporter.error("json-syntax", mistake.message, _error_range(origin, mistake.at), mistake.hint, fix)
        # JSON is YAML, and the YAML loader returns the data before the error
        return load(text, Reporter(reporter.path, reporter.lines), first_line=first_line)
    blanked = _PAIR.sub(lambda escape: "x" * len(escape[0]) if escape[1] else escape[0], text)
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
    """Return a fix if only a comma or an unescaped backslash is wrong. at: index of the error."""
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
