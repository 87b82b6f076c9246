"""Convert mappings to records: settings, front matter and the options of cells.

A record is a frozen struct or dataclass. The value of each key is read according to the type of its field;
for rules that a type cannot express, the `Table` has a row. The table also says how strings, booleans and
lists are read. A plain key therefore needs only a field. If a value is invalid or empty, the field has its
default.

A reader converts a slot (a value with its location) to a value of its type. A check tests the converted
value. Both return None after they have reported an error, and declare what they accept (see `forms.py`).
Readers of settings are strict, because authors rarely write settings. In front matter and cells, a number is
also accepted as a string, and a single string as a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, partial
from inspect import get_annotations
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from msgspec import Struct, field

from ..diagnostics.model import format_suggestion, list_choices, nearest
from .forms import (
    ANYTHING,
    FILLED,
    FLAG,
    RECORD,
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
ONE_STRING = "write one string, in quotes if it is a word such as `yes`"
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


_SETTINGS_HINT = "write `key: value` lines below it, indented by two spaces"
_TYPE_HINTS: tuple[tuple[str, str], ...] = (
    ("true or false", "write `true` or `false`"),
    ("a list of strings", "write a list such as `[a, b]`"),
    ("a list", "write a list, with `- ` before each entry"),
    ("a whole number", "write a whole number such as `3`"),
    ("a number", "write a number such as `1.5`"),
    ("a string", QUOTE),
    ("settings", _SETTINGS_HINT),
    ("a mapping", _SETTINGS_HINT),
)
"""Start of the expected type, as messages name it → hint on what to write."""


def type_hint(expected: str) -> str:
    """Return a hint for a value of the wrong type. expected: the right type, as messages name it."""
    return next((hint for start, hint in _TYPE_HINTS if expected.startswith(start)), "")


def flag(truths: Mapping[str, str] = TRUTHS, hints: Mapping[tuple[str, str], str] | None = None) -> Reader:
    """Return a reader of true or false. hints: (key, value as written) → hint, for values that mean something
    else."""

    @accepts(FLAG)
    def read(slot: Slot) -> bool | None:
        if isinstance(slot.value, bool):
            return slot.value
        written = str(slot.value).strip()
        meant = truths.get(written.casefold(), "")
        hint = (hints or {}).get((slot.name, written)) or f"write `{meant or 'true` or `false'}`"
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
        slot.report(f"{slot.quoted_name} must be a string", ONE_STRING)
    return found or ""


def string_list(separator: str = "") -> Reader:
    """Return a reader of a list of strings, which removes duplicates. separator: where to split a single
    string; empty: the string becomes a list with one entry."""

    @accepts(TEXTS)
    def read(slot: Slot) -> tuple[str, ...]:
        items: Iterable[str] = ()
        if isinstance(slot.value, list):
            items = [_entry(slot.child(index)) for index in range(len(slot.value))]
        elif (found := one_line(slot)) is not None:
            items = [part.strip() for part in found.split(separator)] if separator else [found]
        else:
            slot.report(
                f"{slot.quoted_name} must be a list of strings", f"write a list such as `{slot.name}: [a, b]`"
            )
        return tuple(dict.fromkeys(item for item in items if item))

    return read


def _entry(slot: Slot) -> str:
    found = one_line(slot)
    if not found:
        slot.report(f"{slot.quoted_name} must be a string", ONE_STRING)
    return found or ""


def words(
    meanings: Mapping[Any, Any], listed: str, *, suggest: bool = True, hints: Mapping[str, str] | None = None
) -> Reader:
    """Return a reader of keywords or booleans, which returns their meaning. listed: valid keywords as a
    phrase. suggest: whether the hint may name a similar keyword. hints: invalid word → hint."""
    known = [word for word in meanings if isinstance(word, str)]
    # some keywords also accept booleans, because YAML reads `off` as false
    shown = [*known, *("true", "false")] if True in meanings and "true" in listed else known

    @accepts(choice_form(meanings))
    def read(slot: Slot) -> Any:
        value = slot.value
        if isinstance(value, str | bool) and value in meanings:
            return meanings[value]
        hint, near = (hints or {}).get(str(value).casefold(), ""), None
        if not hint and suggest and isinstance(value, str):
            near = nearest(value, known)
            hint = format_suggestion(near)
        hint = hint or list_choices(shown)
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
        if found is None:
            slot.report(f"{slot.quoted_name} must be {kind}", hint or type_hint(kind))
        return found

    return read


def typed(kind: type, read: Reader, other: Reader | str, hint: str = "") -> Reader:
    """Return a reader that applies `read` to a value of the type `kind`. For any other value, it applies
    `other` or, if `other` names the expected type, reports an error with `hint`."""

    inner = intersect_forms({"type": _KINDS[kind]} if kind in _KINDS else ANYTHING, get_form(read))

    @accepts(inner if isinstance(other, str) else union_form(get_form(other), inner))
    def read_kind(slot: Slot) -> Any:
        if isinstance(slot.value, kind):
            return read(slot)
        return (
            slot.report(f"{slot.quoted_name} must be {other}", hint or type_hint(other))
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
    shown = tuple(listed) or in_order[:12]

    @accepts(choice_form(tuple(listed) or in_order))
    def check(value: str, slot: Slot) -> str | None:
        if value in in_order:
            return value
        near = nearest(value, in_order)
        listed = list_choices(shown, has_more=len(shown) < len(in_order))
        hint = format_suggestion(near) or "remove it, or " * (len(in_order) == 1) + listed
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


class Table(Struct, frozen=True):
    """Rules for reading one group of records, such as all settings. Keys are dotted as in the manual, for
    example `menu.url`."""

    types: Mapping[Any, Reader]
    """Type of a field → its reader."""
    choice: Callable[[tuple[str, ...], str], Reader]
    """Function that returns a reader of keywords, called with the keywords and a description of the type."""
    readers: Mapping[str, Reader] = field(default_factory=dict)
    """Key → reader that replaces the reader of the field's type. If the key has no field, the reader only
    reports errors."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """Key → check applied in addition to the reader."""
    short: Mapping[str, Reader] = field(default_factory=dict)
    """Key of a record → reader of the short form, a value that is not a mapping."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """Key of a record → hint if its value is not a mapping."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Key → name of its field, where they differ."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Alias of a key → the key."""
    computed: frozenset[str] = frozenset()
    """Fields that have no key."""
    foreign_key_hints: Mapping[str, str] = field(default_factory=dict)
    """Key of another site generator → hint about what to write instead."""
    describe_type: Callable[[Any], str] = str
    """Function that describes a type to an author."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Key without a field → its description for editors."""
    field_key: Callable[[str], str] = str
    """Function from the name of a field to its key, for fields that `names` does not list."""


class Field(Struct, frozen=True):
    """A key of a record, with the reader of its value."""

    name: str
    """Name of the field; empty if the key has none."""
    reader: Callable[[], Reader]
    """Function that returns the reader of the value. Readers are created at their first use, because a file
    contains few of all keys."""
    is_required: bool

    def read(self, slot: Slot) -> Any:
        return self.reader()(slot)


class Schema(Struct, frozen=True):
    """Converter from mappings to records of one type. Created once for each type and key."""

    kind: Callable[..., Any]
    fields: Mapping[str, Field]
    table: Table
    prefix: str
    """Prefix of the record's keys in the table, such as `menu.`; empty for the whole file."""

    def read(self, slot: Slot) -> Any:
        """Return the record for a mapping, or None if a required key is missing. Report unknown keys."""
        for key in slot.value:
            if key not in self.fields:
                hint = self.table.foreign_key_hints.get(self.prefix + key, "")
                reject_key(slot.key(key), tuple(self.fields), hint)
        found = self.read_fields(slot)
        if missing := [key for key, one in self.fields.items() if one.is_required and one.name not in found]:
            for key in missing:
                # a misspelt key is both unknown and missing; one diagnostic is enough
                if slot.value.get(key) is None and slot.value.keys() <= self.fields.keys():
                    slot.report(f'missing key "{key}"', f"add `{key}: …`")
            return None
        return self.kind(**found)

    def read_fields(self, slot: Slot) -> dict[str, Any]:
        """Return field → value for the known keys whose values are valid and not empty."""
        found = {}
        for key in slot.value:
            one, ours = self.fields.get(key), self.table.aliases.get(self.prefix + key)
            if ours in slot.value:
                slot.child(key).report(f'"{key}" and "{ours}" have the same meaning', f"keep only `{ours}`")
            # an empty value (`menu:` with all entries commented out) means the default
            elif one and (item := slot.child(key)).value is not None:
                value = one.read(item)
                if one.name and value is not None:
                    found[one.name] = value
        return found


def reject_key(key: Slot, known: tuple[str, ...], hint: str = "") -> None:
    """Report an unknown key."""
    if not key.mapping.is_full:
        near = None if hint else nearest(key.value, known)
        hint = hint or format_suggestion(near) or list_choices(known)
        fix = key.correct(near) if near not in key.siblings else None
        key.report(f'unknown key "{key.value}"', hint, code=key.mapping.key_code, fix=fix)


def build_schema(kind: type, table: Table, prefix: str = "") -> Schema:
    """Return the schema for a struct or dataclass type."""
    keys = {name: key.removeprefix(prefix) for key, name in table.names.items() if key.startswith(prefix)}
    fields = {
        (key := keys.get(name) or table.field_key(name)): Field(
            name, cache(partial(_field_reader, kind, name, prefix + key, table)), _is_required(kind, name)
        )
        for name in _field_names(kind)
        if name not in table.computed
    }
    if not prefix:
        no_fields = [key for key in table.readers if "." not in key and key not in fields]
        fields |= {
            key: Field("", partial(table.readers.__getitem__, key), is_required=False) for key in no_fields
        }
        fields |= {other: fields[key] for other, key in table.aliases.items()}
    return Schema(kind, fields, table, prefix)


def _field_names(kind: type) -> list[str]:
    """Return the field names as `get_type_hints` would, which is slow because it evaluates the types."""
    return list(dict.fromkeys(name for base in reversed(kind.__mro__) for name in get_annotations(base)))


@cache
def _type_hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _field_reader(kind: type, name: str, key: str, table: Table) -> Reader:
    return _key_reader(key, _type_hints(kind)[name], table)


def _is_required(kind: Any, name: str) -> bool:
    """Return whether a field has no default. Only structs have required fields, because all fields of our
    dataclasses have defaults."""
    names: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
    without = len(names) - len(getattr(kind, "__struct_defaults__", ()))
    return name in names[:without]


def _key_reader(key: str, hint: Any, table: Table) -> Reader:
    read = table.readers.get(key) or _type_reader(hint, table, key)
    return checked(read, table.checks[key]) if key in table.checks else read


def _type_reader(hint: Any, table: Table, key: str) -> Reader:
    """Return the reader of a value under `key` whose field has the type `hint`."""
    if hint in table.types:
        return table.types[hint]
    origin, parts, kind = get_origin(hint), get_args(hint), table.describe_type(hint)
    if origin is Literal:
        return table.choice(tuple(word for word in parts if word), kind)
    if origin in (Union, UnionType):
        first, *others = (part for part in parts if part is not NoneType)
        if not others:
            return _type_reader(first, table, key)
        # the value is a keyword, or a mapping with more details
        word = (
            table.choice(get_args(first), kind)
            if get_origin(first) is Literal
            else typed(first, table.types[first], kind)
        )
        return typed(dict, _type_reader(others[0], table, key), word)
    if origin is tuple:
        entries = _entries(_type_reader(parts[0], table, key))
        return typed(list, entries, kind, table.hints.get(key, ""))
    if origin is Mapping:
        values = _values(_type_reader(parts[1], table, key))
        return typed(dict, values, kind, table.hints.get(key, ""))
    schema = build_schema(hint, table, f"{key}.")
    record = accepts({RECORD: schema})(lambda slot: schema.read(slot))
    names = [name for name, one in schema.fields.items() if one.is_required] or [*schema.fields][:1]
    lines = " and ".join(f"`{name}: …`" for name in names)
    advice = table.hints.get(key) or f"write {lines} below it, indented by two spaces"
    return typed(dict, record, table.short.get(key, kind), advice)


def _values(read_value: Reader) -> Reader:
    @accepts({"additionalProperties": get_form(read_value)})
    def read(slot: Slot) -> dict[str, Any]:
        items = {key: read_value(slot.child(key)) for key in slot.value}
        return {key: item for key, item in items.items() if item is not None}

    return read


def _entries(read_entry: Reader) -> Reader:
    @accepts({"items": get_form(read_entry)})
    def read(slot: Slot) -> tuple[Any, ...] | None:
        items = tuple(read_entry(slot.child(index)) for index in range(len(slot.value)))
        # dropping an invalid entry would shift the locations of later ones
        return None if None in items else items

    return read
