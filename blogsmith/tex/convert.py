"""Conversion of a formula's TeX to the MathML that a page prints.

Steps: scan → parser (which expands macros as it reads) → allowlist. Invalid TeX raises a `TexError` with the
position of the author's characters; an error inside a macro is located at the call. The result depends only
on the arguments.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from functools import cache
from html import escape
from types import MappingProxyType
from typing import Protocol, TypedDict, Unpack

from msgspec import Struct

from ..base.diagnostics.similar_names import compare
from ..base.patterns import lazy_pattern
from .analysis.numbering import MAX_LENGTH
from .constructs.grid import number_row, read_lines
from .constructs.table import constructs
from .errors import TexError
from .mathml.allowlist import check
from .parse.errors import ParseError, closing_hint, misplaced_tab_error, place_error, unmatched_hint
from .parse.lexer import commands
from .parse.macros import read_macros
from .parse.markdown_escapes import escape_hint
from .parse.parser import Parser
from .parse.reader import Macro
from .parse.scan import PlacedToken, clean_text, split, split_with_positions
from .parse.state import Constructs, RowNumber

__all__ = ["MAX_LENGTH", "Convert", "TexError", "TypesetFormula", "convert_formula"]

_DEEP_RECURSION = 20_000
_LINK = lazy_pattern(r"<mtext>(<a [^<>]*>)(<math>)?(.*?)(?:</math>)?</a></mtext>", re.DOTALL)
_COMMA = '</mn><mo lspace="0" rspace="0">,</mo><mn>'
_NUMBER = lazy_pattern(rf"<mn>[\d.]+(?:{_COMMA}[\d.]+)+</mn>")
"""Matches a number with `{,}`, a comma without space after it. It is printed as one number, not two."""
_COMMENT = lazy_pattern(r"(?<!\\)%")
_TAG = lazy_pattern(r"<[^<>]*>")
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
"""Names of the most frequent commands, without backslash. They are preferred as corrections of typos."""
_NO_MACROS: Mapping[str, str | Macro] = MappingProxyType({})
_NO_DEFINITIONS: Mapping[str, Macro] = MappingProxyType({})
_NO_PACKAGES: frozenset[str] = frozenset()


class TypesetFormula(Struct, frozen=True):
    """A typeset formula."""

    mathml: str
    """One `<math>` element, safe in an HTML page. If the whole formula is a link, the element is inside the
    `<a>`. Empty for a formula that only defines macros."""
    macros: Mapping[str, Macro]
    """Macros that the formula defines, for use in later formulas."""
    warnings: Sequence[TexError] = ()
    """Warnings about unknown styles of diagrams, which were ignored."""


class FormulaOptions(TypedDict):
    """Parameters of `convert_formula` other than the formula."""

    display: bool
    macros: Mapping[str, str | Macro]
    rows: Sequence[RowNumber | None]
    packages: frozenset[str]


class Convert(Protocol):
    """Type of `convert_formula`, and of functions with the same parameters and result."""

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

    macros: maps a name with backslash to its body (see the module `macros`), or to a macro that an earlier
    formula defined. rows: number of each row of an `align`, or one number for any other display; empty for no
    numbers. packages: LaTeX packages whose commands replace other commands; `physics` is the only package of
    this kind.
    """
    if len(tex) > MAX_LENGTH:
        raise TexError(
            "math-limit",
            f"formula is too long: {len(tex):,} characters, {MAX_LENGTH:,} are allowed",
            hint="split the formula, or write a shorter one",
        )
    known = read_macros(macros)
    table = constructs(packages)
    try:
        parser = Parser(split(tex), known, table, display=display)
        parser.row_numbers = rows
        body = _read(parser)
    except ParseError:
        parser, body = _read_with_positions(tex, known, table, display, rows)
    except RecursionError:
        parser, body = _read_with_positions(tex, known, table, display, rows)
    else:
        if parser.ignored:
            parser, body = _read_with_positions(tex, known, table, display, rows)
    warnings = [place_error(error, tex) for error in parser.ignored]
    defined = _definitions(parser, known) if parser.has_definitions else _NO_DEFINITIONS
    if defined and not body:
        return TypesetFormula("", defined)
    if len(parser.row_numbers) == 1 and parser.row_numbers[0] and display:
        body = number_formula(body, parser.row_numbers[0])
    if "{,}" in tex and tex.count(",") == tex.count("{,}") + tex.count("\\,"):
        body = _NUMBER.sub(lambda found: f"<mn>{found[0].replace(_COMMA, ',')[4:-5]}</mn>", body)
    if "{.}" in tex:
        body = body.replace("</mn><mi>.</mi><mn>", ".")
    opening = math_start_tag(
        tex, display=display, label=_alternative(parser, body) if parser.diagrams else ""
    )
    link = _LINK.fullmatch(body) if body.startswith("<mtext><a ") else None
    if link and body.count("<a ") == 1 and "??" not in link[3]:
        # outside the formula, assistive technology can reach the link
        inner = link[3] if link[2] else f"<mtext>{link[3]}</mtext>"
        return TypesetFormula(check(f"{link[1]}{opening}{inner}</math></a>"), defined, warnings)
    return TypesetFormula(check(f"{opening}{body}</math>"), defined, warnings)


def math_start_tag(tex: str, *, display: bool, label: str = "") -> str:
    """Return the start tag of a formula, with its TeX as alternative text for readers who do not see it.

    label: `aria-label` of a formula that is a diagram; empty for other formulas.
    """
    block = ' display="block"' if display else ""
    name = f' aria-label="{escape(clean_text(label))}"' if label else ""
    return f'<math{block} alttext="{escape(clean_text(tex).strip())}"{name}>'


def _alternative(parser: Parser, body: str) -> str:
    """Return the text alternative of a formula that consists only of diagrams; "" for any other formula."""
    rest = body
    for markup in parser.diagrams:
        rest = rest.replace(markup, "")
    is_all = not any(sign.isalnum() for sign in _TAG.sub("", rest))
    return "; ".join(parser.diagrams.values()) if is_all else ""


def number_formula(body: str, number: RowNumber) -> str:
    """Return the content of a formula as one table row with its number."""
    row = number_row(f"<mtd>{body}</mtd>", number)
    return f'<mtable class="math-align" displaystyle="true" style="width:100%">{row}</mtable>'


def _definitions(parser: Parser, known: Mapping[str, Macro]) -> Mapping[str, Macro]:
    """Return the macros that the formula has defined or changed, in order of definition."""
    names = parser.defined_names()
    return {
        name: macro
        for name, macro in parser.macros.items()
        if name in names and isinstance(macro, Macro) and known.get(name) is not macro
    }


def _read(parser: Parser) -> str:
    """Return the MathML of the whole formula, without `<math>`."""
    pieces = read_lines(parser)
    if parser.open_conditions:
        message = 'a condition is never closed: "\\fi" is missing'
        raise ParseError("math-syntax", message, "", hint="write `\\fi` where it ends")
    if parser.end_token:
        raise _stray(parser.end_token)
    return "".join(pieces)


def _stray(token: str) -> ParseError:
    if token == "&":
        return misplaced_tab_error(token)
    if token == "\\middle":
        return ParseError(
            "math-brace",
            '"\\middle" is not allowed outside "\\left" and "\\right"',
            token,
            hint="write `\\left` before it and `\\right` after it",
        )
    return ParseError(
        "math-brace", f'unmatched "{token}": nothing is open here', token, hint=unmatched_hint(token)
    )


def _read_with_positions(
    tex: str,
    known: Mapping[str, Macro],
    table: Constructs[Parser],
    display: bool,
    rows: Sequence[RowNumber | None],
) -> tuple[Parser, str]:
    """Read the formula again, with token positions and a higher recursion limit. Raise the TexError of its
    first error, if it has one."""
    before = sys.getrecursionlimit()
    # Only the recursion limit of Python applies. Groups nested `MAX_DEPTH` deep need some thousand frames.
    sys.setrecursionlimit(max(before, _DEEP_RECURSION))
    try:
        parser = Parser(split_with_positions(tex), known, table, display=display)
        parser.row_numbers = rows
        return parser, _read(parser)
    except ParseError as error:
        escaped = escape_hint(error.token, tex)
        if not escaped and not error.hint and error.unknown:
            error.meant = _nearest_command(error, known, table)
        error.hint = escaped or _origin_hint(error, known) or error.hint or _hint(error, tex)
        raise place_error(error, tex) from None
    except RecursionError:
        hint = "write it with fewer groups inside groups"
        raise TexError("math-limit", "formula is nested too deeply", 0, len(tex), hint=hint) from None
    finally:
        sys.setrecursionlimit(before)


def _origin_hint(error: ParseError, known: Mapping[str, Macro]) -> str:
    """Return a hint that names the LaTeX file where the macro that caused `error` is defined; empty if there
    is none."""
    name = error.token.macro if isinstance(error.token, PlacedToken) else ""
    macro = known.get(name)
    return f"correct the definition of `{name}` in {macro.origin}" if macro and macro.origin else ""


_OPERATORS = (
    *("softmax", "logsumexp", "softplus", "sigmoid", "relu", "ReLU", "GELU", "SiLU"),
    *("Attention", "MultiHead", "LayerNorm", "Concat", "Softmax", "diag", "Var", "Cov", "sign"),
)
"""Operators that LaTeX does not define. Authors often expect them, and must declare them."""


def _hint(error: ParseError, tex: str) -> str:
    """Return a hint for an unknown command, for a group or environment that is not closed (a `%` may hide its
    end), or for a formula that is too large; empty for other errors."""
    if error.unclosed and _COMMENT.search(tex):
        return "write `\\%` to print `%`: otherwise `%` starts a comment"
    if error.unclosed:
        return closing_hint(error.message)
    if error.kind == "math-limit":
        return "split the formula, or write a shorter one"
    if not error.unknown:
        return ""
    if error.meant:
        return f"did you mean `{error.meant}`?"
    word = error.token.lstrip("\\")
    operator = _nearest(word, _OPERATORS)
    if not operator:
        return f"correct the name, or declare `{error.token}` under `math: macros:`"
    declaration = f"'\\{operator}': '\\operatorname{{{operator}}}'"
    question = "" if operator == word else f"did you mean `\\{operator}`? "
    return f"{question}declare it under `math: macros:` as `{declaration}`"


def _nearest_command(error: ParseError, known: Mapping[str, Macro], table: Constructs[Parser]) -> str | None:
    word = error.token.lstrip("\\")
    own = [name.lstrip("\\") for name in known]
    near = _nearest(word, [*own, *_names_like(word, table.names())])
    return f"\\{near}" if near else None


def _names_like(word: str, commands: tuple[str, ...]) -> list[str]:
    """Return the names whose first or second letter agrees with the start of `word`. Comparing `word` with
    all commands would take twenty times as long as typesetting the formula."""
    first, second = _names_by_letter(commands)
    return [*first.get(word[:1], ()), *first.get(word[1:2], ()), *second.get(word[:1], ())]


@cache
def _names_by_letter(commands: tuple[str, ...]) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
    """Map each letter to the commands that begin with it, and to those whose second letter it is."""
    first, second = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for command in commands:
        name = command.lstrip("\\")
        first[name[:1]].append(name)
        second[name[1:2]].append(name)
    return MappingProxyType(first), MappingProxyType(second)


def _may_be_typo(letters: Set[str], length: int, name: str) -> bool:
    """Return whether a word may be a typo of `name`: one typo is allowed for every four letters, as in
    `similar_names`. letters, length: the set of letters of the word, and its length."""
    most = max(1, max(length, len(name)) // 4)
    return abs(length - len(name)) <= most and len(letters ^ set(name.casefold())) <= 2 * most


def _nearest(word: str, names: Sequence[str]) -> str:
    """Return the name that `word` is probably a typo of, or "". If several names have equally few typos,
    prefer one in `_COMMON`."""
    letters = set(word.casefold())
    alike = (
        name
        for name in names
        if name[:1] in word[:2] or name[1:2] == word[:1]
        if name in _COMMON or _may_be_typo(letters, len(word), name)
    )
    found = [
        (likeness.typos, name not in _COMMON, likeness, name)
        for name in alike
        # many rare commands begin with a short word, so only common names are suggested for it
        if (likeness := compare(word, name)) and (name in _COMMON or not likeness.is_abbreviation)
    ]
    return min(found)[3] if found else ""
