"""A cache of typeset formulas, for callers that render the same page again after every edit.

`convert_formula` depends only on its arguments, so these are the key. They include the macros known at the
formula. After a new definition in the text or in the settings, all later formulas therefore have other keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from .on_demand import convert_formula

if TYPE_CHECKING:
    from .convert import Convert, FormulaOptions, TypesetFormula
    from .parse.reader import Macro
    from .parse.state import RowNumber

LIMIT = 50_000
"""Maximum number of cached formulas, some kilobytes each. When it is reached, all are dropped."""


def cache_conversions(convert: Convert = convert_formula, limit: int = LIMIT) -> Convert:
    """Return `convert` with a cache, for one thread. Formulas with errors are not cached."""
    known: dict[tuple[str, bool, int, tuple[RowNumber | None, ...], frozenset[str]], TypesetFormula] = {}
    # pages share few sets of macros; a number for each set makes the keys small
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
