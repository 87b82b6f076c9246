r"""Numbers of siunitx as TeX: `1.23(4)e5` → `1.23(4)\times 10^{5}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ....base.patterns import lazy_pattern
from .options import Options, UnitError, quote_text

_COMMAND = lazy_pattern(r"\\[a-z]+")
_POWER = r"[eEdD][+-]?[0-9]+"
_COMPLEX = lazy_pattern(
    rf"(?P<real>[+-]?[0-9.,()]*(?:{_POWER})?(?=[+-]|$))?"
    rf"(?P<imaginary>[+-]?(?:[ij](?P<after>[0-9.,()]*)|(?P<before>[0-9.,()]*(?:{_POWER})?)[ij]))"
    rf"(?P<exponent>{_POWER})?"
)
FACTOR_SIGN = lazy_pattern(r"(?<![a-z])x|×|\\times")
r"""Matches the sign between the factors of a product: `2 x 3`, but not the `x` of `\approx`."""
_BLANK = lazy_pattern(r"\\[,;:! ]|[\s~]")
_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "+-": "\\pm ",
        "±": "\\pm ",
        "-+": "\\mp ",
        "∓": "\\mp ",
        "−": "-",
        "<=": "\\le ",
        ">=": "\\ge ",
        "<<": "\\ll ",
        ">>": "\\gg ",
    }
)


def number_tex(text: str, options: Options, *, has_unit: bool = False) -> str:
    """Return a number, a product (`2 x 3`), a quotient (`1/2`) or a complex number as TeX. has_unit: whether
    a unit follows, so that a sum needs brackets. UnitError for anything else."""
    if not options.parse_numbers:
        return text.strip()
    text = _BLANK.sub("", text)
    if "\\pi" in text:  # version 2 of siunitx accepts this symbol
        return text
    factors = FACTOR_SIGN.split(text)
    if len(factors) > 1:
        product = f"{_tight(options.product_symbol, options)} "
        return product.join(number_tex(factor, options, has_unit=True) for factor in factors)
    if "/" in text:
        above, _, below = text.partition("/")
        parts = _format_text(above, options, True), _format_text(below, options, True)
        return "\\frac{{{}}}{{{}}}".format(*parts) if options.quotient_mode == "fraction" else "/".join(parts)
    return _format_text(text, options, has_unit)


def _format_text(text: str, options: Options, has_unit: bool) -> str:
    if re.search("[ij]", _COMMAND.sub("", text)):
        return _complex(text, options, has_unit)
    number = parse_number(text)
    if options.drop_uncertainty:
        number = replace(number, uncertainties=())
    if options.drop_exponent:
        number = replace(number, exponent="")
    return _format_number(round_number(shift_exponent(number, options), options), options, has_unit)


def _complex(text: str, options: Options, has_unit: bool) -> str:
    match = _COMPLEX.fullmatch(text)
    if match is None:
        raise not_a_number_error(text)
    plain = replace(options, retain_explicit_plus=True, print_implicit_plus=bool(match["real"]))
    digits = match["before"] or match["after"] or ""
    sign = match["imaginary"][0] if match["imaginary"][0] in "+-" else ""
    value = _format_text(sign + digits, plain, False) if digits else sign
    root = options.output_complex_root
    if options.complex_root_position == "before-number":
        part = sign + root + value.removeprefix(sign)
    else:
        part = value + root
    real = _format_text(match["real"], options, False) if match["real"] else ""
    whole = real + part
    if match["exponent"]:
        return (f"({whole})" if real else whole) + _power_of_ten(match["exponent"][1:], options, True)
    return f"({whole})" if real and has_unit else whole


def _format_number(number: Number, options: Options, has_unit: bool) -> str:
    comparator = _SIGNS.get(number.comparator, _space_command(number.comparator))
    value = _value(number, options)
    exponent = number.exponent
    if exponent.strip("-0") == "" and not (exponent and options.print_zero_exponent):
        exponent = ""
    power = _power_of_ten(exponent, options, bool(value)) if exponent else ""
    if value == "1" and power and not options.print_unity_mantissa and not number.uncertainties:
        value, power = "", _power_of_ten(exponent, options, False)
    spread = "".join(_uncertainty(part, number, options) for part in number.uncertainties)
    sign = _sign(number, options)
    if options.bracket_negative_numbers and sign == "-":
        return f"{comparator}({value}{spread}){power}"
    if "\\pm" in spread and (power or has_unit):
        return f"{comparator}({sign}{value}{spread}){power}"
    return f"{comparator}{sign}{value}{spread}{power}"


def _space_command(command: str) -> str:
    return f"{command} " if command[:1] == "\\" else command


def _sign(number: Number, options: Options) -> str:
    sign = number.sign
    if sign in ("", "+"):
        shown = options.print_implicit_plus or (sign and options.retain_explicit_plus)
        return "+" if shown else ""
    return _SIGNS.get(sign, _space_command(sign))


def _value(number: Number, options: Options) -> str:
    integer, decimal = number.integer, number.decimal
    if not integer and not decimal:
        return ""
    integer = (integer or "0").rjust(options.minimum_integer_digits, "0")
    decimal = decimal.ljust(options.minimum_decimal_digits, "0")
    if options.drop_zero_decimal and not decimal.strip("0"):
        decimal = ""
    return _group_digits(integer, decimal, options)


def _group_digits(integer: str, decimal: str, options: Options) -> str:
    mode, separator = options.group_digits, _protect_separator(options.group_separator)
    if mode in ("all", "integer") and len(integer) >= options.group_minimum_digits:
        first = len(integer) % 3
        threes = [integer[at : at + 3] for at in range(first, len(integer), 3)]
        integer = separator.join([integer[:first], *threes] if first else threes)
    if mode in ("all", "decimal") and len(decimal) >= options.group_minimum_digits:
        decimal = separator.join(decimal[at : at + 3] for at in range(0, len(decimal), 3))
    marker = options.output_decimal_marker
    return integer + (("." if marker == "." else f"{{{marker}}}") + decimal if decimal else "")


def _protect_separator(separator: str) -> str:
    """Return a separator in braces, so that TeX does not treat it as punctuation: `1{,}000`."""
    return separator if separator.startswith("\\") or not separator else f"{{{separator}}}"


def _uncertainty(digits: str, number: Number, options: Options) -> str:
    places = len(number.decimal)
    mode = options.uncertainty_mode
    if mode == "compact" or (mode == "compact-marker" and len(digits) <= places):
        return f"({digits})"
    padded = digits.rjust(places + 1, "0")
    cut = len(padded) - places
    value = _group_digits(padded[:cut], padded[cut:], options)
    return f"\\pm {value}" if mode == "separate" else f"({value})"


def _power_of_ten(exponent: str, options: Options, after_value: bool) -> str:
    exponent = exponent.removeprefix("+")
    if options.output_exponent_marker:
        return f"\\mathrm{{{options.output_exponent_marker}}}{exponent}"
    product = f"{_tight(options.exponent_product, options)} " if after_value else ""
    return f"{product}{options.exponent_base}^{{{exponent}}}"


def _tight(sign: str, options: Options) -> str:
    return f"{{{sign}}}" if options.tight_spacing else sign


# Parser of siunitx numbers: `1.23(4)e5` is split into parts, shifted and rounded. All operations work on
# digits as strings, so a number preserves every digit the author wrote.


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
"""Maximum number of places by which an option may move the decimal marker."""


class Number(Struct, frozen=True):
    """The parts of a number."""

    comparator: str
    sign: str
    integer: str
    decimal: str
    uncertainties: tuple[str, ...]
    """Digits of each uncertainty, whose last digit has the place value of the number's last digit."""
    exponent: str
    """Digits with their sign; empty if there is none."""


def parse_number(text: str) -> Number:
    """Parse one number. UnitError if `text` is not one number."""
    match = _NUMBER.fullmatch(text)
    if match is None or not re.search("[0-9]", text):
        raise not_a_number_error(text)
    decimal, uncertainties = _align_decimals(match["decimal"] or "", match["uncertain"])
    exponent = (match["exponent"] or "").replace("−", "-").removeprefix("+")
    return Number(
        match["comparator"] or "", match["sign"] or "", match["integer"], decimal, uncertainties, exponent
    )


def not_a_number_error(text: str) -> UnitError:
    """Return the error for `text`, which should be a number but is not."""
    if not text:
        return UnitError("missing number", "write a number such as `1.5e3`")
    return UnitError(
        f'invalid number "{quote_text(text)}"',
        "write `[parse-numbers=false]` after the command to print it unchanged",
    )


def _align_decimals(decimal: str, written: str) -> tuple[str, tuple[str, ...]]:
    r"""Return the digits after the decimal marker, and those of the uncertainties, with the same number of
    decimal places: `1.2 \pm 0.03` has two."""
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


_SMALLER = "write a smaller exponent, or remove the option `exponent-mode`"


def shift_exponent(number: Number, options: Options) -> Number:
    """Return `number` with the exponent that `exponent-mode` requires."""
    if options.exponent_mode == "input" or not number.integer + number.decimal:
        return number
    digits = (number.integer + number.decimal).lstrip("0")
    if len(number.exponent) > 6:
        raise UnitError(f"exponent is too large for exponent-mode={options.exponent_mode}", _SMALLER)
    exponent = int(number.exponent or "0")
    # exponent of the first non-zero digit
    scale = exponent + len(digits) - len(number.decimal) - 1 if digits else 0
    wanted = options.fixed_exponent if options.exponent_mode == "fixed" else scale
    wanted -= wanted % 3 if options.exponent_mode == "engineering" else 0
    return _move_marker(number, exponent - wanted, str(wanted) if wanted else "")


def _move_marker(number: Number, places: int, exponent: str) -> Number:
    if abs(places) > _MAX_SHIFT:
        raise UnitError(
            f"exponent is too large: the decimal marker would move by {abs(places)} places", _SMALLER
        )
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
    # 9.99 becomes 10, which has one more figure
    has_grown = len((made.integer + made.decimal).lstrip("0")) > wanted and mode == "figures"
    return replace(made, decimal=made.decimal[:-1]) if has_grown else made


def _round_to(number: Number, places: int, options: Options) -> Number:
    """Return `number` rounded to `places` decimals. A negative `places` rounds to tens, hundreds …"""
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
    """Return `digits` without the last `drop` digits, rounded."""
    kept, rest = digits.rjust(drop + 1, "0")[:-drop], digits.rjust(drop, "0")[-drop:]
    tie = rest[0] == "5" and not rest[1:].strip("0")
    up = rest[0] >= "5" and not (tie and options.round_half == "even" and kept[-1] in "02468")
    if not up:
        return kept
    head = kept.rstrip("9")
    raised = head[:-1] + str(int(head[-1]) + 1) if head else "1"
    return raised + "0" * (len(kept) - len(head))
