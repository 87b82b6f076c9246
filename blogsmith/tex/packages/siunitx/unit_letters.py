"""Units of siunitx written as letters: `kg.m^{-3}`, `N~m`, possibly mixed with commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ...parse.reader import text_of
from .options import UnitError
from .unit_names import PREFIXES, UNITS

POWER_SUFFIXES: Mapping[str, str] = MappingProxyType({"\\squared": "2", "\\cubed": "3"})
_PRIMES: Mapping[str, str] = MappingProxyType({"′": "'", "″": "''"})
_INVALID_IN_LETTERS = frozenset(("\\square", "\\cubic", "\\raiseto", "\\of"))

DeclaredUnits = Mapping[str, str]
"""Units that the author declared: command → symbol as TeX."""


def upright(symbol: str) -> str:
    """Return a symbol as upright TeX, with raised primes. A symbol that is TeX is not changed."""
    if symbol in _PRIMES:
        return _PRIMES[symbol]
    if not symbol or symbol in "°‰" or "\\" in symbol or "_" in symbol:
        return symbol
    return f"\\mathrm{{{symbol}}}"


def add_prefix(prefix: str, symbol: str) -> str:
    """Return the TeX of a unit with its prefix. `symbol` is TeX too."""
    start = "\\mathrm{"
    return f"{start}{prefix}{symbol[len(start) :]}" if symbol.startswith(start) else upright(prefix) + symbol


def read_unit_argument(tokens: Sequence[str], index: int) -> tuple[list[str], int]:
    """Return the group or token at `index`, and the index after it. UnitError if there is none."""
    command = tokens[index - 1]
    while index < len(tokens) and tokens[index] == " ":
        index += 1
    if index == len(tokens):
        raise UnitError(f'missing argument of "{command}"', token=command)
    if tokens[index] != "{":
        return [tokens[index]], index + 1
    depth = 0
    for end in range(index, len(tokens)):
        depth += (tokens[end] == "{") - (tokens[end] == "}")
        if not depth:
            return list(tokens[index + 1 : end]), end + 1
    raise UnitError(f'argument of "{command}" is never closed', token=command)


def joiner(product: str) -> str:
    """Return the TeX between two units for the option value `product`."""
    return f"{product} " if product[-1:].isalpha() else product


@dataclass(slots=True)
class _Line:
    """A unit written in letters, as far as it is read."""

    product: str
    made: list[str] = field(default_factory=list)
    letters: str = ""
    """Letters of the current unit, including its prefix."""
    prefix: str = ""
    """Prefix of the following unit."""
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
    """Return a unit as TeX: `.`, `~` and spaces separate units, `^` and `_` begin scripts, other commands are
    not changed."""
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
    """Write anything except a unit. Return the index after it."""
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
