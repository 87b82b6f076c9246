"""What pages ask of this package, for callers that may meet no formula: it is imported with the first one."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analysis.numbering import RowStructure
    from .convert import TypesetFormula
    from .parse.reader import Macro
    from .parse.state import RowNumber

_NO_MACROS: Mapping[str, str | Macro] = MappingProxyType({})


def import_converter() -> None:
    """Import what converts: to be called before processes are forked, for each of them would import it."""
    from . import convert  # noqa: F401


def convert_formula(
    tex: str,
    *,
    display: bool,
    macros: Mapping[str, str | Macro] = _NO_MACROS,
    rows: Sequence[RowNumber | None] = (),
    packages: frozenset[str] = frozenset(),
) -> TypesetFormula:
    """As in `convert`."""
    from .convert import convert_formula as convert

    return convert(tex, display=display, macros=macros, rows=rows, packages=packages)


def linear_text(tex: str) -> str:
    """As in `analysis.linear`."""
    from .analysis import linear

    return linear.linear_text(tex)


def formula_tokens(tex: str) -> tuple[str, ...]:
    """As in `analysis.formula_tokens`."""
    from .analysis import formula_tokens as analysis

    return analysis.formula_tokens(tex)


def spoken_words(tokens: Sequence[str]) -> str:
    """As in `analysis.formula_tokens`."""
    from .analysis import formula_tokens as analysis

    return analysis.spoken_words(tokens)


def typed_names(tokens: Container[str]) -> dict[str, str]:
    """As in `analysis.formula_tokens`."""
    from .analysis import formula_tokens as analysis

    return analysis.typed_names(tokens)


def taken_arguments() -> dict[str, str]:
    """As in `analysis.formula_tokens`."""
    from .analysis import formula_tokens as analysis

    return analysis.taken_arguments()


def portable_tex(tex: str, macros: Mapping[str, str | Macro]) -> str:
    """As in `analysis.portable`."""
    from .analysis import portable

    return portable.portable_tex(tex, macros)


def find_definitions(tex: str, macros: Mapping[str, str | Macro]) -> Mapping[str, Macro]:
    """As in `analysis.expansion`."""
    from .analysis import expansion

    return expansion.find_definitions(tex, macros)


def literal_underscore(tex: str, macros: Container[str]) -> int:
    """As in `parse.markdown_escapes`."""
    from .parse import markdown_escapes

    return markdown_escapes.literal_underscore(tex, macros)


def doubled_row_end(tex: str) -> int:
    """As in `parse.markdown_escapes`."""
    from .parse import markdown_escapes

    return markdown_escapes.doubled_row_end(tex)


def split_rows(tex: str, macros: Mapping[str, str | Macro] = _NO_MACROS) -> RowStructure:
    """As in `analysis.numbering`."""
    from .analysis import numbering

    return numbering.split_rows(tex, macros)


def typeset_tag(number: str, macros: Mapping[str, str | Macro], *, bare: bool = False) -> str:
    """As in `analysis.tags`."""
    from .analysis import tags

    return tags.typeset_tag(number, macros, bare=bare)


def holds_tex(number: str) -> bool:
    """As in `analysis.tags`."""
    from .analysis import tags

    return tags.holds_tex(number)


def math_content(mathml: str) -> str:
    """As in `analysis.tags`."""
    from .analysis import tags

    return tags.math_content(mathml)


def group_lines(mathml: str, narrow: int) -> str:
    """As in `mathml.line_groups`."""
    from .mathml import line_groups

    return line_groups.group_lines(mathml, narrow)
