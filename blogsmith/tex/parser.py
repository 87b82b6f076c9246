"""TeX → MathML in one pass: rows of atoms, scripts, groups.

A row is read token by token; what a sign prints comes from `atoms`, what a command does from the
constructs handed in. Each piece of a row is one MathML element, so a script can take the last one.
Spaces follow TeX (TeXbook, chapter 18): MathML's operators bring their own, and where TeX has another
one the piece is changed or a space put in front of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .alphabets import BOLD_OF, Face
from .atoms import (
    BIN,
    CLOSE,
    FUNCTION,
    INNER,
    INTEGRAL,
    LIMIT_FUNCTION,
    LIMITS,
    NONE,
    OPEN,
    ORD,
    PUNCT,
    REL,
    SCRIPT_CHARACTERS,
    THIN,
    Atom,
    atoms,
    tight,
    typed,
    without_space,
)
from .numbering import RowNumber
from .reader import Expander, Macro, TokenReader, Wrong
from .scan import cut, moved

MAX_DEPTH = 500
"""Groups inside groups; browsers flatten what is deeper than 512 elements."""

DISPLAY, TEXT, SCRIPT, SCRIPTSCRIPT = range(4)
"""TeX's styles."""

THIN_SPACE = f'<mspace width="{THIN}"/>'
APPLY = "<mo>\u2061</mo>"
_PRIMES = {1: "′", 2: "″", 3: "‴", 4: "⁗"}
_ENDS = frozenset(("}", "&", "\\\\", "\\cr", "\\end", "\\right", "\\middle", "\\endgroup", "\\newline"))
_SCRIPTS = frozenset(("_", "^", "'", "\\limits", "\\nolimits"))


@dataclass(frozen=True, slots=True)
class Constructs:
    """What commands and environments do."""

    commands: Mapping[str, Command]
    environments: Mapping[str, Environment]
    infixes: Mapping[str, Infix]
    expanders: Mapping[str, Expander]
    known: Callable[[str], bool]
    """Whether a control sequence means something."""
    names: Callable[[], Sequence[str]]
    """All control sequences that mean something."""


class Parser(TokenReader):
    """Reads one formula. The state is the style, the face and what is being read."""

    def __init__(
        self, source: Sequence[str], macros: Mapping[str, Macro], constructs: Constructs, *, display: bool
    ) -> None:
        super().__init__(source, macros, constructs.expanders)
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
        self.shove = ""
        """Side that a `\\shoveleft` in the row being read asks for."""

    # -- state ------------------------------------------------------------------------------------

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

    def take_numbers(self) -> Sequence[RowNumber | None]:
        """What the rows of the alignment being read print; empty for all but the outermost."""
        numbers, self.row_numbers = self.row_numbers, ()
        return numbers

    def at_top(self) -> bool:
        """Whether what is read stands in no group."""
        return self.depth <= 1

    # -- rows -------------------------------------------------------------------------------------

    def row(self, before: int = NONE, *, infix_ends: bool = False) -> list[str]:
        """The pieces up to a token that ends a row, which is taken and left in `ended_by`.

        before: class of what stands in front. infix_ends: `\\over` and its kin end the row too.
        """
        self.depth += 1
        if self.depth > MAX_DEPTH:
            token = self.stack[-1] if self.stack else ""
            raise Wrong("math-limit", f"formula is nested more than {MAX_DEPTH} deep", token)
        stack, macros = self.stack, self.macros
        table = self.atoms
        out: list[str] = []
        previous = before
        numerator: tuple[str, list[str]] | None = None
        while stack:
            token = stack.pop()
            if macros and token in macros:
                self.expand(token)
                continue
            atom = table.get(token)
            if atom is None:
                if token == " ":
                    continue
                if token in _ENDS:
                    self.ended_by = token
                    break
                if token in _SCRIPTS:
                    stack.append(token)
                    if not out:
                        out.append("<mrow></mrow>")
                        previous = ORD
                    out[-1] = self.scripts(out[-1], previous)
                    continue
                if token in self.constructs.infixes:
                    if infix_ends:
                        self.ended_by = token
                        break
                    if numerator:
                        raise Wrong("math-syntax", f"only one {token} can stand in a group", token)
                    numerator, out, previous = (token, self._finish(out, previous)), [], NONE
                    continue
                atom = self.item(token)
                if self.took_rest:
                    self.took_rest = False
                    if atom is not None:
                        out.append(atom[1])
                        previous = ORD
                    if self.ended_by in self.constructs.infixes and not infix_ends:
                        stack.append(self.ended_by)
                        continue
                    break
                if atom is None:
                    continue
            kind, xml = atom
            if kind | previous > NONE:
                kind, xml = self._spaced(out, previous, kind, xml)
            out.append(xml)
            previous = kind
        else:
            self.ended_by = ""
        self.depth -= 1
        out = self._finish(out, previous)
        if numerator is not None:
            name, above = numerator
            out = [self.constructs.infixes[name](self, name, joined(above), joined(out))]
        return out

    def _finish(self, out: list[str], previous: int) -> list[str]:
        """`out` without the space behind its last piece."""
        if out:
            if previous == BIN:
                out[-1] = tight(out[-1])
            elif previous in (REL, PUNCT, INTEGRAL, LIMITS):
                out[-1] = without_space(out[-1], "r")
        return out

    def _spaced(self, out: list[str], previous: int, kind: int, xml: str) -> Atom:
        """The next piece with the class and the space that it has after `previous`."""
        if kind == BIN:
            if previous >= NONE and previous != INNER:
                kind, xml = ORD, tight(xml)
        elif previous == BIN and kind in (REL, CLOSE, PUNCT):
            out[-1] = tight(out[-1])
        if previous >= INTEGRAL:
            if previous >= FUNCTION:
                if kind in (ORD, OPEN, INNER) or kind >= INTEGRAL:
                    out.append(APPLY)
                if kind == ORD or kind == INNER or kind >= INTEGRAL:
                    out.append(THIN_SPACE)
            elif kind in (OPEN, CLOSE, REL, PUNCT):
                out[-1] = without_space(out[-1], "r")
            return kind, without_space(xml, "l") if kind in (INTEGRAL, LIMITS) else xml
        if kind == REL:
            if previous == REL:
                out[-1] = without_space(out[-1], "r")
            if previous in (REL, NONE, OPEN):
                xml = without_space(xml, "l")
        elif previous == REL and kind in (CLOSE, PUNCT):
            out[-1] = without_space(out[-1], "r")
        elif kind >= FUNCTION:
            if previous in (ORD, CLOSE, INNER):
                out.append(THIN_SPACE)
        elif kind >= INTEGRAL:
            if previous not in (ORD, CLOSE, INNER):
                xml = without_space(xml, "l")
        elif self.style < SCRIPT and (
            (kind == INNER and previous in (ORD, CLOSE, INNER)) or (previous == INNER and kind in (ORD, OPEN))
        ):
            out.append(THIN_SPACE)
        return kind, xml

    # -- items ------------------------------------------------------------------------------------

    def item(self, token: str) -> Atom | None:
        """What `token`, which is no plain sign, prints; None: nothing."""
        if token == "{":
            return self.group(token)
        if token[0].isdigit() or token[0] == "." and len(token) > 1:
            return self.number(token)
        handler = self.constructs.commands.get(token)
        if handler is not None:
            before, self.command = self.command, token
            atom = handler(self, token)
            self.command = before
            return atom
        expander = self.constructs.expanders.get(token)
        if expander is not None:
            self._expanded(token, expander)
            return None
        if token[0] == "\\":
            raise self.unknown(token)
        if token in SCRIPT_CHARACTERS:
            return self._raised(token)
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

    def _expanded(self, token: str, expander: Expander) -> None:
        before, self.command = self.command, token
        made = expander(self, token)
        self.command = before
        self.budget -= 1
        if self.budget < 0:
            raise Wrong("math-macro", f"{token} expands without end", token)
        self.push(moved(made, token, token))

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

    def not_closed(self, opening: str) -> Wrong:
        """The error of a group that something else than its end has ended."""
        found = self.ended_by
        if not found:
            return Wrong("math-brace", f"opening brace {opening} is never closed", opening)
        if found == "&":
            return misplaced_tab(found)
        return Wrong("math-brace", f"{found} stands where {opening} is still open", found)

    def number(self, token: str) -> Atom:
        """A number, with the digits of the face."""
        if self.face or self.bold:
            table = self.atoms
            digits = "".join(table[c][1][4:-5] if c in table and c != "." else c for c in token)
            return ORD, f"<mn>{digits}</mn>"
        return ORD, f"<mn>{token}</mn>"

    # -- scripts ----------------------------------------------------------------------------------

    def scripts(self, base: str, kind: int) -> str:
        """`base` with the scripts and primes that follow."""
        lower = upper = ""
        primes = 0
        above = self.style == DISPLAY and kind in (LIMITS, LIMIT_FUNCTION)
        while True:
            token = self.peek()
            if token not in _SCRIPTS:
                break
            self.stack.pop()
            if token[0] == "\\":
                if kind < INTEGRAL:
                    hint = "it belongs behind \\sum, \\int, \\operatorname{…} or \\mathop{…}"
                    raise Wrong("math-syntax", f"{token} stands behind no operator", token, hint=hint)
                above = token == "\\limits"
                if above and self.style != DISPLAY:
                    base = base.replace("<mo", '<mo movablelimits="false"', 1) if base.startswith("<mo>") else base
            elif token == "'":
                if upper:
                    raise self._double(token)
                primes += 1
            elif token == "_":
                if lower:
                    raise self._double(token)
                lower = self.script(token)
            else:
                if upper:
                    raise self._double(token)
                upper = self.script(token)
        if primes:
            prime = "".join(f'<mo lspace="0" rspace="0">{_PRIMES[n]}</mo>' for n in _fours(primes))
            upper = prime if not upper and primes <= 4 else f"<mrow>{prime}{upper}</mrow>"
        if not lower and not upper:
            return base
        if above:
            return _attached("under", "over", base, lower, upper)
        return _attached("sub", "sup", base, lower, upper)

    def _double(self, token: str) -> Wrong:
        hint = "group with braces, as in {x_a}_b"
        return Wrong("math-syntax", "double subscript or superscript", token, hint=hint)

    def script(self, token: str) -> str:
        """The argument of `_` or `^`, in script style."""
        style, table = self.style, self.atoms
        if style < SCRIPTSCRIPT:
            self.set_style(SCRIPT if style < SCRIPT else SCRIPTSCRIPT)
        before, self.command = self.command, token
        xml = self.element()
        self.command = before
        self.style, self.atoms = style, table
        return xml

    def _raised(self, token: str) -> Atom:
        """`²` typed by the author: a script on nothing, so put it back as `^2`."""
        mark, plain = SCRIPT_CHARACTERS[token]
        signs = [plain]
        while self.stack and SCRIPT_CHARACTERS.get(self.stack[-1], ("", ""))[0] == mark:
            signs.append(SCRIPT_CHARACTERS[self.stack.pop()][1])
        self.push([mark, "{", *signs, "}"])
        return None  # type: ignore[return-value]

    # -- arguments --------------------------------------------------------------------------------

    def element(self) -> str:
        """The next argument as one element."""
        return self.atom_argument()[1]

    def atom_argument(self) -> Atom:
        """The next argument as an atom; a group is ordinary."""
        stack = self.stack
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Wrong("math-limit", f"formula is nested more than {MAX_DEPTH} deep", self.command)
        atom = self._argument_atom(stack)
        self.depth -= 1
        return atom

    def _argument_atom(self, stack: list[str]) -> Atom:
        while True:
            token = self.peek()
            if not token or token in _ENDS or token in _SCRIPTS:
                raise self._missing(token)
            stack.pop()
            if token == "{":
                return self.group(token)
            if token in self.macros:
                self.expand(token)
                continue
            atom = self.atoms.get(token)
            if atom is not None:
                return atom[0], tight(atom[1]) if atom[0] in (BIN, REL, PUNCT) else atom[1]
            if token[0].isdigit() and len(token) > 1:
                stack.append(cut(token, 1, len(token)))
                return self.number(cut(token, 0, 1))
            if token in self.constructs.infixes:
                raise self._missing(token)
            atom = self.item(token)
            if self.took_rest:
                hint = f"write {{{token} …}}"
                raise Wrong("math-syntax", f"{token} needs a group around it here", token, hint=hint)
            if atom is not None:
                return atom

    def _missing(self, token: str) -> Wrong:
        name = {"^": "the superscript", "_": "the subscript"}.get(self.command, f"an argument of {self.command}")
        if not token:
            return Wrong("math-syntax", f"{name} is missing at the end of the formula", self.command)
        return Wrong("math-syntax", f"{name} is missing", self.command)

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

    def styled(self, style: int) -> str:
        """The next argument, in that style."""
        old, table = self.style, self.atoms
        self.set_style(style)
        xml = self.element()
        self.style, self.atoms = old, table
        return xml


Command = Callable[[Parser, str], "Atom | None"]
"""(parser, command) → what it prints; None: nothing."""
Environment = Callable[[Parser, str], Atom]
"""(parser, name) → what it prints; called behind `\\begin{name}`, takes everything up to `\\end{name}`."""
Infix = Callable[[Parser, str, str, str], str]
"""(parser, command, what stands before, what stands behind) → one element."""


def misplaced_tab(token: str) -> Wrong:
    """The error of a `&` where no cell is."""
    hint = "write \\& for the sign"
    return Wrong("math-syntax", "& stands outside a table or alignment", token, hint=hint)


def joined(pieces: Sequence[str]) -> str:
    """`pieces` as one element."""
    return pieces[0] if len(pieces) == 1 else f"<mrow>{''.join(pieces)}</mrow>"


def grouped(pieces: Sequence[str]) -> str:
    """`pieces` as one ordinary element: a lone operator has no spaces."""
    if len(pieces) == 1:
        return tight(pieces[0]) if pieces[0].startswith("<mo") else pieces[0]
    return f"<mrow>{''.join(pieces)}</mrow>"


def _fours(count: int) -> list[int]:
    """`count` primes in signs of at most four."""
    return [4] * (count // 4) + ([count % 4] if count % 4 else [])


def _attached(low: str, high: str, base: str, lower: str, upper: str) -> str:
    if lower and upper:
        return f"<m{low}{high}>{base}{lower}{upper}</m{low}{high}>"
    if lower:
        return f"<m{low}>{base}{lower}</m{low}>"
    return f"<m{high}>{base}{upper}</m{high}>"


__all__ = ["CLOSE", "OPEN", "Command", "Constructs", "Environment", "Infix", "Parser", "joined", "misplaced_tab"]
