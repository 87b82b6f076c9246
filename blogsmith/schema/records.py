"""A mapping → a record: every key by the type of its field, and by the row that says more of it.

The converter of settings, front matter and whatever stands in them. A record is a frozen struct or
dataclass; a family of records has a `Dialect`: what reads a text, a flag, a list there, and the rows of its
records. So a key without a peculiarity is a field of its record, and nothing else. What is wrong or empty
keeps its default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..diagnostics.model import did_you_mean
from .readers import Check, Reader, checked
from .slots import Slot

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Rows:
    """What the types of a record do not say."""

    readers: Mapping[str, Reader] = field(default_factory=dict)
    """Key → what reads it in place of its type; a key that is no field is read for its mistakes only."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """Key → what it must be beyond its type."""
    whole: Check | None = None
    """The same for keys that depend on each other: takes field → value, and gives it."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Key → field, where they differ."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Other name of a key → the key."""
    made: frozenset[str] = frozenset()
    """Fields that no key fills."""
    foreign: Mapping[str, str] = field(default_factory=dict)
    """Key of another generator → what to write here."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a family of records is written."""

    readers: Mapping[Any, Reader]
    """Type → what reads it."""
    choice: Callable[[tuple[str, ...], str], Reader]
    """(words, type in words) → what reads one of these words."""
    rows: Mapping[type, Rows] = field(default_factory=dict)
    words: Callable[[Any], str] = str
    """A type in words: as an author would say it."""
    key_of: Callable[[str], str] = str
    """Name of a field → key, where the record has no name for it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a record."""

    name: str
    """Of the field; empty if there is none."""
    read: Reader
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """How a mapping becomes a record of one kind. Made once for each kind."""

    kind: Callable[..., Any]
    fields: Mapping[str, Field]
    rows: Rows

    def read(self, slot: Slot) -> Any:
        """The record of a mapping; None if something is missing. Unknown keys are reported."""
        for key in slot.value:
            if key not in self.fields:
                refuse_key(slot.key(key), tuple(self.fields), self.rows.foreign)
        found = self.read_fields(slot)
        if missing := [key for key, one in self.fields.items() if one.is_required and one.name not in found]:
            for key in missing:
                # a misspelt key is both unknown and missing; one report is enough
                if slot.value.get(key) is None and slot.value.keys() <= self.fields.keys():
                    slot.wrong(f"{key} is missing")
            return None
        return self.kind(**found)

    def read_fields(self, slot: Slot) -> dict[str, Any]:
        """Field → value of the keys that are known, without what is wrong or empty."""
        found = {}
        for key in slot.value:
            one, ours = self.fields.get(key), self.rows.others.get(key, key)
            if ours != key and ours in slot.value:
                slot.at(key).wrong(f"{key} and {ours} mean the same", f"keep {ours} only")
            # an empty value (`menu:` with all entries commented out) means the default
            elif one and (item := slot.at(key)).value is not None:
                value = one.read(item)
                if one.name and value is not None:
                    found[one.name] = value
        return found if self.rows.whole is None else self.rows.whole(found, slot)


def refuse_key(key: Slot, known: tuple[str, ...], foreign: Mapping[str, str] = _NONE) -> None:
    """Report a key that is not one of those known."""
    if not key.mapping.is_full:
        near = foreign.get(key.value) or did_you_mean(key.value, known)
        hint = near or f"known keys: {', '.join(known)}"
        key.wrong(f'unknown key "{key.value}"', hint, code=key.mapping.key_code)


def schema_of(kind: type, dialect: Dialect) -> Schema:
    """The schema of a struct or dataclass."""
    rows = dialect.rows.get(kind, Rows())
    keys = {name: key for key, name in rows.names.items()}
    fields = {}
    for name, hint in get_type_hints(kind).items():
        if name not in rows.made:
            key = keys.get(name) or dialect.key_of(name)
            fields[key] = Field(name, _reader_of_row(key, hint, rows, dialect), _is_required(kind, name))
    fields |= {key: Field("", read) for key, read in rows.readers.items() if key not in fields}
    return Schema(kind, {**fields, **{other: fields[key] for other, key in rows.others.items()}}, rows)


def _reader_of_row(key: str, hint: Any, rows: Rows, dialect: Dialect) -> Reader:
    read = rows.readers.get(key) or reader_of(hint, dialect)
    return checked(read, rows.checks[key]) if key in rows.checks else read


def _is_required(kind: Any, name: str) -> bool:
    """Whether a struct has no default for a field; all of our dataclasses have."""
    names: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
    without = len(names) - len(getattr(kind, "__struct_defaults__", ()))
    return name in names[:without]


def reader_of(hint: Any, dialect: Dialect) -> Reader:
    """What reads a value of this type."""
    if hint in dialect.readers:
        return dialect.readers[hint]
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return dialect.choice(_words_in(hint), dialect.words(hint))
    if origin in (Union, UnionType):
        kinds = [part for part in parts if part is not NoneType]
        if len(kinds) == 1:
            return reader_of(kinds[0], dialect)
        return _either(dialect.choice(_words_in(kinds[0]), dialect.words(hint)), reader_of(kinds[1], dialect))
    if origin is tuple:
        return _entries(reader_of(parts[0], dialect), dialect.words(hint))
    if origin is Mapping:
        return _mapping(reader_of(parts[1], dialect), dialect.words(hint))
    return _record(schema_of(hint, dialect), dialect.words(hint))


def _words_in(literal: Any) -> tuple[str, ...]:
    return tuple(word for word in get_args(literal) if word)


def _record(schema: Schema, words: str) -> Reader:
    def read(slot: Slot) -> Any:
        if not isinstance(slot.value, dict):
            return slot.wrong(f"{slot.name} must be {words}")
        return schema.read(slot)

    return read


def _mapping(read_item: Reader, words: str) -> Reader:
    def read(slot: Slot) -> dict[str, Any] | None:
        if not isinstance(slot.value, dict):
            slot.wrong(f"{slot.name} must be {words}")
            return None
        items = {key: read_item(slot.at(key)) for key in slot.value}
        return {key: item for key, item in items.items() if item is not None}

    return read


def _entries(read_item: Reader, words: str) -> Reader:
    def read(slot: Slot) -> tuple[Any, ...] | None:
        if not isinstance(slot.value, list):
            slot.wrong(f"{slot.name} must be {words}")
            return None
        items = tuple(read_item(slot.at(index)) for index in range(len(slot.value)))
        # dropping single items would shift the places of those behind them
        return None if None in items else items

    return read


def _either(read_word: Reader, read_mapping: Reader) -> Reader:
    """A word, or a mapping that says more."""
    return lambda slot: (read_mapping if isinstance(slot.value, dict) else read_word)(slot)
