"""Reader for the literals in a settings file of JavaScript or TypeScript, which is never executed."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any

from ...api.importing import lazy_pattern

_MAX_CHARACTERS = 200_000
_TOKEN = lazy_pattern(
    r"//[^\n]*|/\*.*?\*/"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\$])*`)"
    r"|(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)|(?P<number>-?\d[\w.]*)|(?P<mark>[{}\[\]():,])",
    re.DOTALL,
)
_ESCAPE = lazy_pattern(r"\\(.)", re.DOTALL)
_WORDS: dict[str, Any] = {"true": True, "false": False}
_CLOSERS = frozenset("}])")


class Expression(str):
    """Item of a list that is not a literal: the name of a variable or of a called function."""


def read_literals(text: str) -> dict[str, Any]:
    """Return the strings, numbers, booleans and lists of strings in objects, by their path: `docs.path`.

    Lists and calls add no step to a path. If a path has several values, the first one is returned.
    """
    found: dict[str, Any] = {}
    frames: list[tuple[str, str]] = []
    key = ""
    tokens = [token for token in _TOKEN.finditer(text[:_MAX_CHARACTERS]) if token.lastgroup]
    for token, after in zip_longest(tokens, tokens[1:]):
        mark, opener = token["mark"] or "", frames[-1][0] if frames else ""
        is_key = after is not None and after["mark"] == ":" and opener == "{"
        if mark and mark in "{[(":
            path = ".".join(filter(None, [frames[-1][1] if frames else "", key]))
            frames.append((mark, path))
            if mark == "[":
                found.setdefault(path, [])
            key = ""
        elif mark in _CLOSERS:
            del frames[-1:]
            key = ""
        elif mark == ",":
            key = ""
        elif is_key and not key:
            key = _value(token)
        elif not mark and key and opener == "{":
            value = _value(token)
            if token["name"] is None or value in (True, False):
                found.setdefault(f"{frames[-1][1]}.{key}".lstrip("."), value)
        elif not mark and opener == "[" and isinstance(found.get(frames[-1][1]), list):
            found[frames[-1][1]].append(Expression(token["name"]) if token["name"] else _value(token))
    return {path: value for path, value in found.items() if value != []}


def _value(token: re.Match[str]) -> Any:
    """Return the value of a token: a string without quotes and escapes, a number as written, or a name."""
    if token["string"]:
        return _ESCAPE.sub(r"\1", token["string"][1:-1])
    return _WORDS.get(token["name"] or "", token["name"] or token["number"])
