"""HTML tags in text: reading a start tag's attributes, finding the matching end tag.

Only for the few block `<div>`s that carry a meaning and for addresses in raw HTML; no HTML parser.
"""

from __future__ import annotations

import html

from msgspec import Struct

from ..patterns import lazy_pattern

_ATTRIBUTE = lazy_pattern(
    r"[\s/]+(?P<name>[^\s\"'<>/=]+)(?:\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'=<>`]+)))?"
)
_START = lazy_pattern(r"<([A-Za-z][A-Za-z0-9-]*)")
_CLOSE = lazy_pattern(r"\s*/?>")


class Attribute(Struct, frozen=True):
    """One attribute of a start tag."""

    name: str
    """Lower case."""
    value: str
    """Character references resolved."""
    start: int
    """Index of the value (or of the name, if there is no value) in the text."""
    end: int
    """After the value, without its quote."""
    name_start: int


class StartTag(Struct, frozen=True):
    """A start tag in a text."""

    name: str
    """Lower case."""
    attributes: tuple[Attribute, ...]
    end: int
    """Index after `>`."""

    def get(self, name: str, default: str = "") -> str:
        """Value of the attribute `name`."""
        return next((a.value for a in self.attributes if a.name == name), default)

    @property
    def classes(self) -> list[str]:
        """The words of `class`."""
        return self.get("class").split()


def start_tag(text: str, pos: int = 0) -> StartTag | None:
    """The start tag at `pos`; None if it is not well formed."""
    found = _START.match(text, pos)
    if not found:
        return None
    at, attributes = found.end(), []
    while item := _ATTRIBUTE.match(text, at):
        group = next((g for g in ("double", "single", "bare") if item[g] is not None), "name")
        value = "" if group == "name" else html.unescape(item[group])
        name = item["name"].lower()
        attributes.append(Attribute(name, value, *item.span(group), item.start("name")))
        at = item.end()
    closing = _CLOSE.match(text, at)
    return StartTag(found[1].lower(), tuple(attributes), closing.end()) if closing else None
