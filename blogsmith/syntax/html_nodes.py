"""Text in raw HTML: its ranges between tags, and the elements around them.

This is not an HTML parser: it finds tags and counts elements. If an end tag is omitted, the element counts as
open for too long, so that a block is never inserted where HTML forbids it. Comments, tags, and elements such
as `<script>` contain no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.model import Place, TextMap
from ..base.html_tags import find_end_tag
from ..base.patterns import lazy_pattern
from ..model.names import VOID_ELEMENTS
from .records import LinkTargetPlace, get_record


def html_place(token: Token, first_line: int, start: int, length: int) -> Place:
    """Return the position of `token.content[start : start + length]`, cut at the end of its line. first_line:
    line of the file on which the parsed text starts."""
    if "linktargetplace" in token.meta:
        return get_record(token, LinkTargetPlace).place
    if "textmap" in token.meta:
        # the token is a fragment of a block that contains formulas
        return get_record(token, TextMap).place(start, length)
    text = token.content
    line = first_line + (token.map or [0])[0] + text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Place(line, column, max(1, min(length, (text + "\n").find("\n", start) - start)))


_VERBATIM_NAMES = "script|noscript|style|pre|code|textarea|math|svg|option|title|iframe|d-code|d-math"
VERBATIM = frozenset(_VERBATIM_NAMES.split("|"))
"""Elements whose content is shown, run or read literally."""
_PHRASING_NAMES = (
    "p|span|b|i|em|strong|small|big|u|s|q|cite|dfn|abbr|label|sub|sup|mark|font|bdi|bdo|kbd|samp|var|button"
    "|tt|nobr|output|time|data|strike"
)
_PHRASING = frozenset(_PHRASING_NAMES.split("|"))
"""Elements that must not contain blocks."""
_LINES = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "summary", "legend"))
"""Elements that are one line of text, such as headings."""

_TAG = lazy_pattern(
    r"<!--.*?(?:-->|\Z)|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)"
    r"(?:[\s/](?>(?:[^\"'<>]++|\"[^\"]*+\"|'[^']*+')*))?>",
    re.DOTALL,
)
_MOST_OPEN = 1000
"""Maximum number of open elements that are tracked. It bounds the work for HTML without end tags."""


class TextNode(Struct, frozen=True):
    """A range of text between two tags; indices into the HTML."""

    start: int
    end: int
    is_phrasing: bool
    """Whether the range must not contain blocks."""
    is_line: bool
    """Whether the range is in a heading or a summary."""


def text_nodes(html: str) -> Iterator[TextNode]:
    """Yield each range of prose in order. The last one extends to the end."""
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
            start = pos = find_end_tag(html, name, pos)
        elif name not in VOID_ELEMENTS and len(names) < _MOST_OPEN:
            names.append(name)
    yield _node(start, len(html), names)


def raw_tag(html: str) -> tuple[str, bool]:
    """Return the lower-case name of the tag `html`, and whether it is an end tag. The name is empty if `html`
    is not exactly one tag."""
    tag = _TAG.fullmatch(html)
    return ((tag["name"] or "").lower(), bool(tag["end"])) if tag else ("", False)


def contains_tag(html: str, start: int, end: int) -> bool:
    """Return whether `html[start:end]` contains a tag or a comment."""
    return _TAG.search(html, start, end) is not None


def is_line(name: str) -> bool:
    """Return whether elements of this name are one line of text."""
    return name in _LINES


def is_phrasing(name: str) -> bool:
    """Return whether elements of this name must not contain blocks."""
    return name in _PHRASING


def _node(start: int, end: int, names: list[str]) -> TextNode:
    return TextNode(start, end, not _PHRASING.isdisjoint(names), not _LINES.isdisjoint(names))


def _close(name: str, names: list[str]) -> None:
    """Close the element and all elements in it that are still open. Ignore an unmatched end tag."""
    for index in range(len(names) - 1, -1, -1):
        if names[index] == name:
            del names[index:]
            return
