r"""Reader of `\ce`'s argument, from left to right as in mhchem 4.

The next character selects the rule that reads on (`_RULES`). The part directly before it (`Attachment`)
determines its meaning: in `2H2O`, the first 2 is an amount, the second a subscript. In addition to mhchem,
these are accepted: characters such as H₂O⁺, arrows as characters, brackets in the labels of arrows, sums as
amounts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ....base.diagnostics.model import list_choices
from ....base.patterns import lazy_pattern
from ...errors import TexError
from .commands import BLANK, command, control, mathematics, text
from .scan import Attachment, ChemicalFormula, Scanner, Scripts
from .scripts import (
    MINUS,
    PRIMES,
    SCRIPT_CHARACTERS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    decode_scripts,
    primes,
    read_subscript,
    read_superscript,
)
from .signs import (
    BONDS,
    GREEK_LETTER,
    OPERATOR_COMMANDS,
    add_amount,
    add_mark,
    add_operator,
    addition,
    amount,
    blank,
    comma,
    digits,
    dots,
    is_amount,
    letters,
    minus,
    plus,
    take_arrow,
    take_operator,
    take_state,
)

_NAME = lazy_pattern(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_ATOM_AHEAD = lazy_pattern(r"[^\W\d_]|[\\({\[$]")
_GAS = lazy_pattern(r"\^(?=\s|$)")
# in H^3H the superscript belongs to the following letter
_MASS_AHEAD = lazy_pattern(r"\^(?:\d+|\{\d+\})(?=[A-Z])")
_COUNTED_AHEAD = lazy_pattern(r"\s*(?:[A-Z\[]|\((?![a-z]{1,3}\)))|\s+[\\{$]")
_OPENS = lazy_pattern(r"\\(?:\{|(?:left|[bB]igg?l)(?![A-Za-z]))")
_CLOSES = lazy_pattern(r"\\(?:\}|(?:right|[bB]igg?r)(?![A-Za-z]))")
_SPACES = (r"\,", r"\:", r"\;", r"\!", r"\ ", r"\quad", r"\qquad", r"\hspace", r"\enspace", r"\\")
_SIDES: Mapping[str, Attachment] = MappingProxyType(
    {**dict.fromkeys(_SPACES, Attachment.EDGE), r"\ca": Attachment.JOINT}
)
_FRACTIONS = frozenset((r"\frac", r"\tfrac", r"\dfrac"))

Rule = Callable[[ChemicalFormula], None]


def formula(scan: Scanner) -> str:
    """Return the rest of `scan`, a chemical formula or equation, as TeX."""
    made = ChemicalFormula(scan)
    blank(made)
    while scan.next_character:
        _RULES.get(scan.next_character, _read_other)(made)
    return made.write()


def _read_other(made: ChemicalFormula) -> None:
    """Read a letter, or a character without special meaning."""
    if made.scan.next_character.isalpha():
        _letter(made)
    else:
        made.add(made.scan.pop(), Attachment.JOINT)


def _letter(made: ChemicalFormula) -> None:
    if made.side is not Attachment.EDGE or not amount(made):
        letters(made)


def _digit(made: ChemicalFormula) -> None:
    if made.side is not Attachment.EDGE or not amount(made):
        digits(made)


def _script(made: ChemicalFormula) -> None:
    scan = made.scan
    if scan.accept(_GAS) is not None:
        add_mark(made, "^")
        return
    is_apart = made.side in (Attachment.ATOM, Attachment.SCRIPT)
    # R stands for a residue, not an element: R^1R^2C=O
    if not is_apart or (scan.peek_match(_MASS_AHEAD) and not made.parts[-1].tex.endswith("R}")):
        _nuclide(made, is_apart=is_apart)
    elif scan.next_character == "_":
        made.lower(read_subscript(scan))
    else:
        made.upper(read_superscript(scan, is_small=made.small))


def _nuclide(made: ChemicalFormula, *, is_apart: bool) -> None:
    """Read scripts that belong to the following atom, such as a mass number; without an atom, they get no
    base. is_apart: the scripts follow another atom, so they get space before them."""
    scan = made.scan
    found: dict[str, str] = {}
    while scan.next_character in ("_", "^") and scan.next_character not in found:
        mark = scan.next_character
        found[mark] = read_subscript(scan) if mark == "_" else read_superscript(scan, is_mass=True)
    _put_before_atom(made, found.get("_", ""), found.get("^", ""), is_apart=is_apart)


def _put_before_atom(made: ChemicalFormula, lower: str, upper: str, *, is_apart: bool = False) -> None:
    if made.scan.peek_match(_ATOM_AHEAD):
        space = r"\mkern2mu" if is_apart else ""
        made.add(rf"{space}\prescript{{{upper}}}{{{lower}}}{{}}", Attachment.JOINT)
    else:
        made.parts.append(Scripts(lower, upper))


def _read_script_characters(made: ChemicalFormula) -> None:
    """Read superscript and subscript characters, as in ²³⁵U, H₂ and SO₄²⁻."""
    scan = made.scan
    upper, lower = scan.accept(SUPERSCRIPTS), scan.accept(SUBSCRIPTS)
    above, below = (decode_scripts(match.group()) if match else "" for match in (upper, lower))
    if made.side not in (Attachment.ATOM, Attachment.SCRIPT):
        _put_before_atom(made, below, above)
    elif above:
        made.parts.append(Scripts(below, above))
    else:
        made.lower(below)


def _prime(made: ChemicalFormula) -> None:
    marks = made.scan.accept(PRIMES)
    made.upper(primes(marks.group() if marks else made.scan.pop()))


def _minus(made: ChemicalFormula) -> None:
    if take_arrow(made):
        return
    if made.side is not Attachment.EDGE or not (take_operator(made) or amount(made)):
        minus(made)


def _plus(made: ChemicalFormula) -> None:
    if made.side is not Attachment.EDGE or not (take_operator(made) or amount(made)):
        plus(made)


def _bond(made: ChemicalFormula) -> None:
    if made.side is not Attachment.EDGE or not take_operator(made):
        made.add(BONDS.get(made.scan.pop(), BONDS["#"]), Attachment.JOINT)


def _angle(made: ChemicalFormula) -> None:
    """Read an arrow or an operator that begins with `<` or `>`, or this character itself."""
    if not take_arrow(made) and (made.side is not Attachment.EDGE or not take_operator(made)):
        made.add(rf"\mathord{{{made.scan.pop()}}}", Attachment.JOINT)


def _open(made: ChemicalFormula) -> None:
    scan = made.scan
    if take_state(made) or (made.side is Attachment.EDGE and amount(made)):
        return
    bracket = command(scan) if scan.next_character == "\\" else scan.pop()
    made.begins_with_bond.append(False)
    made.add(bracket, Attachment.EDGE)


def _close(made: ChemicalFormula) -> None:
    scan = made.scan
    bracket = command(scan) if scan.next_character == "\\" else scan.pop()
    if len(made.begins_with_bond) > 1:
        made.begins_with_bond.pop()
    made.add(bracket, Attachment.ATOM, closed=True)


def _dot(made: ChemicalFormula) -> None:
    if made.side is not Attachment.EDGE or not amount(made):
        dots(made)


def _star(made: ChemicalFormula) -> None:
    made.scan.pop()
    addition(made)


def _mark(made: ChemicalFormula) -> None:
    add_mark(made, made.scan.pop())


def _space(made: ChemicalFormula) -> None:
    made.add(made.scan.pop(), Attachment.EDGE)


def _group(made: ChemicalFormula) -> None:
    inner = made.scan.take_bracket()
    if inner.next_character:
        made.add(text(inner), Attachment.ATOM)
    else:
        made.add("")


def _dollar(made: ChemicalFormula) -> None:
    content = mathematics(made.scan)
    if content[1] in "_^":
        made.add("{}" + content[1:-1])
    elif made.side is Attachment.EDGE and is_amount(content[1:-1]) and made.scan.peek_match(_COUNTED_AHEAD):
        add_amount(made, content)
    else:
        word = content[1:-1].strip().lstrip("\\")
        made.add(content, Attachment.ATOM, small=word.isalpha() and word.islower())


def _command(made: ChemicalFormula) -> None:
    scan = made.scan
    match = scan.peek_match(_NAME)
    name = match.group() if match else scan.name()
    if scan.peek_match(GREEK_LETTER):
        letters(made)
    elif scan.peek_match(_OPENS):
        _open(made)
    elif scan.peek_match(_CLOSES):
        _close(made)
    elif name in _COMMAND_RULES:
        scan.name()
        scan.accept(BLANK)
        _COMMAND_RULES[name](made)
    elif name in OPERATOR_COMMANDS:
        scan.name()
        add_operator(made, name)
    else:
        _read_framed(made, name)


def _read_framed(made: ChemicalFormula, name: str) -> None:
    """Read a command with its arguments. A fraction before a formula is the amount of the formula."""
    content = control(made.scan)
    if name in _FRACTIONS and made.side is Attachment.EDGE and made.scan.peek_match(_COUNTED_AHEAD):
        add_amount(made, content)
    else:
        made.add(content, _SIDES.get(name, Attachment.ATOM))


def _read_named_bond(made: ChemicalFormula) -> None:
    r"""Read the argument of `\bond`, after the command."""
    scan = made.scan
    if scan.next_character != "{":
        raise TexError(
            "math-syntax", 'missing bond name in braces after "\\bond"', hint="write it as in `\\bond{=}`"
        )
    name = scan.take_bracket().remaining().strip()
    if name not in BONDS:
        raise TexError("math-syntax", f'unknown bond "{name}"', hint=list_choices(BONDS))
    made.add(BONDS[name], Attachment.JOINT)


_COMMAND_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        r"\bond": _read_named_bond,
        r"\cdot": addition,
        r"\uparrow": lambda made: add_mark(made, "^"),
        r"\downarrow": lambda made: add_mark(made, "v"),
    }
)
_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys("0123456789", _digit),
        **dict.fromkeys(" \t\n\r", blank),
        **dict.fromkeys("^_", _script),
        **dict.fromkeys(SCRIPT_CHARACTERS, _read_script_characters),
        **dict.fromkeys("'′", _prime),
        **dict.fromkeys(MINUS, _minus),
        **dict.fromkeys("=#≡", _bond),
        **dict.fromkeys("<>→⟶←⟵↔⟷⇌⇄", _angle),
        **dict.fromkeys("([", _open),
        **dict.fromkeys(")]", _close),
        **dict.fromkeys("*·•", _star),
        **dict.fromkeys(",;", comma),
        **dict.fromkeys("↑↓", _mark),
        **dict.fromkeys("~&", _space),
        "+": _plus,
        ".": _dot,
        "{": _group,
        "$": _dollar,
        "\\": _command,
    }
)
