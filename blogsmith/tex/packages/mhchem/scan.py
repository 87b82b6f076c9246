"""A scanner for chemistry and units, and the parts of a formula that have been read.

Matching brackets are found once for the whole input, so that nested groups are not searched again.

Scripts are attached to an empty base, so that their height does not depend on the letter before them: the ₂
has the same height in Hg₂²⁺ and H₂. A charge follows the number of atoms instead of being above it, as IUPAC
recommends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from msgspec import Struct

from ....base.patterns import lazy_pattern
from ...errors import TexError

_OXIDATION = lazy_pattern(r"\\mathrm\{[IVX]+\}")


class Attachment(Enum):
    """Kind of a part of a formula. It decides the meaning of the part directly after."""

    EDGE = auto()
    """Start of a formula: an amount may follow, and scripts belong to the part after them."""
    JOINT = auto()
    """Continuation of a formula, for example after a bond: like EDGE, but digits and letters are not an
    amount."""
    ATOM = auto()
    """An atom: digits after it are a number of atoms, `+` and `-` a charge."""
    SCRIPT = auto()
    """Scripts of an atom."""
    LOOSE = auto()
    """A part to which nothing attaches."""


class ChemicalPart(Struct, frozen=True):
    """One part of a formula, as TeX."""

    tex: str
    """TeX that a letter may follow, because it does not end in a command name."""
    side: Attachment = Attachment.LOOSE


class Scripts(Struct, frozen=True):
    """Scripts of an atom. If there are two, one is above the other."""

    lower: str = ""
    upper: str = ""

    @property
    def tex(self) -> str:
        """TeX of the scripts on their empty base."""
        below = f"_{{{self.lower}}}" if self.lower else ""
        above = f"^{{{self.upper}}}" if self.upper else ""
        return "{}" + below + above if below or above else ""


@dataclass(slots=True)
class ChemicalFormula:
    """Unread input, and the parts of the formula read so far."""

    scan: Scanner
    parts: list[ChemicalPart | Scripts] = field(default_factory=list)
    small: bool = False
    """Whether the last atom is Greek or a lower-case word, as in cis-. A `-` after it is a hyphen, not a
    bond."""
    closed: bool = False
    """Whether the last atom is a closing bracket."""
    begins_with_bond: list[bool] = field(default_factory=lambda: [False])
    """For each open bracket: whether its content begins with a bond, so that a `-` at its end is also a bond:
    [-CH2-]."""

    @property
    def side(self) -> Attachment:
        """Kind of the last part; EDGE if there is no part yet."""
        if not self.parts:
            return Attachment.EDGE
        last = self.parts[-1]
        return last.side if isinstance(last, ChemicalPart) else Attachment.SCRIPT

    @property
    def open_superscript(self) -> Scripts | None:
        """Superscript at the end of the formula, if a subscript may be placed below it. None if there is no
        superscript, if it is an oxidation state, or if it follows a number of atoms."""
        last = self.parts[-1] if self.parts else None
        before = self.parts[-2] if len(self.parts) > 1 else None
        if not isinstance(last, Scripts) or last.lower or isinstance(before, Scripts):
            return None
        return None if _OXIDATION.fullmatch(last.upper) else last

    @property
    def may_be_counted(self) -> bool:
        """Whether digits at this position would be a number of atoms."""
        last = self.parts[-1] if self.parts else None
        return self.side is Attachment.ATOM or (isinstance(last, Scripts) and not last.lower)

    @property
    def may_be_charged(self) -> bool:
        """Whether a `+` or `-` at this position would be a charge."""
        last = self.parts[-1] if self.parts else None
        return self.side is Attachment.ATOM or (isinstance(last, Scripts) and not last.upper)

    def add(
        self, tex: str, side: Attachment = Attachment.LOOSE, *, small: bool = False, closed: bool = False
    ) -> None:
        """Add a part of the kind `side`. small, closed: new values of the fields."""
        self.parts.append(ChemicalPart(tex, side))
        self.small, self.closed = small, closed
        if side is Attachment.EDGE:
            self.begins_with_bond[-1] = False

    def lower(self, tex: str) -> None:
        """Add a subscript: below the superscript before it (`open_superscript`), otherwise on its own."""
        raised = self.open_superscript
        if raised is None:
            self.parts.append(Scripts(lower=tex))
        else:
            self.parts[-1] = Scripts(tex, raised.upper)

    def upper(self, tex: str) -> None:
        """Add a superscript, after any script before it."""
        self.parts.append(Scripts(upper=tex))

    def write(self) -> str:
        """Return the formula as TeX."""
        return "".join(part.tex for part in self.parts)


MAX_DEPTH = 40
"""Maximum nesting of arguments, groups and formulas."""

_BRACKET = lazy_pattern(r"\\.|[{}\[\]$]", re.DOTALL)
_NESTED = lazy_pattern(r"\\(?:(ce|cee|cf|pu)\s*(?=\{)|.)", re.DOTALL)
_NAME = lazy_pattern(r"\\(?:[A-Za-z]+|.)", re.DOTALL)

Convert = Callable[[str, "Scanner"], str]
"""Function from (`ce` or `pu`, scanner of the content of its braces) to TeX."""


@dataclass(slots=True)
class _Level:
    """Open brackets inside one pair of braces."""

    brace: int
    brackets: list[int] = field(default_factory=list)
    dollar: int = -1
    outside: int = 0
    """Number of square brackets that were open before the `$`."""


def partners(text: str) -> dict[int, int]:
    """Map the index of each `{`, `[` and opening `$` to the index of its partner. A `[` or `$` without a
    partner is omitted. TexError for a brace without a partner."""
    found: dict[int, int] = {}
    levels = [_Level(-1)]
    for match in _BRACKET.finditer(text):
        sign, at, level = match.group(), match.start(), levels[-1]
        if sign == "{":
            levels.append(_Level(at))
        elif sign == "}":
            if len(levels) == 1:
                raise TexError(
                    "math-brace", 'unmatched closing brace "}"', hint="remove it, or write `{` before it"
                )
            found[levels.pop().brace] = at
        elif sign == "[":
            level.brackets.append(at)
        elif sign == "]":
            if len(level.brackets) > (level.outside if level.dollar >= 0 else 0):
                found[level.brackets.pop()] = at
        elif sign == "$":
            _dollar(level, at, found)
    if len(levels) > 1:
        raise TexError("math-brace", 'opening brace "{" is never closed', hint="write `}` where it ends")
    return found


def _dollar(level: _Level, at: int, found: dict[int, int]) -> None:
    if level.dollar < 0:
        level.dollar, level.outside = at, len(level.brackets)
    else:
        found[level.dollar] = at
        del level.brackets[level.outside :]
        level.dollar = -1


class Scanner:
    """A range of the input, and a position in it."""

    __slots__ = ("_convert", "_depth", "_partners", "end", "place", "text")

    def __init__(self, text: str, convert: Convert) -> None:
        self.text = text
        self.place, self.end = 0, len(text)
        self._partners: Mapping[int, int] = partners(text)
        self._convert = convert
        self._depth = 0

    @property
    def next_character(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.place] if self.place < self.end else ""

    def peek_match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the match of `pattern` at the position, without consuming it; None if there is none."""
        return pattern.match(self.text, self.place, self.end)

    def accept(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Consume the match of `pattern` at the position. Return the match; None if there is none."""
        match = pattern.match(self.text, self.place, self.end)
        if match is not None:
            self.place = match.end()
        return match

    def pop(self) -> str:
        """Consume and return the next character."""
        self.place += 1
        return self.text[self.place - 1]

    def name(self) -> str:
        """Consume and return the next control sequence. TexError if there is none."""
        match = self.accept(_NAME)
        if match is None:
            self.place = self.end
            raise TexError(
                "math-syntax", 'missing command name after "\\"', hint="write a name such as `\\alpha`"
            )
        return match.group()

    def closes(self) -> bool:
        """Return whether the next bracket has a partner."""
        return self.place in self._partners

    def take_bracket(self) -> Scanner:
        """Consume the next bracket and its partner. Return a scanner for the content between them. TexError
        if the bracket has no partner."""
        close = self._partners.get(self.place)
        if close is None:
            closing = {"[": "]", "(": ")"}.get(self.next_character, "}")
            message = f'"{self.next_character}" is never closed'
            raise TexError("math-syntax", message, hint=f"write `{closing}` where it ends")
        inner = self._part(self.place + 1, close)
        self.place = close + 1
        return inner

    def _part(self, start: int, end: int) -> Scanner:
        if self._depth == MAX_DEPTH:
            raise TexError(
                "math-limit", f"chemistry is nested too deeply: more than {MAX_DEPTH} levels", hint="split it"
            )
        part = Scanner.__new__(Scanner)
        part.text, part._partners, part._convert = self.text, self._partners, self._convert
        part.place, part.end, part._depth = start, end, self._depth + 1
        return part

    def take_match(self, pattern: re.Pattern[str]) -> Scanner | None:
        """Consume the match of `pattern` at the position. Return a scanner for it; None without a match."""
        start = self.place
        return None if self.accept(pattern) is None else self._part(start, self.place)

    def remaining(self) -> str:
        """Consume and return the rest of the range unchanged."""
        text = self.text[self.place : self.end]
        self.place = self.end
        return text

    def chemistry(self) -> str:
        r"""Consume the rest of the range. Return its TeX as the argument of `\ce`."""
        return self._convert("ce", self)

    def tex(self) -> str:
        r"""Consume the rest of the range. Return it as TeX where only `\ce` and `\pu` are converted."""
        made: list[str] = []
        while (match := _NESTED.search(self.text, self.place, self.end)) is not None:
            made.append(self.text[self.place : match.start()])
            self.place = match.end()
            made.append(self.convert_group(match.group(1)) if match.group(1) else match.group())
        made.append(self.remaining())
        return "".join(made)

    def convert_group(self, command: str = "ce") -> str:
        r"""Consume the next group. Return its TeX as the argument of `\ce` or `\pu`, in braces."""
        return "{" + self._convert("pu" if command == "pu" else "ce", self.take_bracket()) + "}"
