"""Conversion of TeX to MathML in one pass: rows of atoms, groups, arguments and scripts.

A row is read token by token. `atoms` defines what a symbol prints; the constructs passed in define what a
command does. Each piece of a row is one MathML element, so that a script can be attached to the last one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from ...base.html_tags import remove_tags
from ...model.names import name_set
from ..mathml.atoms import (
    BIN,
    GLUE,
    INTEGRAL,
    LIMIT_FUNCTION,
    LIMITS,
    NONE,
    ORD,
    PUNCT,
    REL,
    Atom,
    add_attribute,
    character_atom,
    escape,
    group_fragments,
    identifier,
    infix,
    is_operator,
    join_fragments,
    remove_spaces,
    space_atom,
    superscript_intent,
    trim_space,
)
from ..mathml.glyph_atoms import SCRIPT_CHARACTERS, atoms
from .errors import (
    UNSUPPORTED,
    ParseError,
    argument_hint,
    closing_hint,
    duplicate_infix_error,
    misplaced_tab_error,
)
from .lexer import ROW_BREAKS
from .reader import Expander, Macro, is_argumentless_macro
from .scan import cut_token, move_tokens, split, strip_mark
from .state import SCRIPT, Combine, Constructs, State

_PRIME_COUNTS: Mapping[str, int] = MappingProxyType({"'": 1, "′": 1, "″": 2, "‴": 3, "⁗": 4})
STARTS = frozenset(("_", "^", "\\limits", "\\nolimits", *_PRIME_COUNTS))
"""Tokens that begin a script, or change the position of scripts."""
_PRIMES: Mapping[int, str] = MappingProxyType({1: "′", 2: "″", 3: "‴", 4: "⁗"})


class ScriptParser(Protocol):
    """Attributes and methods of the parser that `add_scripts` and its helpers use."""

    stack: list[str]
    macros: dict[str, Macro | Expander]

    def peek(self) -> str:
        """Return the next token without consuming it."""

    def push(self, made: list[str]) -> None:
        """Push tokens to be read next."""

    def expand(self, call: str) -> None:
        """Push the expansion of a macro."""

    def script(self, token: str) -> str:
        """Consume the argument of `token`, `_` or `^`. Return it as MathML."""

    def is_display_style(self) -> bool:
        """Return whether the current style places limits above and below operators."""


def add_scripts(parser: ScriptParser, base: str, kind: int) -> str:
    """Consume the scripts and primes that follow. Return `base` with them. kind: atom class of `base`."""
    lower = upper = ""
    primes = 0
    above = parser.is_display_style() and kind in (LIMITS, LIMIT_FUNCTION)
    stack, macros = parser.stack, parser.macros
    while (token := parser.peek()) in STARTS or token in SCRIPT_CHARACTERS or (macros and token in macros):
        stack.pop()
        if macros and token in macros:
            parser.expand(token)
        elif token in SCRIPT_CHARACTERS:
            push_script_character(parser, token)
        elif token in _PRIME_COUNTS:
            if upper:
                raise _double(token)
            primes += _PRIME_COUNTS[token]
        elif token == "_":
            if lower:
                raise _double(token)
            lower = parser.script(token)
        elif token == "^" and parser.peek() in _PRIMES.values():
            continue  # `^′` is a prime
        elif token == "^":
            if upper:
                raise _double(token)
            upper = parser.script(token)
        else:
            above = _has_limits(token, kind)
            if above and not parser.is_display_style() and is_operator(base) and "movable" not in base:
                base = add_attribute(base, 'movablelimits="false"')
    if primes:
        upper = _add_primes(primes, upper)
    if not lower and not upper:
        return base
    if is_operator(base) and "minsize=" in base:
        base = f"<mrow>{base}</mrow>"  # Chromium does not stretch the base of a script
    if base.startswith("<mtext"):
        # Firefox moves the subscript of text in another font up to the baseline
        base = f"<mrow>{base}</mrow>"
    low, high = ("under", "over") if above else ("sub", "sup")
    mend = _correct_slant(parser, lower, upper) if kind == INTEGRAL and lower and not above else ""
    if lower and upper:
        return f"<m{low}{high}{mend}>{base}{lower}{upper}</m{low}{high}>"
    if lower:
        return f"<m{low}{mend}>{base}{lower}</m{low}>"
    if kind != INTEGRAL and not above:
        base, mend = superscript_intent(base, upper)
    return f"<m{high}{mend}>{base}{upper}</m{high}>"


def _correct_slant(parser: ScriptParser, lower: str, upper: str) -> str:
    """Return a CSS class that moves the subscript of an integral to the left, or an empty string. Chromium
    includes the slant of an integral in its width, so its subscript is too far right."""
    if parser.is_display_style():
        # if there are both scripts, there is a gap only after a longer subscript
        longer = len(remove_tags(lower)) > len(remove_tags(upper))
        return ' class="math-int"' if longer else ""
    return ' class="math-int-text"'


def _has_limits(token: str, kind: int) -> bool:
    if kind < INTEGRAL:
        hint = "write it after `\\sum`, `\\int`, `\\operatorname{…}` or `\\mathop{…}`"
        raise ParseError("math-syntax", f'"{token}" does not follow an operator', token, hint=hint)
    return token == "\\limits"


def _add_primes(primes: int, upper: str) -> str:
    """Return the MathML of a number of primes, followed by `upper`, the rest of the superscript."""
    counts = [4] * (primes // 4) + ([primes % 4] if primes % 4 else [])
    signs = "".join(f'<mo lspace="0" rspace="0">{_PRIMES[count]}</mo>' for count in counts)
    return signs if len(counts) == 1 and not upper else f"<mrow>{signs}{upper}</mrow>"


def _double(token: str) -> ParseError:
    hint = "group with braces, as in `{x_a}_b`"
    return ParseError("math-syntax", "double subscript or superscript", token, hint=hint)


def push_script_character(parser: ScriptParser, token: str) -> None:
    """Push `^{2}` for a typed `²`, and the like for other superscript and subscript characters."""
    mark, plain = SCRIPT_CHARACTERS[token]
    signs = [plain]
    while parser.stack and SCRIPT_CHARACTERS.get(parser.stack[-1], ("", ""))[0] == mark:
        signs.append(SCRIPT_CHARACTERS[parser.stack.pop()][1])
    parser.push([mark, "{", *split("".join(signs)), "}"])


_MAX_SHOWN = 60
"""Maximum length of a command that a message shows."""
_ENDS = frozenset(("}", "&", *ROW_BREAKS, "\\end", "\\right", "\\middle", "\\endgroup", "\\egroup"))


_ACCENTS: Mapping[str, str] = MappingProxyType(
    {
        "\u0300": "\\grave",
        "\u0301": "\\acute",
        "\u0302": "\\hat",
        "\u0303": "\\tilde",
        "\u0304": "\\bar",
        "\u0305": "\\overline",
        "\u0306": "\\breve",
        "\u0307": "\\dot",
        "\u0308": "\\ddot",
        "\u030a": "\\mathring",
        "\u030c": "\\check",
        "\u0331": "\\underline",
        "\u0332": "\\underline",
        "\u0338": "\\not",
        "\u20d7": "\\vec",
        "\u20db": "\\dddot",
        "\u20dc": "\\ddddot",
    }
)
"""Combining character → command that typesets it."""
_MATHEMATICAL = frozenset("\u0302\u0303\u0304\u0305\u0307\u0308")
"""Combining characters that stay accents of mathematics. For others, a composed letter such as "ä" is
preferred."""
ASSIGNMENTS = name_set("\\def \\gdef \\edef \\xdef \\let \\newcommand \\renewcommand \\providecommand")
"""Commands of definitions. They are not allowed as an argument without braces."""


class Parser(State):
    """Parser of one formula."""

    constructs: Constructs[Parser]

    def row(self, before: int = NONE, *, infix_ends: bool = False, open_end: bool = False) -> list[str]:
        r"""Return the markup of each atom up to a token that ends a row. That token is consumed and stored in
        `end_token`.

        before: class of the atom before the row. infix_ends: whether `\over` and related commands also end
        the row. open_end: whether to preserve the space after the last atom; the class of this atom is in
        `last_kind`.
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
                if token[0] == "\0" and token[1:] in infixes:
                    token = strip_mark(token)
                if token in _ENDS or (infix_ends and token in infixes):
                    self.end_token = token
                    break
                if token in STARTS:
                    stack.append(token)
                    if not out:
                        out, previous = ["<mrow></mrow>"], ORD
                    out[-1] = add_scripts(self, out[-1], previous)
                    continue
                if token in infixes:
                    if above:
                        raise duplicate_infix_error(token)
                    above, out, previous = (self._infix(token), trim_space(out, previous)), [], NONE
                    continue
                self.previous = previous
                atom = self.item(token)
                if self.has_read_rest:
                    self.has_read_rest = False
                    out += [atom[1]] if atom else []
                    previous = atom[0] if atom else previous
                    if self.end_token not in infixes or infix_ends:
                        break
                    stack.append(self.end_token)
                    continue
                if atom is None or atom[0] == GLUE:
                    out += [atom[1]] if atom else []
                    continue
            if atom[0] | previous > NONE:
                atom = space_atom(out, previous, atom, self.style >= SCRIPT)
            previous = atom[0]
            out.append(atom[1])
        else:
            self.end_token = ""
        self.depth -= 1
        out = self._end_row(out, previous, before, open_end)
        return out if above is None else [above[0](join_fragments(above[1]), join_fragments(out))]

    def _end_row(self, out: list[str], last: int, before: int, open_end: bool) -> list[str]:
        self.last_kind = last
        if last > NONE and not open_end:
            out = trim_space(out, last)
        if before != NONE and out:
            out[0] = infix(out[0])
        return out

    def _infix(self, token: str) -> Combine:
        before, self.command = self.command, token
        combine = self.constructs.infixes[token](self, token)
        self.command = before
        return combine

    def item(self, token: str) -> Atom | None:
        """Return the atom for `token`, which is not a plain symbol; None if the token prints nothing or
        pushes other tokens."""
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
                shown = token[len("\\verb") :]
                shown = shown[2:-1].replace(" ", "␣") if shown[0] == "*" else shown[1:-1]
                return ORD, f"<mtext><code>{escape(shown)}</code></mtext>"
            raise self.unknown(token)
        return self._character_atom(token)

    def _character_atom(self, token: str) -> Atom | None:
        if token[0] == "\0":
            # bound by \let, whatever the name means now
            return self.atoms.get(token[1:]) or self.item(strip_mark(token))
        if token in SCRIPT_CHARACTERS:
            push_script_character(self, token)
            return None
        if len(token) > 1:
            return self._marked(token)
        if unicodedata.combining(token):
            hint = "write an accent such as `\\bar{x}`"
            message = f'combining mark "{token}" without a letter before it'
            raise ParseError("math-syntax", message, token, hint=hint)
        if token == "$":
            hint = "write `\\$` to print `$`"
            raise ParseError("math-syntax", '"$" is not allowed inside a formula', token, hint=hint)
        if token == "#":
            hint = "write `\\#` to print `#`"
            raise ParseError(
                "math-syntax", '"#" is not allowed outside a macro', token, hint=hint, meant="\\#"
            )
        return character_atom(token)

    def _marked(self, token: str) -> Atom | None:
        r"""Return the atom of a character with combining characters. None if it was replaced by other tokens,
        such as `\bar{x}`."""
        composed = unicodedata.normalize("NFC", token)
        if len(composed) == 1 and token[1] not in _MATHEMATICAL:
            self.push(move_tokens([composed], token))
            return None
        base, marks = token[0], token[1:]
        commands = [_ACCENTS.get(mark) for mark in marks]
        if None in commands:
            # no command typesets it: the font composes one identifier
            return ORD, identifier(composed)
        made = [piece for command in reversed(commands) for piece in (str(command), "{")]
        self.push(move_tokens([*made, base, *("}" for _ in marks)], token))
        return None

    def unknown(self, token: str) -> ParseError:
        """Return the error for an undefined control sequence."""
        if len(token) == 1:
            hint = "write a name such as `\\alpha`, or `\\backslash` to print it"
            return ParseError("math-syntax", 'missing command name after "\\"', token, hint=hint)
        if token == "\\verb":
            hint = "write `\\verb|…|` with both bars on one line"
            return ParseError("math-syntax", f'"{token}" is never closed', token, hint=hint, unclosed=True)
        if token in UNSUPPORTED:
            return ParseError(
                "math-command", f'unsupported syntax: "{token}"', token, hint=UNSUPPORTED[token]
            )
        shown = token if len(token) <= _MAX_SHOWN else f"{token[:_MAX_SHOWN]}…"
        return ParseError("math-command", f'unknown TeX command "{shown}"', token, unknown=True)

    def number(self, token: str) -> Atom:
        """Return a number, with the digits of the current font."""
        if self.face or self.bold:
            table = self.atoms
            token = "".join(table[c][1][4:-5] if c in table and c != "." else c for c in token)
        return ORD, f"<mn>{token}</mn>"

    def group(self, brace: str) -> Atom:
        """Read `{…}` after its opening brace. Return it as one ordinary atom."""
        mark, environment = self.mark(), self.environment
        self.environment = ""
        out = self.row()
        self.environment = environment
        if self.end_token != "}":
            raise self.not_closed(brace)
        self.restore(mark)
        return ORD, group_fragments(out)

    def parse_group(
        self, source: Sequence[str], style: int | None = None, *, before: int = NONE, open_end: bool = False
    ) -> list[str]:
        """Return the markup of the atoms in `source`, read as a separate group. style: TeX style; None keeps
        the current style. before, open_end: see `row`."""
        self.stack.append("}")
        self.push(source)
        old, table = self.style, self.atoms
        if style is not None:
            self.set_style(style)
        mark, environment = self.mark(), self.environment
        self.environment = ""
        out = self.row(before, open_end=open_end)
        self.environment = environment
        if self.end_token != "}":
            raise self.not_closed(self.command)
        self.restore(mark)
        self.style, self.atoms = old, table
        return out

    def not_closed(self, opening: str) -> ParseError:
        """Return the error for a group without its closing delimiter. opening: token that opens the group."""
        found = self.end_token
        if not found:
            return ParseError(
                "math-brace", f'opening brace "{opening}" is never closed', opening, unclosed=True
            )
        if found == "&":
            return misplaced_tab_error(found)
        hint = closing_hint(f'"{opening}" is never closed').replace("where it ends", "before it")
        return ParseError("math-brace", f'unexpected "{found}": "{opening}" is still open', found, hint=hint)

    def script(self, token: str) -> str:
        """Consume the argument of `token`, `_` or `^`. Return it as one element in script style."""
        follower = self.peek()
        sign = atoms(self.visible_face(), True).get(follower)
        if sign is not None and sign[0] == ORD and follower not in self.macros:  # by far most scripts
            self.stack.pop()
            return sign[1]
        before, self.command = self.command, token
        xml = self.parse_styled(self.script_style())
        self.command = before
        return xml

    def parse_styled(self, style: int) -> str:
        """Consume the next argument. Return it as one element in a TeX style."""
        old, table = self.style, self.atoms
        self.set_style(style)
        xml = self.element()
        self.style, self.atoms = old, table
        return xml

    def element(self) -> str:
        """Consume the next argument. Return it as one element."""
        return self.atom_argument()[1]

    def atom_argument(self) -> Atom:
        """Consume the next argument. Return it as an atom; a group has the class ORD."""
        self.enter()
        atom: Atom | None = None
        while atom is None:
            token = self.peek()
            if not token or token in _ENDS or token in STARTS or token in self.constructs.infixes:
                raise self._missing(token)
            self.stack.pop()
            if token in self.macros:
                if self.command in "_^" or not is_argumentless_macro(self.macros[token]):
                    self.expand(token)
                else:  # \frac\x2 uses the whole expansion of \x, x^\x only its first token
                    atom = ORD, group_fragments(self.parse_group([token]))
                continue
            atom = self.atoms.get(token)
            if atom is not None:
                atom = atom[0], remove_spaces(atom[1]) if atom[0] in (BIN, REL, PUNCT) else atom[1]
            elif token[0].isdecimal() and len(token) > 1:
                self.stack.append(cut_token(token, 1, len(token)))
                atom = self.number(cut_token(token, 0, 1))
            elif token in ASSIGNMENTS:
                raise self._missing(token)
            else:
                atom = self.item(token)
            if self.has_read_rest:
                hint = f"write `{{{token} …}}`"
                raise ParseError("math-syntax", f'"{token}" needs braces around it here', token, hint=hint)
        self.depth -= 1
        return atom

    def _missing(self, token: str) -> ParseError:
        name = {"^": "superscript", "_": "subscript"}.get(self.command, f'argument of "{self.command}"')
        where = "" if token else " at the end of the formula"
        script = self.command in ("^", "_")
        hint = f"write `{self.command}{{…}}`" if script else argument_hint(self.command)
        return ParseError("math-syntax", f"missing {name}{where}", self.command, hint=hint)


Command = Callable[[Parser, str], Atom | None]
"""Function from (parser, command) to the atom to print; None prints nothing."""
Environment = Callable[[Parser, str], Atom]
r"""Function from (parser, name) to the atom to print. Called after `\begin{name}`; consumes everything up to
`\end{name}`."""
Infix = Callable[[Parser, str], Combine]
"""Function from (parser, command) to a function that combines the two sides of the command. The first
function also reads the arguments of the command."""
