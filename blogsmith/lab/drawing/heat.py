"""Heat maps, drawn by `heatmap`: a matrix, or one per head, as coloured cells with a legend.

Few entries are drawn as rectangles, with their numbers if these fit. Many entries become the pixels of one
PNG inside the SVG: with 512 × 512 rectangles, the file would have 20 MB.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from .heat_cells import draw_cells, numbers_of, pixels_of
from .heat_layout import Labels, Layout, index_labels, laid_out
from .heat_legend import Colouring, draw_legend, legend_size
from .heat_values import Rows, counts_of, extreme_of, read_heads
from .svg import Drawing, Sheet, drawn_twice, heading_size, shortened
from .ticks import told


def heatmap(
    weights: Any,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    heads: Sequence[str] | None = None,
    x: str = "",
    y: str = "",
    title: str = "",
    values: bool | str = "auto",
    mask: Any = None,
    scale: Literal["sequential", "diverging"] = "sequential",
    unit: str = "",
) -> Drawing:
    """Draw a heat map whose cells are coloured by their entries.

    `weights` has the shape (n, m), or (h, n, m) for one matrix per head: nested lists, an array or a tensor.
    All heads share one scale, from 0, or the lowest entry below it, to the highest. With `diverging`, 0 is
    in the middle. NaN and infinity are shown as missing.

    rows, columns, heads: names, such as tokens; rows and columns without names are numbered from 0.
    x, y: meaning of columns and rows.
    values: write the numbers into the cells. `auto`: if they fit. A format such as `.1f` is used as in
        `format`.
    mask: True where an entry is shown, broadcast to the shape; other entries are hatched.
    scale: colour scale.
    unit: unit of the numbers.

    Raises `TypeError` or `ValueError` with a message if the arguments do not fit together.
    """
    if scale not in ("sequential", "diverging"):
        raise ValueError(f"scale={scale!r} is neither 'sequential' nor 'diverging'")
    read = read_heads(weights, mask)
    shape = (len(read), len(read[0]), len(read[0][0]))
    labels = Labels(
        _names(rows, shape[1], "rows"), _names(columns, shape[2], "columns"), _heads(heads, shape[0]), x, y
    )
    colouring = _colouring(read, scale, unit)
    layout = laid_out(shape, labels, heading_size(title), lambda left: legend_size(left, colouring))
    numbers = numbers_of(read, values, layout.cell)
    heading = title.strip() or "Heat map"
    words = _words(read, labels, colouring)
    fields = partial(
        draw_cells,
        heads=read,
        layout=layout,
        colouring=colouring,
        numbers=numbers,
        pixels=pixels_of(read, layout, colouring),
    )
    return drawn_twice(heading, words, partial(_draw, fields, labels, layout, colouring, title))


def _names(given: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    if given is None:
        return ()
    names = tuple(str(name) for name in given)
    if len(names) != count:
        raise ValueError(f"there are {len(names)} names for {count} {what}")
    return names


def _heads(given: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"head {number}" for number in range(1, count + 1)) if count > 1 else ()
    return _names(given, count, "heads")


def _colouring(heads: Sequence[Rows], scale: str, unit: str) -> Colouring:
    numbers = [v for rows in heads for row in rows for v in row if v is not None and not math.isnan(v)]
    low, high = min(0.0, *numbers, 0.0), max(numbers, default=0.0)
    if scale == "diverging":
        high = max(abs(low), abs(high))
        low = -high
    if high - low <= 0 or not math.isfinite(high - low):
        low, high = (low, low + 1.0) if high == low else (low / 4, high / 4)
    masked, missing = counts_of(heads)
    return Colouring(low, high, scale == "diverging", unit, masked > 0, missing > 0)


def _draw(
    draw_fields: Callable[[Sheet], None],
    labels: Labels,
    layout: Layout,
    colouring: Colouring,
    title: str,
    sheet: Sheet,
) -> tuple[float, float]:
    if title:
        sheet.heading(title)
    if labels.axes:
        sheet.text(0, layout.axes_top + 13, labels.axes, fill=sheet.inks.ink)
    for number in range(layout.shape[0]):
        _draw_labels(sheet, number, labels, layout)
    draw_fields(sheet)
    draw_legend(sheet, layout.left, layout.bottom, colouring)
    return layout.width, layout.height


def _draw_labels(sheet: Sheet, number: int, labels: Labels, layout: Layout) -> None:
    """Draw the name of a head. Draw row names if its panel is the first in its row, and column names if it is
    the first in its column."""
    left, top = layout.panel(number)
    if labels.heads:
        y = top - 6 - (layout.column_px if number < layout.across else 0)
        sheet.text(left, y, labels.heads[number], fill=sheet.inks.ink, bold=True)
    if number % layout.across == 0:
        for at, name in _thinned(labels.rows, layout.shape[1], layout.cell[1], layout.row_every):
            sheet.text(left - 7, top + (at + 0.5) * layout.cell[1] + 4.5, name, anchor="end")
    if number < layout.across:
        for at, name in _thinned(labels.columns, layout.shape[2], layout.cell[0], layout.column_every):
            x = left + (at + 0.5) * layout.cell[0]
            if layout.turn == "flat":
                sheet.text(x, top - 7, name, anchor="middle")
            elif layout.turn == "slanted":
                sheet.text(x + 1, top - 6, name, turn=-45)
            else:
                sheet.text(x + 4.5, top - 6, name, turn=-90)


def _thinned(names: Sequence[str], count: int, cell: float, every: int) -> list[tuple[int, str]]:
    if not names:
        return index_labels(count, cell)
    return [(at, shortened(name)) for at, name in enumerate(names) if at % every == 0]


def _words(heads: Sequence[Rows], labels: Labels, colouring: Colouring) -> str:
    """Describe the shape, the range and the position of the maximum, for readers who cannot see the
    drawing."""
    n, m = len(heads[0]), len(heads[0][0])
    what = "A matrix" if len(heads) == 1 else f"{len(heads)} matrices"
    axes = f" {labels.y} by {labels.x}," if labels.x and labels.y else ""
    parts = [f"{what} of {n} × {m} entries,{axes}".rstrip(",") + "."]
    masked, missing = counts_of(heads)
    if (top := extreme_of(heads)) is not None:
        numbers = (v for rows in heads for row in rows for v in row if v is not None and not math.isnan(v))
        unit = f" {colouring.unit}" if colouring.unit else ""
        place = f"row {_named(top.row, labels.rows)}, column {_named(top.column, labels.columns)}"
        if labels.heads:
            place = f"{labels.heads[top.head]}, {place}"
        parts.append(f"Values from {told(min(numbers))} to {told(top.value)}{unit}; the largest in {place}.")
    for count, word in ((masked, "masked"), (missing, "missing")):
        if count:
            parts.append(f"{count:,} {'entry is' if count == 1 else 'entries are'} {word}.")
    return " ".join(parts)


def _named(at: int, names: Sequence[str]) -> str:
    """Return the name of a row or column, with its number if the name is not unique."""
    if not names:
        return str(at)
    return f"{names[at]} ({at})" if names.count(names[at]) > 1 else names[at]
