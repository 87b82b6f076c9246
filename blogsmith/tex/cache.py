"""A cache of typeset formulas, for callers that render the same page again after every edit.

The arguments of `convert_formula` are the key. They include all macros known at the formula, so a new
definition in the text or in the settings changes the keys of all later formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from .on_demand import convert_formula
from .parse.macros import read_macros

if TYPE_CHECKING:
    from .convert import Convert, FormulaOptions, TypesetFormula
    from .parse.state import RowNumber

LIMIT = 50_000
"""Maximum number of cached formulas, some kilobytes each. A full cache is emptied."""


def cache_conversions(convert: Convert = convert_formula, limit: int = LIMIT) -> Convert:
    """Return `convert` with a cache, for one thread. Formulas with errors are not cached."""
    known: dict[tuple[str, bool, bytes, tuple[RowNumber | None, ...], frozenset[str]], TypesetFormula] = {}

    def convert_once(tex: str, **options: Unpack[FormulaOptions]) -> TypesetFormula:
        if len(known) >= limit:
            known.clear()
        macros = read_macros(options["macros"]).digest
        key = (tex, options["display"], macros, tuple(options["rows"]), options["packages"])
        found = known.get(key)
        if found is None:
            found = known[key] = convert(tex, **options)
        return found

    return convert_once
