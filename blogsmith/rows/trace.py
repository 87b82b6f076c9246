"""Record of the questions that a page asks the site while it is rendered: calls of functions of `SiteAccess`.

A rendered page stays valid as long as its document and all answers are unchanged. Nobody declares
dependencies: every question is recorded, so no dependency is forgotten and no page is rendered unnecessarily.
Source of the idea: verifying traces, in Mokhov, Mitchell, Peyton Jones, "Build Systems à la Carte", 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..model.documents import Document
from ..render.tools import SiteAccess

_PAGE_LOOKUPS = ("results", "picture", "python_distribution", "live_library")
"""Lookups about the page itself. Their answers may change without a change elsewhere in the site."""
_TEMPLATES = "templates"
"""Question for the templates that shortcodes load. Its answer changes only with the theme."""
INDEPENDENT_LOOKUPS = frozenset((*_PAGE_LOOKUPS, _TEMPLATES))
"""Questions whose answers may change even if nothing else in the site has changed."""
_SHARED = (
    *("link", "link_title", "image", "poster", "media", "labels", "post_url", "nearest_slug", "slug_hint"),
    *(
        "find_reference",
        "work_keys",
        "publication_keys",
        "work_hint",
        "work_place",
        "bibliography_problems",
        "citation_style",
    ),
)

Key = tuple[object, ...]


class Lookup(Struct, frozen=True):
    """A question and its answer: a call of a function of `SiteAccess`, with the result."""

    name: str
    """Name of the function, a field of `SiteAccess`."""
    arguments: tuple[Any, ...]
    answer: Any

    def is_valid(self, tools: SiteAccess) -> bool:
        """Return whether the function still returns the same result."""
        return bool(getattr(tools, self.name)(*self.arguments) == self.answer)


Lookups = Mapping[Key, Lookup]


def trace_tools(tools: SiteAccess) -> tuple[SiteAccess, Lookups]:
    """Return functions that answer like `tools` while one page is rendered, and the mapping where they record
    each call."""
    found: dict[Key, Lookup] = {}

    def note(name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*arguments: Any) -> Any:
            if arguments and isinstance(arguments[-1], bytes):
                # an image in a notebook: only its URL depends on the site, not its size
                asked(*arguments[:-1], "")
                return ask(*arguments)
            # a document among the arguments is always the page itself, so the key leaves it out
            key = (name, *(a for a in arguments if not isinstance(a, Document)))
            if key not in found:
                found[key] = Lookup(name, arguments, ask(*arguments))
            return found[key].answer

        return asked

    noted: dict[str, Any] = {name: note(name, getattr(tools, name)) for name in (*_PAGE_LOOKUPS, *_SHARED)}
    return replace(tools, **noted), found


def trace_templates(lookups: Lookups, names: Collection[str], tools: SiteAccess) -> Lookups:
    """Return `lookups` with one more question: the templates that shortcodes loaded. names: from
    `Theme.watch_templates`."""
    if not names:
        return lookups
    arguments = tuple(sorted(names))
    return {**lookups, (_TEMPLATES,): Lookup(_TEMPLATES, arguments, tools.templates(*arguments))}


def is_valid(lookups: Lookups, tools: SiteAccess, *, only_own: bool) -> bool:
    """Return whether all answers are still the same. only_own: compare only the questions in
    `INDEPENDENT_LOOKUPS`."""
    return all(
        lookup.is_valid(tools)
        for lookup in lookups.values()
        if not only_own or lookup.name in INDEPENDENT_LOOKUPS
    )
