"""The tags of a finished page that load something, run something or lead to a new window.

Read from the page's bytes, so that nothing can be forgotten that a template or an author has written. This is no HTML
parser: comments, scripts and style sheets are passed over as browsers do it, every other tag is taken for
itself. A page has thousands of tags and few of these, so they are looked for by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import unescape

_NAMED = re.compile(
    rb"<(?:s(?:cript|tyle|ource)|i(?:frame|mg|nput|mage)|f(?:rame|orm)|video|audio|track|embed|object|link"
    rb"|base|button|meta|textarea|title)(?=[\s/>])|<!--"
)
# Attributes that matter on any tag. Those of events are many, so they are looked for by how they begin.
_EVENT_BEGINS = (b" on", b"\non", b"\ton", b"/on", b'"on', b"'on")
_MARKED = (b"target", b"data-embed-url", b"data-pyodide", b"url(")
_EVENT = re.compile(rb".on[a-z]+\s*=", re.DOTALL)
_OPENING = re.compile(rb"<(?:[a-z]|!--)")
_NAME = re.compile(rb"<([a-z][^\s/>]*)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>][^\s>]*+)?))?"
)
_END = re.compile(rb"[\s/]*+>")
_TEXTS = frozenset(("script", "style", "textarea", "title"))
"""Elements that hold text in which no tag begins; in drawings a title may be empty."""


@dataclass(frozen=True, slots=True)
class PageTag:
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
            closing = low.find(b"-->", start + 4)
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
    for word in _MARKED:
        found.update(low.rfind(b"<", 0, at) for at in _places(low, word))
    for word in _EVENT_BEGINS:
        found.update(low.rfind(b"<", 0, at) for at in _places(low, word) if _EVENT.match(low, at))
    return sorted(start for start in found if start >= 0 and _OPENING.match(low, start))


def _places(text: bytes, word: bytes) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _read(html: bytes, start: int) -> PageTag | None:
    name = _NAME.match(html, start)
    assert name is not None, "only starts of tags are read"
    at, attributes, spans = name.end(), {}, {}
    while found := _ATTRIBUTE.match(html, at):
        key = found[1].decode("utf-8", "replace").lower()
        group = next((number for number in (2, 3, 4) if found[number] is not None), 0)
        if key not in attributes:
            attributes[key] = unescape(found[group].decode("utf-8", "replace")) if group else ""
            quoted = group in (2, 3)
            spans[key] = (found.start(group) - quoted, found.end(group) + quoted) if group else found.span(1)
        at = found.end()
    closing = _END.match(html, at)
    if closing is None:
        return None
    return PageTag(name[1].decode("utf-8", "replace").lower(), attributes, start, closing.end(), b"", spans)
