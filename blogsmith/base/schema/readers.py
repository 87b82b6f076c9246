"""Readers and checks of values: one reader for each type of value, one check for each further rule.

A reader converts a slot (a value with its location) to a value of its type. A check tests the converted
value. Both return None after they have reported an error, and declare what they accept (see `forms.py`).

Readers of settings are strict, because authors rarely write settings. In front matter and cells, a number is
also accepted as a string, and a single string as a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from ..diagnostics.model import format_suggestion, nearest
from .forms import (
    ANYTHING,
    FILLED,
    FLAG,
    SHAPED,
    TEXT,
    Form,
    accepts,
    choice_form,
    get_form,
    intersect_forms,
    union_form,
)
from .slots import Slot

Reader: TypeAlias = Callable[[Slot], Any]
Check: TypeAlias = Callable[[Any, Slot], Any]

QUOTE = "put it in quotes"
TRUTHS: Mapping[str, str] = MappingProxyType(
    {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
)
"""Other spellings of booleans, from older YAML or in quotes → the spelling to write."""


_KINDS: Mapping[type, str] = MappingProxyType({list: "array", dict: "object"})
TEXTS: Form = MappingProxyType({"type": ["string", "number", "array"], "items": FILLED})


def format_choices(words: Collection[str]) -> str:
    """Return `a, b or c`."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def flag(truths: Mapping[str, str] = TRUTHS, hints: Mapping[tuple[str, str], str] | None = None) -> Reader:
    """Return a reader of true or false. hints: (key, value as written) → hint, for values that mean something
    else."""

    @accepts(FLAG)
    def read(slot: Slot) -> bool | None:
        if isinstance(slot.value, bool):
            return slot.value
        written = str(slot.value).strip()
        meant = truths.get(written.casefold(), "")
        hint = (hints or {}).get((slot.name, written)) or (f"write `{meant}`" if meant else "")
        slot.report(f"{slot.quoted_name} must be true or false", hint)
        return None

    return read


def one_line(slot: Slot) -> str | None:
    """Return a string, or a number as the author spells it, if it is on one line; None for any other
    value."""
    value = slot.value
    if isinstance(value, str):
        return " ".join(line.strip() for line in value.splitlines()).strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return slot.spelling or str(value)
    return None


@accepts(TEXT)
def text(slot: Slot) -> str:
    """Return a string on one line; empty if the value is missing."""
    found = one_line(slot)
    if found is None and slot.value is not None:
        slot.report(f"{slot.quoted_name} must be a string", QUOTE if isinstance(slot.value, bool) else "")
    return found or ""


def string_list(separator: str = "") -> Reader:
    """Return a reader of a list of strings, which removes duplicates. separator: where to split a single
    string; empty: it becomes a list with one entry."""

    @accepts(TEXTS)
    def read(slot: Slot) -> tuple[str, ...]:
        items: Iterable[str] = ()
        if isinstance(slot.value, list):
            items = [_entry(slot.child(index)) for index in range(len(slot.value))]
        elif (found := one_line(slot)) is not None:
            items = [part.strip() for part in found.split(separator)] if separator else [found]
        else:
            slot.report(f"{slot.quoted_name} must be a list of strings")
        return tuple(dict.fromkeys(item for item in items if item))

    return read


def _entry(slot: Slot) -> str:
    found = one_line(slot)
    if not found:
        slot.report(f"{slot.quoted_name} must be a string", QUOTE if isinstance(slot.value, bool) else "")
    return found or ""


def words(
    meanings: Mapping[Any, Any], listed: str, *, suggest: bool = True, hints: Mapping[str, str] | None = None
) -> Reader:
    """Return a reader of keywords or booleans, which returns their meaning. hints: invalid word → hint."""
    known = [word for word in meanings if isinstance(word, str)]

    @accepts(choice_form(meanings))
    def read(slot: Slot) -> Any:
        value = slot.value
        if isinstance(value, str | bool) and value in meanings:
            return meanings[value]
        hint, near = (hints or {}).get(str(value).casefold(), ""), None
        if not hint and suggest and isinstance(value, str):
            near = nearest(value, known)
            hint = format_suggestion(near)
        return slot.report(f"{slot.quoted_name} must be {listed}", hint, fix=slot.correct(near))

    return read


def choice(choices: Iterable[str]) -> Reader:
    """Return a reader of a value that must be one of a few keywords."""
    known = tuple(choices)
    return words({word: word for word in known}, format_choices(known))


def parsed(parse: Callable[[object], Any], kind: str, hint: str = "", *, form: Form = ANYTHING) -> Reader:
    """Return a reader that calls `parse`. If `parse` returns None, the value is reported as invalid."""

    @accepts(form)
    def read(slot: Slot) -> Any:
        found = parse(slot.value)
        return slot.report(f"{slot.quoted_name} must be {kind}", hint) if found is None else found

    return read


def typed(kind: type, read: Reader, other: Reader | str, hint: str = "") -> Reader:
    """Return a reader of a list or mapping. other: reader of a value of another type, or the expected type in
    words for an error. hint: hint of that error."""

    inner = intersect_forms({"type": _KINDS[kind]} if kind in _KINDS else ANYTHING, get_form(read))

    @accepts(inner if isinstance(other, str) else union_form(get_form(other), inner))
    def read_kind(slot: Slot) -> Any:
        if isinstance(slot.value, kind):
            return read(slot)
        return (
            slot.report(f"{slot.quoted_name} must be {other}", hint)
            if isinstance(other, str)
            else other(slot)
        )

    return read_kind


def checked(read: Reader, check: Check) -> Reader:
    """Return a reader that applies a check to the value that `read` returns."""
    both = accepts(intersect_forms(get_form(read), get_form(check)))
    return both(lambda slot: None if (value := read(slot)) is None else check(value, slot))


def must(is_met: Callable[[Any], object], message: str, hint: str = "", *, form: Form = ANYTHING) -> Check:
    """Return a check that requires `is_met(value)` to be true. message: error message; may contain `{value}`
    and `{name}`, the key in quotes."""

    @accepts(form)
    def check(value: Any, slot: Slot) -> Any:
        return (
            value if is_met(value) else slot.report(message.format(value=value, name=slot.quoted_name), hint)
        )

    return check


def rejects(
    find_problem: Callable[[Any], str], message: str, hint: str = "", *, form: Form = ANYTHING
) -> Check:
    """Return a check that reports a value for which `find_problem` returns a reason, not an empty string.
    message: may contain `{problem}`, the reason, in addition to `{value}` and `{name}`."""

    @accepts(form)
    def check(value: Any, slot: Slot) -> Any:
        problem = find_problem(value)
        found = message.format(value=value, name=slot.quoted_name, problem=problem)
        return slot.report(found, hint) if problem else value

    return check


def shaped(shape: re.Pattern[str], kind: str, hint: str = "") -> Check:
    """Return a check that a string matches a pattern completely. kind: name of the expected value for the
    message."""
    problem = f"invalid {kind}: {hint}" if hint else f"invalid {kind}"
    form = {**SHAPED, "pattern": shape, "patternErrorMessage": problem}
    return must(shape.fullmatch, f'invalid {kind} "{{value}}"', hint, form=form)


def member_of_choices(choices: Iterable[str], kind: str, listed: Iterable[str] = ()) -> Check:
    """Return a check that a value is one of the choices. listed: choices for the hint in their order; if it
    is empty, the hint lists the first 12 in alphabetical order."""
    in_order = sorted(choices)
    shown = ", ".join(tuple(listed) or in_order[:12])

    @accepts(choice_form(tuple(listed) or in_order))
    def check(value: str, slot: Slot) -> str | None:
        if value in in_order:
            return value
        near = nearest(value, in_order)
        hint = format_suggestion(near) or f"known: {shown}"
        slot.report(f'unknown {kind} "{value}"', hint, fix=slot.entry(value).correct(near))
        return None

    return check


def unless_empty(check: Check) -> Check:
    """Return a check that accepts an empty string and applies `check` to any other."""
    empty = choice_form([""]) if get_form(check).keys() == {"enum"} else {"maxLength": 0}
    lenient = accepts(union_form(get_form(check), empty))
    return lenient(lambda value, slot: check(value, slot) if value else value)


def each(check: Check) -> Check:
    """Return a check of every entry of a list."""
    entries = accepts({"items": get_form(check)})
    return entries(
        lambda value, slot: _all(value, [check(item, slot.child(n)) for n, item in enumerate(value)])
    )


def keys(check: Check) -> Check:
    """Return a check of every key of a mapping."""
    names = accepts({"propertyNames": get_form(check)})
    return names(lambda value, slot: _all(value, [check(key, slot.key(key)) for key in value]))


def values(check: Check) -> Check:
    """Return a check of every value of a mapping."""
    items = accepts({"additionalProperties": get_form(check)})
    return items(
        lambda value, slot: _all(value, [check(item, slot.child(key)) for key, item in value.items()])
    )


def _all(value: Any, results: Iterable[Any]) -> Any:
    """Return the value if all its parts are valid, otherwise None. Dropping a part would shift the locations
    of the others."""
    return None if any(result is None for result in results) else value
