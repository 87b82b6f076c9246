"""State of the parser: style, font, and position in the formula; the record of all constructs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Self, TypeVar

from msgspec import Struct

from ..mathml.alphabets import BOLD_ALPHABETS, MathAlphabet
from ..mathml.atoms import NONE, Atom
from ..mathml.glyph_atoms import atoms
from .errors import ParseError
from .reader import Expander, Macro, TokenReader

P = TypeVar("P")
"""Type of the parser. It is a type variable, because this module may not import `parser.py`."""
Combine = Callable[[str, str], str]
"""Function from (markup before an infix, markup after it) to one element."""


class Constructs(Struct, Generic[P], frozen=True):
    """Functions of commands and environments. `parser.py` defines their parameters."""

    commands: Mapping[str, Callable[[P, str], Atom | None]]
    environments: Mapping[str, Callable[[P, str], Atom]]
    infixes: Mapping[str, Callable[[P, str], Combine]]
    expanders: Mapping[str, Expander]
    overrides: Mapping[str, Expander]
    """Expanders of a package that replace the usual meaning of commands."""
    is_known: Callable[[str], bool]
    """Returns whether a control sequence is defined."""
    names: Callable[[], tuple[str, ...]]
    """Returns all defined control sequences."""


MAX_DEPTH = 500
"""Maximum nesting of groups. Browsers flatten elements nested deeper than 512."""

DISPLAY, TEXT, SCRIPT, SCRIPTSCRIPT = range(4)
"""TeX's four styles."""


class RowNumber(Struct, frozen=True):
    """The number at the right edge of a row of a display."""

    number: str
    r"""TeX between the parentheses: a number, or the argument of `\tag`."""
    id: str
    """Id of the row for links; empty if it has none."""
    is_bare: bool = False
    r"""Whether `number` is printed without added parentheses, as for `\tag*`."""
    mathml: str = ""
    """MathML of the number with parentheses, for a tag with TeX; empty if `number` is printed as it is."""


class State(TokenReader):
    """State of a formula while it is read: the remaining tokens, the style, the font, and the current
    construct."""

    def __init__(
        self,
        source: Sequence[str],
        macros: Mapping[str, Macro],
        constructs: Constructs[Self],
        *,
        display: bool,
    ) -> None:
        overrides = constructs.overrides
        super().__init__(source, {**overrides, **macros} if overrides else macros)
        self.constructs = constructs
        self.style = DISPLAY if display else TEXT
        self.is_display = display
        self.face: MathAlphabet = ""
        self.bold = False
        self.size = 1.0
        """Size set by `\\large` and related commands, relative to the text around the formula."""
        self.atoms = atoms("", False)
        self.end_token = ""
        """Token that ended the last row; empty at the end of the formula."""
        self.previous = NONE
        """Class of the atom before the command being executed."""
        self.last_kind = NONE
        """Class of the last piece of the last row."""
        self.has_read_rest = False
        r"""Whether a switch such as `\color` has already read the rest of its row."""
        self.depth = 0
        self.environment = ""
        """The innermost environment whose cells are being read; empty inside a group in it."""
        self.row_numbers: Sequence[RowNumber | None] = ()
        """Numbers of the rows of the outermost alignment; empty after it has taken them."""
        self.in_link = False
        """Whether the text of a link is being read."""
        self.has_tag = False
        """Whether a `\\tag` was read."""
        self.is_global = False
        """Whether `\\global` precedes the next definition."""
        self.open_conditions = 0
        r"""Number of conditions without a `\fi` so far."""
        self.is_preamble = False
        """Whether the definitions of a LaTeX file are being read. They may replace any command."""
        self.ignored: list[ParseError] = []
        """Unknown styles of diagrams, to be reported as warnings."""
        self.diagrams: dict[str, str] = {}
        """Markup of each diagram → its text alternative."""
        self.intertext = ""
        r"""Text of an `\intertext` in the row being read; empty if there is none."""
        self.shove = ""
        r"""Side set by a `\shoveleft` or `\shoveright` in the row being read; empty if there is none."""

    def set_style(self, style: int) -> None:
        """Set the style for the tokens that follow."""
        self.style = style
        self.atoms = atoms(self.visible_face(), style >= SCRIPT)

    def set_face(self, face: MathAlphabet, bold: bool) -> None:
        """Set the font for the letters that follow."""
        self.face, self.bold = face, bold
        self.atoms = atoms(self.visible_face(), self.style >= SCRIPT)

    def visible_face(self) -> MathAlphabet:
        """Return the font as a key of `atoms`."""
        return BOLD_ALPHABETS.get(self.face, self.face) if self.bold else self.face

    def is_display_style(self) -> bool:
        """Return whether the current style places limits above and below operators."""
        return self.style == DISPLAY

    def script_style(self) -> int:
        """Return the TeX style of a script in the current style."""
        return SCRIPT if self.style < SCRIPT else SCRIPTSCRIPT

    def take_numbers(self) -> Sequence[RowNumber | None]:
        """Return the row numbers and clear them, because only the outermost alignment, which calls this
        first, prints numbers."""
        numbers, self.row_numbers = self.row_numbers, ()
        return numbers

    def is_at_top(self) -> bool:
        """Return whether the current position is outside all groups."""
        return self.depth <= 1

    def enter(self) -> None:
        """Enter a group. ParseError if it is nested too deep."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            token = self.stack[-1] if self.stack else self.command
            raise ParseError(
                "math-limit", f"formula is nested too deeply: more than {MAX_DEPTH} levels", token
            )
