"""Headings of a masked text: their levels, and the one that is the title."""

from __future__ import annotations

import re

from ...patterns import lazy_pattern

_HEADING = lazy_pattern(r"^(#{1,6})[ \t]", re.MULTILINE)
_TITLE = lazy_pattern(
    r"\s*#[ \t]+(?P<text>[^\n]+?)[ \t]*#*[ \t]*(?:\n|\Z)|\s*(?P<under>[^\n#>`|-][^\n]*)\n=+[ \t]*(?:\n|\Z)"
)


def lower_headings(text: str, *, has_title: bool) -> str:
    """The title of a page is its only first heading: with another one in the text all go down a level."""
    levels = [len(marks) for marks in _HEADING.findall(text)]
    if not has_title or 1 not in levels:
        return text
    return re.sub(r"^(#{1,5})(?=[ \t])", r"#\1", text, flags=re.MULTILINE)


def take_title(text: str) -> tuple[str, str]:
    """The first heading of the first level that a text begins with, and the text behind it; empty if it does
    not begin so."""
    found = _TITLE.match(text)
    return ((found["text"] or found["under"]).strip(), text[found.end() :]) if found else ("", text)
