r"""Python patterns for JSON Schema, in the syntax of ECMAScript: searched, and equal in every engine.

`\w` and `\d` mean letters and digits of every script in Python, but ASCII only in ECMAScript, and Python has
no `\p{L}`. For letters beyond ASCII the patterns here accept any character, so that no editor rejects a
valid value.
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
    """Return the pattern in ECMAScript syntax. A compiled one must match the whole string."""
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
    # only these characters may be escaped in ECMAScript's strict patterns
    return f"\\{sign}" if sign.isalnum() or sign in _NEEDS_ESCAPE else sign


def _ranges(pattern: str, at: int) -> str:
    """Return a letter of a class in both cases. Our patterns use ranges of letters literally."""
    is_range = "-" in (pattern[at - 1], pattern[at + 1])
    return pattern[at] if is_range else pattern[at] + pattern[at].swapcase()
