"""Foreign HTML → its tags and texts, in order. One pass, linear in the text; any text is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape

from msgspec import Struct, field

from ...base.patterns import lazy_pattern

_TEXT_ONLY = frozenset({"iframe", "noscript", "script", "style", "textarea", "title"})
"""Tags inside them are text: only their own end tag ends them."""

# Few quotes a tag: each failed attempt stays short, however the text is made.
_TAG = lazy_pattern(
    r"<(?P<end>/?)(?P<name>[A-Za-z][^\s/><]{0,40})(?P<attributes>(?>(?:[^<>\"']++|\"[^\"]*\"|'[^']*'){0,200}))>"
)
_ATTRIBUTE = lazy_pattern(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+)))?")


class TagRule(Struct, frozen=True):
    """A start or an end tag."""

    name: str
    """Lower case."""
    end: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case, character references resolved; the first of a name counts."""
    closed: bool = False
    """Written with a slash before `>`."""


def pieces(html: str) -> Iterator[TagRule | str]:
    """Tags, and the texts between them; comments and declarations are left out."""
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
    """Index behind a comment or a declaration at `start`; 0 if there is none."""
    for opening, closing in (("<!--", "-->"), ("<!", ">"), ("<?", ">")):
        if html.startswith(opening, start):
            end = html.find(closing, start + len(opening))
            return end + len(closing) if end >= 0 else len(html)
    return 0


def _tag(found: re.Match[str]) -> TagRule:
    name = found["name"].lower()
    if found["end"]:
        return TagRule(name, end=True)
    attributes: dict[str, str] = {}
    for item in _ATTRIBUTE.finditer(found["attributes"]):
        attributes.setdefault(item[1].lower(), unescape(item[2] or item[3] or item[4] or ""))
    return TagRule(name, False, attributes, found["attributes"].endswith("/"))


def _skip_text(html: str, name: str, at: int) -> int:
    """Where reading goes on after a start tag: at the end tag, if only that ends the element."""
    if name not in _TEXT_ONLY:
        return at
    end_tag = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, at)
    return end_tag.start() if end_tag else len(html)
