"""Formulas of other converters, completed with our alternative text and numbers, and checked by our
allowlist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.patterns import lazy_pattern
from ..model.names import name_set
from .analysis.portable import portable_tex
from .constructs.grid import number_row
from .convert import TypesetFormula, math_start_tag, number_formula
from .errors import TexError, UnusableMathmlError
from .foreign.reader import ForeignFormula
from .mathml.allowlist import check
from .parse.lexer import Token, join_tokens, read_argument, read_name, skip_spaces, tokenize_without_positions
from .parse.reader import Macro
from .parse.state import RowNumber

_AUTHOR_MARKUP = lazy_pattern(r'<(?:a |mrow (?:id|class="(?!math-|eq-number)))')
"""A link, a reference, or a name set by the author, which other converters cannot produce safely."""


def prepare_foreign_source(tex: str, macros: Mapping[str, str | Macro]) -> str:
    """Return `tex` for other converters: macros expanded, without definitions, labels, tags and comments."""
    return remove_numbers(portable_tex(tex, macros))


def check_replaceable(ours: TypesetFormula) -> None:
    """Raise UnusableMathmlError if another converter cannot replace our markup: it has links, ids or classes,
    or is empty."""
    if not ours.mathml:
        raise UnusableMathmlError("it prints nothing")
    if _AUTHOR_MARKUP.search(ours.mathml):
        raise UnusableMathmlError("it contains a link, an id or a class, which need blogsmith's markup")
    if "<svg " in ours.mathml:
        raise UnusableMathmlError("it contains a diagram")


def frame_foreign(found: ForeignFormula, tex: str, *, display: bool, rows: Sequence[RowNumber | None]) -> str:
    """Return `found` as one `<math>` element with our numbers. UnusableMathmlError if its rows cannot be
    numbered.

    tex: the author's formula. rows: number of each row, None for a row without a number.
    """
    content = _number(found, rows) if display and any(rows) else found.content
    try:
        return check(f"{math_start_tag(tex, display=display)}{content}</math>")
    except TexError as error:
        raise UnusableMathmlError(error.message) from None


def _number(found: ForeignFormula, rows: Sequence[RowNumber | None]) -> str:
    table = found.table
    if table is None or len(table.rows) != len(rows):
        if len(rows) == 1 and rows[0]:
            return number_formula(found.content, rows[0])
        count = len(table.rows) if table else 1
        raise UnusableMathmlError(f"it has {count} of {len(rows)} rows")
    printed = "".join(number_row(cells, number) for cells, number in zip(table.rows, rows, strict=True))
    look = table.css_class or "math-align"
    return f'<mtable class="{look}" displaystyle="true" style="width:100%">{printed}</mtable>'


# Removal of numbers from TeX: `\label`, `\tag`, `\notag`, and environments that number by themselves.
# Numbers, labels and references are always ours, whichever converter typesets the rest.


_STARRED = name_set("align alignat xalignat flalign gather eqnarray equation multline")
_NUMBERS = lazy_pattern(
    r"\\(?:label|tag|notag|nonumber)(?![A-Za-z])|(?<!\\)%"
    r"|\\begin\s*\{\s*(?:" + "|".join(sorted(_STARRED)) + r")\s*\}"
)


def remove_numbers(tex: str) -> str:
    """Return `tex` with the same rows, but without numbers. Return `tex` itself if no row would have a
    number."""
    if _NUMBERS.search(tex) is None:
        return tex
    tokens = tokenize_without_positions(tex)
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        if text in ("\\notag", "\\nonumber"):
            index += 1
        elif text in ("\\label", "\\tag"):
            index = _argument_end(tokens, index)
        elif text in ("\\begin", "\\end") and (named := read_name(tokens, index)) and named.text in _STARRED:
            kept += [tokens[index], *(Token(part, 0, 0) for part in ("{", *named.text, "*", "}"))]
            index = named.end
        else:
            kept.append(tokens[index])
            index += 1
    return join_tokens(kept).strip()


def _argument_end(tokens: Sequence[Token], index: int) -> int:
    after = skip_spaces(tokens, index + 1)
    if after < len(tokens) and tokens[after].text == "*":
        after += 1
    argument = read_argument(tokens, after)
    return argument.end if argument else after
