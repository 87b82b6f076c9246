"""Values of YAML scalars without quotes, by the core schema of YAML 1.2 alone.

`no` and `12:30:45` are strings, `010` is ten, a date stays a string.
"""

from __future__ import annotations

from ..patterns import lazy_pattern

MAX_DIGITS = 18
"""Maximum number of digits of an integer; every integer of 18 digits fits into 64 bits."""

_NULL = lazy_pattern(r"~|null|Null|NULL|")
_BOOL = lazy_pattern(r"true|True|TRUE|false|False|FALSE")
_INT = lazy_pattern(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = lazy_pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = lazy_pattern(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def resolve(text: str) -> str | int | float | bool | None:
    """Return the value of a plain scalar. A number that is too long stays a string."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if is_too_long(text):
        return text
    if _INT.fullmatch(text):
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.lower().replace(".", "")) if _SPECIAL.fullmatch(text) else text


def is_too_long(text: str) -> bool:
    """Return whether `text` is an integer of more than `MAX_DIGITS` digits, which may not fit into 64
    bits."""
    return len(text.lstrip("+-0ox")) > MAX_DIGITS and _INT.fullmatch(text) is not None
