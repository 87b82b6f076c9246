"""Forms: descriptions of the values that a reader or a check accepts, as parts of a JSON Schema.

A form is declared next to the function that reads the value, by the decorator `accepts(form)`, so that
editors suggest what the program accepts. Some parts of a form are not JSON Schema; `tests/schema_composer.py`
replaces them:

- a compiled pattern of Python
- a `Schema` under `RECORD`, for the contents of its mappings
- a function under `LAZY`, for a form that is expensive to compute
- a name under `DEFINITION`, for a form that is used in many places
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

Form: TypeAlias = Mapping[str, Any]
Call = TypeVar("Call", bound=Callable[..., Any])

RECORD = "record"
LAZY = "lazy"
DEFINITION = "definition"
ANYTHING: Form = MappingProxyType({})
FLAG: Form = MappingProxyType({"type": "boolean"})
TEXT: Form = MappingProxyType({"type": ["string", "number"]})
"""A string on one line; a number is accepted too."""
FILLED: Form = MappingProxyType({"type": ["string", "number"], "pattern": r"\S"})
SHAPED: Form = MappingProxyType({"type": ["string", "number"]})
"""Base of the form of a string that must match a pattern. The pattern is added by the user of this form; no
pattern matches the empty string."""
_INNER = ("items", "additionalProperties", "propertyNames")


def accepts(form: Form) -> Callable[[Call], Call]:
    """Return a decorator that declares the form that a reader or a check accepts."""

    def declare(call: Call) -> Call:
        vars(call)["form"] = form
        return call

    return declare


def get_form(call: Callable[..., Any]) -> Form:
    """Return the form that a reader or a check declares; `ANYTHING` if it declares none."""
    form: Form = vars(call).get("form", ANYTHING)
    return form


def choice_form(words: Iterable[str | bool]) -> Form:
    """Return the form of a value that is one of these keywords."""
    return {"enum": list(words)}


def list_form(entry: Form, *, least: int = 0) -> Form:
    """Return the form of a list whose entries have the form `entry`. least: minimum number of entries."""
    return {"type": "array", "items": entry, **({"minItems": least} if least else {})}


def union_form(*forms: Form) -> Form:
    """Return the form of a value that has at least one of these forms. Keywords are joined into one list."""
    if all(form.keys() == {"enum"} for form in forms):
        return choice_form(word for form in forms for word in form["enum"])
    return {"anyOf": [dict(form) for form in forms]}


def intersect_forms(form: Form, other: Form) -> Form:
    """Return the form of a value that has both forms."""
    merged = dict(form)
    for key, value in other.items():
        if key not in merged or merged[key] == value:
            merged[key] = value
        elif key == "type":
            merged[key] = _common_kinds(merged[key], value)
        elif key == "properties":
            shared = {
                name: intersect_forms(merged[key].get(name, ANYTHING), one) for name, one in value.items()
            }
            merged[key] = {**merged[key], **shared}
        elif key in _INNER and isinstance(merged[key], Mapping) and isinstance(value, Mapping):
            merged[key] = intersect_forms(merged[key], value)
        else:
            return {"allOf": [dict(form), dict(other)]}
    return merged


def _common_kinds(kinds: str | list[str], others: str | list[str]) -> str | list[str]:
    """Return the JSON types that are in both arguments, in the order of the first."""
    known = [others] if isinstance(others, str) else others
    found = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind in known]
    return found[0] if len(found) == 1 else found
