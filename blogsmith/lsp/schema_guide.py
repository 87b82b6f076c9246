"""What a JSON Schema says of one key: its meaning, the keys below it and the values it may have.

Source: JSON Schema, draft 7; `markdownDescription` and `doNotSuggest` are keywords of yaml-language-server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct

from ..api.editing import read_schema

Form: TypeAlias = Mapping[str, Any]
_MOST_FORMS = 200
"""A schema that leads in circles ends here."""


class KeyGuide(Struct, frozen=True):
    """A key as an author reads of it."""

    name: str
    meaning: str = ""
    """Markdown; may be empty."""
    kind: str = ""
    """`text`, `list`, …; empty if it may be anything."""
    default: str = ""
    values: tuple[str, ...] = ()
    """Words that it may have, if it has to have one of some."""


_KINDS = {
    "string": "text",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "array": "list",
    "object": "mapping",
}


@cache
def known_schema(name: str) -> Form:
    """One of the schemas that ship: `config`, `front-matter` or `cell`."""
    return read_schema(name)


def list_keys(schema: Form, path: Sequence[str]) -> tuple[KeyGuide, ...]:
    """The keys that may stand below a key, in order."""
    found: dict[str, KeyGuide] = {}
    for form in _forms_at(schema, path):
        for name, inner in form.get("properties", {}).items():
            if isinstance(inner, Mapping) and not inner.get("doNotSuggest"):
                found.setdefault(name, _guide(schema, name, inner))
    return tuple(found.values())


def find_key(schema: Form, path: Sequence[str]) -> KeyGuide | None:
    """What is said of a key; None if the schema does not know it."""
    *above, name = path
    for form in _forms_at(schema, above):
        inner = form.get("properties", {}).get(name)
        if isinstance(inner, Mapping):
            return _guide(schema, name, inner)
    return None


def list_values(schema: Form, path: Sequence[str]) -> tuple[str, ...]:
    """The words that a key may have, or entries of its list."""
    return tuple(dict.fromkeys(word for form in _forms_at(schema, path) for word in _words(form)))


def _words(form: Form) -> Iterator[str]:
    for value in form.get("enum", ()):
        if isinstance(value, bool):
            yield str(value).lower()
        elif isinstance(value, str | int) and value != "":
            yield str(value)
    if "boolean" in _types(form):
        yield from ("true", "false")


def _guide(schema: Form, name: str, form: Form) -> KeyGuide:
    every = list(_expand(schema, form))
    meaning = next((one["markdownDescription"] for one in every if one.get("markdownDescription")), "")
    meaning = meaning or next((one["description"] for one in every if one.get("description")), "")
    kinds = dict.fromkeys(
        _KINDS[kind] for one in every for kind in _types(one) if kind in _KINDS and not one.get("enum")
    )
    default = next((one["default"] for one in every if one.get("default") not in (None, "", [], {})), "")
    values = dict.fromkeys(word for one in every for word in _words(one))
    written = str(default).lower() if isinstance(default, bool) else str(default)
    return KeyGuide(name, meaning, " or ".join(kinds), written, tuple(values))


def _types(form: Form) -> Sequence[str]:
    kinds = form.get("type", ())
    return (kinds,) if isinstance(kinds, str) else kinds


def _forms_at(schema: Form, path: Sequence[str]) -> list[Form]:
    """All forms that the value of a key may have, those of entries of a list among them."""
    forms = list(_expand(schema, schema))
    for name in path:
        inner: list[Form] = []
        for form in forms:
            below = form.get("properties", {}).get(name, form.get("additionalProperties"))
            if isinstance(below, Mapping):
                inner.extend(_expand(schema, below))
        forms = inner[:_MOST_FORMS]
    return forms


def _expand(schema: Form, form: Form) -> Iterator[Form]:
    """A form, and all that it is put together from."""
    pending, count = [form], 0
    while pending and count < _MOST_FORMS:
        one = pending.pop(0)
        count += 1
        yield one
        reference = str(one.get("$ref", ""))
        if reference.startswith("#/definitions/"):
            pending.append(schema.get("definitions", {}).get(reference.rpartition("/")[2], {}))
        for keyword in ("allOf", "anyOf", "oneOf"):
            pending.extend(inner for inner in one.get(keyword, ()) if isinstance(inner, Mapping))
        if isinstance(one.get("items"), Mapping):
            pending.append(one["items"])
