"""What the value of a key may be: one reader a kind of value, one check a thing beyond its kind.

A reader takes a slot and gives the value in its type; a check takes a value and its slot and gives the value.
Both give None once they have reported it, and say what they accept, see `forms.py`. How strict a reader is
differs between the settings, which are written once, and front matter and cells, where a number may stand for
a text and a text for a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from ..diagnostics.model import nearest, question_of
from .forms import ANYTHING, FILLED, FLAG, SHAPED, TEXT, Form, accepts, either, form_of, narrow, one_of
from .slots import Slot

Reader: TypeAlias = Callable[[Slot], Any]
Check: TypeAlias = Callable[[Any, Slot], Any]

QUOTE = "put it in quotes"
TRUTHS: Mapping[str, str] = MappingProxyType(
    {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
)
"""Words of older YAML, and words in quotes → what is meant."""


_KINDS: Mapping[type, str] = MappingProxyType({list: "array", dict: "object"})
TEXTS: Form = MappingProxyType({"type": ["string", "number", "array"], "items": FILLED})


def any_of(words: Collection[str]) -> str:
    """`a, b or c`."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def flag(truths: Mapping[str, str] = TRUTHS, hints: Mapping[tuple[str, str], str] | None = None) -> Reader:
    """True or false. hints: (key, value as written) → what to do, where the value means something else."""

    @accepts(FLAG)
    def read(slot: Slot) -> bool | None:
        if isinstance(slot.value, bool):
            return slot.value
        written = str(slot.value).strip()
        meant = truths.get(written.casefold(), "")
        hint = (hints or {}).get((slot.name, written)) or (f"write {meant}" if meant else "")
        slot.wrong(f"{slot.name} must be true or false", hint)
        return None

    return read


def one_line(slot: Slot) -> str | None:
    """The text or number on one line, a number as the author spells it; None if it is something else."""
    value = slot.value
    if isinstance(value, str):
        return " ".join(line.strip() for line in value.splitlines()).strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return slot.spelling or str(value)
    return None


@accepts(TEXT)
def text(slot: Slot) -> str:
    """A text on one line; empty if there is none."""
    found = one_line(slot)
    if found is None and slot.value is not None:
        slot.wrong(f"{slot.name} must be a text", QUOTE if isinstance(slot.value, bool) else "")
    return found or ""


def texts(separator: str = "") -> Reader:
    """A list of texts, each once; a single text is a list of one, or is cut at `separator`."""

    @accepts(TEXTS)
    def read(slot: Slot) -> tuple[str, ...]:
        items: Iterable[str] = ()
        if isinstance(slot.value, list):
            items = [_entry(slot.at(index)) for index in range(len(slot.value))]
        elif (found := one_line(slot)) is not None:
            items = [part.strip() for part in found.split(separator)] if separator else [found]
        else:
            slot.wrong(f"{slot.name} must be a list of texts")
        return tuple(dict.fromkeys(item for item in items if item))

    return read


def _entry(slot: Slot) -> str:
    found = one_line(slot)
    if not found:
        slot.wrong(f"{slot.name} must be a text", QUOTE if isinstance(slot.value, bool) else "")
    return found or ""


def words(
    meanings: Mapping[Any, Any], listed: str, *, suggest: bool = True, hints: Mapping[str, str] | None = None
) -> Reader:
    """One of a few words, or true or false, in its meaning. hints: another word → what to write."""
    known = [word for word in meanings if isinstance(word, str)]

    @accepts(one_of(meanings))
    def read(slot: Slot) -> Any:
        value = slot.value
        if isinstance(value, str | bool) and value in meanings:
            return meanings[value]
        hint, near = (hints or {}).get(str(value).casefold(), ""), None
        if not hint and suggest and isinstance(value, str):
            near = nearest(value, known)
            hint = question_of(near)
        return slot.wrong(f"{slot.name} must be {listed}", hint, fix=slot.rewrite(near))

    return read


def choice(choices: Iterable[str]) -> Reader:
    """One of a few words."""
    known = tuple(choices)
    return words({word: word for word in known}, any_of(known))


def parsed(parse: Callable[[object], Any], kind: str, hint: str = "", *, form: Form = ANYTHING) -> Reader:
    """What `parse` finds; where it finds nothing, the value is not of this kind."""

    @accepts(form)
    def read(slot: Slot) -> Any:
        found = parse(slot.value)
        return slot.wrong(f"{slot.name} must be {kind}", hint) if found is None else found

    return read


def of_kind(kind: type, read: Reader, other: Reader | str, hint: str = "") -> Reader:
    """Return a reader of a list or mapping. other: reads another value, or names the kind that is expected.

    hint: what to write instead of another value.
    """

    inner = narrow({"type": _KINDS[kind]} if kind in _KINDS else ANYTHING, form_of(read))

    @accepts(inner if isinstance(other, str) else either(form_of(other), inner))
    def read_kind(slot: Slot) -> Any:
        if isinstance(slot.value, kind):
            return read(slot)
        return slot.wrong(f"{slot.name} must be {other}", hint) if isinstance(other, str) else other(slot)

    return read_kind


def checked(read: Reader, check: Check) -> Reader:
    """What `read` gives if the check does not refuse it."""
    both = accepts(narrow(form_of(read), form_of(check)))
    return both(lambda slot: None if (value := read(slot)) is None else check(value, slot))


def must(is_met: Callable[[Any], object], message: str, hint: str = "", *, form: Form = ANYTHING) -> Check:
    """What a value must be; `{value}` and `{name}` may stand in the message."""

    @accepts(form)
    def check(value: Any, slot: Slot) -> Any:
        return value if is_met(value) else slot.wrong(message.format(value=value, name=slot.name), hint)

    return check


def without(
    problem_of: Callable[[Any], str], message: str, hint: str = "", *, form: Form = ANYTHING
) -> Check:
    """The same with a reason: `{problem}` in the message is what `problem_of` says."""

    @accepts(form)
    def check(value: Any, slot: Slot) -> Any:
        problem = problem_of(value)
        found = message.format(value=value, name=slot.name, problem=problem)
        return slot.wrong(found, hint) if problem else value

    return check


def shaped(shape: re.Pattern[str], kind: str, hint: str = "") -> Check:
    """A text of this shape; others are `no` such thing."""
    told = f"no {kind}: {hint}" if hint else f"no {kind}"
    form = {**SHAPED, "pattern": shape, "patternErrorMessage": told}
    return must(shape.fullmatch, f'"{{value}}" is no {kind}', hint, form=form)


def known(choices: Iterable[str], kind: str, listed: Iterable[str] = ()) -> Check:
    """One of the words. listed: in the order the hint names them; empty: sorted, a dozen of them."""
    in_order = sorted(choices)
    shown = ", ".join(tuple(listed) or in_order[:12])

    @accepts(one_of(tuple(listed) or in_order))
    def check(value: str, slot: Slot) -> str | None:
        if value in in_order:
            return value
        near = nearest(value, in_order)
        hint = question_of(near) or f"known: {shown}"
        slot.wrong(f'unknown {kind} "{value}"', hint, fix=slot.entry(value).rewrite(near))
        return None

    return check


def unless_empty(check: Check) -> Check:
    """The check, but nothing of an empty text."""
    empty = one_of([""]) if form_of(check).keys() == {"enum"} else {"maxLength": 0}
    lenient = accepts(either(form_of(check), empty))
    return lenient(lambda value, slot: check(value, slot) if value else value)


def each(check: Check) -> Check:
    """The check of every entry of a list."""
    entries = accepts({"items": form_of(check)})
    return entries(lambda value, slot: _all(value, [check(item, slot.at(n)) for n, item in enumerate(value)]))


def keys(check: Check) -> Check:
    """The check of every key of a mapping."""
    names = accepts({"propertyNames": form_of(check)})
    return names(lambda value, slot: _all(value, [check(key, slot.key(key)) for key in value]))


def values(check: Check) -> Check:
    """The check of every value of a mapping."""
    items = accepts({"additionalProperties": form_of(check)})
    return items(lambda value, slot: _all(value, [check(item, slot.at(key)) for key, item in value.items()]))


def _all(value: Any, results: Iterable[Any]) -> Any:
    """The whole if all of it is right: dropping single entries would shift the places of those behind."""
    return None if any(result is None for result in results) else value
