"""What a cell gave with each value of its sweep: a fold for each, which a script turns into sliders."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from ...model.cells import Cell
from ...model.results import CellResult
from ...model.sweeps import Sweep, SweepAxis
from ..captions import plain
from ..context import Rendering
from ..prose import escape_html
from .pictures import option_text

ShowRun = Callable[[Cell, CellResult], str]
"""(cell, result) → what came out, with where it came from."""


def sweep_runs(rendering: Rendering, cell: Cell, sweep: Sweep, result: CellResult, show: ShowRun) -> str:
    """All runs in the order of the lists; that of the default is open, and the one that other media show."""
    rendering.widgets.update(("teaching", "sweep"))
    sliders = "".join(map(_slider, sweep.axes, sweep.default_point.at))
    runs = "".join(_runs(_words(rendering, cell), sweep, result, show))
    # nothing without the script, and some browsers would remember where a slider stood
    controls = f'<div class="sweep-controls" hidden>{sliders}</div>'
    return f'<div class="sweep">\n{controls}\n{runs}</div>\n'


def _slider(axis: SweepAxis, at: int) -> str:
    values = [str(value) for value in axis.values]
    shown, data = escape_html(values[at]), escape_html(json.dumps(values, ensure_ascii=False))
    state = f'max="{len(values) - 1}" value="{at}" aria-valuetext="{shown}" data-values="{data}"'
    control = f'<input type="range" {state} autocomplete="off">'
    return f'<label>{escape_html(axis.name)}{control}</label><span aria-hidden="true">{shown}</span>'


def _runs(cell: Cell, sweep: Sweep, result: CellResult, show: ShowRun) -> Iterator[str]:
    default, alt = sweep.default_point, cell.options.fig_alt
    for point in sweep.points():
        is_default = point.at == default.at
        own_alt = f"{alt} ({point.label})" if alt else ""
        # the label of a figure or table leads to the default's
        label = cell.label if is_default else ""
        one = replace(cell, label=label, options=replace(cell.options, fig_alt=own_alt))
        inside = show(one, result if is_default else _other(result, point.key))
        own = " open data-default" if is_default else ""
        summary = f"<summary>{escape_html(point.label)}</summary>"
        yield f'<details class="sweep-run"{own}>{summary}\n{inside}</details>\n'


def _words(rendering: Rendering, cell: Cell) -> Cell:
    """The cell with the words for its pictures, to which those of each run are added."""
    options = cell.options
    if options.fig_alt or not options.fig_cap:
        return cell
    caption = plain(rendering, option_text(cell, "fig-cap", options.fig_cap))
    return replace(cell, options=replace(options, fig_alt=caption))


def _other(result: CellResult, key: str) -> CellResult:
    return result.others.get(key) or CellResult("pending")
