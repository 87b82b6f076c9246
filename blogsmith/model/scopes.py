"""How far a value reaches: said where a field is declared, so that nobody keeps a list of fields elsewhere.

The pipeline makes a text anew for what reaches it, and keeps what follows from the rest of the site while
only that text is edited.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Annotated, TypeVar, get_type_hints

Value = TypeVar("Value")


class FieldScope(Enum):
    """What changes when a value does."""

    PAGE = "the text of a page, or what it alone says of itself"
    SITE = "how pages stand to each other, and what stands around their texts"


OfPage = Annotated[Value, FieldScope.PAGE]
OfSite = Annotated[Value, FieldScope.SITE]


@cache
def scoped_fields(record: type, scope: FieldScope) -> tuple[str, ...]:
    """Names of the fields of a record that have this scope; TypeError if one has none, or two."""
    return tuple(name for name, found in _scopes(record).items() if found is scope)


def _scopes(record: type) -> dict[str, FieldScope]:
    scopes: dict[str, FieldScope] = {}
    for name, hint in get_type_hints(record, include_extras=True).items():
        found = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, FieldScope)]
        if len(found) != 1:
            raise TypeError(f"{record.__name__}.{name} is declared with {len(found)} scopes, not one")
        scopes[name] = found[0]
    return scopes
