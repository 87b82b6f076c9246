"""Markdown headings: levels, text, and the heading that is the title of a page."""

from __future__ import annotations

import re

from ...api.importing import lazy_pattern, slugify

_TITLE = lazy_pattern(
    r"\s*#[ \t]+(?P<text>[^\n]+?)[ \t]*#*[ \t]*(?:\n|\Z)|\s*(?P<under>[^\n#>`|-][^\n]*)\n=+[ \t]*(?:\n|\Z)"
)


def split_title(text: str) -> tuple[str, str]:
    """Return the level-1 heading at the start of the text, and the text after it.

    Return an empty heading and the whole text if it starts with something else.
    """
    found = _TITLE.match(text)
    return ((found["text"] or found["under"]).strip(), text[found.end() :]) if found else ("", text)


_ATX = lazy_pattern(r"^([ ]{0,3})(#{1,6})(?=[ \t]|$)([^\n]*)$", re.MULTILINE)
_SETEXT = lazy_pattern(
    r"(?m)"
    r"^(?P<text>(?![ \t]*(?:[-*+>|#]|\d+[.)])[ \t])[ ]{0,3}[^\s|][^\n]*)\n[ ]{0,3}(?P<line>=+|-{2,})[ \t]*$"
)
_ID = lazy_pattern(r"\{[^{}]*#([^\s{}]+)[^{}]*\}[ \t#]*$")
_CLOSING = lazy_pattern(r"[ \t]+#+[ \t]*$")
_MARKUP = lazy_pattern(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|[*`~]|(?<![^\W_])_|_(?![^\W_])")


def demote_headings(masked: str) -> str:
    """Move all headings down one level if one has level 1, which is reserved for the title.

    masked: text with code and formulas hidden.
    """
    text = _SETEXT.sub(_atx, masked) if re.search(r"^=+[ \t]*$", masked, re.MULTILINE) else masked
    if not any(len(found[2]) == 1 for found in _ATX.finditer(text)):
        return masked
    return _ATX.sub(lambda found: f"{found[1]}{'#' * min(6, len(found[2]) + 1)}{found[3]}", text)


def repeated_title(masked: str, title: str) -> str:
    """Return the source of the heading that starts the text, if it has level 1 and repeats the page's title;
    otherwise an empty string."""
    found = _ATX.search(masked)
    if not found or masked[: found.start()].strip() or len(found[2]) > 1:
        return ""
    return found[0] if slugify(heading_text(found[3])) == slugify(title) else ""


def _atx(found: re.Match[str]) -> str:
    """Convert an underlined heading to one with `#` characters."""
    return f"{'#' if found['line'][0] == '=' else '##'} {found['text'].strip()}"


def heading_text(written: str) -> str:
    """Return the text of a heading without markup and attributes."""
    text = _CLOSING.sub("", _ID.sub("", written.strip()))
    return _MARKUP.sub(lambda found: found[1] or "", text).strip()
