r"""Options of siunitx such as `per-mode = symbol`, for `\sisetup` and every command of the package.

Names are those of versions 2 and 3. Options that only affect fonts, tables or line breaks on paper are
accepted and ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ....base.diagnostics.model import did_you_mean, list_choices
from ....base.patterns import lazy_pattern
from ...parse.reader import text_of
from ...parse.scan import split_tokens

_MAX_QUOTED = 40


class UnitError(Exception):
    """A number, a unit or an option is invalid."""

    def __init__(self, message: str, hint: str = "", token: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.token = token
        """First invalid token; empty if the whole argument is invalid."""
        self.end = token
        """Last invalid token; empty if the whole argument is invalid."""


def quote_text(text: str) -> str:
    """Return the author's text shortened for a message."""
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"


class Options(Struct, frozen=True):
    """How numbers, units and lists are printed. Fields are named after the options of version 3."""

    parse_numbers: bool = True
    group_digits: str = "all"
    group_minimum_digits: int = 5
    group_separator: str = "\\,"
    output_decimal_marker: str = "."
    exponent_product: str = "\\times"
    exponent_base: str = "10"
    output_exponent_marker: str = ""
    exponent_mode: str = "input"
    fixed_exponent: int = 0
    round_mode: str = "none"
    round_precision: int = 2
    round_half: str = "up"
    round_pad: bool = True
    drop_zero_decimal: bool = False
    drop_uncertainty: bool = False
    drop_exponent: bool = False
    minimum_decimal_digits: int = 0
    minimum_integer_digits: int = 0
    print_unity_mantissa: bool = True
    print_zero_exponent: bool = False
    print_implicit_plus: bool = False
    retain_explicit_plus: bool = False
    bracket_negative_numbers: bool = False
    uncertainty_mode: str = "compact"
    output_complex_root: str = "\\mathrm{i}"
    complex_root_position: str = "after-number"
    tight_spacing: bool = False
    quotient_mode: str = "symbol"
    parse_units: bool = True
    per_mode: str = "power"
    per_symbol: str = "/"
    bracket_unit_denominator: bool = True
    sticky_per: bool = False
    inter_unit_product: str = "\\,"
    quantity_product: str = "\\,"
    qualifier_mode: str = "subscript"
    qualifier_phrase: str = ""
    fraction_command: str = "\\frac"
    list_separator: str = ", "
    list_final_separator: str = " and "
    list_pair_separator: str = " and "
    list_units: str = "repeat"
    range_phrase: str = " to "
    range_units: str = "repeat"
    product_symbol: str = "\\times"
    product_units: str = "repeat"
    angle_mode: str = "input"
    arc_separator: str = ""
    number_angle_product: str = ""


_OPTIONS = tuple(name.replace("_", "-") for name in Options.__struct_fields__)
_MAX_NUMBER = 99
"""Maximum value of an option that is a number, such as a count of digits or an exponent."""
_MAX_LENGTH = 100
"""Maximum length of an option's value, in characters."""
_OPTION = lazy_pattern("locale|[a-z]{2,}(?:-[a-z]+)+")

_CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "group-digits": ("all", "none", "decimal", "integer"),
        "exponent-mode": ("input", "scientific", "engineering", "fixed"),
        "round-mode": ("none", "places", "figures", "uncertainty"),
        "round-half": ("up", "even"),
        "uncertainty-mode": ("compact", "compact-marker", "full", "separate"),
        "complex-root-position": ("after-number", "before-number"),
        "quotient-mode": ("symbol", "fraction"),
        "per-mode": (
            "power",
            "power-positive-first",
            "fraction",
            "symbol",
            "single-symbol",
            "repeated-symbol",
        ),
        "qualifier-mode": ("subscript", "bracket", "combine", "phrase"),
        "list-units": ("repeat", "single", "bracket"),
        "range-units": ("repeat", "single", "bracket"),
        "product-units": ("repeat", "single", "bracket", "power", "bracket-power"),
        "angle-mode": ("input", "arc", "decimal"),
    }
)
# names of version 2 and short names → name of version 3
_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "number-unit-product": "quantity-product",
        "number-unit-separator": "quantity-product",
        "separate-uncertainty": "uncertainty-mode",
        "scientific-notation": "exponent-mode",
        "zero-decimal-to-integer": "drop-zero-decimal",
        "omit-uncertainty": "drop-uncertainty",
        "retain-unity-mantissa": "print-unity-mantissa",
        "retain-zero-exponent": "print-zero-exponent",
        "explicit-sign": "print-implicit-plus",
        "round-integer-to-decimal": "round-pad",
        "output-product": "product-symbol",
        "fraction-function": "fraction-command",
        "decimal-marker": "output-decimal-marker",
    }
)
_VALUES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "group-digits": {"true": "all", "false": "none"},
        "uncertainty-mode": {"true": "separate", "false": "compact"},
        "exponent-mode": {"true": "scientific", "false": "input"},
        "print-implicit-plus": {"+": "true"},
        "round-mode": {"off": "none"},
        "per-mode": {"reciprocal": "power", "reciprocal-positive-first": "power-positive-first"},
        "qualifier-mode": {"brackets": "bracket", "text": "combine"},
        "list-units": {"brackets": "bracket"},
        "range-units": {"brackets": "bracket"},
        "product-units": {"brackets": "bracket", "brackets-power": "bracket-power"},
    }
)
_LOCALES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("UK", "US", "USA"), (".", "\\times")),
        **dict.fromkeys(("FR", "PL", "ZA", "SI"), (",", "\\times")),
        "DE": (",", "\\cdot"),
    }
)
"""Value of the option `locale` → decimal marker, and multiplication symbol before a power of ten."""
_FONTS_AND_TABLES = """
detect-all detect-weight detect-family detect-shape detect-mode detect-none detect-inline-weight
detect-inline-family detect-display-math reset-math-version reset-text-family reset-text-series
reset-text-shape propagate-math-font mode text-family-to-math text-series-to-math unit-font-command
number-font-command text-font-command power-font table-format table-number-alignment
allow-number-unit-breaks allow-quantity-breaks allow-breaks free-standing-units space-before-unit
use-xspace unit-optional-argument abbreviations binary-units strict
"""
_IGNORED = frozenset(_FONTS_AND_TABLES.split())


def read_options(tokens: Sequence[str], start: Options) -> Options:
    """Return the options `start`, changed by the list `key = value, …`. UnitError for an unknown key or
    value."""
    options = start
    for entry in split_tokens(tokens, ","):
        key, *values = split_tokens(entry, "=")
        name = text_of(key).strip()
        value = (
            text_of([token for value in values for token in ("=", *value)][1:]).strip() if values else "true"
        )
        try:
            options = _change_option(options, name, _strip_braces(value)) if name else options
        except UnitError as error:
            error.token, *_, error.end = [token for token in key if token != " "] * 2
            raise
    return options


def is_option_list(tokens: Sequence[str]) -> bool:
    """Return whether `[…]` after a command contains options, not a formula in brackets."""
    names = [text_of(split_tokens(entry, "=")[0]).strip() for entry in split_tokens(tokens, ",")]
    return all(not name or name in _OPTIONS or name in _ALIASES or _OPTION.fullmatch(name) for name in names)


def single_entries(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the option list with only the last entry of each name."""
    entries = {text_of(split_tokens(entry, "=")[0]).strip(): entry for entry in split_tokens(tokens, ",")}
    return tuple(token for name, entry in entries.items() if name for token in (*entry, ","))


def _strip_braces(value: str) -> str:
    return value[1:-1] if value[:1] == "{" and value[-1:] == "}" and value.count("{") == 1 else value


def _change_option(options: Options, name: str, value: str) -> Options:
    if name in _IGNORED:
        return options
    if name == "locale":
        if value not in _LOCALES:
            raise UnitError(f'unknown locale "{quote_text(value)}"', list_choices(sorted(_LOCALES)))
        marker, product = _LOCALES[value]
        return replace(options, output_decimal_marker=marker, exponent_product=product)
    if name == "group-four-digits":
        return replace(options, group_minimum_digits=5 if value == "false" else 4)
    key = _ALIASES.get(name, name)
    if key not in _OPTIONS:
        hint = (
            did_you_mean(name, (*_OPTIONS, *_ALIASES, *_IGNORED)) or "remove it: this option is not supported"
        )
        raise UnitError(f'unknown siunitx option "{quote_text(name)}"', hint)
    if len(value) > _MAX_LENGTH:
        raise UnitError(
            f'value of "{name}" is too long: more than {_MAX_LENGTH} characters', "write a shorter value"
        )
    value = _VALUES.get(key, {}).get(value, value)
    field = key.replace("-", "_")
    default = getattr(options, field)
    if isinstance(default, bool):
        return replace(options, **{field: _boolean(name, value)})
    if isinstance(default, int):
        return replace(options, **{field: _integer(name, value)})
    choices = _CHOICES.get(key)
    if choices and value not in choices:
        raise UnitError(f'invalid value "{quote_text(value)}" of "{name}"', list_choices(choices))
    return replace(options, **{field: value})


def _boolean(name: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise UnitError(
            f'invalid value "{quote_text(value)}" of "{name}": expected true or false',
            "write `true` or `false`",
        )
    return value == "true"


def _integer(name: str, value: str) -> int:
    digits = value.removeprefix("-") if name == "fixed-exponent" else value
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 9 and int(digits) <= _MAX_NUMBER):
        raise UnitError(
            f'invalid value "{quote_text(value)}" of "{name}": expected a number up to {_MAX_NUMBER}',
            "write a smaller whole number",
        )
    return int(value)
