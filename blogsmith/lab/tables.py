"""Small tables of results: plain text for a terminal, HTML for a page.

The HTML contains only what is allowed in the output of a cell: no classes, no scripts. Alignment is a style
that the page turns into its own class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

DASH = "–"
"""Placeholder for a missing value."""


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Table that prints as text and is shown on pages as HTML. The first column names the rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def __repr__(self) -> str:
        right = _right_columns(self)
        lines = [self.header, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.header))]
        text = [
            "  ".join(
                cell.rjust(width) if to_right else cell.ljust(width)
                for cell, width, to_right in zip(line, widths, right, strict=True)
            ).rstrip()
            for line in lines
        ]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([*([self.caption] if self.caption else []), text[0], rule, *text[1:]])

    def _repr_html_(self) -> str:
        right = _right_columns(self)
        head = "".join(_cell("th", text, "col", side) for text, side in zip(self.header, right, strict=True))
        body = "".join(f"<tr>{_body_row(row, right)}</tr>" for row in self.rows)
        caption = f"<caption>{escape(self.caption, quote=False)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table(header: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> Table:
    """Create a table. Cells are converted with `str`; None becomes a dash.

    Raises `ValueError` if a row is not as long as the header.
    """
    names = tuple(map(_text, header))
    lines = tuple(tuple(map(_text, row)) for row in rows)
    for line in lines:
        if len(line) != len(names):
            raise ValueError(f"a row has {len(line)} cells, the header {len(names)}: {', '.join(line)}")
    return Table(names, lines, caption)


def two_digits(value: float | None) -> str:
    """Format `value` with two significant digits, which are reproducible from run to run on one machine.

    0 stays 0. Numbers from 0.001 to 1000 are written without an exponent, others as 4.9e-07.
    """
    if value is None:
        return DASH
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if value == 0:
        return "0"
    rounded = float(f"{value:.1e}")
    if not 1e-3 <= abs(rounded) < 1e3:
        return f"{value:.1e}"
    # a leading digit 0 means one more decimal
    digits = max(0, 1 - int(f"{rounded:e}".partition("e")[2]))
    return f"{rounded:.{digits}f}"


def number_with_error(value: float, error: float | None = None) -> str:
    """Format `0.656 ± 0.102` as `0.66 ± 0.10`: two digits of the error, and the value to the same place (GUM,
    7.2.6). Without an error, or if it is 0, three digits of the value, or all before the point. Thousands are
    separated."""
    if not (math.isfinite(value) and math.isfinite(error or 0)):
        return f"{value}" if error is None else f"{value} ± {error}"
    place = _exponent(error, 2) - 1 if error else min(0, _exponent(value, 3) - 2)
    shown = [
        f"{round(number, -place):,.{max(0, -place)}f}" for number in (value, error) if number is not None
    ]
    return " ± ".join(shown)


def _exponent(value: float, digits: int) -> int:
    """Return the power of ten of the first digit, after rounding to `digits` digits. 0 for 0."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def _text(value: object) -> str:
    return DASH if value is None else " ".join(str(value).split())


def _right_columns(shown: Table) -> tuple[bool, ...]:
    """Return whether each column contains numbers, with or without a unit: at least one cell starts with a
    digit, and all others contain none, such as a dash or `out of memory`."""
    columns = [[row[i].lstrip("+-−<≤") for row in shown.rows] for i in range(len(shown.header))]
    return tuple(
        any(cell[:1].isdigit() for cell in column)
        and all(cell[:1].isdigit() or not any(map(str.isdigit, cell)) for cell in column)
        for column in columns
    )


def _body_row(row: Sequence[str], right: Sequence[bool]) -> str:
    """Return the HTML of a row. Adjacent number columns with the same words, such as `out of memory`, become
    one cell."""
    first, *rest = zip(row, right, strict=True)
    cells = [_cell("th", first[0], "row", first[1])]
    for (text, side), group in groupby(rest):
        count, is_word = len(list(group)), side and text != DASH and not any(map(str.isdigit, text))
        cells += [_cell("td", text, "", side, count)] if is_word else [_cell("td", text, "", side)] * count
    return "".join(cells)


def _cell(tag: str, text: str, scope: str, right: bool, columns: int = 1) -> str:
    scoped = f' scope="{scope}"' if scope else ""
    span = f' colspan="{columns}"' if columns > 1 else ""
    side = "center" if columns > 1 else "right"
    style = f' style="text-align: {side}"' if right else ""
    return f"<{tag}{scoped}{span}{style}>{escape(text, quote=False)}</{tag}>"
