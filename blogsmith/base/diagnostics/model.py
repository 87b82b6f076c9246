"""Diagnostics as data: locations in files, errors and warnings, and the collector of one stage.

An author's error never reaches the terminal as an exception: the stage that finds it collects a
`Diagnostic`. `SiteError` carries diagnostics where a stage cannot continue. The table of codes is in
`codes.py`.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from ..patterns import lazy_pattern
from .fixes import Fix, make_replacement
from .notebook_cells import NOTEBOOK, PYTHON, find_cell
from .similar_names import find_similar, is_typo

Severity = Literal["error", "warning"]

_OTHER_TEXT = (NOTEBOOK, PYTHON)
"""File name extensions of sources that are converted to Markdown. Lines of the Markdown are not lines of the
file, so no fix can apply to them."""
_LINE_END = lazy_pattern("\n")
_MAX_SUGGESTIONS = 50
_MAX_CHOICES = 1000


class Place(Struct, frozen=True, order=True):
    """A range within one line of a file. All numbers start at 1 and count characters."""

    line: int
    """1-based line of the file."""
    column: int = 1
    """1-based column in characters (not bytes)."""
    length: int = 1
    """Number of characters that the caret underlines, at least 1."""


class Diagnostic(Struct, frozen=True):
    """An error or a warning for the author, with its location."""

    code: str
    """Stable short name, a key of `codes.CODES`."""
    message: str
    """Description of the problem in the author's terms: present tense, no full stop."""
    path: str = ""
    """File, relative to the site root, with forward slashes; empty if the diagnostic is about no file."""
    place: Place | None = None
    """Location in the file; None if the diagnostic is about the whole file."""
    source_line: str = ""
    """The author's line, for the caret; empty if not known."""
    hint: str = ""
    """How to fix the problem; may be empty."""
    severity: Severity = "error"
    """Severity. Settings can silence warnings but not errors."""
    subject: str = ""
    """Name of the plugin that the diagnostic is about, to find its line in the settings; empty if it is about
    none."""
    fix: Fix | None = None
    """Changes to the file that solve the problem; None if the author has to decide."""

    @property
    def end_column(self) -> int:
        """1-based column after the end of the marked range; 1 without a location. The range does not continue
        beyond its line. If it starts after the last character of the line, it is empty."""
        if self.place is None:
            return 1
        end = self.place.column + self.place.length
        return min(end, max(self.place.column, len(self.source_line) + 1)) if self.source_line else end


class SiteError(Exception):
    """Error after which a stage cannot continue; contains the diagnostics that explain it."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[type[SiteError], tuple[Diagnostic, ...]]:
        return SiteError, self.diagnostics


class Reporter(Struct):
    """Collector of the diagnostics of one file, while one stage works on it."""

    path: str
    """File of all diagnostics, relative to the site root."""
    lines: Sequence[str] = ()
    """Lines of the file without line endings, quoted in the diagnostics."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _seen: set[Diagnostic] = field(default_factory=set)
    _suggestions: int = 0

    def report(
        self,
        code: str,
        message: str,
        place: Place | None = None,
        *,
        hint: str = "",
        severity: Severity = "error",
        fix: Fix | None = None,
    ) -> None:
        """Add a diagnostic at `place`, unless the same one was reported there before. fix: dropped if the
        file does not contain the text that it replaces, for example because a plugin changed the source."""
        line = ""
        if place is not None and 0 < place.line <= len(self.lines):
            line = self.lines[place.line - 1]
            if place.column > len(line) + 1:
                # the source of YAML or HTML with escapes has another length than the resolved string
                place = Place(place.line, len(line) + 1)
        fix = fix if fix and fix.fits(self.lines) else None
        if place is not None and self.path.endswith(_OTHER_TEXT) and self.path.startswith("content/"):
            fix = None
            position = find_cell(self.lines, place.line) if self.path.endswith(NOTEBOOK) else ""
            message += f" ({position})" if position else ""
        self.add(Diagnostic(code, message, self.path, place, line, hint, severity, fix=fix))

    def add(self, found: Diagnostic) -> None:
        """Add a diagnostic created elsewhere, unless it was added before."""
        if found not in self._seen:
            self._seen.add(found)
            self.diagnostics.append(found)

    def nearest(self, word: str, choices: Iterable[str]) -> str | None:
        """Return `nearest(word, choices)` for the first `_MAX_SUGGESTIONS` calls, then None, because nobody
        reads that many suggestions."""
        self._suggestions += 1
        return nearest(word, choices) if self._suggestions <= _MAX_SUGGESTIONS else None

    def did_you_mean(self, word: str, choices: Iterable[str]) -> str:
        """Return `did_you_mean(word, choices)` for the first `_MAX_SUGGESTIONS` calls, then an empty
        string."""
        return format_suggestion(self.nearest(word, choices))

    def error(
        self, code: str, message: str, place: Place | None = None, hint: str = "", fix: Fix | None = None
    ) -> None:
        self.report(code, message, place, hint=hint, fix=fix)

    def warn(
        self, code: str, message: str, place: Place | None = None, hint: str = "", fix: Fix | None = None
    ) -> None:
        self.report(code, message, place, hint=hint, severity="warning", fix=fix)

    def substitute(
        self,
        place: Place | None,
        old: str,
        new: str | None,
        *,
        preceded_by: str = "",
        title: str = "",
        is_safe: bool = False,
    ) -> Fix | None:
        """Return a fix that replaces the first `old` at or after `place` in its line by `new`. Return None if
        `old` is not found, or if `new` is None, for example because no name is similar. preceded_by: one of
        these characters must precede `old`; if empty, every character is allowed there."""
        if place is None or not old or new is None or not 0 < place.line <= len(self.lines):
            return None
        line = self.lines[place.line - 1]
        at = line.find(old, place.column - 1)
        while preceded_by and at >= 0 and line[at - 1 : at] not in tuple(preceded_by):
            at = line.find(old, at + 1)
        return (
            make_replacement(place.line, at + 1, old, new, title=title, is_safe=is_safe) if at >= 0 else None
        )

    def correct(self, place: Place | None, old: str, near: str | None) -> Fix | None:
        """Return a fix that replaces the misspelled `old`, at or after `place`, by the similar name `near`.
        Return None if `old` is not found, or if the author may mean another name (see `confirm_typo`)."""
        return self.substitute(place, old, confirm_typo(old, near))


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice most similar to `word`, or None if none is similar. See `similar_names`."""
    likely = tuple(choices)
    if len(likely) > _MAX_CHOICES:
        # comparing a name costs much more than this rough selection
        likely = tuple(
            heapq.nsmallest(
                _MAX_CHOICES,
                likely,
                lambda choice: (choice[:1] not in word[:2], abs(len(choice) - len(word)), choice),
            )
        )
    return find_similar(word, likely)


def confirm_typo(word: str, near: str | None) -> str | None:
    """Return `near` if `word` is a typo of it, so that a fix may write it. Otherwise return None, because the
    author may mean something else."""
    return near if near is not None and is_typo(word, near) else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return the hint `did you mean X?`, or "" if no choice is similar."""
    return format_suggestion(nearest(word, choices))


def format_suggestion(near: str | None) -> str:
    """Return the hint `did you mean X?` for a result of `nearest`, or "" if it is None."""
    return f"did you mean `{near}`?" if near else ""


def list_choices(choices: Iterable[str], *, has_more: bool = False) -> str:
    """Return the hint "write one of `a`, `b`", or "" if there are no choices. has_more: whether there are
    further choices, so that the hint ends in `…`."""
    names = [*(f"`{choice}`" for choice in choices), *(["…"] if has_more else [])]
    return f"write {'one of ' * (len(names) > 1)}{', '.join(names)}" if names else ""


def sort_key(diagnostic: Diagnostic) -> tuple[str, Place, str, str]:
    """Return the sort key of reports: file, location, code, message."""
    return (diagnostic.path, diagnostic.place or Place(0), diagnostic.code, diagnostic.message)


def as_errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics with every warning turned into an error (`--strict`)."""
    return [replace(d, severity="error") for d in diagnostics]


def find_word_range(word: str, place: Place | None, lines: Sequence[str]) -> Place | None:
    """Return the location of `word` within a value that starts at `place`, or `place` itself if it is not
    found."""
    for number in range(place.line, len(lines) + 1) if place and word else ():
        column = lines[number - 1].find(word, place.column - 1 if place and number == place.line else 0)
        if column >= 0:
            return Place(number, column + 1, len(word))
    return place


@lru_cache(maxsize=16)
def _line_breaks(text: str) -> tuple[int, ...]:
    """Return the offsets of line ends. Cached, because thousands of locations may be computed for one
    string."""
    return tuple(found.start() for found in _LINE_END.finditer(text))


class TextMap(Struct, frozen=True):
    """Map from offsets in a part of a file to locations in the file. Before a paragraph of a quote in a list
    is parsed as inline Markdown, each line loses its `> ` and its indentation. The map records where the
    first character of each line was."""

    text: str
    r"""The part of the file, lines joined by `\n`."""
    starts: tuple[tuple[int, int], ...]
    """(line, column), 1-based, of the first character of each line of `text`."""
    gaps: tuple[tuple[int, int], ...] = ()
    """(offset, characters): the file has that many characters more than `text` immediately before the offset,
    for example 3 after the `<` of `&lt;`."""

    def place(self, offset: int, length: int = 1) -> Place:
        """Return the location of `text[offset : offset + length]`, cut at the end of its line."""
        offset = max(0, min(offset, len(self.text)))
        breaks = _line_breaks(self.text)
        index = bisect_left(breaks, offset)
        end = breaks[index] if index < len(breaks) else len(self.text)
        line, column = self._start_at(offset, index, breaks)
        return Place(line, column, max(1, min(length, end - offset)))

    def _start_at(self, offset: int, index: int, breaks: Sequence[int]) -> tuple[int, int]:
        """Return the line and column of `text[offset]` in the file. index: 0-based number of its line in
        `text`."""
        begin = breaks[index - 1] + 1 if index else 0
        line, column = self.starts[index] if index < len(self.starts) else self.starts[-1]
        if self.gaps:
            column += sum(more for at, more in self.gaps if begin < at <= offset)
        return line, column + offset - begin

    def cut(self, start: int, end: int) -> TextMap:
        """Return the map of the part `text[start:end]`, as a map of its own."""
        breaks = _line_breaks(self.text)
        index = bisect_left(breaks, start)
        first = self._start_at(max(0, min(start, len(self.text))), index, breaks)
        rest = self.starts[index + 1 : bisect_left(breaks, end) + 1]
        gaps = tuple((at - start, more) for at, more in self.gaps if start < at <= end)
        return TextMap(self.text[start:end], (first, *rest), gaps)
