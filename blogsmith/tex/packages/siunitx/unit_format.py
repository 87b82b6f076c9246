r"""Units of siunitx as TeX, formatted as `per-mode` requires: `\kilo\gram\per\cubic\metre` or `kg.m^{-3}`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ....base.diagnostics.model import nearest
from ....base.patterns import lazy_pattern
from ...parse.reader import text_of
from .options import Options, UnitError
from .unit_names import PREFIXES, UNITS

POWER_SUFFIXES: Mapping[str, str] = MappingProxyType({"\\squared": "2", "\\cubed": "3"})
_PRIMES: Mapping[str, str] = MappingProxyType({"′": "'", "″": "''"})
_INVALID_IN_LETTERS = frozenset(("\\square", "\\cubic", "\\raiseto", "\\of"))

DeclaredUnits = Mapping[str, str]
"""Units that the author declared: command → symbol as TeX."""


def upright(symbol: str) -> str:
    """Return a symbol as upright TeX, with raised primes. A symbol that is already TeX is not changed."""
    if symbol in _PRIMES:
        return _PRIMES[symbol]
    if not symbol or symbol in "°‰" or "\\" in symbol or "_" in symbol:
        return symbol
    return f"\\mathrm{{{symbol}}}"


def add_prefix(prefix: str, symbol: str) -> str:
    """Return the TeX of a unit with its prefix. symbol: TeX of the unit."""
    start = "\\mathrm{"
    return f"{start}{prefix}{symbol[len(start) :]}" if symbol.startswith(start) else upright(prefix) + symbol


def read_unit_argument(tokens: Sequence[str], index: int) -> tuple[list[str], int]:
    """Return the group or token at `index`, and the index after it. UnitError if there is none."""
    command = tokens[index - 1]
    while index < len(tokens) and tokens[index] == " ":
        index += 1
    if index == len(tokens):
        raise UnitError(f'missing argument of "{command}"', f"write `{command}{{…}}`", command)
    if tokens[index] != "{":
        return [tokens[index]], index + 1
    depth = 0
    for end in range(index, len(tokens)):
        depth += (tokens[end] == "{") - (tokens[end] == "}")
        if not depth:
            return list(tokens[index + 1 : end]), end + 1
    raise UnitError(f'argument of "{command}" is never closed', "write `}` where it ends", command)


def joiner(product: str) -> str:
    """Return the TeX between two factors for `product`, the value of an option."""
    return f"{product} " if product[-1:].isalpha() else product


@dataclass(slots=True)
class _Line:
    """A unit written in letters, such as `kg.m^2`, while it is read."""

    product: str
    made: list[str] = field(default_factory=list)
    letters: str = ""
    """Letters of the current unit, with its prefix."""
    prefix: str = ""
    """Prefix that was read as a command and applies to the next unit."""
    needs_product: bool = False
    """Whether a product sign must precede the next unit."""

    def letter(self, letter: str) -> None:
        if self.needs_product:
            self.end()
            self.made.append(self.product)
        self.letters += self.prefix + letter
        self.prefix, self.needs_product = "", False

    def unit(self, tex: str) -> None:
        if self.letters or self.needs_product:
            self.end()
            self.made.append(self.product)
        self.made.append(tex)
        self.prefix, self.needs_product = "", True

    def sign(self, tex: str) -> None:
        self.end()
        self.made.append(tex)
        self.needs_product = False

    def script(self, mark: str, tex: str) -> None:
        self.end()
        self.made.append(f"{mark}{{{tex}}}")
        self.needs_product = True

    def add_space(self) -> None:
        self.needs_product = self.needs_product or bool(self.letters)

    def end(self) -> None:
        """Finish the unit whose letters were read."""
        if self.letters or self.prefix:
            self.made.append(upright(self.letters + self.prefix))
        self.letters = self.prefix = ""


def letters_tex(tokens: Sequence[str], product: str, own: DeclaredUnits) -> str:
    """Return a unit written in letters as TeX: `.`, `~` and spaces separate units, `^` and `_` begin scripts,
    unknown commands are not changed. product: TeX between units. own: units that the author declared."""
    line = _Line(joiner(product))
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token in (".", "~", " "):
            line.add_space()
        elif token in UNITS or token in own:
            line.unit(_unit(token, line.prefix, own))
        elif token in PREFIXES:
            line.prefix += PREFIXES[token]
        elif len(token) == 1 and (token.isalpha() or token in "°′″"):
            line.letter(token)
        else:
            index = _write_other(token, tokens, index, line)
    line.end()
    return "".join(line.made)


def _unit(token: str, prefix: str, own: DeclaredUnits) -> str:
    if token in own:
        return add_prefix(prefix, own[token])
    name = UNITS[token]
    return add_prefix(prefix + name.prefix, upright(name.symbol))


def _write_other(token: str, tokens: Sequence[str], index: int, line: _Line) -> int:
    """Write `token`, which is not a unit, with its arguments. Return the index after them."""
    if token in _INVALID_IN_LETTERS:
        raise UnitError(
            f'"{token}" is not allowed in a unit written in letters', "write `^` for a power", token
        )
    if token in ("^", "_", "\\tothe"):
        found, index = read_unit_argument(tokens, index)
        if found in (["-"], ["−"]) and index < len(tokens) and tokens[index].isdecimal():
            found, index = ["-", tokens[index]], index + 1
        text = text_of(found)
        line.script(*("_", f"\\mathrm{{{text}}}") if token == "_" else ("^", text))
    elif token in POWER_SUFFIXES:
        line.script("^", POWER_SUFFIXES[token])
    elif token == "\\per":
        line.sign("/")
    elif token[0] == "\\":
        line.sign(token)
        while index < len(tokens) and tokens[index] == "{":
            found, index = read_unit_argument(tokens, index)
            line.made.append(f"{{{text_of(found)}}}")
        if line.made[-1] == token and token[-1].isalpha():
            line.made.append(" ")
    elif token not in "{}":
        line.sign(token)
    return index


_POWERS_BEFORE: Mapping[str, str] = MappingProxyType({"\\square": "2", "\\cubic": "3"})
_WITH_ARGUMENT = frozenset(("\\tothe", "\\raiseto", "\\of"))
GRAMMAR = frozenset((*UNITS, *PREFIXES, *POWER_SUFFIXES, *_POWERS_BEFORE, *_WITH_ARGUMENT, "\\per"))
"""All commands with a meaning in a unit."""
# names similar to a shorter one are not suggested: any three letters are similar to some unit
_SUGGESTED = tuple(sorted(name for name in GRAMMAR if len(name) > 4))
_WORD = lazy_pattern(r"\\[A-Za-z]+")


class _Factor(Struct, frozen=True):
    """One unit with its prefix."""

    symbol: str
    """Symbol of the unit with its prefix, as TeX."""
    power: str = ""
    """Power as TeX; empty for 1."""
    is_below: bool = False
    r"""Whether the unit follows `\per`, so that it is below the line."""
    qualifier: str = ""
    r"""Argument of `\of` as TeX."""


@dataclass(slots=True)
class _PendingUnit:
    r"""Prefix, power and `\per` that were read and apply to the following unit."""

    prefix: str = ""
    power: str = ""
    is_below: bool = False


class _NotCommandsError(Exception):
    """Signal that a unit contains something other than commands."""


def unit_tex(tokens: Sequence[str], options: Options, own: DeclaredUnits) -> str:
    """Return a unit without a number as TeX."""
    tex = _format_after_number(tokens, options, own)
    if tex.startswith("'"):
        return "{}" + tex
    return f"1{tex}" if tex and tex.startswith(options.per_symbol or " ") else tex


def quantity_tex(number: str, tokens: Sequence[str], options: Options, own: DeclaredUnits) -> str:
    """Return `number` with its unit as TeX. number: TeX; if it is empty, only the unit is returned."""
    tex = _format_after_number(tokens, options, own)
    if not tex or not number:
        return number or unit_tex(tokens, options, own)
    if tex.startswith("'"):
        return f"{{{number}}}{tex}"
    is_close = tex.startswith("°") or tex.startswith(options.per_symbol or " ")
    space = "" if is_close else joiner(options.quantity_product)
    return f"{number}{space}\\MathMLintent{{:unit}}{{{tex}}}"


def raise_unit(tokens: Sequence[str], power: int, options: Options, own: DeclaredUnits) -> str:
    """Return the unit of a product of `power` quantities: the unit to this power."""
    tex = unit_tex(tokens, options, own)
    is_one = tex.count("\\mathrm") == 1 and tex.endswith("}") and tex.startswith("\\mathrm")
    return f"{tex}^{{{power}}}" if is_one else f"({tex})^{{{power}}}"


def _format_after_number(tokens: Sequence[str], options: Options, own: DeclaredUnits) -> str:
    """Return the unit as TeX to be printed after a number; it may begin with a slash."""
    if not options.parse_units:
        text = text_of(tokens).strip()
        return f"\\mathrm{{{text}}}" if text else ""
    try:
        return _join_factors(_factors(tokens, options, own), options)
    except _NotCommandsError:
        return letters_tex(tokens, options.inter_unit_product, own)


def _factors(tokens: Sequence[str], options: Options, own: DeclaredUnits) -> list[_Factor]:
    """Return the factors of a unit. `_NotCommandsError` if it contains anything except commands of units.
    UnitError if a prefix or power has no unit."""
    factors: list[_Factor] = []
    state = _PendingUnit()
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        argument = ""
        if token in _WITH_ARGUMENT:
            found, index = read_unit_argument(tokens, index)
            argument = text_of(found).strip()
        if token == " " or _applies_to_next(token, argument, state):
            continue
        if token in UNITS or token in own:
            factors.append(_factor(token, state, own))
            state = _PendingUnit(is_below=state.is_below and options.sticky_per)
        else:
            _amend(token, argument, factors)
    if state != _PendingUnit(is_below=options.sticky_per and state.is_below):
        last = next(token for token in reversed(tokens) if token in GRAMMAR)
        raise UnitError(f'missing unit after "{last}"', f"write a unit such as `{last}\\metre`", last)
    return factors


def _applies_to_next(token: str, argument: str, state: _PendingUnit) -> bool:
    """If `token` applies to the following unit, record it in `state`. Return whether it does."""
    if token == "\\per":
        state.is_below = True
    elif token in PREFIXES:
        state.prefix += PREFIXES[token]
    elif token in _POWERS_BEFORE:
        state.power = _POWERS_BEFORE[token]
    elif token == "\\raiseto":
        state.power = argument
    else:
        return False
    return True


def _factor(token: str, state: _PendingUnit, own: DeclaredUnits) -> _Factor:
    if token in own:
        symbol = add_prefix(state.prefix, own[token])
    else:
        symbol = add_prefix(state.prefix + UNITS[token].prefix, upright(UNITS[token].symbol))
    return _Factor(symbol, state.power, state.is_below)


def _amend(token: str, argument: str, factors: list[_Factor]) -> None:
    r"""Apply `\squared`, `\tothe` or `\of` to the last unit. `_NotCommandsError` for any other token."""
    if token not in POWER_SUFFIXES and token not in _WITH_ARGUMENT:
        near = _nearest(token) if _WORD.fullmatch(token) else ""
        if near:
            raise UnitError(f'unknown unit "{token}"', f"did you mean `{near}`?", token)
        raise _NotCommandsError
    if not factors:
        raise UnitError(f'missing unit before "{token}"', f"write a unit such as `\\metre{token}`", token)
    change = {"qualifier": argument} if token == "\\of" else {"power": POWER_SUFFIXES.get(token, argument)}
    factors[-1] = replace(factors[-1], **change)


@lru_cache(256)
def _nearest(command: str) -> str:
    r"""Return the known command most similar to `command`, or the prefix and unit that it consists of, such
    as `\kilo\metre`; empty if no name is similar."""
    for prefix in PREFIXES:
        unit = "\\" + command.removeprefix(prefix)
        if unit in UNITS:
            return prefix + unit
    initial = command[1].lower()
    candidates = [name for name in _SUGGESTED if name[1].lower() == initial]
    return nearest(command, candidates) or ""


def _join_factors(factors: Sequence[_Factor], options: Options) -> str:
    """Join the units as `per-mode` requires. The result may start with a slash, for use after a number."""
    mode = options.per_mode
    above = [factor for factor in factors if not factor.is_below]
    below = [factor for factor in factors if factor.is_below]
    if mode == "single-symbol":
        mode = "symbol" if len(below) == 1 else "power"
    if mode == "power-positive-first":
        factors = [*above, *below]
    if not below or mode.startswith("power"):
        return _product([_negative(factor) if factor.is_below else factor for factor in factors], options)
    numerator = _product(above, options)
    if mode == "fraction":
        return f"{options.fraction_command}{{{numerator or '1'}}}{{{_product(below, options)}}}"
    if mode == "repeated-symbol":
        return numerator + "".join(options.per_symbol + _format_factor(factor, options) for factor in below)
    denominator = _product(below, options)
    if len(below) > 1 and options.bracket_unit_denominator:
        denominator = f"({denominator})"
    return f"{numerator}{joiner(options.per_symbol)}{denominator}"


def _negative(factor: _Factor) -> _Factor:
    power = factor.power or "1"
    return replace(factor, power=power[1:] if power.startswith("-") else f"-{power}")


def _product(factors: Sequence[_Factor], options: Options) -> str:
    return joiner(options.inter_unit_product).join(_format_factor(factor, options) for factor in factors)


def _format_factor(factor: _Factor, options: Options) -> str:
    symbol = factor.symbol
    if factor.qualifier:
        symbol = _QUALIFIED[options.qualifier_mode](symbol, factor.qualifier, options.qualifier_phrase)
    if factor.power in ("", "1"):
        return symbol
    base = f"{{{symbol}}}" if "^" in symbol or "_" in symbol else symbol
    return f"{base}^{{{factor.power}}}"


# (symbol, qualifier, phrase) → symbol with qualifier
_QUALIFIED: Mapping[str, Callable[[str, str, str], str]] = MappingProxyType(
    {
        "subscript": lambda symbol, of, _: f"{symbol}_{{\\mathrm{{{of}}}}}",
        "bracket": lambda symbol, of, _: f"{symbol}(\\mathrm{{{of}}})",
        "combine": lambda symbol, of, _: f"{symbol}\\mathrm{{{of}}}",
        "phrase": lambda symbol, of, phrase: f"{symbol}\\text{{{phrase}}}\\mathrm{{{of}}}",
    }
)
