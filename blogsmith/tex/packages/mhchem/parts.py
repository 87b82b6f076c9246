"""A chemical formula while it is read: the parts so far, and what they mean for what comes next.

Scripts stand on an empty base, so that they keep their height whatever letter is before them: in
Hg₂²⁺ as in H₂. Charges stand behind the number of atoms, not above it, as IUPAC wants them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from msgspec import Struct

from ....base.patterns import lazy_pattern
from .scan import Scanner

_OXIDATION = lazy_pattern(r"\\mathrm\{[IVX]+\}")


class Side(Enum):
    """What the right side of a part means for what follows it directly."""

    EDGE = auto()
    """A formula begins: it may have an amount, scripts belong to what follows."""
    JOINT = auto()
    """A formula goes on, as behind a bond: as at the edge, but digits and letters are no amount."""
    ATOM = auto()
    """Digits are its number, signs its charge."""
    SCRIPT = auto()
    """The scripts of an atom."""
    LOOSE = auto()
    """Nothing attaches to it."""


class ChemicalPart(Struct, frozen=True):
    """One part of a formula."""

    tex: str
    """Ends in no control word that a letter behind it would change."""
    side: Side = Side.LOOSE


class Scripts(Struct, frozen=True):
    """Scripts of an atom; two of them stand above one another."""

    lower: str = ""
    upper: str = ""

    @property
    def tex(self) -> str:
        """The scripts on their empty base."""
        below = f"_{{{self.lower}}}" if self.lower else ""
        above = f"^{{{self.upper}}}" if self.upper else ""
        return "{}" + below + above if below or above else ""


@dataclass(slots=True)
class ChemicalFormula:
    """The text that is left, and the parts read so far."""

    scan: Scanner
    parts: list[ChemicalPart | Scripts] = field(default_factory=list)
    small: bool = False
    """The last atom is a word without capitals, as in cis-, or Greek: a hyphen follows rather than a bond."""
    closed: bool = False
    """The last atom is a closing bracket."""
    hangs: list[bool] = field(default_factory=lambda: [False])
    """Whether a bond leads into what each open bracket holds, so that another may lead out: [-CH2-]."""

    @property
    def side(self) -> Side:
        """What stands directly before what comes next."""
        if not self.parts:
            return Side.EDGE
        last = self.parts[-1]
        return last.side if isinstance(last, ChemicalPart) else Side.SCRIPT

    @property
    def open_superscript(self) -> Scripts | None:
        """The superscript directly before what comes next, if a subscript can stand below it.

        None below an oxidation state, and none where the number of atoms stands before it.
        """
        last = self.parts[-1] if self.parts else None
        before = self.parts[-2] if len(self.parts) > 1 else None
        if not isinstance(last, Scripts) or last.lower or isinstance(before, Scripts):
            return None
        return None if _OXIDATION.fullmatch(last.upper) else last

    @property
    def may_be_counted(self) -> bool:
        """Whether digits that come next are the number of atoms."""
        last = self.parts[-1] if self.parts else None
        return self.side is Side.ATOM or (isinstance(last, Scripts) and not last.lower)

    @property
    def may_be_charged(self) -> bool:
        """Whether a sign that comes next can be the charge of what stands before it."""
        last = self.parts[-1] if self.parts else None
        return self.side is Side.ATOM or (isinstance(last, Scripts) and not last.upper)

    def add(self, tex: str, side: Side = Side.LOOSE, *, small: bool = False, closed: bool = False) -> None:
        """A part more."""
        self.parts.append(ChemicalPart(tex, side))
        self.small, self.closed = small, closed
        if side is Side.EDGE:
            self.hangs[-1] = False

    def lower(self, tex: str) -> None:
        """A subscript: below the superscript before it, or on its own."""
        raised = self.open_superscript
        if raised is None:
            self.parts.append(Scripts(lower=tex))
        else:
            self.parts[-1] = Scripts(tex, raised.upper)

    def upper(self, tex: str) -> None:
        """A superscript, behind any script before it."""
        self.parts.append(Scripts(upper=tex))

    def write(self) -> str:
        """The formula as TeX."""
        return "".join(part.tex for part in self.parts)
