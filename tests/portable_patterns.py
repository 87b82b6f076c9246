"""Patterns of Python as JSON Schema has them: ECMAScript's, searched for, the same in every engine.

`\\w` and `\\d` mean letters and digits of every script in Python and of one in ECMAScript, and Python has no
`\\p{L}`: of letters beyond ASCII a pattern here takes all signs, so that no editor calls a right word wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

Pattern: TypeAlias = str | re.Pattern[str]

_WORD = "0-9A-Z_a-z\u0080-\U0010ffff"
_NO_WORD = r"\x00-\/:-@\[-^`{-\x7f"
_CLASSES: Mapping[str, str] = MappingProxyType({"w": _WORD, "d": "0-9", "W": _NO_WORD})
_OUTSIDE: Mapping[str, str] = MappingProxyType({"w": f"[{_WORD}]", "d": "[0-9]", "W": f"[{_NO_WORD}]"})
_NEEDS_ESCAPE = frozenset("^$\\.*+?()[]{}|/-")


def portable(pattern: Pattern) -> str:
    """The pattern as ECMAScript writes it. One that is compiled must match the whole text."""
    if isinstance(pattern, str):
        return _translated(pattern, is_folded=False)
    return f"^(?:{_translated(pattern.pattern, is_folded=bool(pattern.flags & re.IGNORECASE))})$"


def _translated(pattern: str, *, is_folded: bool) -> str:
    parts, at, is_class = [], 0, False
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            parts.append(_escape(pattern[at + 1], is_class=is_class))
            at += 2
            continue
        if is_class:
            is_class = sign != "]"
            parts.append(_ranges(pattern, at) if is_folded and sign.isalpha() else sign)
        else:
            is_class = sign == "["
            parts.append(f"[{sign}{sign.swapcase()}]" if is_folded and sign.isalpha() else sign)
        at += 1
    return "".join(parts)


def _escape(sign: str, *, is_class: bool) -> str:
    if kept := (_CLASSES if is_class else _OUTSIDE).get(sign):
        return kept
    # only these may be escaped in ECMAScript's strict patterns
    return f"\\{sign}" if sign.isalnum() or sign in _NEEDS_ESCAPE else sign


def _ranges(pattern: str, at: int) -> str:
    """A letter of a class in both cases; ranges of letters stand for themselves in our patterns."""
    is_range = "-" in (pattern[at - 1], pattern[at + 1])
    return pattern[at] if is_range else pattern[at] + pattern[at].swapcase()
