"""What goes wrong, as data: places, diagnostics, and their one printed form.

An author's mistake is never an exception that reaches the terminal; it is a `Diagnostic`
collected by the stage that found it. `SiteError` carries diagnostics where a stage cannot go on.
The table of codes stands in `codes.py`.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..patterns import lazy_pattern
from .fixes import Fix, exchange

Severity = Literal["error", "warning"]

_LINE_END = lazy_pattern("\n")
_MAX_SUGGESTIONS = 50
_MAX_CHOICES = 1000
_MAX_WORD = 100


class Place(Struct, frozen=True, order=True):
    """A stretch of one line of a file; everything counts from 1, in characters."""

    line: int
    """1-based line of the file."""
    column: int = 1
    """1-based column in characters (not bytes)."""
    length: int = 1
    """How many characters the caret underlines, at least 1."""


class Diagnostic(Struct, frozen=True):
    """One thing the author should know, with the place where it stands."""

    code: str
    """Stable short name, a key of `codes.CODES`."""
    message: str
    """What is wrong, in the author's terms, present tense, no full stop."""
    path: str = ""
    """File, relative to the site root, with forward slashes; empty if no file is to blame."""
    place: Place | None = None
    """Where in the file; None when the file as a whole is meant."""
    source_line: str = ""
    """The author's line, for the caret; empty if unknown."""
    hint: str = ""
    """How to mend it; may be empty."""
    severity: Severity = "error"
    """Errors cannot be silenced, warnings can."""
    subject: str = ""
    """Name of the plugin it is about, to find the place where the settings name it; empty: none."""
    fix: Fix | None = None
    """What to change in the file; None: that is for the author to decide."""

    @property
    def end_column(self) -> int:
        """1-based column right behind what it is about, on the line of its place; 1 without a place.

        Never behind the end of the line, where a caret may stand: there the stretch is empty.
        """
        if self.place is None:
            return 1
        end = self.place.column + self.place.length
        return min(end, max(self.place.column, len(self.source_line) + 1)) if self.source_line else end


class SiteError(Exception):
    """A stage cannot go on; carries the diagnostics that say why."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[type[SiteError], tuple[Diagnostic, ...]]:
        return SiteError, self.diagnostics


@dataclass(slots=True)
class Reporter:
    """Collects the diagnostics of one file. Lives as long as one stage works on one file."""

    path: str
    """File all diagnostics belong to, relative to the site root."""
    lines: Sequence[str] = ()
    """The file's lines without line ends, to quote under a caret."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    """In the order they were found."""
    _known: set[Diagnostic] = field(default_factory=set)
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
        """Add one diagnostic at `place`; the same finding at the same place is kept once.

        fix: left out where its text does not stand in the file, as in what a plugin has changed.
        """
        line = ""
        if place is not None and 0 < place.line <= len(self.lines):
            line = self.lines[place.line - 1]
            if place.column > len(line) + 1:
                # what YAML or HTML has unescaped is shorter or longer than it was written
                place = Place(place.line, len(line) + 1)
        fix = fix if fix and fix.fits(self.lines) else None
        self.add(Diagnostic(code, message, self.path, place, line, hint, severity, fix=fix))

    def add(self, found: Diagnostic) -> None:
        """Keep a diagnostic made elsewhere, once."""
        if found not in self._known:
            self._known.add(found)
            self.diagnostics.append(found)

    def nearest(self, word: str, choices: Iterable[str]) -> str | None:
        """As `nearest`, for the first mistakes only: who has more will not read a suggestion for each."""
        self._suggestions += 1
        return nearest(word, choices) if self._suggestions <= _MAX_SUGGESTIONS else None

    def did_you_mean(self, word: str, choices: Iterable[str]) -> str:
        """As `did_you_mean`, for the first mistakes only."""
        return question_of(self.nearest(word, choices))

    def error(
        self, code: str, message: str, place: Place | None = None, hint: str = "", fix: Fix | None = None
    ) -> None:
        """Add an error."""
        self.report(code, message, place, hint=hint, fix=fix)

    def warn(
        self, code: str, message: str, place: Place | None = None, hint: str = "", fix: Fix | None = None
    ) -> None:
        """Add a warning."""
        self.report(code, message, place, hint=hint, severity="warning", fix=fix)

    def substitute(
        self,
        place: Place | None,
        old: str,
        new: str | None,
        *,
        behind: str = "",
        title: str = "",
        is_safe: bool = False,
    ) -> Fix | None:
        """A fix that writes `new` for the `old` that stands at a place or behind it in its line.

        None if it does not stand there, or if there is nothing to write, as when no word is near.
        behind: the character in front of it is one of these; empty: any.
        """
        if place is None or not old or new is None or not 0 < place.line <= len(self.lines):
            return None
        line = self.lines[place.line - 1]
        at = line.find(old, place.column - 1)
        while behind and at >= 0 and line[at - 1 : at] not in tuple(behind):
            at = line.find(old, at + 1)
        return exchange(place.line, at + 1, old, new, title=title, is_safe=is_safe) if at >= 0 else None


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice most like `word`, compared without case, or None if nothing is near."""
    if len(word) > _MAX_WORD:
        return None
    word = word.casefold()
    by_folded = {choice.casefold(): choice for choice in choices if len(choice) <= 3 * _MAX_WORD}
    likely: Iterable[str] = by_folded
    if len(by_folded) > _MAX_CHOICES:
        # each comparison costs much more than this look at all of them
        likely = heapq.nsmallest(
            _MAX_CHOICES, by_folded, lambda choice: (abs(len(choice) - len(word)), choice)
        )
    import difflib

    found = difflib.get_close_matches(word, likely, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A hint `did you mean X?`, or an empty text if nothing is near."""
    return question_of(nearest(word, choices))


def question_of(near: str | None) -> str:
    """A hint `did you mean X?` at what `nearest` has found, or an empty text."""
    return f"did you mean {near}?" if near else ""


def sort_key(diagnostic: Diagnostic) -> tuple[str, Place, str, str]:
    """Order of the report: file, place, code, message."""
    return (
        diagnostic.path,
        diagnostic.place or Place(0),
        diagnostic.code,
        diagnostic.message,
    )


def as_errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The same diagnostics with every warning raised to an error (`--strict`)."""
    return [replace(d, severity="error") for d in diagnostics]


def place_within(word: str, place: Place | None, lines: Sequence[str]) -> Place | None:
    """The place of `word` in a value that starts at `place`; `place` itself if it cannot be found."""
    for number in range(place.line, len(lines) + 1) if place and word else ():
        column = lines[number - 1].find(word, place.column - 1 if place and number == place.line else 0)
        if column >= 0:
            return Place(number, column + 1, len(word))
    return place


@lru_cache(maxsize=16)
def _line_breaks(text: str) -> tuple[int, ...]:
    """Where the line ends of a text are: remembered, for thousands of places may be asked for in one text."""
    return tuple(found.start() for found in _LINE_END.finditer(text))


class TextMap(Struct, frozen=True):
    """Where the lines of a piece of text stand in its file.

    A paragraph in a quote in a list loses its `> ` and indentation on the way to the inline
    parser; this keeps, for each of its lines, where its first character was.
    """

    text: str
    """The piece, lines joined by \\n."""
    starts: tuple[tuple[int, int], ...]
    """(line, column), 1-based, of the first character of each line of `text`."""
    gaps: tuple[tuple[int, int], ...] = ()
    """(offset, characters): what the file holds more than `text` right before that offset, as where `&lt;`
    was read as `<`."""

    def place(self, offset: int, length: int = 1) -> Place:
        """The place of `text[offset : offset + length]`, cut at the end of its line."""
        offset = max(0, min(offset, len(self.text)))
        breaks = _line_breaks(self.text)
        index = bisect_left(breaks, offset)
        end = breaks[index] if index < len(breaks) else len(self.text)
        line, column = self._start_at(offset, index, breaks)
        return Place(line, column, max(1, min(length, end - offset)))

    def _start_at(self, offset: int, index: int, breaks: Sequence[int]) -> tuple[int, int]:
        """Line and column of `text[offset]`. index: of the line in `text`."""
        begin = breaks[index - 1] + 1 if index else 0
        line, column = self.starts[index] if index < len(self.starts) else self.starts[-1]
        if self.gaps:
            column += sum(more for at, more in self.gaps if begin < at <= offset)
        return line, column + offset - begin

    def cut(self, start: int, end: int) -> TextMap:
        """The map of `text[start:end]`."""
        breaks = _line_breaks(self.text)
        index = bisect_left(breaks, start)
        first = self._start_at(max(0, min(start, len(self.text))), index, breaks)
        rest = self.starts[index + 1 : bisect_left(breaks, end) + 1]
        gaps = tuple((at - start, more) for at, more in self.gaps if start < at <= end)
        return TextMap(self.text[start:end], (first, *rest), gaps)
