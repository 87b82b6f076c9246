"""HTML tags in a string: reads the attributes of a start tag and finds the matching end tag.

Used only for the few block `<div>`s that have a meaning and for URLs in raw HTML. This is not an HTML
parser.
"""

from __future__ import annotations

import html
import re

from msgspec import Struct

from .patterns import lazy_pattern

_ATTRIBUTE = lazy_pattern(
    r"[\s/]+(?P<name>[^\s\"'<>/=]+)(?:\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'=<>`]+)))?"
)
_START = lazy_pattern(r"<([A-Za-z][A-Za-z0-9-]*)")
_HIDING = lazy_pattern(r"<!--|<(script|style|textarea|title)(?=[\s>/])", re.IGNORECASE)
_CLOSE = lazy_pattern(r"\s*/?>")


class Attribute(Struct, frozen=True):
    """One attribute of a start tag."""

    name: str
    """Name in lower case."""
    value: str
    """Value with character references resolved."""
    start: int
    """Index in the string of the value, or of the name if the attribute has no value."""
    end: int
    """Index after the value, before its closing quote."""
    name_start: int


class StartTag(Struct, frozen=True):
    """A start tag in a string."""

    name: str
    """Name in lower case."""
    attributes: tuple[Attribute, ...]
    start: int
    """Index of `<`."""
    end: int
    """Index after `>`."""

    def get(self, name: str, default: str = "") -> str:
        """Return the value of the attribute `name`."""
        return next((a.value for a in self.attributes if a.name == name), default)

    @property
    def classes(self) -> list[str]:
        """Class names in `class`."""
        return self.get("class").split()


def find_tagless_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each part that contains no tags: comments, and the contents of scripts and
    stylesheets.

    A part that is never closed extends to the end of `text`.
    """
    found, at = [], 0
    while opening := _HIDING.search(text, at):
        name = opening[1]
        if name:
            tag = parse_start_tag(text, opening.start())
            start = tag.end if tag else opening.end()
            closing = re.compile(rf"</{name}(?=[\s>/])", re.IGNORECASE).search(text, start)
            at = closing.start() if closing else len(text)
        else:
            start = opening.start()
            end = text.find("-->", start)
            at = end + 3 if end >= 0 else len(text)
        found.append((start, at))
    return found


def parse_start_tag(text: str, pos: int = 0) -> StartTag | None:
    """Return the start tag at `pos`, or None if it is not well formed."""
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
    return StartTag(found[1].lower(), tuple(attributes), pos, closing.end()) if closing else None
