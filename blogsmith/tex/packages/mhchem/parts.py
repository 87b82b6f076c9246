"""A chemical formula while it is read: the parts so far, and how they affect the next one.

Scripts are attached to an empty base, so that their height does not depend on the letter before them: Hg₂²⁺
is like H₂. Charges follow the number of atoms instead of being above it, as IUPAC recommends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from msgspec import Struct

from ....base.patterns import lazy_pattern
from .scan import Scanner

_OXIDATION = lazy_pattern(r"\\mathrm\{[IVX]+\}")


class Attachment(Enum):
    """Kind of a part, which decides the meaning of the part directly after it."""

    EDGE = auto()
    """Start of a formula: an amount may follow, and scripts belong to the part after them."""
    JOINT = auto()
    """Continuation of a formula, for example after a bond: like EDGE, but digits and letters are not an
    amount."""
    ATOM = auto()
    """An atom: digits after it are its number, `+` and `-` its charge."""
    SCRIPT = auto()
    """Scripts of an atom."""
    LOOSE = auto()
    """A part to which nothing attaches."""


class ChemicalPart(Struct, frozen=True):
    """One part of a formula, as TeX."""

    tex: str
    """TeX that a letter may follow: it does not end in a command name."""
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
    """The rest of the input, and the parts read so far."""

    scan: Scanner
    parts: list[ChemicalPart | Scripts] = field(default_factory=list)
    small: bool = False
    """Whether the last atom is a word without capitals, as in cis-, or Greek. A `-` after it is a hyphen,
    not a bond."""
    closed: bool = False
    """Whether the last atom is a closing bracket."""
    begins_with_bond: list[bool] = field(default_factory=lambda: [False])
    """For each open bracket: whether its content begins with a bond. If so, it may also end with one:
    [-CH2-]."""

    @property
    def side(self) -> Attachment:
        """Kind of the last part."""
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
        """Whether digits would now be a number of atoms."""
        last = self.parts[-1] if self.parts else None
        return self.side is Attachment.ATOM or (isinstance(last, Scripts) and not last.lower)

    @property
    def may_be_charged(self) -> bool:
        """Whether a `+` or `-` would now be a charge."""
        last = self.parts[-1] if self.parts else None
        return self.side is Attachment.ATOM or (isinstance(last, Scripts) and not last.upper)

    def add(
        self, tex: str, side: Attachment = Attachment.LOOSE, *, small: bool = False, closed: bool = False
    ) -> None:
        """Add a part."""
        self.parts.append(ChemicalPart(tex, side))
        self.small, self.closed = small, closed
        if side is Attachment.EDGE:
            self.begins_with_bond[-1] = False

    def lower(self, tex: str) -> None:
        """Add a subscript: below the superscript before it, or on its own."""
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
