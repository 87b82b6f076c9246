r"""The physics package of LaTeX as plain TeX: one table of command expansions.

The package redefines some names of plain TeX (`\div`, `\sin(x)`, `\Re`, `\braket`). These definitions apply
only if an author enables the package; all its other commands are always available. `\qty` is shared with
siunitx, where its arguments are a number and a unit, both in braces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ....base.patterns import lazy_pattern
from ...parse.reader import Expander, FormulaReader, text_of
from ..siunitx.options import is_option_list
from ..siunitx.unit_format import GRAMMAR
from . import brackets as physics_brackets
from . import matrices as physics_matrices
from . import operators as physics_operators
from .brackets import enclose, quantity

_NUMBER = lazy_pattern(
    r"(?=.*[0-9])(?:[0-9.,+\-−±<>=()eEdDijx/;~ ]|\\(?:pm|mp|times|approx|sim|[lg]eq?|ll|gg|pi|[,;:! ]))*"
)


def _quantity(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\qty`: siunitx's `\qty{5}{\metre}` if two arguments in braces follow, otherwise the `\qty` of
    physics."""
    bracketed = reader.optional()
    if reader.peek() != "{":
        return quantity(reader, command) if bracketed is None else enclose("[", bracketed, "]")
    first = reader.argument()
    if reader.peek() != "{":
        return _physics(bracketed, first)
    second = ["{", *reader.argument(), "}"]
    if not _is_siunitx(bracketed, first, second):
        return _physics(bracketed, first) + second
    options = [] if bracketed is None else ["[", *bracketed, "]"]
    return ["\\SI", *options, "{", *first, "}", *second]


def _physics(bracketed: list[str] | None, group: list[str]) -> list[str]:
    if bracketed is None:
        return enclose("\\{", group, "\\}")
    return [*enclose("[", bracketed, "]"), "{", *group, "}"]


def _is_siunitx(options: Sequence[str] | None, number: Sequence[str], unit: Sequence[str]) -> bool:
    if options is not None:
        return is_option_list(options)
    return bool(_NUMBER.fullmatch(text_of(number))) or any(token in GRAMMAR for token in unit)


EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        **physics_brackets.EXPANDERS,
        **physics_operators.EXPANDERS,
        **physics_matrices.EXPANDERS,
        "\\qty": _quantity,
    }
)
r"""Commands that only physics defines, and `\qty`, which siunitx has too."""

REDEFINED: Mapping[str, Expander] = MappingProxyType(
    {**physics_operators.REDEFINED, **physics_brackets.REDEFINED}
)
"""Commands that the package redefines."""
