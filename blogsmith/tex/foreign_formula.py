"""What another converter made of a formula, in the frame that is ours: TeX for readers, numbers, the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.patterns import lazy_pattern
from .analysis.portable import portable_tex
from .constructs.grid import number_row
from .convert import TypesetFormula, math_opening, number_whole
from .errors import TexError
from .foreign.numberless import without_numbers
from .foreign.reader import ForeignFormula
from .foreign.unusable import UnusableMathml
from .mathml.allowlist import check
from .parse.reader import Macro
from .parse.state import RowNumber

_KEPT = lazy_pattern(r'<(?:a |mrow (?:id|class="(?!math-|eq-number)))')
"""A link, a reference, or a name of the author's: other converters have none that a page may hold."""


def foreign_source(tex: str, macros: Mapping[str, str | Macro]) -> str:
    """`tex` as other converters get it: macros opened, without definitions, labels, tags and comments."""
    return without_numbers(portable_tex(tex, macros))


def check_replaceable(ours: TypesetFormula) -> None:
    """UnusableMathml if only our own markup of a formula has what the author asked for."""
    if not ours.mathml:
        raise UnusableMathml("it prints nothing")
    if _KEPT.search(ours.mathml):
        raise UnusableMathml("a link, an id or a class stands in it, which stays blogsmith's")


def frame_foreign(found: ForeignFormula, tex: str, *, display: bool, rows: Sequence[RowNumber | None]) -> str:
    """`found` as one `<math>` element with our numbers; UnusableMathml if it has no place for them.

    tex: the author's. rows: as for `convert_formula`.
    """
    content = _number(found, rows) if display and any(rows) else found.content
    try:
        return check(f"{math_opening(tex, display=display)}{content}</math>")
    except TexError as error:
        raise UnusableMathml(error.message) from None


def _number(found: ForeignFormula, rows: Sequence[RowNumber | None]) -> str:
    table = found.table
    if table is None or len(table.rows) != len(rows):
        if len(rows) == 1 and rows[0]:
            return number_whole(found.content, rows[0])
        count = len(table.rows) if table else 1
        raise UnusableMathml(f"it has {count} of {len(rows)} rows")
    printed = "".join(number_row(cells, number) for cells, number in zip(table.rows, rows, strict=True))
    look = table.look or "math-align"
    return f'<mtable class="{look}" displaystyle="true" style="width:100%">{printed}</mtable>'
