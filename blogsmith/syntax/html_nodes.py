"""The text in raw HTML: where it stands between tags, and what may stand in its place.

No HTML parser: tags are found, elements counted. Where end tags are left out an element counts as open for
longer than it is, so that a block is never put where HTML forbids it. Comments, tags themselves and elements
whose text is no prose hold none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from ..base.patterns import lazy_pattern
from ..model.names import VOID_ELEMENTS

_VERBATIM_NAMES = "script|noscript|style|pre|code|textarea|math|svg|option|title|iframe|d-code|d-math"
VERBATIM = frozenset(_VERBATIM_NAMES.split("|"))
"""Elements whose text is shown, run or read as it is written."""
_PHRASING_NAMES = (
    "p|span|b|i|em|strong|small|big|u|s|q|cite|dfn|abbr|label|sub|sup|mark|font|bdi|bdo|kbd|samp|var|button"
    "|tt|nobr|output|time|data|strike"
)
_PHRASING = frozenset(_PHRASING_NAMES.split("|"))
"""Elements in which no block may stand."""
_LINES = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "summary", "legend"))
"""Those that are a line of text by themselves, as a heading is."""

_TAG = lazy_pattern(
    r"<!--.*?(?:-->|\Z)|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)"
    r"(?:[\s/](?>(?:[^\"'<>]++|\"[^\"]*+\"|'[^']*+')*))?>",
    re.DOTALL,
)
_MOST_OPEN = 1000
"""Elements that are counted: HTML that forgets its end tags is not looked through again and again."""


class TextNode(Struct, frozen=True):
    """A stretch of text between two tags; indices into the HTML."""

    start: int
    end: int
    is_phrasing: bool
    """No block may stand in it."""
    is_line: bool
    """It is in a heading or a summary."""


def text_nodes(html: str) -> Iterator[TextNode]:
    """Each stretch of text that is prose, in order; the last one reaches to the end."""
    names: list[str] = []
    start = pos = 0
    while tag := _TAG.search(html, pos):
        yield _node(start, tag.start(), names)
        start = pos = tag.end()
        if not tag["name"]:
            continue
        name = tag["name"].lower()
        if tag["end"]:
            _close(name, names)
        elif name in VERBATIM:
            start = pos = _verbatim_end(html, name, pos)
        elif name not in VOID_ELEMENTS and len(names) < _MOST_OPEN:
            names.append(name)
    yield _node(start, len(html), names)


def raw_tag(html: str) -> tuple[str, bool]:
    """Name in lower case of the one tag that `html` is, and whether it is an end tag; empty: it is none."""
    tag = _TAG.fullmatch(html)
    return ((tag["name"] or "").lower(), bool(tag["end"])) if tag else ("", False)


def holds_tag(html: str, start: int, end: int) -> bool:
    """Whether a tag or a comment stands in `html[start:end]`."""
    return _TAG.search(html, start, end) is not None


def is_line(name: str) -> bool:
    """Whether an element of that name is a line of text by itself."""
    return name in _LINES


def is_phrasing(name: str) -> bool:
    """Whether no block may stand in an element of that name."""
    return name in _PHRASING


def _node(start: int, end: int, names: list[str]) -> TextNode:
    return TextNode(start, end, not _PHRASING.isdisjoint(names), not _LINES.isdisjoint(names))


def _close(name: str, names: list[str]) -> None:
    """Take the element off, with those in it that are still open; an end tag alone is nothing."""
    for index in range(len(names) - 1, -1, -1):
        if names[index] == name:
            del names[index:]
            return


def _verbatim_end(html: str, name: str, pos: int) -> int:
    """Where the end tag of the element begins; the end of the text if there is none."""
    found = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE | re.ASCII).search(html, pos)
    return found.start() if found else len(html)
