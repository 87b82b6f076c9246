"""The tags of a finished page that load something, run something or lead to a new window.

Read from the page's bytes, so that nothing can be forgotten that a template or an author has written. This is
no HTML parser: comments, scripts and style sheets are passed over as browsers do it, every other tag is taken
for itself. A page has thousands of tags and few of these, so they are looked for by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape

from msgspec import Struct, field
from msgspec.structs import replace

from ...patterns import lazy_pattern

_NAMED = lazy_pattern(
    rb"<(?:s(?:cript|tyle|ource)|i(?:frame|mg|nput|mage)|f(?:rame|orm)|video|audio|track|embed|object|link"
    rb"|base|button|textarea|title)(?=[\s/>])|<!--"
)
_EVENT = lazy_pattern(rb"on[a-z]{3,}+\s*+=")
_BEFORE_ATTRIBUTES = b" \n\t\r\f/\"'"
_MARKS = (b"target", b"data-embed-url", b"data-pyodide", b"http-equiv", b"charset", b"url(")
"""Of attributes that matter on any tag; those of events are too many to be named."""
_OPENING = lazy_pattern(rb"<(?:[a-z]|!--)")
_NAME = lazy_pattern(rb"<([a-z][^\s/>]*)", re.IGNORECASE)
_ATTRIBUTE = lazy_pattern(
    rb"[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>][^\s>]*+)?))?"
)
_END = lazy_pattern(rb"[\s/]*+>")
_TEXTS = frozenset(("script", "style", "textarea", "title"))
"""Elements that hold text in which no tag begins; in drawings a title may be empty."""


class PageTag(Struct, frozen=True):
    """A start tag, with the text of the element if that holds nothing else."""

    name: str
    """Lower case."""
    attributes: Mapping[str, str]
    """Lower case → value, character references resolved; the first of a name counts."""
    start: int
    end: int
    """Index after `>`."""
    text: bytes = b""
    """Of a script or style sheet that stands in the page."""
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Attribute → where its value stands in the page, with its quotes."""


def page_tags(html: bytes) -> Iterator[PageTag]:
    """Those tags of a page, in their order."""
    low = html.lower()
    end = 0
    for start in _starts(low):
        if start < end:
            continue
        if low.startswith(b"<!--", start):
            closing = low.find(b"-->", start + 2)
            end = closing + 3 if closing >= 0 else len(low)
            continue
        tag = _read(html, start)
        if tag is None:
            # it has no end, so nothing behind it is a tag
            return
        end = tag.end
        if tag.name in _TEXTS and not (tag.name == "title" and html[end - 2 : end] == b"/>"):
            closing = low.find(f"</{tag.name}".encode(), end)
            end = closing if closing >= 0 else len(low)
            tag = replace(tag, text=html[tag.end : end])
        yield tag


def _starts(low: bytes) -> list[int]:
    """Where such tags may begin, sorted."""
    found = {match.start() for match in _NAMED.finditer(low)}
    for word in _MARKS:
        found.update(_tag_starts(low, _places(low, word)))
    events = (match.start() for match in _EVENT.finditer(low, 1))
    found.update(_tag_starts(low, (at for at in events if low[at - 1] in _BEFORE_ATTRIBUTES)))
    return sorted(start for start in found if start >= 0 and _OPENING.match(low, start))


def _tag_starts(low: bytes, places: Iterable[int]) -> Iterator[int]:
    """Where the tag begins that each of the rising places may stand in; -1: in none."""
    start = seen = -1
    for at in places:
        # only what was not searched for the place before
        start = max(start, low.rfind(b"<", max(seen, 0), at))
        seen = at
        yield start


def _places(text: bytes, word: bytes) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _read(html: bytes, start: int) -> PageTag | None:
    name = _NAME.match(html, start)
    assert name is not None, "only starts of tags are read"
    at = name.end()
    attributes: dict[str, str] = {}
    spans: dict[str, tuple[int, int]] = {}
    while found := _ATTRIBUTE.match(html, at):
        at = found.end()
        key = found[1].decode("utf-8", "replace").lower()
        if key in attributes:
            continue
        group = found.lastindex or 1
        value = found[group].decode("utf-8", "replace") if group > 1 else ""
        attributes[key] = unescape(value) if "&" in value else value
        start, end = found.span(group)
        spans[key] = (start - 1, end + 1) if group in (2, 3) else (start, end)
    closing = _END.match(html, at)
    if closing is None:
        return None
    return PageTag(name[1].decode("utf-8", "replace").lower(), attributes, start, closing.end(), b"", spans)
