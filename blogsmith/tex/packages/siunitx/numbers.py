"""Numbers as siunitx reads them: `1.23(4)e5` taken apart, moved and rounded.

Everything is done on digits as text, so a number keeps every digit the author wrote.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from ....base.patterns import lazy_pattern
from .options import Options, UnitError, quote_text

_SIGN = r"[+−-]"
_UNCERTAINTY = r"(?:\([0-9.,]+\)|(?:\+-|\\pm|±)[0-9.,]+)"
_NUMBER = lazy_pattern(
    r"(?P<comparator>\\(?:approx|geq?|gg|leq?|ll|simeq|sim)|<=|>=|<<|>>|[<>=≈≤≥∼])?"
    rf"(?P<sign>\+-|-\+|{_SIGN}|\\pm|\\mp|[±∓])?"
    r"(?P<integer>[0-9]*)(?:[.,](?P<decimal>[0-9]*))?"
    rf"(?P<uncertain>{_UNCERTAINTY}*)"
    rf"(?:[eEdD](?P<exponent>{_SIGN}?[0-9]+))?"
)
_PARTS = lazy_pattern(r"\(([0-9.,]+)\)|(?:\+-|\\pm|±)([0-9.,]+)")
_MAX_SHIFT = 99
"""Decimal places that an option may move the decimal marker."""


class Number(Struct, frozen=True):
    """A number taken apart."""

    comparator: str
    sign: str
    integer: str
    decimal: str
    uncertainties: tuple[str, ...]
    """Digits of each, the last one at the place of the last digit of the number."""
    exponent: str
    """Digits with their sign; empty if there is none."""


def parse_number(text: str) -> Number:
    """`UnitError` if `text` is not one number."""
    match = _NUMBER.fullmatch(text)
    if match is None or not re.search("[0-9]", text):
        raise no_number(text)
    decimal, uncertainties = _align_decimals(match["decimal"] or "", match["uncertain"])
    exponent = (match["exponent"] or "").replace("−", "-").removeprefix("+")
    return Number(
        match["comparator"] or "", match["sign"] or "", match["integer"], decimal, uncertainties, exponent
    )


def no_number(text: str) -> UnitError:
    """The error of `text` that should be a number."""
    if not text:
        return UnitError("a number is missing")
    return UnitError(
        f"not a number: {quote_text(text)}", "with the option parse-numbers=false it is printed as it is"
    )


def _align_decimals(decimal: str, written: str) -> tuple[str, tuple[str, ...]]:
    """Decimals and uncertainties of the same number of places: `1.2 \\pm 0.03` has two."""
    values = [(a or b, bool(b) or "." in a or "," in a) for a, b in _PARTS.findall(written)]
    places = len(decimal)
    for value, is_value in values:
        _, _, after = value.replace(",", ".").partition(".")
        places = max(places, len(after) if is_value else 0)
    uncertainties = []
    for value, is_value in values:
        before, _, after = value.replace(",", ".").partition(".")
        digits = before + (after.ljust(places, "0") if is_value else "0" * (places - len(decimal)))
        uncertainties.append(digits.lstrip("0") or "0")
    return decimal.ljust(places, "0") if values else decimal, tuple(uncertainties)


def shift_exponent(number: Number, options: Options) -> Number:
    """`number` with the exponent that the options ask for."""
    if options.exponent_mode == "input" or not number.integer + number.decimal:
        return number
    digits = (number.integer + number.decimal).lstrip("0")
    if len(number.exponent) > 6:
        raise UnitError(f"the exponent is too big for exponent-mode={options.exponent_mode}")
    exponent = int(number.exponent or "0")
    # of the first digit that is not zero
    scale = exponent + len(digits) - len(number.decimal) - 1 if digits else 0
    wanted = options.fixed_exponent if options.exponent_mode == "fixed" else scale
    wanted -= wanted % 3 if options.exponent_mode == "engineering" else 0
    return _move_marker(number, exponent - wanted, str(wanted) if wanted else "")


def _move_marker(number: Number, places: int, exponent: str) -> Number:
    """`number` with the decimal marker `places` to the right."""
    if abs(places) > _MAX_SHIFT:
        raise UnitError(f"the decimal marker would move by {abs(places)} places")
    integer, decimal, spread = number.integer, number.decimal, number.uncertainties
    if places > len(decimal):
        spread = tuple(value + "0" * (places - len(decimal)) for value in spread)
    if places >= 0:
        decimal = decimal.ljust(places, "0")
        integer, decimal = integer + decimal[:places], decimal[places:]
    else:
        integer = integer.rjust(-places, "0")
        integer, decimal = integer[:places], integer[places:] + decimal
    return replace(
        number, integer=integer.lstrip("0") or "0", decimal=decimal, uncertainties=spread, exponent=exponent
    )


def round_number(number: Number, options: Options) -> Number:
    mode, wanted = options.round_mode, options.round_precision
    decimal = number.decimal
    if (
        mode == "none"
        or not number.integer + decimal
        or bool(number.uncertainties) != (mode == "uncertainty")
    ):
        return number
    digits = (number.integer + decimal).lstrip("0")
    if mode == "places":
        places = wanted
    elif mode == "figures":
        places = len(decimal) - (len(digits) - wanted)
    else:
        places = len(decimal) - (len(number.uncertainties[0]) - wanted)
    if places >= len(decimal):
        pad = options.round_pad and mode != "uncertainty" and digits
        return replace(number, decimal=decimal.ljust(places, "0")) if pad else number
    made = _round_to(number, places, options)
    # 9.99 becomes 10, which has one figure more
    has_grown = len((made.integer + made.decimal).lstrip("0")) > wanted and mode == "figures"
    return replace(made, decimal=made.decimal[:-1]) if has_grown else made


def _round_to(number: Number, places: int, options: Options) -> Number:
    """`number` with `places` decimals; less than none rounds tens, hundreds …"""
    drop = len(number.decimal) - places
    digits = _round_digits(number.integer + number.decimal, drop, options)
    spread = tuple(_round_digits(value, drop, options) for value in number.uncertainties)
    if places < 0:
        digits, places = digits + "0" * -places, 0
        spread = tuple(value + "0" * (drop - len(number.decimal)) for value in spread)
    digits = digits.rjust(places + 1, "0")
    cut = len(digits) - places
    return replace(number, integer=digits[:cut], decimal=digits[cut:], uncertainties=spread)


def _round_digits(digits: str, drop: int, options: Options) -> str:
    """`digits` without its last `drop` ones, the rest rounded."""
    kept, rest = digits.rjust(drop + 1, "0")[:-drop], digits.rjust(drop, "0")[-drop:]
    tie = rest[0] == "5" and not rest[1:].strip("0")
    up = rest[0] >= "5" and not (tie and options.round_half == "even" and kept[-1] in "02468")
    if not up:
        return kept
    head = kept.rstrip("9")
    raised = head[:-1] + str(int(head[-1]) + 1) if head else "1"
    return raised + "0" * (len(kept) - len(head))
