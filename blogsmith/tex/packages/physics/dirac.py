"""Dirac notation of the physics package: bras, kets, expectation values, matrix elements."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...parse.reader import Expander, FormulaReader, fill

_BRA = r"\mathinner{\MathMLintent{bra($x)}{\left\langle\MathMLarg{x}{#1}\right\vert}}"
_KET = r"\mathinner{\MathMLintent{ket($x)}{\left\vert\MathMLarg{x}{#1}\right\rangle}}"
_BRACKET = r"\left\langle{#1}\middle\vert{#2}\right\rangle "
_FIXED_BRACKET = r"\langle{#1}\vert{#2}\rangle "
_DYAD = r"\left\vert{#1}\middle\rangle\!\middle\langle{#2}\right\vert "
_FIXED_DYAD = r"\vert{#1}\rangle\!\langle{#2}\vert "
# by number of stars: 0: the operator does not affect brackets; 1: no brackets grow; 2: brackets grow with
# everything
_ELEMENTS = (
    r"{\left\langle{#1}\right\vert}{#2}{\left\vert{#3}\right\rangle}",
    r"\langle{#1}\vert{#2}\vert{#3}\rangle ",
    r"\left\langle{#1}\middle\vert{#2}\middle\vert{#3}\right\rangle ",
)


def _second(reader: FormulaReader) -> list[str] | None:
    return reader.argument() if reader.peek() == "{" else None


def _bra(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\bra{a}`; `\bra{a}\ket{b}` is joined to one bracket."""
    fixed = reader.star()
    bra = reader.argument()
    if reader.peek() != "\\ket":
        return fill(r"\langle{#1}\vert " if fixed else _BRA, bra)
    reader.pop()
    fixed = reader.star() or fixed
    return fill(_FIXED_BRACKET if fixed else _BRACKET, bra, _second(reader) or [])


def _ket(reader: FormulaReader, command: str) -> list[str]:
    fixed = reader.star()
    return fill(r"\vert{#1}\rangle " if fixed else _KET, reader.argument())


def _pair(growing: str, fixed: str) -> Expander:
    """Return an expander for a command with two arguments, of which the second defaults to the first."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        template = fixed if reader.star() else growing
        first = reader.argument()
        second = _second(reader)
        return fill(template, first, first if second is None else second)

    return expand


def _stars(reader: FormulaReader) -> int:
    return 1 + reader.star() if reader.star() else 0


def _expectation(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\ev{A}` to ⟨A⟩, and `\ev{A}{\psi}` to ⟨ψ|A|ψ⟩."""
    stars = _stars(reader)
    operator = reader.argument()
    state = _second(reader)
    if state and operator:
        return fill(_ELEMENTS[stars], state, operator, state)
    return fill(r"\langle{#1}\rangle " if stars else r"\left\langle{#1}\right\rangle ", operator)


def _element(reader: FormulaReader, command: str) -> list[str]:
    stars = _stars(reader)
    return fill(_ELEMENTS[stars], reader.argument(), reader.argument(), reader.argument())


_INNER = _pair(_BRACKET, _FIXED_BRACKET)
_OUTER = _pair(_DYAD, _FIXED_DYAD)

EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        **dict.fromkeys(("\\innerproduct", "\\ip"), _INNER),
        **dict.fromkeys(("\\outerproduct", "\\dyad", "\\ketbra", "\\op"), _OUTER),
        **dict.fromkeys(("\\expectationvalue", "\\expval", "\\ev"), _expectation),
        **dict.fromkeys(("\\matrixelement", "\\matrixel", "\\mel"), _element),
    }
)

REDEFINED: Mapping[str, Expander] = MappingProxyType({"\\bra": _bra, "\\ket": _ket, "\\braket": _INNER})
"""Commands that mean something else without the package."""
