"""Diagnostics as text for a terminal or a log.

The author's text is quoted exactly, except for characters that could affect the terminal: control characters
and invisible characters that reorder text are shown as escapes, or as `<U+202E>` in the author's line, which
may also contain escapes. Long lines are cut around the caret.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from typing import TextIO

import click
from msgspec import Struct

from .characters import format_code_point, is_visible
from .model import Diagnostic, Place

_EXCERPT = 100
"""Maximum length of the part of a line that is shown, in characters."""
_BEFORE = 40
"""Number of characters shown before the caret, if the line is cut."""
_JOINERS = "\u200c\u200d"
"""Invisible characters that are parts of emoji and of words in several scripts; `printable` does not escape
them."""


class _Excerpt(Struct, frozen=True):
    """The part of a line that is shown, and the position of the caret under it."""

    text: str
    """Part of the line; may still contain control characters."""
    column: int
    """0-based position of the caret in `text`."""
    length: int
    """Number of characters under the caret, at least 1."""


def format_diagnostic(diagnostic: Diagnostic, *, color: bool) -> str:
    """Format a diagnostic with its line, caret and hint, without a newline at the end."""
    lines = [format_headline(diagnostic, color=color), *_excerpt_lines(diagnostic, color)]
    if diagnostic.hint:
        lines.append(_paint("hint:", color, fg="cyan") + f" {printable(diagnostic.hint)}")
    return "\n".join(lines)


def wants_color(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether to use colour: only on a terminal that is not "dumb", and only if NO_COLOR is not
    set."""
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def printable(text: str, keep: str = "") -> str:
    """Return `text` with characters that could affect the terminal escaped. keep: exceptions, which are not
    escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in keep else _escape_character(text, index) for index, char in enumerate(text)
    )


def _escape_character(text: str, index: int) -> str:
    """Return the character itself, or its escape if a terminal might interpret or hide it."""
    return text[index].encode("unicode_escape").decode("ascii") if _is_unsafe(text, index) else text[index]


def _is_unsafe(text: str, index: int) -> bool:
    """Return whether a terminal might interpret or hide the character."""
    acts = unicodedata.category(text[index]) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and text[index] not in _JOINERS
    return acts or not is_visible(text, index)


def _name_character(text: str, index: int) -> str:
    """Return the character itself, or its code point if a terminal might interpret or hide it."""
    return f"<{format_code_point(text[index])}>" if _is_unsafe(text, index) else text[index]


def format_headline(diagnostic: Diagnostic, *, color: bool) -> str:
    """Format location, severity, message and code, without source line and hint."""
    where = format_location(diagnostic)
    prefix = _paint(f"{where}: ", color, bold=True) if where else ""
    tone = "red" if diagnostic.severity == "error" else "yellow"
    severity = _paint(f"{diagnostic.severity}:", color, fg=tone, bold=True)
    return f"{prefix}{severity} {printable(diagnostic.message)} [{diagnostic.code}]"


def format_location(diagnostic: Diagnostic) -> str:
    """Return a location such as `content/a.md:41:7`; empty if the diagnostic has no file."""
    if not diagnostic.path:
        return ""
    place = diagnostic.place
    where = f"{diagnostic.path}:{place.line}:{place.column}" if place else diagnostic.path
    return printable(where)


def _excerpt_lines(diagnostic: Diagnostic, color: bool) -> list[str]:
    """Return the author's line and the caret line under it; empty if the line is not known."""
    if diagnostic.place is None or not diagnostic.source_line.strip():
        return []
    excerpt = _cut_excerpt(diagnostic.source_line, diagnostic.place)
    number = f"{diagnostic.place.line:>5}"
    end = excerpt.column + excerpt.length
    under = len(_padding(excerpt.text, excerpt.column, end))
    caret = _padding(excerpt.text, 0, excerpt.column)
    caret += _paint("^" * max(1, under), color, fg="green", bold=True)
    text = excerpt.text
    shown = "".join("\t" if text[at] == "\t" else _name_character(text, at) for at in range(len(text)))
    return [f"{number} | {shown}", f"{' ' * len(number)} | {caret}"]


def _cut_excerpt(line: str, place: Place) -> _Excerpt:
    """Return the part of `line` around `place`, with … at each cut. A location after the end of the line is
    moved to its end."""
    column = min(max(place.column - 1, 0), len(line))
    start = max(0, min(column - _BEFORE, len(line) - _EXCERPT)) if len(line) > _EXCERPT else 0
    end = min(len(line), start + _EXCERPT)
    head, tail = "…" if start else "", "…" if end < len(line) else ""
    length = max(1, min(place.length, end - column))
    return _Excerpt(head + line[start:end] + tail, column - start + len(head), length)


def _padding(text: str, start: int, end: int) -> str:
    """Return as many spaces as `text[start:end]` has columns on a terminal. Tabs are copied, because their
    width varies."""
    indexes = range(start, min(end, len(text)))
    return "".join("\t" if text[index] == "\t" else " " * _width(text, index) for index in indexes)


def _width(text: str, index: int) -> int:
    """Return the number of columns of a printed character: 0 for accents, 2 for East Asian wide
    characters."""
    char, shown = text[index], _name_character(text, index)
    if shown != char:
        return len(shown)
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me"} or char in _JOINERS:
        return 0
    return 1 + (unicodedata.east_asian_width(char) in "WF")


def _paint(text: str, color: bool, *, fg: str | None = None, bold: bool | None = None) -> str:
    return click.style(text, fg=fg, bold=bold) if color else text
