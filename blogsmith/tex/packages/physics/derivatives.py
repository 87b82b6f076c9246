"""Derivatives and differentials of the physics package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...parse.reader import Expander, FormulaReader, fill
from .brackets import enclose, take_bracketed

_D = "\\mathrm{d}"
_CURLY_D = "\\partial "
_STATED = r"\MathMLintent{derivative($f,$x)}{\frac{~\MathMLarg{f}{#1}}{~\MathMLarg{x}{#2}}}"
"""A derivative of one letter. `~`: the differential."""
_TALL_NAMES = """
frac dfrac tfrac cfrac flatfrac dv pdv fdv binom dbinom over sum prod int iint iiint oint sqrt left begin
mqty pmqty bmqty vmqty stackrel overset underset overbrace underbrace
"""
_TALL = frozenset("\\" + name for name in _TALL_NAMES.split())


def _parenthesis(reader: FormulaReader) -> list[str]:
    content = take_bracketed(reader, "(")
    return [] if content is None else enclose("(", content, ")")


def _power(tokens: Sequence[str] | None) -> list[str]:
    return fill("^{#1}", tokens) if tokens else []


def _differential(sign: str) -> Expander:
    r"""Return an expander for `\dd x`, `\dd{x}`, `\dd[3]{x}`, `\dd(…)`. An argument in braces gets space
    around it."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        head = [*fill(sign), *_power(reader.optional())]
        if reader.peek() == "{":
            return fill("\\mathinner{#1#2}", head, reader.argument())
        return head + _parenthesis(reader)

    return expand


def _variation(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\var{A}`, `\var[2]{A}`, `\var(…)`."""
    head = [*fill("\\delta "), *_power(reader.optional())]
    return head + (fill("{#1}", reader.argument()) if reader.peek() == "{" else _parenthesis(reader))


def _derivative(sign: str, most: int) -> Expander:
    r"""Return an expander for `\dv{x}`, `\dv{f}{x}`, `\dv[n]{f}{x}`; with a star, the fraction is written
    with a slash.

    most: maximum number of arguments. A third argument is another variable: `\pdv{f}{x}{y}` is of the second
    order.
    """

    def expand(reader: FormulaReader, command: str) -> list[str]:
        fraction = "\\flatfrac" if reader.star() else "\\frac"
        order = reader.optional() or []
        arguments = [reader.argument()]
        while len(arguments) < most and reader.peek() == "{":
            arguments.append(reader.argument())
        function = arguments.pop(0) if len(arguments) > 1 else []
        if len(arguments) > 1:
            order = [str(len(arguments))]
            below = [token for variable in arguments for token in fill(f"{sign} #1", variable)]
        else:
            below = [*fill(f"{sign} #1", _base(arguments[0]) if order else arguments[0]), *_power(order)]
        made = fill(f"{fraction}{{{sign}#1#2}}{{#3}}", _power(order), function, below)
        if fraction == "\\frac" and not order and _is_letter(function) and _is_letter(arguments[0]):
            concept = "derivative" if sign == _D else "partial-derivative" if sign == _CURLY_D else ""
            if concept:
                made = fill(_STATED.replace("derivative", concept).replace("~", sign), function, arguments[0])
        return made + _parenthesis(reader)

    return expand


def _is_letter(tokens: Sequence[str]) -> bool:
    """Return whether an argument is one letter, so that a group around it changes no space."""
    return len(tokens) == 1 and tokens[0].isalpha()


def _base(variable: list[str]) -> list[str]:
    r"""Return `variable` as a base for an exponent: `x^\mu` needs braces."""
    return fill("{#1}", variable) if "^" in variable or "'" in variable else variable


def _flat_fraction(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\flatfrac{a}{b}`: a slash that grows only next to a tall construct. Fonts have taller slashes
    for almost every height, so it would otherwise grow even next to letters."""
    above, below = reader.argument(), reader.argument()
    is_tall = any(token in _TALL for token in (*above, *below))
    return fill("{\\left.#1\\middle/#2\\right.}" if is_tall else "{#1/#2}", above, below)


def _d(reader: FormulaReader, command: str) -> list[str]:
    return fill(_D)


_TOTAL = _derivative(_D, 2)
_PARTIAL = _derivative(_CURLY_D, 3)
_FUNCTIONAL = _derivative("\\delta ", 2)

EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        "\\diffd": _d,
        **dict.fromkeys(("\\differential", "\\dd"), _differential(_D)),
        **dict.fromkeys(("\\variation", "\\var"), _variation),
        **dict.fromkeys(("\\derivative", "\\dv"), _TOTAL),
        **dict.fromkeys(("\\partialderivative", "\\pderivative", "\\pdv"), _PARTIAL),
        **dict.fromkeys(("\\functionalderivative", "\\fderivative", "\\fdv"), _FUNCTIONAL),
        "\\flatfrac": _flat_fraction,
    }
)
