"""What the parser knows while it reads: style, face, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct

from ..mathml.alphabets import BOLD_OF, Face
from ..mathml.atoms import NONE
from ..mathml.glyph_atoms import atoms
from .construct import Constructs
from .errors import ParseError
from .reader import Macro, TokenReader

MAX_DEPTH = 500
"""Groups inside groups; browsers flatten what is deeper than 512 elements."""

DISPLAY, TEXT, SCRIPT, SCRIPTSCRIPT = range(4)
"""TeX's styles."""


class RowNumber(Struct, frozen=True):
    """What a row prints at its right edge."""

    number: str
    """TeX text between the parentheses: a number, or what `\\tag` says."""
    id: str
    """Anchor of the row; empty: no anchor."""
    bare: bool = False
    """Without the parentheses."""
    mathml: str = ""
    """The number typeset, parentheses and all, where a tag holds TeX; empty: print `number` as it is."""


class State(TokenReader):
    """A formula half read: the tokens left, the style, the face, and what construct is being read."""

    def __init__(
        self,
        source: Sequence[str],
        macros: Mapping[str, Macro],
        constructs: Constructs[Self],
        *,
        display: bool,
    ) -> None:
        super().__init__(source, {**constructs.overrides, **macros})
        self.constructs = constructs
        self.style = DISPLAY if display else TEXT
        self.is_display = display
        self.face: Face = ""
        self.bold = False
        self.size = 1.0
        """Of `\\large` and related commands, to the size around the formula."""
        self.atoms = atoms("", False)
        self.ended_by = ""
        """The token that ended the last row; empty at the end of the formula."""
        self.previous = NONE
        """Class of what stands before the command being carried out."""
        self.last_kind = NONE
        """Class of the last piece of the last row."""
        self.took_rest = False
        """A switch such as `\\color` has read the rest of the row that it stands in."""
        self.depth = 0
        self.environment = ""
        """The innermost one, whose cells are being read; empty inside a group of it."""
        self.row_numbers: Sequence[RowNumber | None] = ()
        """What the rows of the outermost alignment print, until it takes them."""
        self.in_link = False
        """What is read is the text of a link."""
        self.tagged = False
        """A `\\tag` was read."""
        self.is_global = False
        """`\\global` stands before the next definition."""
        self.between_rows = ""
        """Text of an `\\intertext` in the row being read."""
        self.shove = ""
        """Side that a `\\shoveleft` in the row being read asks for."""

    def set_style(self, style: int) -> None:
        """From here on set in that style."""
        self.style = style
        self.atoms = atoms(self.visible_face(), style >= SCRIPT)

    def set_face(self, face: Face, bold: bool) -> None:
        """From here on letters have that face."""
        self.face, self.bold = face, bold
        self.atoms = atoms(self.visible_face(), self.style >= SCRIPT)

    def visible_face(self) -> Face:
        """The face as `atoms` knows it."""
        return BOLD_OF.get(self.face, self.face) if self.bold else self.face

    def is_display_style(self) -> bool:
        """Whether limits stand above and below here."""
        return self.style == DISPLAY

    def script_style(self) -> int:
        """The style of a script at this place."""
        return SCRIPT if self.style < SCRIPT else SCRIPTSCRIPT

    def take_numbers(self) -> Sequence[RowNumber | None]:
        """What the rows of the alignment being read print; empty for all but the outermost."""
        numbers, self.row_numbers = self.row_numbers, ()
        return numbers

    def is_at_top(self) -> bool:
        """Whether what is read stands in no group."""
        return self.depth <= 1

    def enter(self) -> None:
        """One level deeper; `ParseError` if that is too deep."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            token = self.stack[-1] if self.stack else self.command
            raise ParseError("math-limit", f"formula is nested more than {MAX_DEPTH} deep", token)
