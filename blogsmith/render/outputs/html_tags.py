"""Third-party HTML as a sequence of tags and text. One linear pass that accepts any input."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape

from msgspec import Struct, field

from ...base.patterns import lazy_pattern

_TEXT_ONLY = frozenset({"iframe", "noscript", "script", "style", "textarea", "title"})
"""Elements whose content is text up to their own end tag."""

# Few quotes per tag: each failed attempt stays short, whatever the input.
_TAG = lazy_pattern(
    r"<(?P<end>/?)(?P<name>[A-Za-z][^\s/><]{0,40})(?P<attributes>(?>(?:[^<>\"']++|\"[^\"]*\"|'[^']*'){0,200}))>"
)
_ATTRIBUTE = lazy_pattern(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+)))?")


class Tag(Struct, frozen=True):
    """A start or end tag."""

    name: str
    """Name in lower case."""
    end: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Attribute in lower case → value, with character references decoded. Of duplicates, the first applies.
    """
    closed: bool = False
    """The tag has a slash before `>`."""


def parse_tags(html: str) -> Iterator[Tag | str]:
    """Yield the tags and the text between them, without comments and declarations."""
    at = 0
    while at < len(html):
        start = html.find("<", at)
        if start != at:
            yield unescape(html[at:] if start < 0 else html[at:start])
        if start < 0:
            return
        end = _end_of_comment(html, start)
        found = None if end else _TAG.match(html, start)
        if found:
            tag = _tag(found)
            yield tag
            end = found.end() if tag.end or tag.closed else _skip_text(html, tag.name, found.end())
        elif not end:
            yield "<"
        at = end or start + 1


def _end_of_comment(html: str, start: int) -> int:
    """Return the index after a comment or declaration at `start`, or 0 if there is none."""
    for opening, closing in (("<!--", "-->"), ("<!", ">"), ("<?", ">")):
        if html.startswith(opening, start):
            end = html.find(closing, start + len(opening))
            return end + len(closing) if end >= 0 else len(html)
    return 0


def _tag(found: re.Match[str]) -> Tag:
    name = found["name"].lower()
    if found["end"]:
        return Tag(name, end=True)
    attributes: dict[str, str] = {}
    for item in _ATTRIBUTE.finditer(found["attributes"]):
        attributes.setdefault(item[1].lower(), unescape(item[2] or item[3] or item[4] or ""))
    return Tag(name, False, attributes, found["attributes"].endswith("/"))


def _skip_text(html: str, name: str, at: int) -> int:
    """Return the index where reading continues after a start tag: at the end tag for text-only elements."""
    if name not in _TEXT_ONLY:
        return at
    end_tag = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, at)
    return end_tag.start() if end_tag else len(html)
