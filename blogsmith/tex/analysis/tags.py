r"""Tags: the text or TeX that `\tag` prints instead of a number."""

from __future__ import annotations

from collections.abc import Mapping

from ..convert import Convert, TypesetFormula, convert_formula
from ..errors import TexError
from ..parse.reader import Macro
from ..parse.state import RowNumber
from .numbering import SourceRow, split_rows
from .tag_text import contains_tex, math_content

_OPENING = "\\text{"


def typeset_tag(number: str, macros: Mapping[str, str | Macro], *, bare: bool = False) -> str:
    """Return the `<math>` element of a tag that contains TeX. bare: without parentheses. If the tag is
    invalid, TexError with an offset in `number`."""
    opening = _OPENING if bare else f"{_OPENING}("
    closing = "}" if bare else ")}"
    try:
        return convert_formula(f"{opening}{number}{closing}", display=False, macros=macros).mathml
    except TexError as error:
        offset = max(0, min(error.offset - len(opening), len(number) - 1))
        raise TexError(error.kind, error.message, offset, error.length, hint=error.hint) from None


def convert_unnumbered(
    tex: str,
    *,
    display: bool,
    macros: Mapping[str, str | Macro],
    packages: frozenset[str] = frozenset(),
    convert: Convert | None = None,
) -> TypesetFormula:
    """Typeset a formula without numbers; only its tags are printed. convert: replaces `convert_formula` if
    given."""
    rows: list[RowNumber | None] = []
    if display and "\\tag" in tex:
        rows = [_number(row, macros) for row in split_rows(tex, macros).rows]
    typeset = convert or convert_formula
    return typeset(tex, display=display, macros=macros, rows=rows if any(rows) else (), packages=packages)


def _number(row: SourceRow, macros: Mapping[str, str | Macro]) -> RowNumber | None:
    if row.tag is None:
        return None
    shown = math_content(typeset_tag(row.tag, macros, bare=row.bare_tag)) if contains_tex(row.tag) else ""
    return RowNumber(row.tag, "", row.bare_tag, shown)
