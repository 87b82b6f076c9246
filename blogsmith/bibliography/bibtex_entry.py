"""Parsing of an entry of a `.bib` file: its fields as written, with parts joined and `@string`s inserted.

If text cannot be parsed, an error with its position is recorded, and the fields before it are returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..base.diagnostics.model import did_you_mean
from ..base.patterns import lazy_pattern
from .bibtex_index import BibProblem

_HEAD = lazy_pattern(r"@[ \t]*([A-Za-z]+)\s*[{(]\s*")
_KEY = lazy_pattern(r"[^\s,{}()\"#%=]+")
_BLANK = lazy_pattern(r"(?:\s+|%[^\n]*\n)*")
_NAME = lazy_pattern(r"[^\s,{}()\"#%=]+")
_BARE = lazy_pattern(r"[^\s,{}()\"#%=]+")
_BRACE = lazy_pattern(r"\{+|\}+")
_QUOTE = lazy_pattern(r"\{+|\}+|\"")
MOST_CHARACTERS = 200_000
"""Maximum length of a value after inserting `@string`s, since each may contain the previous one twice."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class BibField:
    """The value of a field."""

    text: str
    """TeX, without the outer braces or quotes."""
    start: int
    """Offset of its first character in the file."""


@dataclass(slots=True)
class BibEntry:
    """An entry, filled while it is parsed."""

    kind: str = ""
    """Entry type in lower case, such as `inproceedings`."""
    key: str = ""
    start: int = 0
    fields: dict[str, BibField] = field(default_factory=dict)
    """Fields by name in lower case."""
    problems: list[BibProblem] = field(default_factory=list)

    def text(self, *names: str) -> str:
        """Return the first of these fields that exists, as TeX; empty if there is none."""
        return next((self.fields[name].text for name in names if name in self.fields), "")


Strings = Mapping[str, str]
"""Value of each `@string`, as TeX, by name in lower case."""
MONTH_STRINGS: Strings = MappingProxyType({name: name for name in MONTHS})


def read_strings(text: str, places: tuple[tuple[int, int], ...]) -> Strings:
    """Return the `@string`s of a file. Each may use the previous ones."""
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
        """Parse type and key."""
        head = _HEAD.match(self._text, self._position, self._end)
        if head:
            self.entry.kind, self._position = head[1].lower(), head.end()
        if has_key and (key := _KEY.match(self._text, self._position, self._end)):
            self.entry.key, self._position = key[0], key.end()

    def read_fields(self) -> dict[str, BibField]:
        """Parse all fields up to the end, or up to an error after which parsing cannot continue."""
        while self._skip(",") and (name := _NAME.match(self._text, self._position, self._end)):
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
        bare = _BARE.match(self._text, self._position, self._end)
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
        self._report(f"unclosed {opening}", start, 1, "check the braces of this value")
        return None

    def _report(self, message: str, start: int, length: int, hint: str = "", *, severe: bool = True) -> None:
        self.entry.problems.append(BibProblem(message, start, length, hint, severe))
