"""The index of a `.bib` file: the position of each entry, found in one pass that parses no fields.

Text outside of entries is a comment, as in BibTeX. An entry with unbalanced braces ends at the next line that
starts an entry, so an error affects only one entry. `@string`s are indexed too, and parsed when an entry is
read for the first time. Source: O. Patashnik, "BibTeXing", 1988; the grammar of biber.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ..base.patterns import lazy_pattern

_ENTRY = lazy_pattern(r"@[ \t]*([A-Za-z]+)\s*([{(])\s*")
_LINE_ENTRY = lazy_pattern(r"^[ \t]*@[ \t]*[A-Za-z]+\s*[{(]", 8)
"""Matches the start of an entry at the start of a line."""
_BRACE = lazy_pattern(r"\{+|\}+")
_BRACE_OR_ROUND = lazy_pattern(r"\{+|\}+|\)")
_KEY = lazy_pattern(r"([^\s,{}()\"#%'=\\][^\s,{}\"#%=\\]*)\s*(?=[,})])")
_IGNORED_TYPES = frozenset(("comment", "preamble"))
MOST_PROBLEMS = 20
"""Maximum number of problems reported per file."""
MOST_ENTRIES = 100_000
"""Maximum number of entries read. The largest personal bibliographies have about ten thousand."""


class BibProblem(Struct, frozen=True, array_like=True):
    """An error or warning in a bibliography."""

    message: str
    start: int
    """Offset in the file, in characters."""
    length: int = 1
    hint: str = ""
    severe: bool = True
    """True for an error, False for a warning."""


class BibIndex(Struct, frozen=True, array_like=True):
    """The positions of the entries of a file."""

    entries: Mapping[str, tuple[int, int]]
    """Key → offsets of its `@` and after its last brace. For a duplicate key, the first entry is used."""
    strings: tuple[tuple[int, int], ...] = ()
    """The offsets of each `@string`, in order."""
    duplicates: Mapping[str, int] = {}
    """Duplicate key → offset of the second entry."""
    mistakes: tuple[BibProblem, ...] = ()


def index_bibtex(text: str) -> BibIndex:
    """Build the index of a file. The time is linear in its length for any input."""
    scan = _Scan(text)
    scan.run()
    return BibIndex(scan.entries, tuple(scan.strings), scan.twice, tuple(scan.mistakes[:MOST_PROBLEMS]))


class _Scan:
    """A single pass over a file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.entries: dict[str, tuple[int, int]] = {}
        self.strings: list[tuple[int, int]] = []
        self.twice: dict[str, int] = {}
        self.mistakes: list[BibProblem] = []
        self._next_line_entry = -1

    def run(self) -> None:
        """Find all entries."""
        position = count = 0
        while found := _ENTRY.search(self._text, position):
            count += 1
            if count > MOST_ENTRIES:
                del self.mistakes[MOST_PROBLEMS - 1 :]
                message = f"more than {MOST_ENTRIES:,} entries: those from here on are ignored"
                self._report(message, found.start(), 1, "split the file")
                return
            end = self._end(found.start(), found.end(2) - 1, found[2])
            kind = found[1].lower()
            if kind == "string":
                self.strings.append((found.start(), end))
            elif kind not in _IGNORED_TYPES:
                self._add(found.start(), found.end(), end)
            position = max(end, found.end())

    def _add(self, start: int, inner: int, end: int) -> None:
        key = _KEY.match(self._text, inner, end)
        if not key:
            line = self._text[start : start + 40].partition("\n")[0]
            self._report("missing key of this entry", start, len(line.rstrip()), "write `@article{key, …}`")
        elif key[1] in self.entries:
            self.twice.setdefault(key[1], key.start())
        else:
            self.entries[key[1]] = (start, end)

    def _end(self, start: int, opening: int, bracket: str) -> int:
        """Return the position after the closing bracket of an entry. If it is missing, return the start of
        the next entry."""
        limit, depth = self._limit(opening + 1), 0
        for found in (_BRACE if bracket == "{" else _BRACE_OR_ROUND).finditer(self._text, opening, limit):
            if found[0] == ")":
                if depth == 0:
                    return found.end()
                continue
            count = found.end() - found.start()
            if found[0][0] == "{":
                depth += count
            elif bracket == "{" and count >= depth:
                return found.start() + depth
            else:
                depth -= count
        line = self._text[start : start + 60].partition("\n")[0].rstrip()
        closing = "}" if bracket == "{" else ")"
        message = f'missing "{closing}" at the end of this entry'
        self._report(message, start, len(line), "check the braces of its fields")
        return limit

    def _limit(self, position: int) -> int:
        """Return the start of the next line that begins an entry."""
        if self._next_line_entry < position:
            found = _LINE_ENTRY.search(self._text, position)
            self._next_line_entry = found.start() if found else len(self._text)
        return self._next_line_entry

    def _report(self, message: str, start: int, length: int, hint: str) -> None:
        if len(self.mistakes) < MOST_PROBLEMS:
            self.mistakes.append(BibProblem(message, start, max(1, length), hint, severe=False))
