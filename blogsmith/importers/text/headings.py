"""Headings of Markdown: levels, words, and the one that is the title of a page."""

from __future__ import annotations

import re

from ...api.importing import lazy_pattern, slugify

_TITLE = lazy_pattern(
    r"\s*#[ \t]+(?P<text>[^\n]+?)[ \t]*#*[ \t]*(?:\n|\Z)|\s*(?P<under>[^\n#>`|-][^\n]*)\n=+[ \t]*(?:\n|\Z)"
)


def take_title(text: str) -> tuple[str, str]:
    """The first heading of the first level that a text begins with, and the text behind it; empty if it does
    not begin so."""
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
    """Every heading one level down if one of the first level stands in the text, for that is the title's.

    masked: text in which code and formulas are hidden.
    """
    text = _SETEXT.sub(_atx, masked) if re.search(r"^=+[ \t]*$", masked, re.MULTILINE) else masked
    if not any(len(found[2]) == 1 for found in _ATX.finditer(text)):
        return masked
    return _ATX.sub(lambda found: f"{found[1]}{'#' * min(6, len(found[2]) + 1)}{found[3]}", text)


def repeated_title(masked: str, title: str) -> str:
    """The heading at the start of a text that repeats the title of its page, as it is written; else empty."""
    found = _ATX.search(masked)
    if not found or masked[: found.start()].strip() or len(found[2]) > 1:
        return ""
    return found[0] if slugify(heading_text(found[3])) == slugify(title) else ""


def _atx(found: re.Match[str]) -> str:
    """A heading that is underlined, with signs in front."""
    return f"{'#' if found['line'][0] == '=' else '##'} {found['text'].strip()}"


def heading_text(written: str) -> str:
    """The words of a heading as it is written, without marks and attributes."""
    text = _CLOSING.sub("", _ID.sub("", written.strip()))
    return _MARKUP.sub(lambda found: found[1] or "", text).strip()
