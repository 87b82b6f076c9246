"""Finds a key in a JSON Schema: its meaning, the keys below it and its values.

Source: JSON Schema, draft 7; `markdownDescription` and `doNotSuggest` are keywords of yaml-language-server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct

from ..api.editing import read_schema

Form: TypeAlias = Mapping[str, Any]
_MAX_FORMS = 200
"""Maximum number of subschemas visited, because references may be circular."""


class KeyGuide(Struct, frozen=True):
    """Description of a key for authors."""

    name: str
    meaning: str = ""
    """Meaning as Markdown; may be empty."""
    kind: str = ""
    """Type, such as `string` or `list`; empty if any type is allowed."""
    default: str = ""
    values: tuple[str, ...] = ()
    """Allowed values; empty if others are allowed too."""


_KINDS = {
    "string": "string",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "array": "list",
    "object": "mapping",
}


@cache
def cached_schema(name: str) -> Form:
    """Return a bundled schema: `config`, `front-matter` or `cell`."""
    return read_schema(name)


def list_keys(schema: Form, path: Sequence[str]) -> tuple[KeyGuide, ...]:
    """Return the keys that are allowed below a key, in order."""
    found: dict[str, KeyGuide] = {}
    for form in _find_subschemas(schema, path):
        for name, inner in form.get("properties", {}).items():
            if isinstance(inner, Mapping) and not inner.get("doNotSuggest"):
                found.setdefault(name, _guide(schema, name, inner))
    return tuple(found.values())


def find_key(schema: Form, path: Sequence[str]) -> KeyGuide | None:
    """Return the description of a key, or None if the schema does not contain it."""
    *above, name = path
    for form in _find_subschemas(schema, above):
        inner = form.get("properties", {}).get(name)
        if isinstance(inner, Mapping):
            return _guide(schema, name, inner)
    return None


def list_values(schema: Form, path: Sequence[str]) -> tuple[str, ...]:
    """Return the fixed values of a key or of the items of its list."""
    return tuple(dict.fromkeys(word for form in _find_subschemas(schema, path) for word in _words(form)))


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


def _find_subschemas(schema: Form, path: Sequence[str]) -> list[Form]:
    """Return the subschemas that describe the value of the key at `path`, at most `_MAX_FORMS`. If the value
    may be a list, the subschemas of its items are included."""
    forms = list(_expand(schema, schema))
    for name in path:
        inner: list[Form] = []
        for form in forms:
            below = form.get("properties", {}).get(name, form.get("additionalProperties"))
            if isinstance(below, Mapping):
                inner.extend(_expand(schema, below))
        forms = inner[:_MAX_FORMS]
    return forms


def _expand(schema: Form, form: Form) -> Iterator[Form]:
    """Yield a schema and all schemas that it refers to or combines."""
    pending, count = [form], 0
    while pending and count < _MAX_FORMS:
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
