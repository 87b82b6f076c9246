"""Conversion of a formula's TeX to the MathML that a page prints.

Steps: scan → parser (which expands macros as it reads) → allowlist. Invalid TeX raises a `TexError` that
points to the author's characters, also for macros (at the call). The result depends only on the arguments.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Protocol, TypedDict, Unpack

from msgspec import Struct

from ..base.diagnostics.similar_names import compare
from ..base.patterns import lazy_pattern
from .analysis.numbering import MAX_LENGTH
from .constructs.grid import number_row, read_gap
from .constructs.table import constructs
from .errors import TexError
from .mathml.allowlist import check
from .parse.construct import Constructs
from .parse.errors import ParseError, misplaced_tab_error, place_error
from .parse.lexer import ROW_BREAKS, commands
from .parse.macros import read_macros
from .parse.markdown_escapes import escape_hint
from .parse.parser import Parser
from .parse.reader import Macro
from .parse.scan import clean_text, split, split_with_positions
from .parse.state import RowNumber

__all__ = ["MAX_LENGTH", "Convert", "TexError", "TypesetFormula", "convert_formula"]

_DEEP_RECURSION = 20_000
_LINK = lazy_pattern(r"<mtext>(<a [^<>]*>)(<math>)?(.*?)(?:</math>)?</a></mtext>", re.DOTALL)
_COMMENT = lazy_pattern(r"(?<!\\)%")
_COMMON = frozenset(
    name.removeprefix("\\")
    for name in commands(
        "alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
        "sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega "
        "frac sqrt sum prod int lim log exp sin cos max min arg inf sup left right text mathrm mathbf mathbb "
        "mathcal boldsymbol operatorname hat bar tilde vec dot cdot cdots ldots dots times leq geq neq "
        "approx equiv sim propto infty partial nabla forall exists in subset cup cap to rightarrow leftarrow "
        "Rightarrow mapsto mid quad qquad begin end label tag underbrace overline underline"
    )
)
"""Commands that most formulas consist of."""
_NO_MACROS: Mapping[str, str | Macro] = MappingProxyType({})
_NO_DEFINITIONS: Mapping[str, Macro] = MappingProxyType({})
_NO_PACKAGES: frozenset[str] = frozenset()


class TypesetFormula(Struct, frozen=True):
    """A typeset formula."""

    mathml: str
    """One `<math>` element that is safe in an HTML page, inside its link if the whole formula is a link.
    Empty for a formula that only defines macros."""
    macros: Mapping[str, Macro]
    """Macros that it has defined for later formulas."""


class FormulaOptions(TypedDict):
    """Parameters of `convert_formula` other than the formula."""

    display: bool
    macros: Mapping[str, str | Macro]
    rows: Sequence[RowNumber | None]
    packages: frozenset[str]


class Convert(Protocol):
    """Type of `convert_formula`, and of functions with the same result."""

    def __call__(self, tex: str, **options: Unpack[FormulaOptions]) -> TypesetFormula:
        """Return the typeset formula. TexError if it is invalid."""


def convert_formula(
    tex: str,
    *,
    display: bool,
    macros: Mapping[str, str | Macro] = _NO_MACROS,
    rows: Sequence[RowNumber | None] = (),
    packages: frozenset[str] = _NO_PACKAGES,
) -> TypesetFormula:
    """Typeset `tex`, the author's formula without its delimiters. TexError if it is invalid.

    macros: name with backslash → body (see `macros`), or a macro that an earlier formula has defined. rows:
    number to print for each row of an `align`, or for a display with one number; empty: no numbers.
    packages: LaTeX packages whose commands replace others; `physics` only.
    """
    if len(tex) > MAX_LENGTH:
        raise TexError(
            "math-limit", f"formula is too long: {len(tex):,} characters, {MAX_LENGTH:,} are allowed"
        )
    known = read_macros(macros) if macros else {}
    table = constructs(packages)
    try:
        parser = Parser(split(tex), known, table, display=display)
        parser.row_numbers = rows
        body = _read(parser)
    except ParseError:
        parser, body = _read_with_positions(tex, known, table, display, rows)
    except RecursionError:
        parser, body = _read_with_positions(tex, known, table, display, rows)
    defined = _definitions(parser, known) if parser.macros else _NO_DEFINITIONS
    if defined and not body:
        return TypesetFormula("", defined)
    if len(parser.row_numbers) == 1 and parser.row_numbers[0] and display:
        body = number_formula(body, parser.row_numbers[0])
    opening = math_start_tag(tex, display=display)
    link = _LINK.fullmatch(body) if body.startswith("<mtext><a ") else None
    if link and body.count("<a ") == 1 and "??" not in link[3]:
        # outside the formula, assistive technology can reach the link
        inner = link[3] if link[2] else f"<mtext>{link[3]}</mtext>"
        return TypesetFormula(check(f"{link[1]}{opening}{inner}</math></a>"), defined)
    return TypesetFormula(check(f"{opening}{body}</math>"), defined)


def math_start_tag(tex: str, *, display: bool) -> str:
    """Return the start tag of a formula, with its TeX as alternative text for readers who do not see it."""
    block = ' display="block"' if display else ""
    return f'<math{block} alttext="{escape(clean_text(tex).strip())}">'


def number_formula(body: str, number: RowNumber) -> str:
    """Return the content of a formula as one table row with its number."""
    row = number_row(f"<mtd>{body}</mtd>", number)
    return f'<mtable class="math-align" displaystyle="true" style="width:100%">{row}</mtable>'


def _definitions(parser: Parser, known: Mapping[str, Macro]) -> Mapping[str, Macro]:
    return {
        name: macro
        for name, macro in parser.macros.items()
        if isinstance(macro, Macro) and known.get(name) is not macro
    }


def _read(parser: Parser) -> str:
    """Read the whole formula. Several lines without an environment become rows of a table."""
    pieces = parser.row()
    if not parser.end_token:
        return "".join(pieces)
    lines = [pieces]
    while parser.end_token in ROW_BREAKS:
        read_gap(parser)
        lines.append(parser.row())
    if parser.end_token:
        raise _stray(parser.end_token)
    if not lines[-1]:
        lines.pop()
    if len(lines) < 2:
        return "".join(lines[0] if lines else ())
    rows = "".join(f"<mtr><mtd>{''.join(line)}</mtd></mtr>" for line in lines)
    return f'<mtable class="math-align" displaystyle="{str(parser.is_display).lower()}">{rows}</mtable>'


def _stray(token: str) -> ParseError:
    if token == "&":
        return misplaced_tab_error(token)
    if token == "\\middle":
        return ParseError("math-brace", '"\\middle" is not allowed outside "\\left" and "\\right"', token)
    return ParseError("math-brace", f'unmatched "{token}": nothing is open here', token)


def _read_with_positions(
    tex: str,
    known: Mapping[str, Macro],
    table: Constructs[Parser],
    display: bool,
    rows: Sequence[RowNumber | None],
) -> tuple[Parser, str]:
    """Read the formula again with token positions and the maximum depth. TexError at the error, if there is
    one."""
    before = sys.getrecursionlimit()
    # Our own frames need no C stack. Groups nested `MAX_DEPTH` deep need some thousand frames.
    sys.setrecursionlimit(max(before, _DEEP_RECURSION))
    try:
        parser = Parser(split_with_positions(tex), known, table, display=display)
        parser.row_numbers = rows
        return parser, _read(parser)
    except ParseError as error:
        escaped = escape_hint(error.token, tex)
        if not escaped and not error.hint and error.unknown:
            error.meant = _nearest_command(error, known, table)
        error.hint = escaped or error.hint or _hint(error, tex)
        raise place_error(error, tex) from None
    except RecursionError:
        raise TexError("math-limit", "formula is nested too deeply", 0, len(tex)) from None
    finally:
        sys.setrecursionlimit(before)


_OPERATORS = (
    *("softmax", "logsumexp", "softplus", "sigmoid", "relu", "ReLU", "GELU", "SiLU"),
    *("Attention", "MultiHead", "LayerNorm", "Concat", "Softmax", "diag", "Var", "Cov", "sign"),
)
"""Operators without a command in LaTeX, which authors expect to exist and have to declare."""


def _hint(error: ParseError, tex: str) -> str:
    """Return a hint if a command is unknown, or if a comment may hide its end; otherwise ""."""
    if error.unclosed and _COMMENT.search(tex):
        return "write `\\%` to print `%`: otherwise `%` starts a comment"
    if not error.unknown:
        return ""
    if error.meant:
        return f"did you mean {error.meant}?"
    word = error.token.lstrip("\\")
    operator = _nearest(word, _OPERATORS)
    if not operator:
        return "declare your own commands under `math: macros:`"
    declaration = f"'\\{operator}': '\\operatorname{{{operator}}}'"
    question = "" if operator == word else f"did you mean \\{operator}? "
    return f"{question}declare it under `math: macros:` as `{declaration}`"


def _nearest_command(error: ParseError, known: Mapping[str, Macro], table: Constructs[Parser]) -> str | None:
    near = _nearest(error.token.lstrip("\\"), [name.lstrip("\\") for name in (*known, *table.names())])
    return f"\\{near}" if near else None


def _nearest(word: str, names: Sequence[str]) -> str:
    """Return the name that `word` is probably a typo of, or "". Of names with equally many typos, a common
    command is chosen."""
    alike = (name for name in names if name[:1] in word[:2] or name[1:2] == word[:1])
    found = [
        (likeness.typos, name not in _COMMON, likeness, name)
        for name in alike
        # many rare commands begin with a short word, so only common ones are completed
        if (likeness := compare(word, name)) and (name in _COMMON or not likeness.is_abbreviation)
    ]
    return min(found)[3] if found else ""
