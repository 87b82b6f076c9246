"""JSON front matter, as Hugo has it: the data and the place of every value.

JSON is YAML, so the reader of YAML finds the places, and judges what JSON allows and a page does not.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..diagnostics.fixes import Fix, exchange
from ..diagnostics.model import Place, Reporter, TextMap
from ..patterns import lazy_pattern
from .data_text import is_too_deep, text_map
from .yaml_errors import TOO_DEEP
from .yaml_loader import MAX_BYTES, Located, load

_QUOTES = "keys and texts stand in double quotes; no comma follows the last entry"
_BACKSLASH = r"write a backslash twice: \\theta"
_TRAILING = ("Illegal trailing comma", "a comma follows the last entry", "take it out")
_AFTER_COMMA = ("Expecting property name", "Expecting value")
_WORDINGS: tuple[tuple[str, str, str], ...] = (
    ("Expecting property name", "a key is missing here", _QUOTES),
    _TRAILING,
    ("Expecting ',' delimiter", "a comma is missing before this", ""),
    ("Expecting ':' delimiter", "a colon is missing before this", 'write "key": value'),
    ("Expecting value", "a value is missing here", _QUOTES),
    ("Invalid control character", "the quote is not closed on this line", r"a line break is written \n"),
    ("Unterminated string", "the quote is never closed", ""),
    ("Invalid \\escape", "a backslash begins an escape", _BACKSLASH),
    ("Invalid \\uXXXX escape", "a backslash begins an escape", _BACKSLASH),
)
"""How the library's message begins → ours, and a hint."""
_PAIR = lazy_pattern(r"\\(?:(u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|.)")
"""An escape; the first group has a character that JSON writes as two, which YAML does not read."""
_KEY = lazy_pattern(r'"[^"\n]*"[ \t]*:')


class JsonMistake(Struct, frozen=True):
    """What is wrong with a text of JSON."""

    message: str
    hint: str = ""
    at: int = 0
    """Index of the mistake."""


class JsonEnd(Struct, frozen=True):
    """How far an object reaches that a text begins with."""

    end: int
    """Index behind it; -1: it has a mistake."""
    value: Any = None
    mistake: JsonMistake = JsonMistake("")


def json_mistake(error: json.JSONDecodeError) -> JsonMistake:
    """The same from every Python: only from 3.13 on it names a comma behind the last entry."""
    before = len(error.doc[: error.pos].rstrip()) - 1
    if error.msg.startswith(_AFTER_COMMA) and error.doc[before : before + 1] == "," and _ends(error):
        _, message, hint = _TRAILING
        return JsonMistake(message, hint, before)
    words = ((ours, hint) for begin, ours, hint in _WORDINGS if error.msg.startswith(begin))
    message, hint = next(words, (f"JSON cannot be read here: {error.msg}", ""))
    return JsonMistake(message, hint, error.pos)


def _ends(error: json.JSONDecodeError) -> bool:
    return error.doc[error.pos : error.pos + 1] in ("]", "}")


def read_object(text: str) -> JsonEnd:
    """The object that a text begins with."""
    if is_too_deep(text[:MAX_BYTES]):
        return JsonEnd(-1, mistake=JsonMistake(TOO_DEEP))
    decoder = json.JSONDecoder(parse_constant=str, parse_int=_integer)
    try:
        value, end = decoder.raw_decode(text[: MAX_BYTES + 1])
    except json.JSONDecodeError as error:
        return JsonEnd(-1, mistake=json_mistake(error))
    return JsonEnd(end, value)


def _integer(text: str) -> int:
    # nobody writes more; what is longer is reported by its spelling
    return int(text[:30])


def load_json(text: str, reporter: Reporter, *, first_line: int = 1) -> Located | None:
    """The data of a JSON object that starts on line `first_line` of the reporter's file.

    As `yaml_loader.load`: every problem is reported, None only if the text is too large to be looked at.
    """
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        reporter.error("yaml-feature", f"JSON is longer than {MAX_BYTES // 1024} kB", Place(first_line))
        return None
    origin = text_map(text, first_line)
    found = read_object(text)
    if found.end < 0:
        mistake = found.mistake
        fix = _sure_fix(origin, mistake.at)
        reporter.error("json-syntax", mistake.message, _place_of(origin, mistake.at), mistake.hint, fix)
        # JSON is YAML, whose reader gives what stands before a mistake
        return load(text, Reporter(reporter.path, reporter.lines), first_line=first_line)
    blanked = _PAIR.sub(lambda escape: "x" * len(escape[0]) if escape[1] else escape[0], text)
    located = load(blanked, reporter, first_line=first_line, escape_hint=_BACKSLASH)
    if located is None or blanked == text:
        return located
    return replace(located, value=found.value)


def _place_of(origin: TextMap, at: int) -> Place:
    """The mistake and the rest of its line; at the end of a line the last thing on it."""
    start = at
    while start > 0 and not origin.text[start : start + 1].strip():
        start -= 1
    end = origin.text.find("\n", start)
    rest = origin.text[start : end if end >= 0 else len(origin.text)]
    return origin.place(start, max(1, len(rest.rstrip())))


def _sure_fix(origin: TextMap, at: int) -> Fix | None:
    """A fix where no more than a comma is wrong, or a backslash stands alone. at: index of the mistake."""
    text = origin.text
    before = len(text[:at].rstrip())
    is_extra = text[before - 1 : before] == "," and text[before:].lstrip()[:1] in ("}", "]")
    if is_extra or (text[at : at + 1] == "," and text[at + 1 :].lstrip()[:1] in ("}", "]")):
        place = origin.place(before - 1 if is_extra else at, 1)
        return exchange(place.line, place.column, ",", "", title="take the comma out", is_safe=True)
    if "\n" in text[before:at] and _KEY.match(text, at):
        place = origin.place(before - 1, 1)
        return exchange(place.line, place.column + 1, "", ",", title="add a comma", is_safe=True)
    if text[at : at + 1] == "\\":
        place = origin.place(at, 1)
        return exchange(place.line, place.column, "\\", "\\\\", is_safe=True)
    return None
