"""Small tables of results: plain text for a terminal, HTML for a page.

The HTML holds only what may stand in the output of a cell: no classes, no scripts; alignment as a style,
which the page turns into its own class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

DASH = "–"
"""Stands where there is no value."""


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Printed as text, shown as HTML; the first column names the rows."""

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
    """Cells become text with `str`; None becomes a dash. ValueError if a row is not as long as the header."""
    names = tuple(map(_text, header))
    lines = tuple(tuple(map(_text, row)) for row in rows)
    for line in lines:
        if len(line) != len(names):
            raise ValueError(f"a row has {len(line)} cells, the header {len(names)}: {', '.join(line)}")
    return Table(names, lines, caption)


def two_digits(value: float | None) -> str:
    """`value` with two significant digits: what repeats from run to run on one machine.

    0 stays 0; powers of ten from 0.001 up to 1000 are written out, others as in 4.9e-07.
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
    # 0.5 in front of the point means one digit more behind it
    digits = max(0, 1 - int(f"{rounded:e}".partition("e")[2]))
    return f"{rounded:.{digits}f}"


def _text(value: object) -> str:
    return DASH if value is None else " ".join(str(value).split())


def _right_columns(shown: Table) -> tuple[bool, ...]:
    """Columns of numbers, with or without a unit: every cell begins with a digit, or holds a dash."""
    return tuple(
        any(row[i] != DASH for row in shown.rows)
        and all(row[i] == DASH or row[i].lstrip("+-−<≤")[:1].isdigit() for row in shown.rows)
        for i in range(len(shown.header))
    )


def _body_row(row: Sequence[str], right: Sequence[bool]) -> str:
    first, *rest = (
        _cell("td" if i else "th", text, "" if i else "row", side)
        for i, (text, side) in enumerate(zip(row, right, strict=True))
    )
    return "".join([first, *rest])


def _cell(tag: str, text: str, scope: str, right: bool) -> str:
    scoped = f' scope="{scope}"' if scope else ""
    style = ' style="text-align: right"' if right else ""
    return f"<{tag}{scoped}{style}>{escape(text, quote=False)}</{tag}>"
