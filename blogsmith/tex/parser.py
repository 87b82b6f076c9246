"""TeX → MathML in one pass: rows of atoms, groups and arguments.

A row is read token by token; what a sign prints comes from `atoms`, what a command does from the
constructs handed in. Each piece of a row is one MathML element, so a script can take the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .alphabets import BOLD_OF, Face
from .atoms import BIN, NONE, ORD, PUNCT, REL, Atom, escape, tight, typed
from .construct import Combine, Constructs
from .numbering import RowNumber
from .pieces import grouped, joined
from .reader import Macro, TokenReader
from .scan import cut
from .scripts import STARTS, lower_typed, with_scripts
from .signs import SCRIPT_CHARACTERS, atoms
from .spacing import spaced, trimmed
from .wrong import Wrong, misplaced_tab

MAX_DEPTH = 500
"""Groups inside groups; browsers flatten what is deeper than 512 elements."""

DISPLAY, TEXT, SCRIPT, SCRIPTSCRIPT = range(4)
"""TeX's styles."""

_ENDS = frozenset(("}", "&", "\\\\", "\\cr", "\\end", "\\right", "\\middle", "\\endgroup", "\\newline"))


ASSIGNMENTS = frozenset(
    ("\\def", "\\gdef", "\\edef", "\\xdef", "\\let", "\\newcommand", "\\renewcommand", "\\providecommand")
)
"""Definitions, which are no argument of anything."""


class Parser(TokenReader):
    """Reads one formula. The state is the style, the face and what is being read."""

    def __init__(
        self, source: Sequence[str], macros: Mapping[str, Macro], constructs: Constructs, *, display: bool
    ) -> None:
        super().__init__(source, {**constructs.overrides, **macros})
        self.constructs = constructs
        self.style = DISPLAY if display else TEXT
        self.is_display = display
        self.face: Face = ""
        self.bold = False
        self.atoms = atoms("", False)
        self.ended_by = ""
        """The token that ended the last row; empty at the end of the formula."""
        self.took_rest = False
        """A switch such as `\\color` has read the rest of the row that it stands in."""
        self.depth = 0
        self.environment = ""
        """The innermost one, whose cells are being read; empty inside a group of it."""
        self.row_numbers: Sequence[RowNumber | None] = ()
        """What the rows of the outermost alignment print, until it takes them."""
        self.tagged = False
        """A `\\tag` was read."""
        self.is_global = False
        """`\\global` stands before the next definition."""
        self.between_rows = ""
        """Text of an `\\intertext` in the row being read."""
        self.colors: dict[str, str] = {}
        """Colours that the formula has named."""
        self.shove = ""
        """Side that a `\\shoveleft` in the row being read asks for."""

    def set_style(self, style: int) -> None:
        """From here on set in that style."""
        self.style = style
        self.atoms = atoms(self._shown_face(), style >= SCRIPT)

    def set_face(self, face: Face, bold: bool) -> None:
        """From here on letters have that face."""
        self.face, self.bold = face, bold
        self.atoms = atoms(self._shown_face(), self.style >= SCRIPT)

    def _shown_face(self) -> Face:
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

    def at_top(self) -> bool:
        """Whether what is read stands in no group."""
        return self.depth <= 1

    def enter(self) -> None:
        """One level deeper; `Wrong` if that is too deep."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            token = self.stack[-1] if self.stack else self.command
            raise Wrong("math-limit", f"formula is nested more than {MAX_DEPTH} deep", token)

    def row(self, before: int = NONE, *, infix_ends: bool = False) -> list[str]:
        """The pieces up to a token that ends a row, which is taken and left in `ended_by`.

        before: class of what stands in front. infix_ends: `\\over` and its kin end the row too.
        """
        self.enter()
        stack, macros, infixes, get = self.stack, self.macros, self.constructs.infixes, self.atoms.get
        out: list[str] = []
        previous = before
        above: tuple[Combine, list[str]] | None = None
        while stack:
            token = stack.pop()
            if macros and token in macros:
                self.expand(token)
                continue
            atom = get(token)
            if atom is None:
                if token == " ":
                    continue
                if token in _ENDS or (infix_ends and token in infixes):
                    self.ended_by = token
                    break
                if token in STARTS:
                    stack.append(token)
                    if not out:
                        out, previous = ["<mrow></mrow>"], ORD
                    out[-1] = with_scripts(self, out[-1], previous)
                    continue
                if token in infixes:
                    if above:
                        raise Wrong("math-syntax", f"only one {token} can stand in a group", token)
                    above, out, previous = (self._infix(token), trimmed(out, previous)), [], NONE
                    continue
                atom = self.item(token)
                if self.took_rest:
                    self.took_rest = False
                    out += [atom[1]] if atom else []
                    previous = ORD
                    if self.ended_by not in infixes or infix_ends:
                        break
                    stack.append(self.ended_by)
                    continue
                if atom is None:
                    continue
            if atom[0] | previous > NONE:
                atom = spaced(out, previous, atom, self.style >= SCRIPT)
            previous = atom[0]
            out.append(atom[1])
        else:
            self.ended_by = ""
        self.depth -= 1
        out = trimmed(out, previous)
        return out if above is None else [above[0](joined(above[1]), joined(out))]

    def _infix(self, token: str) -> Combine:
        before, self.command = self.command, token
        combine = self.constructs.infixes[token](self, token)
        self.command = before
        return combine

    def item(self, token: str) -> Atom | None:
        """What `token`, which is no plain sign, prints; None: nothing."""
        if token == "{":
            return self.group(token)
        handler = self.constructs.commands.get(token)
        if handler is not None:
            before, self.command = self.command, token
            atom = handler(self, token)
            self.command = before
            return atom
        if token[0].isdecimal() or token[0] == ".":
            return self.number(token)
        expander = self.constructs.expanders.get(token)
        if expander is not None:
            self.expand_by(token, expander)
            return None
        if token[0] == "\\":
            if token.startswith("\\verb") and len(token) > len("\\verb"):
                shown = token[len("\\verb") :].removeprefix("*")[1:-1]
                return ORD, f"<mtext><code>{escape(shown)}</code></mtext>"
            raise self.unknown(token)
        return self._typed(token)

    def _typed(self, token: str) -> Atom | None:
        """A character that no table has."""
        if token[0] == "\0":
            # what \let has taken, whatever the name means by now
            return self.atoms.get(token[1:]) or self.item(cut(token, 1, len(token)))
        if token in SCRIPT_CHARACTERS:
            lower_typed(self, token)
            return None
        if token == "$":
            hint = "write \\$ for the sign"
            raise Wrong("math-syntax", "$ stands inside a formula", token, hint=hint)
        if token == "#":
            raise Wrong("math-syntax", "# stands outside a macro", token, hint="write \\# for the sign")
        return typed(token)

    def unknown(self, token: str) -> Wrong:
        """The error of a control sequence that means nothing."""
        if len(token) == 1:
            return Wrong("math-syntax", "a backslash stands alone", token)
        return Wrong("math-command", f"unknown TeX command {token}", token)

    def number(self, token: str) -> Atom:
        """A number, with the digits of the face."""
        if self.face or self.bold:
            table = self.atoms
            token = "".join(table[c][1][4:-5] if c in table and c != "." else c for c in token)
        return ORD, f"<mn>{token}</mn>"

    def group(self, brace: str) -> Atom:
        """`{…}`, its brace taken: one ordinary atom."""
        mark, environment = self.mark(), self.environment
        self.environment = ""
        out = self.row()
        self.environment = environment
        if self.ended_by != "}":
            raise self.not_closed(brace)
        self.restore(mark)
        return ORD, grouped(out)

    def inside(self, source: Sequence[str], style: int | None = None) -> list[str]:
        """The pieces of `source`, read as a group of its own."""
        self.stack.append("}")
        self.push(source)
        old, table = self.style, self.atoms
        if style is not None:
            self.set_style(style)
        mark, environment = self.mark(), self.environment
        self.environment = ""
        out = self.row()
        self.environment = environment
        if self.ended_by != "}":
            raise self.not_closed(self.command)
        self.restore(mark)
        self.style, self.atoms = old, table
        return out

    def not_closed(self, opening: str) -> Wrong:
        """The error of a group that something else than its end has ended."""
        found = self.ended_by
        if not found:
            return Wrong("math-brace", f"opening brace {opening} is never closed", opening)
        if found == "&":
            return misplaced_tab(found)
        return Wrong("math-brace", f"{found} stands where {opening} is still open", found)

    def script(self, token: str) -> str:
        """The argument of `_` or `^`, in script style."""
        before, self.command = self.command, token
        xml = self.styled(self.script_style())
        self.command = before
        return xml

    def styled(self, style: int) -> str:
        """The next argument, in that style."""
        old, table = self.style, self.atoms
        self.set_style(style)
        xml = self.element()
        self.style, self.atoms = old, table
        return xml

    def element(self) -> str:
        """The next argument as one element."""
        return self.atom_argument()[1]

    def atom_argument(self) -> Atom:
        """The next argument as an atom; a group is ordinary."""
        self.enter()
        atom: Atom | None = None
        while atom is None:
            token = self.peek()
            if not token or token in _ENDS or token in STARTS or token in self.constructs.infixes:
                raise self._missing(token)
            self.stack.pop()
            if token in self.macros:
                self.expand(token)
                continue
            atom = self.atoms.get(token)
            if atom is not None:
                atom = atom[0], tight(atom[1]) if atom[0] in (BIN, REL, PUNCT) else atom[1]
            elif token[0].isdecimal() and len(token) > 1:
                self.stack.append(cut(token, 1, len(token)))
                atom = self.number(cut(token, 0, 1))
            elif token in ASSIGNMENTS:
                raise self._missing(token)
            else:
                atom = self.item(token)
            if self.took_rest:
                hint = f"write {{{token} …}}"
                raise Wrong("math-syntax", f"{token} needs a group around it here", token, hint=hint)
        self.depth -= 1
        return atom

    def _missing(self, token: str) -> Wrong:
        name = {"^": "the superscript", "_": "the subscript"}.get(
            self.command, f"an argument of {self.command}"
        )
        where = "" if token else " at the end of the formula"
        return Wrong("math-syntax", f"{name} is missing{where}", self.command)
