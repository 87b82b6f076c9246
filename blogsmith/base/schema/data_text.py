"""Texts in TOML and JSON: where their lines are in the file, and how deep a library may read them."""

from __future__ import annotations

from typing import Any

from ..diagnostics.model import TextMap
from ..patterns import lazy_pattern
from .yaml_errors import MAX_DEPTH

STRING = r'"""[\s\S]*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
"""A string of TOML, which those of JSON are too."""

_KEYS = rf"(?<![\w-])(?:(?:[\w-]+|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')[ \t]*\.[ \t]*){{{MAX_DEPTH}}}"
_NESTING = lazy_pattern(rf"(?P<keys>{_KEYS})|{STRING}|#[^\n]*|[\[\]{{}}]")


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
