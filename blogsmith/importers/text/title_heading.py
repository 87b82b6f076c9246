"""The heading that is the title of a page."""

from __future__ import annotations

from ...base.patterns import lazy_pattern

_TITLE = lazy_pattern(
    r"\s*#[ \t]+(?P<text>[^\n]+?)[ \t]*#*[ \t]*(?:\n|\Z)|\s*(?P<under>[^\n#>`|-][^\n]*)\n=+[ \t]*(?:\n|\Z)"
)


def take_title(text: str) -> tuple[str, str]:
    """The first heading of the first level that a text begins with, and the text behind it; empty if it does
    not begin so."""
    found = _TITLE.match(text)
    return ((found["text"] or found["under"]).strip(), text[found.end() :]) if found else ("", text)
