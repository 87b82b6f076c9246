"""Letters and numbers of a formula: elements, numbers of atoms, and amounts before a formula."""

from __future__ import annotations

from ....base.patterns import lazy_pattern
from .commands import GREEK
from .scan import Attachment, ChemicalFormula
from .scripts import DASHES, MINUS, PRIMES, SCRIPT_CHARACTERS, decimal, primes

HYPHEN = r"\text{-}"
GREEK_LETTER = lazy_pattern(GREEK)

_BLANK = lazy_pattern(r"\s*")
_DIGITS = lazy_pattern(r"\d+")
_ORBITAL = lazy_pattern(r"\d+[spdfg]\^")

# names that begin with a lower-case letter that is not an amount
_NAME = r"(?:p(?:H|OH|D)|[inst]Bu|[is]Pr)(?![a-z])"
# Amounts: a lower-case letter before a capital, a sum or a ratio, with or without parentheses.
_TERM = r"(?:\d*[a-z]|\d+)"
_BEFORE_FORMULA = r"(?=\s*[A-Z(\[])"
_SUM = lazy_pattern(rf"{_TERM}(?:[{MINUS}+]{_TERM})+{_BEFORE_FORMULA}")
_BRACKETED = lazy_pattern(rf"\({_TERM}(?:[{MINUS}+/]{_TERM})+\){_BEFORE_FORMULA}")
_RATIO = lazy_pattern(rf"([{MINUS}+]?)(\d+|[a-z])/(\d+(?![\d.])|[a-z](?=\s*[A-Z]))")
_LETTER = rf"(?!{_NAME}|pK)[a-z](?=\s*[A-Z])"
_NUMBER = lazy_pattern(rf"([{MINUS}+]?)(?=[.,]?\d)(\d*)(?:([.,])(\d+))?({_LETTER})?")
_VARIABLE = lazy_pattern(rf"{_LETTER}")
_MATH = lazy_pattern(rf"[{MINUS}\w+.,/() ]+")
_COUNTS = lazy_pattern(r"\s*(?![spdfg]\^)[A-Za-z(\[{$\\^_°]")
_LOCANTS = lazy_pattern(rf"(\d+['′]*(?:,\d+['′]*)*)[{MINUS}](?=[A-Za-z(\[{{\\])")

_LETTERS = lazy_pattern(rf"(?:[^\W\d_{SCRIPT_CHARACTERS}]|{GREEK}(?:\s+(?=[A-Za-z]))?)+")
_SMALL = lazy_pattern(rf"[a-zα-ω]+|(?:{GREEK}\s*)+")
_AFTER_COMMAND = lazy_pattern(rf"\s+(?=\d|[{MINUS}+]\s*$)")
_PREFIX = lazy_pattern(rf"([a-z])[{MINUS}](?=[A-Za-z{{\\])")
_ACIDITY = lazy_pattern(r"pK([a-z]?)(\d*)(?![A-Za-z])")
_REPEATS = lazy_pattern(r"[nmxyz](?![A-Za-z0-9])")


def amount(formula: ChemicalFormula) -> bool:
    """Read the amount or the locants at the start of a formula, if there are any. Return whether any were
    read."""
    scan = formula.scan
    if (locants := scan.accept(_LOCANTS)) is not None:
        places = PRIMES.sub(lambda marks: f"{{}}^{{{primes(marks.group())}}}", locants.group(1))
        formula.add(places.replace(",", "{,}") + HYPHEN, Attachment.JOINT)
        return True
    value = _value(formula)
    if not value:
        return False
    if scan.peek_match(_COUNTS):
        add_amount(formula, value)
    else:
        formula.add(value)
    return True


def _value(formula: ChemicalFormula) -> str:
    scan = formula.scan
    if (terms := scan.accept(_SUM) or scan.accept(_BRACKETED)) is not None:
        return terms.group().translate(DASHES)
    if (ratio := scan.accept(_RATIO)) is not None:
        return rf"{ratio.group(1)}\tfrac{{{ratio.group(2)}}}{{{ratio.group(3)}}}"
    if (number := scan.accept(_NUMBER)) is not None:
        sign, whole, mark, fraction, variable = number.groups()
        return sign + decimal(whole, mark, fraction) + (variable or "")
    letter = scan.accept(_VARIABLE)
    return letter.group() if letter else ""


def add_amount(formula: ChemicalFormula, value: str) -> None:
    """Add `value` as the amount of the following formula."""
    formula.scan.accept(_BLANK)
    formula.add(value + r"\,", Attachment.JOINT)


def is_amount(content: str) -> bool:
    """Return whether mathematics before a formula can be its amount."""
    return _MATH.fullmatch(content) is not None


def digits(formula: ChemicalFormula) -> None:
    """Read a number that is not an amount: a subscript after an atom, otherwise plain digits."""
    scan, side = formula.scan, formula.side
    number = scan.peek_match(_DIGITS)
    if number is None:
        return
    is_number_of_atoms = formula.may_be_counted and not (
        side is Attachment.SCRIPT and scan.peek_match(_ORBITAL)
    )
    scan.place = number.end()
    if is_number_of_atoms:
        formula.lower(number.group())
    else:
        formula.add(number.group())


def letters(formula: ChemicalFormula) -> None:
    """Read letters that are not an amount."""
    scan, side = formula.scan, formula.side
    begins = side in (Attachment.EDGE, Attachment.JOINT)
    if begins and (acidity := scan.accept(_ACIDITY)) is not None:
        index = (rf"\mathrm{{{acidity.group(1)}}}" if acidity.group(1) else "") + acidity.group(2)
        formula.add(r"\mathrm{p}K" + (f"_{{{index}}}" if index else ""), Attachment.ATOM)
        return
    if begins and (prefix := scan.accept(_PREFIX)) is not None:
        formula.add(prefix.group(1) + HYPHEN, Attachment.JOINT)
        return
    if formula.closed and side is Attachment.ATOM and (repeats := scan.accept(_REPEATS)) is not None:
        formula.lower(repeats.group())
        return
    word = scan.accept(_LETTERS)
    if word is None:
        scan.pop()
        return
    name = word.group()
    # TeX drops the space after a command, but a space before an operator is part of the operator
    if "\\" in name:
        scan.accept(_AFTER_COMMAND)
    is_small = side not in (Attachment.ATOM, Attachment.SCRIPT) and _SMALL.fullmatch(name) is not None
    formula.add(rf"\mathrm{{{name}}}", Attachment.ATOM, small=is_small)
