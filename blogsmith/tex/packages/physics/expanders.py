"""The physics package of LaTeX as plain TeX: one table of what its commands expand to.

The package gives new meanings to names that plain TeX has (`\\div`, `\\sin(x)`, `\\Re`, `\\braket`). They
apply only where an author asks for the package; all its other names work everywhere. `\\qty` is shared with
siunitx: there it takes a number and a unit, both in braces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ....base.patterns import lazy_pattern
from ...parse.reader import Expander, FormulaReader, text_of
from ..siunitx.options import is_option_list
from ..siunitx.unit_format import GRAMMAR
from . import brackets as physics_brackets
from . import derivatives as physics_derivatives
from . import dirac as physics_dirac
from . import matrices as physics_matrices
from . import operators as physics_operators
from .brackets import enclose, quantity

_NUMBER = lazy_pattern(
    r"(?=.*[0-9])(?:[0-9.,+\-−±<>=()eEdDijx/;~ ]|\\(?:pm|mp|times|approx|sim|[lg]eq?|ll|gg|pi|[,;:! ]))*"
)


def _quantity(reader: FormulaReader, command: str) -> list[str]:
    """`\\qty{5}{\\metre}` of siunitx, or `\\qty{…}`, `\\qty(…)` of physics, by what follows."""
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
        **physics_derivatives.EXPANDERS,
        **physics_dirac.EXPANDERS,
        **physics_matrices.EXPANDERS,
        "\\qty": _quantity,
    }
)
"""Commands that nothing else defines, but for `\\qty`, which reads siunitx's form too."""

REDEFINED: Mapping[str, Expander] = MappingProxyType(
    {**physics_operators.REDEFINED, **physics_dirac.REDEFINED}
)
"""Commands that mean something else without the package."""
