r"""Chemistry as authors of mhchem write it: `\ce{…}` for formulas and equations, `\pu{…}` for units → TeX.

The grammar is that of the manual of mhchem 4, read by a scanner and rules of our own: what only TeX can
set (mathematics in dollars, frames, colours) passes through, everything else becomes plain TeX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...errors import TexError
from ...parse.reader import Expander, FormulaReader, text_of, tokens
from .formula import formula
from .scan import Scanner
from .units import quantity


def chemistry(text: str) -> str:
    r"""What `\ce{text}` means, as TeX; TexError where it cannot be read."""
    return formula(Scanner(text, _convert))


def physical_unit(text: str) -> str:
    r"""What `\pu{text}` means, as TeX; TexError where it cannot be read."""
    return quantity(Scanner(text, _convert))


def _convert(command: str, scan: Scanner) -> str:
    return quantity(scan) if command == "pu" else formula(scan)


def _expander(meaning: Callable[[str], str]) -> Expander:
    def expand(reader: FormulaReader, command: str) -> list[str]:
        text = text_of(reader.argument())
        try:
            tex = meaning(text)
        except TexError as error:
            raise reader.syntax_error(f"{error.message} in {command}", hint=error.hint) from error
        made = tokens(tex)
        return made if _has_rows(made) else ["{", *made, "}"]

    return expand


def _has_rows(made: list[str]) -> bool:
    """Whether `&` or a line break is for the alignment around; a group would hide it there."""
    if "&" not in made and r"\\" not in made:
        return False
    depth = 0
    for token in made:
        depth += (token in ("{", r"\begin")) - (token in ("}", r"\end"))
        if not depth and token in ("&", r"\\"):
            return True
    return False


EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        **dict.fromkeys((r"\ce", r"\cee", r"\cf"), _expander(chemistry)),
        r"\pu": _expander(physical_unit),
    }
)
"""Commands → what they expand to."""
