"""Scopes of fields: which pages must be rendered again when the value of a field changes.

The scope is declared in the type of the field, so no other list is needed. While only one document is edited,
results that depend on the rest of the site are reused.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Annotated, TypeVar, get_type_hints

Value = TypeVar("Value")


class FieldScope(Enum):
    """Scope of a field: the parts of the site that change with its value."""

    PAGE = "content of a page, and data about the page alone"
    SITE = "relations between pages, and everything around their content"


OfPage = Annotated[Value, FieldScope.PAGE]
OfSite = Annotated[Value, FieldScope.SITE]


@cache
def scoped_fields(record: type, scope: FieldScope) -> tuple[str, ...]:
    """Return the names of a record's fields with this scope. TypeError if a field has no scope or two."""
    return tuple(name for name, found in _scopes(record).items() if found is scope)


def _scopes(record: type) -> dict[str, FieldScope]:
    scopes: dict[str, FieldScope] = {}
    for name, hint in get_type_hints(record, include_extras=True).items():
        found = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, FieldScope)]
        if len(found) != 1:
            raise TypeError(f"{record.__name__}.{name} is declared with {len(found)} scopes, not one")
        scopes[name] = found[0]
    return scopes
