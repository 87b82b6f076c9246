"""Functions that the TOML and JSON loaders share: maps to locations in the file, and a limit on nesting."""

from __future__ import annotations

from typing import Any

from ..diagnostics.model import TextMap
from ..patterns import lazy_pattern
from .yaml_errors import MAX_DEPTH

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
