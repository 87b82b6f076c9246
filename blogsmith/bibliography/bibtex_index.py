"""The entries of a `.bib` file. The index is made in one pass that parses no fields; fields are parsed later.

Text outside of entries is a comment, as in BibTeX. An entry with unbalanced braces ends at the next line that
starts an entry, so an error affects only one entry. `@string`s are indexed too, and parsed when an entry is
read for the first time. Source: O. Patashnik, "BibTeXing", 1988; the grammar of biber.

If text cannot be parsed, an error with its position is recorded, and the fields before it are returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field

from ..base.diagnostics.model import did_you_mean
from ..base.patterns import lazy_pattern

_ENTRY = lazy_pattern(r"@[ \t]*([A-Za-z]+)\s*([{(])\s*")
_LINE_ENTRY = lazy_pattern(r"^[ \t]*@[ \t]*[A-Za-z]+\s*[{(]", 8)
"""Matches the start of an entry at the start of a line."""
_BRACE = lazy_pattern(r"\{+|\}+")
_BRACE_OR_ROUND = lazy_pattern(r"\{+|\}+|\)")
_KEY = lazy_pattern(r"([^\s,{}()\"#%'=\\][^\s,{}\"#%=\\]*)\s*(?=[,})])")
_IGNORED_TYPES = frozenset(("comment", "preamble"))
MOST_PROBLEMS = 20
"""Maximum number of problems reported for one file."""
MOST_ENTRIES = 100_000
"""Maximum number of entries read. The largest personal bibliographies have about ten thousand."""


class BibProblem(Struct, frozen=True, array_like=True):
    """An error or warning in a bibliography."""

    message: str
    start: int
    """Offset of the error in the file, in characters."""
    length: int = 1
    hint: str = ""
    severe: bool = True
    """True for an error, False for a warning."""


class BibIndex(Struct, frozen=True, array_like=True):
    """The positions of the entries of a file."""

    entries: Mapping[str, tuple[int, int]]
    """Key → offset of the entry's `@`, and offset after its last brace. If several entries have the same key,
    the first is used."""
    strings: tuple[tuple[int, int], ...] = ()
    """Start and end offset of each `@string`, in order."""
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
        self._report(
            message,
            start,
            len(line),
            f"write `{closing}` after its last field, and close the braces of each field",
        )
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


_HEAD = lazy_pattern(r"@[ \t]*([A-Za-z]+)\s*[{(]\s*")
_WORD = lazy_pattern(r"[^\s,{}()\"#%=]+")
_BLANK = lazy_pattern(r"(?:\s+|%[^\n]*\n)*")
_QUOTE = lazy_pattern(r"\{+|\}+|\"")
MOST_CHARACTERS = 200_000
"""Maximum length of a value in characters after `@string`s are inserted. Without a limit, strings that
contain the previous string twice would grow without bound."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class BibField(Struct, frozen=True):
    """The value of a field."""

    text: str
    """Value as TeX, without the outer braces or quotes."""
    start: int
    """Offset of the value's first character in the file."""


class BibEntry(Struct):
    """An entry, whose fields are added while it is parsed."""

    kind: str = ""
    """Entry type in lower case, such as `inproceedings`."""
    key: str = ""
    start: int = 0
    fields: dict[str, BibField] = field(default_factory=dict)
    """Fields by name in lower case."""
    problems: list[BibProblem] = field(default_factory=list)

    def text(self, *names: str) -> str:
        """Return the value of the first of these fields that exists, as TeX; empty if none exists."""
        return next((self.fields[name].text for name in names if name in self.fields), "")


Strings = Mapping[str, str]
"""Value of each `@string`, as TeX, by name in lower case."""
MONTH_STRINGS: Strings = MappingProxyType({name: name for name in MONTHS})


def read_strings(text: str, places: tuple[tuple[int, int], ...]) -> Strings:
    """Return the values of the `@string`s at these offsets. The value of a string may contain the strings
    before it."""
    strings = dict(MONTH_STRINGS)
    for start, end in places:
        reader = _Reader(text, start, end, strings)
        reader.read_head(has_key=False)
        strings |= {name: value.text for name, value in reader.read_fields().items()}
    return MappingProxyType(strings)


def read_entry(text: str, start: int, end: int, strings: Strings) -> BibEntry:
    """Parse the entry between two offsets."""
    reader = _Reader(text, start, end, strings)
    reader.read_head(has_key=True)
    reader.read_fields()
    return reader.entry


class _Reader:
    """Parses an entry from left to right."""

    def __init__(self, text: str, start: int, end: int, strings: Strings) -> None:
        self._text = text
        self._position = start
        self._end = end
        self._strings = strings
        self.entry = BibEntry(start=start)

    def read_head(self, *, has_key: bool) -> None:
        """Parse the type and the key. has_key: false for a `@string`, which has no key."""
        head = _HEAD.match(self._text, self._position, self._end)
        if head:
            self.entry.kind, self._position = head[1].lower(), head.end()
        if has_key and (key := _WORD.match(self._text, self._position, self._end)):
            self.entry.key, self._position = key[0], key.end()

    def read_fields(self) -> dict[str, BibField]:
        """Parse all fields up to the end, or up to an error after which parsing cannot continue."""
        while self._skip(",") and (name := _WORD.match(self._text, self._position, self._end)):
            self._position = name.end()
            if not self._accept("="):
                message = f'missing "=" after "{name[0]}"'
                self._report(message, name.start(), len(name[0]), "write `name = {value}`")
                break
            value = self._read_value()
            if value is None:
                break
            self.entry.fields.setdefault(name[0].lower(), value)
            if self._next() not in (",", "}", ")", ""):
                message = f'missing comma after field "{name[0]}"'
                self._report(message, self._position, 1, "end the field with a comma", severe=False)
        if self._next() not in ("}", ")", "") and not self.entry.problems:
            self._report(
                "invalid field: expected name = {value}", self._position, 1, "write `name = {value}`"
            )
        return self.entry.fields

    def _next(self) -> str:
        blank = _BLANK.match(self._text, self._position, self._end)
        self._position = blank.end() if blank else self._position
        return self._text[self._position : min(self._position + 1, self._end)]

    def _accept(self, sign: str) -> bool:
        if self._next() != sign:
            return False
        self._position += 1
        self._next()
        return True

    def _skip(self, sign: str) -> bool:
        while self._accept(sign):
            pass
        return True

    def _read_value(self) -> BibField | None:
        start, parts, size = self._position, list[str](), 0
        first = start
        while True:
            part = self._read_part()
            if part is None:
                return None
            if not parts:
                first = start + (self._text[start : start + 1] in ("{", '"'))
            parts.append(part)
            size += len(part)
            if size > MOST_CHARACTERS:
                self._report(f"value is longer than {MOST_CHARACTERS:,} characters", start, 1)
                return None
            if not self._accept("#"):
                return BibField("".join(parts), first)

    def _read_part(self) -> str | None:
        opening = self._next()
        if opening in ("{", '"') and opening:
            return self._read_delimited(opening)
        bare = _WORD.match(self._text, self._position, self._end)
        if not bare:
            self._report("missing value", self._position, 1, "write the value as `{text}`")
            return None
        self._position = bare.end()
        if bare[0].isdecimal():
            return bare[0]
        known = self._strings.get(bare[0].lower())
        if known is None:
            hint = (
                did_you_mean(bare[0], self._strings)
                or f"write `@string{{{bare[0]} = {{…}}}}`, or put the value in braces"
            )
            message = f'unknown @string "{bare[0]}"'
            self._report(message, bare.start(), len(bare[0]), hint, severe=False)
            return bare[0]
        return known

    def _read_delimited(self, opening: str) -> str | None:
        start, depth = self._position, 0
        pattern = _BRACE if opening == "{" else _QUOTE
        for found in pattern.finditer(self._text, start + (opening == '"'), self._end):
            if found[0] == '"':
                if depth > 0:
                    continue
                self._position = found.end()
                return self._text[start + 1 : found.start()]
            count = found.end() - found.start()
            if found[0][0] == "{":
                depth += count
            elif opening == "{" and count >= depth:
                # if several braces follow each other, only the first `depth` belong to this value
                self._position = found.start() + depth
                return self._text[start + 1 : self._position - 1]
            elif count > depth:
                break
            else:
                depth -= count
        what, closing = ("brace", "}") if opening == "{" else ("quote", '"')
        self._report(f"missing closing {what} of this value", start, 1, f"write `{closing}` where it ends")
        return None

    def _report(self, message: str, start: int, length: int, hint: str = "", *, severe: bool = True) -> None:
        self.entry.problems.append(BibProblem(message, start, length, hint, severe))
