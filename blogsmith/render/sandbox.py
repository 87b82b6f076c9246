"""The sandbox that templates run in, and what they see of our records.

Jinja asks many questions before it hands an attribute out. Our records hold nothing but data, so their fields
need none of them; anything else goes the long way. Fields that are HTML of our own making are marked as such
here, where a template reads them: to mark them before would mean a copy of every page that a list names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from ..model import TocEntry
from ..page_view import Feed, Link, PageGroup, Pager, PageView, SeriesPart, SiteView
from .theme_head import Head

_HTML: Mapping[type, frozenset[str]] = MappingProxyType(
    {
        PageView: frozenset({"content", "title_html", "description_html"}),
        Link: frozenset({"title_html"}),
        SeriesPart: frozenset({"title_html"}),
        TocEntry: frozenset({"html"}),
    }
)
"""Record → its fields that are HTML."""

_FIELDS: Mapping[type, Mapping[str, bool]] = MappingProxyType(
    {
        kind: {field.name: field.name in _HTML.get(kind, ()) for field in fields(kind)}
        for kind in (PageView, SiteView, Link, SeriesPart, Feed, Pager, PageGroup, TocEntry, Head)
    }
)
"""Record → its fields, and whether each is HTML."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's, with a short way to the fields of our records."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute` in a template."""
        known = _FIELDS.get(type(obj))
        if known is None or attribute not in known:
            return super().getattr(obj, attribute)
        return _value(obj, attribute, known)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]` in a template; filters such as `map(attribute=…)` come here too."""
        known = _FIELDS.get(type(obj))
        if known is None or not isinstance(argument, str) or argument not in known:
            return super().getitem(obj, argument)
        return _value(obj, argument, known)


def _value(record: object, name: str, known: Mapping[str, bool]) -> Any:
    value = getattr(record, name)
    return Markup(value) if known[name] else value
