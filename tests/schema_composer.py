"""Conversion of a table of keys to a JSON Schema for editors; makes the files in
`blogsmith/base/schema/json/`.

Draft 7, because editors that read YAML are built on one language server, which supports this draft best;
no feature of later drafts is needed. `deprecationMessage`, `errorMessage`, `patternErrorMessage`,
`doNotSuggest` and `markdownDescription` are its own keywords, which other programs ignore.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec
from msgspec import NODEFAULT, Struct, field

from blogsmith.base.schema.forms import DEFINITION, LAZY, RECORD, Form, get_form, intersect_forms
from blogsmith.base.schema.records import Schema
from tests.portable_patterns import portable

Describe: TypeAlias = Callable[[type, str], str]
"""Function from (record, name of a field) to its description."""
DRAFT = "http://json-schema.org/draft-07/schema#"
_STEPS: Mapping[str, str] = MappingProxyType({"items": "[]", "additionalProperties": "[]"})
_NAMES = ("properties", "definitions")
"""Keywords whose values are forms by name."""


class Composer(Struct, frozen=True):
    """Composes one schema."""

    describe: Describe
    suggestions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Key, or key and `[]` for entries → suggested values; others are valid too."""
    keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Key of a mapping → known keys below it, with descriptions."""
    takes_nothing: bool = True
    """Whether a key may have no value, which means its default."""
    definitions: dict[str, Any] = field(default_factory=dict)

    def schema(self, table: Schema, *, is_open: bool, notes: Mapping[str, Form]) -> dict[str, Any]:
        """Return the schema of a record. is_open: allow other keys. notes: additional keys."""
        body = self._record(table, "", is_open=is_open)
        body["properties"] |= {key: dict(note) for key, note in notes.items()}
        body["properties"] = dict(sorted(body["properties"].items()))
        return {**body, "definitions": self.definitions} if self.definitions else body

    def _record(self, table: Schema, prefix: str, *, is_open: bool = False) -> dict[str, Any]:
        """Return the properties of the mappings of a record."""
        others = {key: table.fields[key] for key in table.fields if table.prefix + key in table.table.aliases}
        properties = {
            key: self._property(table, key, prefix + key) for key in table.fields if key not in others
        }
        for key in others:
            ours = table.table.aliases[table.prefix + key]
            said = f"Another name of `{ours}`."
            properties[key] = {
                **_described(said),
                "doNotSuggest": True,
                "allOf": [{"$ref": f"#/properties/{ours}"}],
            }
        foreign = {
            key.removeprefix(table.prefix): forbid_key(hint)
            for key, hint in table.table.foreign_key_hints.items()
            if key.rpartition(".")[0] == table.prefix.removesuffix(".")
        }
        required = [key for key, one in table.fields.items() if one.is_required]
        return {
            "type": "object",
            "properties": properties | foreign,
            **({"required": required} if required else {}),
            **({"dependencies": _one_name(table, others)} if others else {}),
            "additionalProperties": is_open,
        }

    def _property(self, table: Schema, key: str, path: str) -> dict[str, Any]:
        one = table.fields[key]
        form = self.form(get_form(one.reader()), path)
        # what has to be there has to have a value
        if self.takes_nothing and not one.is_required:
            form = _or_nothing(form)
        kind = table.kind
        text = table.table.notes.get(table.prefix + key, "")
        if one.name and isinstance(kind, type):
            text = self.describe(kind, one.name)
        return {**_described(text), **form, **_default(kind, one.name)}

    def form(self, form: Form, path: str) -> dict[str, Any]:
        """Return a form with our own keywords replaced. path: dotted path of keys."""
        if lazy := form.get(LAZY):
            form = {**lazy(), **{key: value for key, value in form.items() if key != LAZY}}
        if name := form.get(DEFINITION):
            if name not in self.definitions:
                rest = {key: value for key, value in form.items() if key not in (DEFINITION, "description")}
                self.definitions[name] = self.form(rest, path)
            said = self._text(form["description"]) if "description" in form else {}
            return {**said, "allOf": [{"$ref": f"#/definitions/{name}"}]}
        made: dict[str, Any] = {}
        for key, value in form.items():
            if key == RECORD:
                continue
            if key == "description":
                made |= self._text(value)
            else:
                made[key] = self._value(key, value, path)
        if record := form.get(RECORD):
            made = dict(intersect_forms(self._record(record, f"{path}."), made))
        if known := self.keys.get(path):
            name = path.replace(".", "-")
            self.definitions[name] = made["additionalProperties"]
            made["additionalProperties"] = {"$ref": f"#/definitions/{name}"}
            made["properties"] = {
                word: {**self._text(text), "allOf": [made["additionalProperties"]]}
                for word, text in known.items()
            }
        return self._suggested(made, path)

    def _text(self, text: str | tuple[type, str]) -> dict[str, str]:
        return _described(text if isinstance(text, str) else self.describe(*text))

    def _value(self, key: str, value: Any, path: str) -> Any:
        if key == "pattern":
            return portable(value)
        if key in _NAMES:
            return {name: self.form(one, f"{path}.{name}") for name, one in value.items()}
        if isinstance(value, Mapping):
            return self.form(value, path + _STEPS[key] if path and key in _STEPS else "")
        if isinstance(value, list):
            return [self.form(one, "") if isinstance(one, Mapping) else one for one in value]
        return value

    def _suggested(self, form: dict[str, Any], path: str) -> dict[str, Any]:
        words = self.suggestions.get(path)
        return {"anyOf": [{"enum": list(words)}, form]} if words else form


def _described(text: str) -> dict[str, str]:
    """Return the description, and a second one if it contains Markdown, which the first shows literally."""
    if not text:
        return {}
    return {"description": text} | ({"markdownDescription": text} if re.search(r"[`*\[]", text) else {})


def forbid_key(hint: str) -> dict[str, Any]:
    """Return the form of a key that is an error, with a hint."""
    return {"not": {}, "errorMessage": hint, "doNotSuggest": True}


def _one_name(table: Schema, others: Mapping[str, Any]) -> dict[str, Any]:
    names = {key: table.table.aliases[table.prefix + key] for key in others}
    return {key: {"not": {"required": [ours]}} for key, ours in names.items()}


def _or_nothing(form: dict[str, Any]) -> dict[str, Any]:
    """Return the form with null allowed."""
    made = dict(form)
    if "type" in made:
        kinds = made["type"] if isinstance(made["type"], list) else [made["type"]]
        made["type"] = kinds if "null" in kinds else [*kinds, "null"]
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    if "anyOf" in made:
        made["anyOf"] = [*made["anyOf"], {"type": "null"}]
    if "allOf" in made and not made.keys() & {"type", "enum", "anyOf"}:
        rest = {key: value for key, value in made.items() if key != "allOf"}
        made = {**rest, "anyOf": [{"allOf": made["allOf"]}, {"type": "null"}]}
    return made


def _default(kind: Any, name: str) -> dict[str, Any]:
    """Return the default of a field, if YAML can express it."""
    value = _default_of(kind, name)
    if isinstance(value, tuple):
        value = list(value)
    return {"default": value} if isinstance(value, bool | int | float | str | list) and value != "" else {}


def _default_of(kind: Any, name: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, Struct):
        found = {one.name: one.default for one in msgspec.structs.fields(kind)}
        return None if (value := found.get(name, NODEFAULT)) is NODEFAULT else value
    return {one.name: one.default for one in dataclasses.fields(kind)}.get(name)
