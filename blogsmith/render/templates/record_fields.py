"""Fields of blogsmith's records that templates can read, and which of them contain HTML from blogsmith."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from ...model.documents import TocEntry
from ...model.profiles import Portrait, ProfileLink, ProfileView
from ...model.template_views import (
    Feed,
    Ground,
    Link,
    PageGroup,
    Pager,
    PageView,
    SearchView,
    SeriesPart,
    SiteView,
)
from .head import HeadAssets

_HTML: Mapping[type[Struct], frozenset[str]] = MappingProxyType(
    {
        PageView: frozenset(
            {"content", "title_html", "heading_html", "description_html", "summary_html", "cover", "picture"}
        ),
        Link: frozenset({"title_html"}),
        SeriesPart: frozenset({"title_html"}),
        TocEntry: frozenset({"html"}),
    }
)
_REPLACED_FIELDS: Mapping[type, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {PageView: {"body": ("content", "features", "picture")}}
)
"""Type of a record → field that templates cannot read → fields that templates read instead."""


def field_names(kind: type[Struct]) -> list[str]:
    """Return the names of a record's fields that templates can read."""
    read = _REPLACED_FIELDS.get(kind, {})
    return [seen for name in kind.__struct_fields__ for seen in read.get(name, (name,))]


def is_hidden(kind: type, name: object) -> bool:
    """Return whether templates cannot read the field `name` of records of the type `kind`."""
    return isinstance(name, str) and name in _REPLACED_FIELDS.get(kind, ())


_RECORDS = (
    PageView,
    SiteView,
    Link,
    SeriesPart,
    Feed,
    Pager,
    PageGroup,
    ProfileView,
    ProfileLink,
    Portrait,
    TocEntry,
    HeadAssets,
    Ground,
    SearchView,
)
FIELDS: Mapping[type, Mapping[str, bool]] = MappingProxyType(
    {kind: {name: name in _HTML.get(kind, ()) for name in field_names(kind)} for kind in _RECORDS}
)
"""Type of a record → name of a field → whether the field contains HTML."""
