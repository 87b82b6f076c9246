"""Superscripts and subscripts of a formula: charges, numbers, variables, dots, states.

A single letter in a script is a variable and slanted. Several letters are a word or a numeral and upright.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ....base.patterns import lazy_pattern
from ...errors import TexError
from .commands import GREEK, control, mathematics, text
from .scan import Scanner

MINUS = "-−–—"
"""Characters for minus: the hyphen, the minus sign, and dashes that editors write instead."""
DASHES = str.maketrans(dict.fromkeys(MINUS, "-"))
"""Maps the characters of MINUS to the hyphen, which TeX prints as a minus sign."""
_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ⁺⁻", "₀₁₂₃₄₅₆₇₈₉ₙₓ₊₋"
SCRIPT_CHARACTERS = _RAISED + _LOWERED
"""Unicode characters that are superscripts and subscripts."""
PRIMES = lazy_pattern("['′]+")
SUPERSCRIPTS = lazy_pattern(f"[{_RAISED}]+")
SUBSCRIPTS = lazy_pattern(f"[{_LOWERED}]+")

_LEVEL = str.maketrans(SCRIPT_CHARACTERS, "0123456789n+-0123456789nx+-")
# content of a script without braces
_BARE_LOWER = lazy_pattern(rf"[{MINUS}+]?\d+|[^\s\\{{}}$^_]")
_BARE_UPPER = lazy_pattern(
    rf"(?:\d+|[IVX]+(?![a-z])|[A-Za-z]|[.•]+)(?:\++|[{MINUS}]*)|['′]+|(?:\++|[{MINUS}]+)\d*|[^\s\\{{}}$^_]"
)
_BARE_GREEK = lazy_pattern(rf"{GREEK}\s?(?:\++|[{MINUS}]*)")
_MASS = lazy_pattern(r"\d+(?=[A-Za-z\\_])")
# sp^2-C, and the next orbital directly after it: 1s^22s^2
_SMALL = lazy_pattern(rf"\d+(?=[{MINUS}][A-Za-z])|\d+?(?=\d[spdfg]\^)")

_VACANT = lazy_pattern(r"\s*[x×]\s*")
_STATE = lazy_pattern(r"\(([a-z]{1,3})\)")
_RATIO = lazy_pattern(r"(\d+|[a-z])/(\d+)(?![\d.,])")
_NUMBER = lazy_pattern(r"(\d+)(?:([.,])(\d+))?")
_WORD = lazy_pattern(r"[A-Za-z]+")
_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(MINUS, "-"),
        **dict.fromkeys(".•", r"{\bullet}"),
        ",": r"{,}\mkern1mu ",
        "°": r"\circ ",
        "×": r"\times ",
        "~": "~",
        "#": r"\#",
    }
)


def decode_scripts(characters: str) -> str:
    """Convert superscript and subscript characters to plain ones."""
    return characters.translate(_LEVEL)


def read_subscript(scan: Scanner) -> str:
    """Consume the next `_` and its value. Return the value as TeX."""
    scan.pop()
    if (bare := scan.take_match(_BARE_LOWER)) is not None:
        return _script(bare, is_upper=False)
    return _value(scan, "_")


def read_superscript(scan: Scanner, *, is_mass: bool = False, is_small: bool = False) -> str:
    """Consume the next `^` and its value. Return the value as TeX.

    is_mass: the script belongs to the following atom, so its value ends with the digits. is_small: the script
    follows a Greek letter or a word such as sp, so that `-` after its digits is a hyphen.
    """
    scan.pop()
    digits = scan.accept(_MASS) if is_mass else scan.accept(_SMALL) if is_small else None
    if digits is not None:
        return digits.group()
    if (bare := scan.take_match(_BARE_UPPER) or scan.take_match(_BARE_GREEK)) is not None:
        return _script(bare, is_upper=True)
    return _value(scan, "^")


def _value(scan: Scanner, mark: str) -> str:
    """Read the value after `mark`, `_` or `^`: in braces, between `$`, or a command. Return it as TeX."""
    if scan.next_character == "{":
        return _script(scan.take_bracket(), is_upper=mark == "^")
    if scan.next_character == "$":
        return scan.take_bracket().tex()
    if scan.next_character == "\\":
        return control(scan)
    message = f'missing {"superscript" if mark == "^" else "subscript"} after "{mark}"'
    raise TexError("math-syntax", message, hint=f"write it as in `{mark}{{2}}`")


def _script(scan: Scanner, *, is_upper: bool) -> str:
    # Kröger–Vink notation: a cross stands for a site without charge
    if is_upper and (vacant := scan.peek_match(_VACANT)) and vacant.end() == scan.end:
        scan.remaining()
        return r"{\times}"
    made: list[str] = []
    while scan.next_character:
        made.append(_piece(scan, is_upper=is_upper))
    return "".join(made)


def _piece(scan: Scanner, *, is_upper: bool) -> str:
    character = scan.next_character
    if (character.isascii() and character.isalnum()) or character == "(":
        return _text(scan, is_upper=is_upper)
    if character == "\\":
        return control(scan)
    if character == "{":
        return text(scan.take_bracket())
    if character == "$":
        return mathematics(scan)
    if (marks := scan.accept(PRIMES)) is not None:
        return primes(marks.group())
    scan.pop()
    return "" if character.isspace() else _SIGNS.get(character, character)


def _text(scan: Scanner, *, is_upper: bool) -> str:
    if not is_upper:
        if (state := scan.accept(_STATE)) is not None:
            return rf"\mkern1mu(\mathrm{{{state.group(1)}}})"
        if (ratio := scan.accept(_RATIO)) is not None:
            return rf"\frac{{{ratio.group(1)}}}{{{ratio.group(2)}}}"
    if (number := scan.accept(_NUMBER)) is not None:
        return decimal(*number.groups())
    word = scan.accept(_WORD)
    if word is None:
        return scan.pop()
    letters = word.group()
    # i stands for the interstitial site, not for a variable
    is_variable = len(letters) == 1 and letters.islower() and (is_upper or letters != "i")
    return letters if is_variable else rf"\mathrm{{{letters}}}"


def primes(marks: str) -> str:
    """Return primes as TeX. Up to four are one character, which is narrower than single primes."""
    count = len(marks)
    return "⁗" * (count // 4) + ("", "′", "″", "‴")[count % 4]


def decimal(whole: str, sign: str | None, fraction: str | None) -> str:
    """Return a number as TeX. sign: its decimal marker. A comma gets no space after it."""
    return whole + {",": "{,}", ".": "."}.get(sign or "", "") + (fraction or "")
