"""Matrices of the physics package: written in brackets, or with generated rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...parse.reader import Expander, FormulaReader, fill, text_of
from ...parse.scan import split_tokens
from .brackets import PARTNERS, take_bracketed

_MAX_SIZE = 100
"""Maximum number of rows or columns of a generated matrix; a larger number is probably a typing error."""

_PAULI: Mapping[str, str] = MappingProxyType(
    {
        "0": r"1&0\\0&1",
        **dict.fromkeys("1x", r"0&1\\1&0"),
        **dict.fromkeys("2y", r"0&-i\\i&0"),
        **dict.fromkeys("3z", r"1&0\\0&-1"),
    }
)


def _wrap(opening: str, content: Sequence[str], closing: str, environment: str) -> list[str]:
    inside = f"\\begin{{{environment}}}#1\\end{{{environment}}}"
    return fill(f"{{\\left{opening}{inside}\\right{closing}}}" if opening else inside, content)


def _quantity(environment: str) -> Expander:
    r"""Return an expander for `\mqty(a & b \\ c & d)`. Brackets around the argument are printed, but braces
    are not. A star makes parentheses rounder."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        star = reader.star()
        if reader.peek() == "{":
            return _wrap("", reader.argument(), "", environment)
        for opening, closing in PARTNERS.items():
            content = take_bracketed(reader, opening)
            if content is not None:
                round_ = star and opening == "("
                return _wrap(
                    "\\lgroup " if round_ else opening,
                    content,
                    "\\rgroup " if round_ else closing,
                    environment,
                )
        return _wrap("(", (), ")", environment)

    return expand


def _bracket_matrix(opening: str, closing: str, environment: str) -> Expander:
    return lambda reader, command: _wrap(opening, reader.argument(), closing, environment)


def _size(reader: FormulaReader, command: str) -> int:
    text = text_of(reader.argument()).strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise reader.syntax_error(
            f'invalid size "{text[:40]}" of "{command}": expected a number of rows and columns',
            hint=f"write a number such as `{command}{{2}}`",
        )
    if int(text) > _MAX_SIZE:
        raise reader.syntax_error(
            f'"{command}" is too large: at most {_MAX_SIZE} rows and columns are allowed',
            hint="write a smaller number",
        )
    return max(1, int(text))


def _rows(cells: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    made: list[str] = []
    for number, row in enumerate(cells):
        made += ["\\\\"] if number else []
        for column, cell in enumerate(row):
            made += ["&", *cell] if column else cell
    return made


def _identity(reader: FormulaReader, command: str) -> list[str]:
    size = range(_size(reader, command))
    return _rows([["1" if column == row else "0" for column in size] for row in size])


def _fill_matrix(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\xmat{x}{2}{3}` to two rows and three columns of x; with a star, each x gets its indices."""
    star = reader.star()
    return _matrix_tokens(reader, command, reader.argument(), star)


def _zeros(reader: FormulaReader, command: str) -> list[str]:
    return _matrix_tokens(reader, command, ["0"], False)


def _matrix_tokens(reader: FormulaReader, command: str, cell: list[str], numbered: bool) -> list[str]:
    height, width = _size(reader, command), _size(reader, command)
    numbered = numbered and (height, width) != (1, 1)

    def at(row: int, column: int) -> list[str]:
        if not numbered:
            return cell
        if 1 in (height, width):
            return fill(f"#1_{{{max(row, column)}}}", cell)
        return fill(f"#1_{{{{{row}}}{{{column}}}}}", cell)

    return _rows([[at(row, column) for column in range(1, width + 1)] for row in range(1, height + 1)])


def _pauli(reader: FormulaReader, command: str) -> list[str]:
    name = text_of(reader.argument()).strip()
    if name not in _PAULI:
        raise reader.syntax_error(
            f'unknown matrix "{name[:40]}" for "{command}"',
            hint="write one of `0`, `1`, `2`, `3`, `x`, `y`, `z`",
        )
    return fill(_PAULI[name])


def _diagonal(*, anti: bool) -> Expander:
    r"""Return an expander for `\dmat{a, b & c \\ d & e}`: blocks, separated by commas, along a diagonal.

    If no brace follows the command, it prints nothing. anti: from the upper right to the lower left.
    """

    def expand(reader: FormulaReader, command: str) -> list[str]:
        if reader.peek() != "{":
            return []
        blocks = split_tokens(reader.argument(), ",")
        if len(blocks) > _MAX_SIZE:
            raise reader.syntax_error(
                f'"{command}" is too large: at most {_MAX_SIZE} blocks are allowed', hint="write fewer blocks"
            )
        last = len(blocks) - 1
        cells = [fill("\\mqty{#1}", block) for block in blocks]
        return _rows([[*[[]] * (last - n if anti else n), cell] for n, cell in enumerate(cells)])

    return expand


def _brackets(small: str, environment: str) -> dict[str, Expander]:
    return {
        f"\\{small}pmqty": _bracket_matrix("(", ")", environment),
        f"\\{small}Pmqty": _bracket_matrix("\\lgroup ", "\\rgroup ", environment),
        f"\\{small}bmqty": _bracket_matrix("[", "]", environment),
        f"\\{small}vmqty": _bracket_matrix("|", "|", environment),
    }


EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        **dict.fromkeys(("\\matrixquantity", "\\mqty"), _quantity("matrix")),
        **dict.fromkeys(("\\smallmatrixquantity", "\\smqty"), _quantity("smallmatrix")),
        **_brackets("", "matrix"),
        **_brackets("s", "smallmatrix"),
        **dict.fromkeys(("\\matrixdeterminant", "\\mdet"), _bracket_matrix("|", "|", "matrix")),
        "\\smdet": _bracket_matrix("|", "|", "smallmatrix"),
        **dict.fromkeys(("\\identitymatrix", "\\imat"), _identity),
        **dict.fromkeys(("\\xmatrix", "\\xmat"), _fill_matrix),
        **dict.fromkeys(("\\zeromatrix", "\\zmat"), _zeros),
        **dict.fromkeys(("\\paulimatrix", "\\pmat"), _pauli),
        **dict.fromkeys(("\\diagonalmatrix", "\\dmat"), _diagonal(anti=False)),
        **dict.fromkeys(("\\antidiagonalmatrix", "\\admat"), _diagonal(anti=True)),
    }
)
