"""Formulas that are typeset once, for callers that render the same page again after every edit.

`convert_formula` depends on its arguments alone, so they are the key. Macros are among them as they are at
the formula: after a definition in the text, or in the settings, the formulas behind it are others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from .on_demand import convert_formula

if TYPE_CHECKING:
    from .convert import Convert, FormulaOptions, TypesetFormula
    from .parse.reader import Macro
    from .parse.state import RowNumber

LIMIT = 50_000
"""Formulas that are kept, some kilobytes each; beyond it all are forgotten."""


def cache_conversions(convert: Convert = convert_formula, limit: int = LIMIT) -> Convert:
    """`convert` with a memory; wrong formulas are not remembered. For one thread."""
    known: dict[tuple[str, bool, int, tuple[RowNumber | None, ...], frozenset[str]], TypesetFormula] = {}
    # pages share few sets of macros; a number for each keeps the keys small
    macro_sets: dict[tuple[tuple[str, str | Macro], ...], int] = {}

    def convert_once(tex: str, **options: Unpack[FormulaOptions]) -> TypesetFormula:
        if len(known) >= limit:
            known.clear()
            macro_sets.clear()
        macro_set = macro_sets.setdefault(tuple(options["macros"].items()), len(macro_sets))
        key = (tex, options["display"], macro_set, tuple(options["rows"]), options["packages"])
        found = known.get(key)
        if found is None:
            found = known[key] = convert(tex, **options)
        return found

    return convert_once
