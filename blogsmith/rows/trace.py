"""What a page asks of the rest of the site while it is rendered, and whether the answers are still the same.

A rendered page stays valid as long as its document and all these answers do. Nobody has to say which page
depends on what: whatever was asked is written down, so nothing is forgotten and nothing is rendered without
need. Source of the idea: verifying traces, in Mokhov, Mitchell, Peyton Jones, "Build Systems à la Carte",
2018.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from ..model.documents import Document
from ..render.tools import Tools

_OWN = ("results", "picture", "python")
"""Lookups whose answers are the page's own: they change without anything else in the site changing."""
_TEMPLATES = "templates"
"""What shortcodes load: it changes with the theme, whatever the rest of the site does."""
OWN = frozenset((*_OWN, _TEMPLATES))
"""Lookups whose answers may change although nothing else in the site does."""
_SHARED = (
    *("link", "page_title", "image", "poster", "media", "labels", "post_url", "nearest_slug", "slug_hint"),
    *(
        "work",
        "work_keys",
        "publication_keys",
        "work_hint",
        "work_place",
        "bibliography_problems",
        "citation_style",
    ),
)

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Lookup:
    """One question and its answer."""

    name: str
    """Field of `Tools`."""
    arguments: tuple[Any, ...]
    answer: Any

    def holds(self, tools: Tools) -> bool:
        """Whether the answer is the same now."""
        return bool(getattr(tools, self.name)(*self.arguments) == self.answer)


Lookups = Mapping[Key, Lookup]


def trace_tools(tools: Tools) -> tuple[Tools, Lookups]:
    """The same tools, and the record that they fill while one page is rendered with them."""
    found: dict[Key, Lookup] = {}

    def note(name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*arguments: Any) -> Any:
            # the document asked about is the page's own
            key = (name, *(a for a in arguments if not isinstance(a, Document)))
            if key not in found:
                found[key] = Lookup(name, arguments, ask(*arguments))
            return found[key].answer

        return asked

    noted: dict[str, Any] = {name: note(name, getattr(tools, name)) for name in (*_OWN, *_SHARED)}
    return replace(tools, **noted), found


def trace_templates(lookups: Lookups, names: Collection[str], tools: Tools) -> Lookups:
    """The record with what shortcodes have loaded. names: as `Theme.watch_templates` gives them."""
    if not names:
        return lookups
    arguments = tuple(sorted(names))
    return {**lookups, (_TEMPLATES,): Lookup(_TEMPLATES, arguments, tools.templates(*arguments))}


def is_valid(lookups: Lookups, tools: Tools, *, only_own: bool) -> bool:
    """Whether all answers are the same now. only_own: the rest of the site is known not to have changed."""
    return all(lookup.holds(tools) for lookup in lookups.values() if not only_own or lookup.name in OWN)
