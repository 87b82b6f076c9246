"""The characters a regular expression's matches can begin with, read off its parsed form.

For ASCII only, and never too few: what is not understood can begin with anything. Sequences, choices and
repetitions are followed here; what one character alone matches is asked of `re` itself, so that case, classes
and flags mean here what they mean there.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

ASCII = frozenset(map(chr, range(128)))


class Start(Struct, frozen=True):
    """How a part of a pattern can match in front of a character."""

    taken: frozenset[str]
    """Characters that can be the first of what it matches."""
    passed: frozenset[str]
    """Characters in front of which it can match nothing and leave them to what follows."""


_ANY = Start(ASCII, ASCII)
_NOTHING = Start(frozenset(), ASCII)


@lru_cache(maxsize=8192)
def first_characters(pattern: re.Pattern[str]) -> frozenset[str]:
    """ASCII characters in front of which `pattern` can match; in front of all others it cannot."""
    tree = _tree(pattern)
    if tree is None:
        return ASCII
    start = _sequence(tree, tree, pattern.flags)
    return start.taken | start.passed


@lru_cache(maxsize=8192)
def begins_lines(pattern: re.Pattern[str]) -> bool:
    """Whether all that `pattern` matches begins a line or the text; no if that is not known."""
    if "^" not in pattern.pattern and "\\A" not in pattern.pattern:
        return False
    tree = _tree(pattern)
    return tree is not None and _begins_line(tree)


def _tree(pattern: re.Pattern[str]) -> Any:
    """Its parsed form; None where Python is not as it was, for that is no public part of it."""
    try:
        return importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags)
    except (ImportError, AttributeError):
        return None


def _begins_line(parts: Sequence[tuple[Any, Any]]) -> bool:
    if not len(parts):
        return False
    name, value = str(parts[0][0]), parts[0][1]
    if name == "SUBPATTERN":
        return _begins_line(value[3])
    if name == "BRANCH":
        return all(_begins_line(choice) for choice in value[1])
    return name == "AT" and str(value).startswith("AT_BEGINNING")


def _sequence(tree: Any, parts: Iterable[tuple[Any, Any]], flags: int) -> Start:
    """Of parts one after the other. tree: of the whole pattern, which knows its groups."""
    taken, passed = frozenset[str](), ASCII
    for part in parts:
        start = _part(tree, part, flags)
        taken |= start.taken & passed
        passed &= start.passed
        if not passed:
            break
    return Start(taken, passed)


def _part(tree: Any, part: tuple[Any, Any], flags: int) -> Start:
    name, value = str(part[0]), part[1]
    match name:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return Start(_one_character(tree, part, flags), frozenset())
        case "BRANCH":
            choices = [_sequence(tree, choice, flags) for choice in value[1]]
            return Start(_union(start.taken for start in choices), _union(start.passed for start in choices))
        case "SUBPATTERN":
            _, added, removed, parts = value
            return _sequence(tree, parts, _combine(flags, added, removed))
        case "ATOMIC_GROUP":
            return _sequence(tree, value, flags)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, parts = value
            start = _sequence(tree, parts, flags)
            return start if least else Start(start.taken, ASCII)
        case "ASSERT" if value[0] > 0:
            ahead = _sequence(tree, value[1], flags)
            return Start(frozenset(), ahead.taken | ahead.passed)
        case "ASSERT" | "ASSERT_NOT" | "AT":
            return _NOTHING
        case _:
            return _ANY


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _combine(flags: int, added: int, removed: int) -> int:
    """The flags inside `(?i-s:…)`; one of `a`, `L` and `u` replaces the others."""
    kinds = int(re.ASCII | re.LOCALE | re.UNICODE)
    if added & kinds:
        flags &= ~kinds
    return (flags | added) & ~removed


def _one_character(tree: Any, part: tuple[Any, Any], flags: int) -> frozenset[str]:
    if str(part[0]) == "LITERAL":
        return _same_letters(part[1], flags)
    alone = type(tree)(tree.state, [part])
    return _match(importlib.import_module("re._compiler").compile(alone, flags))


@lru_cache(maxsize=1024)
def _same_letters(code: int, flags: int) -> frozenset[str]:
    """The characters that a literal matches: itself, and its other case where that counts."""
    if not flags & re.IGNORECASE:
        return frozenset(chr(code)) & ASCII
    return _match(re.compile(re.escape(chr(code)), flags & ~re.VERBOSE))


def _match(pattern: re.Pattern[str]) -> frozenset[str]:
    return frozenset(filter(pattern.match, ASCII))
