r"""Expansion of mhchem's chemistry to TeX: `\ce{…}` for formulas and equations, `\pu{…}` for units.

The grammar is that of the manual of mhchem 4, with a scanner and rules of our own. Parts that only TeX can
set (mathematics in dollar signs, frames, colours) are passed through; everything else becomes plain TeX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ....base.patterns import lazy_pattern
from ...errors import TexError
from ...parse.reader import Expander, FormulaReader, text_of, tokens
from .commands import BLANK, command, mathematics
from .formula import formula
from .scan import Scanner
from .scripts import SCRIPT_CHARACTERS, SUPERSCRIPTS, decode_scripts


def chemistry(text: str) -> str:
    r"""Return `\ce{text}` as TeX. TexError if it is invalid."""
    return formula(Scanner(text, _convert))


def physical_unit(text: str) -> str:
    r"""Return `\pu{text}` as TeX. TexError if it is invalid."""
    return quantity(Scanner(text, _convert))


def _convert(command: str, scan: Scanner) -> str:
    return quantity(scan) if command == "pu" else formula(scan)


def _expander(meaning: Callable[[str], str]) -> Expander:
    def expand(reader: FormulaReader, command: str) -> list[str]:
        text = text_of(reader.argument())
        try:
            tex = meaning(text)
        except TexError as error:
            raise reader.syntax_error(f'{error.message} in "{command}"', hint=error.hint) from error
        made = tokens(tex)
        if _has_rows(made):
            return made
        # text may be anything, and an intent would prevent line breaks at the arrows of a reaction
        is_formula = command == "\\ce" and not any(sign in text for sign in ("\\", "$", ">", "<"))
        group = ["{", *made, "}"]
        return ["{", *tokens(r"\MathMLintent{:chemical-formula}"), *group, "}"] if is_formula else group

    return expand


def _has_rows(made: list[str]) -> bool:
    r"""Return whether the result contains `&` or `\\` outside groups. They belong to an alignment around the
    chemistry, so the result must not be in a group."""
    if "&" not in made and r"\\" not in made:
        return False
    depth = 0
    for token in made:
        depth += (token in ("{", r"\begin")) - (token in ("}", r"\end"))
        if not depth and token in ("&", r"\\"):
            return True
    return False


EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {**dict.fromkeys((r"\ce", r"\cee", r"\cf"), _expander(chemistry)), r"\pu": _expander(physical_unit)}
)
"""Commands → functions that expand them."""


# The argument of `\pu`: numbers with powers of ten, and units with their powers.
#
# Units are upright. A space between them becomes a thin space, `*` and `.` a dot, `/` a slash, `//` a
# fraction bar.


_MINUS = "-−"
_DIGITS = lazy_pattern(r"\d+")

_NUMBER = lazy_pattern(rf"([{_MINUS}+]?)(?=[.,]?\d)(\d+(?:,\d{{3}}){{2,}}|\d*)(?:([.,])(\d+))?(\(\d+\))?")
_TIMES_TEN = lazy_pattern(rf"\s*(x|×|\*|·|\\times\s|\\cdot\s)\s*10(?=\^)|([eE])(?=[{_MINUS}+]?\d)")
_TEN = lazy_pattern(rf"([eE])(?=[{_MINUS}+]?\d)")
_POWER = lazy_pattern(rf"\^?[{_MINUS}+]?\d+")
# joins a number to the next one
_TO = lazy_pattern(rf"\s*(\\pm(?![A-Za-z])|\+-|±|--|–|[{_MINUS}/])\s*(?=[{_MINUS}+]?[\d.])")
_JOINS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((r"\pm", "+-", "±"), r"\pm "),
        **dict.fromkeys(("--", "–"), r"\text{–}"),
        **dict.fromkeys(_MINUS, r"\mathord{-}"),
        "/": "/",
    }
)
_RELATIONS: Mapping[str, str] = MappingProxyType(
    {"<": "<", ">": ">", "=": "=", "~": r"\sim", "≈": r"\approx", "≤": r"\leq", "≥": r"\geq"}
)

_FRACTION = lazy_pattern(r"\s*//\s*")
_SLASH = lazy_pattern(r"\s*/\s*")
_DOT = lazy_pattern(r"\s*[*·.]\s*(?=\S)")
# no space is printed before these
_ANGLE = lazy_pattern(r"°(?![A-Za-z])|['′\"″]")
_GAP = lazy_pattern(r"\s+(?=[^\W\d_]|[°%({$]|\\)")
_LETTERS = lazy_pattern(rf"(?:[^\W\d_{SCRIPT_CHARACTERS}]|\\(?:mu|Omega|degree|AA)(?![A-Za-z])\s*)+")
_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "°": r"{}^{\circ}",
        **dict.fromkeys("'′", "{}^{′}"),
        **dict.fromkeys('"″', "{}^{″}"),
        "%": r"\%",
        "℃": r"{}^{\circ}\mathrm{C}",
    }
)


def quantity(scan: Scanner) -> str:
    r"""Return the rest of `scan`, the argument of `\pu`, as TeX."""
    made: list[str] = []
    before = "sign"
    """Kind of the part before the position: `number`, `units` or `sign`."""
    scan.accept(BLANK)
    while scan.next_character:
        if (number := _number(scan)) is not None:
            made += [number] if before == "sign" else [r"\,", number]
            before = "number"
        elif _begins_units(scan, before):
            space = "~" if before == "number" and not scan.peek_match(_ANGLE) else ""
            made += [space, _units(scan)]
            before = "units"
        else:
            before = "number" if scan.next_character == ")" else "sign"
            made.append(_sign(scan, is_first=not made))
        scan.accept(BLANK)
    return "".join(made)


def _sign(scan: Scanner, *, is_first: bool) -> str:
    character = scan.pop()
    if character in _RELATIONS:
        sign = _RELATIONS[character]
        return rf"\mathord{{{sign}}}" if is_first else f"{{}}{sign}{{}}"
    return rf"{{{character}}}\mkern6mu " if character in ",;" else character


def _begins_units(scan: Scanner, before: str) -> bool:
    sign = scan.next_character
    return sign.isalpha() or sign in _SIGNS or sign in "{$\\" or (sign == "/" and before != "sign")


def _number(scan: Scanner) -> str | None:
    """Consume the next number with its power of ten, and numbers joined to it, as in a range. Return them as
    TeX; None if no number is next."""
    made: list[str] = []
    while (part := _part(scan)) is not None:
        made.append(part)
        join = scan.accept(_TO)
        if join is None:
            break
        made.append(_JOINS[join.group(1)])
    return "".join(made) or None


def _part(scan: Scanner) -> str | None:
    if scan.accept(_TEN) is not None:
        return "10" + _power(scan)
    match = scan.accept(_NUMBER)
    if match is None:
        return None
    sign, whole, mark, fraction, doubt = match.groups()
    number = sign + _group_digits(whole, from_right=True).replace(",", "{,}")
    if mark:
        number += ("{,}" if mark == "," else ".") + _group_digits(fraction, from_right=False)
    number += doubt or ""
    if scan.next_character == "^":
        return number + _power(scan)
    ten = scan.accept(_TIMES_TEN)
    if ten is None:
        return number
    return number + (r"\cdot " if ten.group().strip()[0] in "e*·\\" else r"\times ") + "10" + _power(scan)


def _group_digits(digits: str, *, from_right: bool) -> str:
    """Return the digits in groups of three if there are five or more. from_right: for digits before the
    decimal marker."""
    if len(digits) < 5 or "," in digits:
        return digits
    first = len(digits) % 3 if from_right else 0
    groups = [digits[:first]] if first else []
    groups += [digits[at : at + 3] for at in range(first, len(digits), 3)]
    return r"\mkern2mu ".join(groups)


def _power(scan: Scanner) -> str:
    """Consume the next exponent, with or without braces. Return it as TeX with `^`; "" if there is none."""
    if (characters := scan.accept(SUPERSCRIPTS)) is not None:
        return f"^{{{decode_scripts(characters.group())}}}"
    match = scan.accept(_POWER)
    if match is not None:
        return f"^{{{match.group().removeprefix('^')}}}"
    if scan.next_character != "^":
        return ""
    scan.pop()
    if scan.next_character not in ("{", "$"):
        raise TexError("math-syntax", 'missing superscript after "^"', hint="write it as in `^{2+}`")
    return f"^{{{scan.take_bracket().tex()}}}"


def _units(scan: Scanner) -> str:
    """Consume units up to a number or a character that does not belong to units. Return them as TeX."""
    rows: list[list[str]] = [[]]
    depth = 0
    while scan.next_character:
        row = rows[-1]
        if scan.accept(_FRACTION) is not None:
            rows.append([])
        elif scan.accept(_SLASH) is not None:
            row.append("/")
        elif scan.accept(_DOT) is not None:
            row.append(r"\mkern1mu{\cdot}\mkern1mu ")
        elif scan.accept(_GAP) is not None:
            row.append(r"\mkern3mu ")
        elif scan.next_character == "(" or (scan.next_character == ")" and depth):
            depth += 1 if scan.next_character == "(" else -1
            row.append(scan.pop())
        else:
            unit = _unit(scan)
            if not unit:
                break
            row.append(unit)
    # the rest of the units goes below a fraction bar
    above = "".join(rf"\tfrac{{{_join_units(row)}}}{{" for row in rows[:-1])
    return above + _join_units(rows[-1]) + "}" * (len(rows) - 1)


def _join_units(row: list[str]) -> str:
    """Join one row of units. Slashes get space if the row has spaces or several slashes, because then a slash
    does not bind more closely than the other separators."""
    is_simple = row.count("/") == 1 and r"\mkern3mu " not in row
    return "".join(r"\,/\," if piece == "/" and not is_simple else piece for piece in row)


def _unit(scan: Scanner) -> str:
    """Consume one unit with its power, or a number among units. Return it as TeX; "" if neither is next."""
    if (symbol := scan.accept(_LETTERS)) is not None:
        return rf"\mathrm{{{symbol.group()}}}" + _power(scan)
    if scan.next_character in _SIGNS:
        return _SIGNS[scan.pop()] + _power(scan)
    if scan.next_character == "{":
        return rf"\mathrm{{{scan.take_bracket().tex()}}}" + _power(scan)
    if scan.next_character == "$":
        return mathematics(scan) + _power(scan)
    if scan.next_character == "\\":
        return command(scan) + _power(scan)
    digits = scan.accept(_DIGITS)
    return digits.group() if digits else ""
