"""Fences that run: code, outputs and provenance. Nothing runs here: the results are arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from markdown_it.token import Token
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ...languages.language import Language
from ...languages.sentences import translate_sentences
from ...model.cells import Cell
from ...model.results import CellResult, Failure
from ...model.sweeps import Sweep, SweepAxis
from ...syntax.records import Fence, get_record
from ..context import PageRendering
from ..fences import code_fence_figure
from ..figure_frame import inline_html, plain_argument
from ..prose import escape_html
from .ansi import plain_output
from .outputs import RenderedOutputs, show_outputs
from .pictures import option_text
from .provenance import provenance, run_line
from .runnable import runnable_cell
from .values import stale_sentence

_HIDDEN = lazy_pattern(r"#[ \t]*hide[ \t]*$")
"""Matches the comment at the end of a line that runs but is not shown, as in Franklin and Literate."""

_DONE = ("ok", "error")
"""Statuses of cells that ran to the end, even if that was an exception."""


def cell_html(rendering: PageRendering, token: Token) -> str:
    """Render the fence of a cell with its results."""
    cell = get_record(token, Cell)
    if not cell.options.include:
        return ""
    if not cell.options.eval:
        return _code(rendering, token, cell, cell.label)
    own = f' id="cell-{escape_html(cell.label)}"' if cell.label else ""
    if cell.options.run_in == "browser":
        return runnable_cell(rendering, token, _code(rendering, token, cell), own)
    inside, status = _run_cell(rendering, token, cell)
    classes = "cell cell-claim" if cell.options.claim else "cell"
    if cell.options.layout == "side" and cell.options.echo:
        rendering.widgets.add("teaching")
        classes += " cell-side"
    return f'<div class="{classes}"{own} data-status="{status}">\n{inside}</div>\n' if inside else ""


def _run_cell(rendering: PageRendering, token: Token, cell: Cell) -> tuple[str, str]:
    """Return the content of the cell with its results as HTML, and the status for `data-status`."""
    result = rendering.results.cells.get(cell.number, CellResult("pending"))
    if cell.options.sweep and result.status in _DONE:
        return _run_sweep(rendering, token, cell, cell.options.sweep, result)
    shown = show_outputs(rendering, cell, result)
    # a reference to a figure or table needs a target, even if the cell has no output yet
    is_numbered = bool(cell.figure_number or cell.table_number)
    name = cell.label if is_numbered and not shown.has_anchor else ""
    claim = _claim(rendering, cell, result, name)
    code = _code(rendering, token, cell, "" if claim else name)
    code = runnable_cell(rendering, token, code)
    notes = _note_lines(rendering, cell, result, is_target=bool(name) and not (claim or code))
    output = _output(shown, notes, "" if claim or code else name)
    # the line of folded or hidden content may be invisible, so later results must not refer to it
    is_apart = bool(claim) or token.level > 0
    # a measurement on a GPU that others read from a file is still one whose device readers ask for
    is_on_gpu = cell.options.echo and result.device not in ("", "cpu")
    is_shown = shown.html or claim or is_on_gpu
    origin = _provenance(rendering, cell, result, is_apart=is_apart) if is_shown else ""
    unmet = unmet_note(rendering) if result.status == "skipped" and result.unmet else ""
    return f"{unmet}{claim}{code}{output}{origin}", "stale" if result.stale else result.status


def _run_sweep(
    rendering: PageRendering, token: Token, cell: Cell, sweep: Sweep, result: CellResult
) -> tuple[str, str]:
    """Return the content and status of a cell that ran with several values."""

    def show(cell: Cell, result: CellResult) -> str:
        shown = show_outputs(rendering, cell, result)
        notes = _note_lines(rendering, cell, result)
        # a reference to a figure or table needs a target, even if the cell has no output yet
        is_numbered = bool(cell.figure_number or cell.table_number)
        output = _output(shown, notes, cell.label if is_numbered and not shown.has_anchor else "")
        is_shown = shown.html or cell.options.claim
        origin = _provenance(rendering, cell, result, is_apart=True) if is_shown else ""
        return f"{output}{origin}"

    checked = (result, *result.others.values())
    is_open = any(not _is_checked(one) for one in checked) or len(checked) < len(sweep.points())
    claim = _claim(rendering, cell, replace(result, has_gap=result.has_gap or is_open), "")
    code = _code(rendering, token, cell, "")
    runs = sweep_runs(rendering, cell, sweep, result, show)
    return f"{claim}{code}{runs}", "stale" if result.stale else result.status


def _note_lines(rendering: PageRendering, cell: Cell, result: CellResult, *, is_target: bool = False) -> str:
    """Return the notes before the outputs. is_target: whether the notes are the only visible part of the cell
    that references can point to."""
    notes = _notes(rendering.language, cell, result, is_target=is_target)
    return "".join(f'<p class="output-note">{escape_html(plain_output(note))}</p>\n' for note in notes)


def _output(shown: RenderedOutputs, notes: str, name: str) -> str:
    if not shown.html and not notes:
        return ""
    anchor = f' id="{escape_html(name)}"' if name else ""
    return f'<div class="cell-output"{anchor}>\n{notes}{shown.html}</div>\n'


def _code(rendering: PageRendering, token: Token, cell: Cell, name: str = "") -> str:
    """Return the figure of the code; empty if the code is hidden. name: id of the figure."""
    options = cell.options
    if not options.echo:
        return ""
    record = get_record(token, Fence) if "fence" in token.meta else Fence(place=cell.place)
    fold = options.code_fold or record.fold
    if options.claim and not fold and "code-fold" not in options.places:
        fold = rendering.language.translate("How it is checked")
    record = replace(record, language=cell.language, fold=fold, id=name)
    code, record = _without_hidden(cell.code, record)
    return code_fence_figure(rendering, token, code, record, fold_open=options.fold_open) if code else ""


def _without_hidden(code: str, record: Fence) -> tuple[str, Fence]:
    """Return the code without lines that end in `#hide`, and the fence with line numbers that match this
    code."""
    lines = code.splitlines(keepends=True)
    shown = [number for number, line in enumerate(lines, 1) if not _HIDDEN.search(line)]
    if len(shown) == len(lines):
        return code, record
    numbers = {number: position for position, number in enumerate(shown, 1)}
    moved = {
        key: frozenset(numbers[line] for line in getattr(record, key) if line in numbers)
        for key in ("marked", "added", "removed")
    }
    marks = tuple(replace(mark, line=numbers[mark.line]) for mark in record.marks if mark.line in numbers)
    return "".join(lines[number - 1] for number in shown), replace(record, marks=marks, **moved)


def _claim(rendering: PageRendering, cell: Cell, result: CellResult, name: str) -> str:
    """Return the cell's claim as a sentence, after a symbol that shows whether it was checked. Empty if the
    cell has no claim. name: id of the paragraph."""
    if not cell.options.claim:
        return ""
    words = inline_html(rendering, option_text(cell, "claim", cell.options.claim))
    is_checked = _is_checked(result)
    sign, label, kind = ("✓", "Checked", "") if is_checked else ("○", "Not checked", " claim-open")
    label = escape_html(rendering.language.translate(label))
    mark = f'<span class="claim-mark{kind}" role="img" aria-label="{label}">{sign}</span>'
    anchor = f' id="{escape_html(name)}"' if name else ""
    return f'<p class="claim"{anchor}>{mark} {words}</p>\n'


def _is_checked(result: CellResult) -> bool:
    return result.status == "ok" and not (result.stale or result.shown_for or result.has_gap)


def _notes(language: Language, cell: Cell, result: CellResult, *, is_target: bool) -> Iterator[str]:
    """Yield notes about outputs that readers could take for fresh results of this cell."""
    if result.status == "skipped" and result.unmet and not is_target:
        return
    if not cell.options.output:
        return
    if result.status == "pending":
        yield language.translate("This cell has not been run.")
    elif result.status == "skipped":
        yield (
            language.translate("Not run: {reason}", reason=_end_sentence(language, result.problem))
            if result.problem
            else language.translate("This cell was not run.")
        )
    elif result.problem and not any(isinstance(output, Failure) for output in result.outputs):
        yield _sentence(language, result.problem)
    if result.imported:
        yield language.translate("From the notebook, not verified here.")
    elif result.stale:
        yield stale_sentence(language, result.stale)
    if result.shown_for:
        yield _sentence(language, result.shown_for)


def _sentence(language: Language, found: str) -> str:
    text = _end_sentence(language, found)
    return text[:1].upper() + text[1:]


def _end_sentence(language: Language, found: str) -> str:
    text = translate_sentences(language, found)
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _provenance(rendering: PageRendering, cell: Cell, result: CellResult, *, is_apart: bool) -> str:
    """Return the provenance line of a result; empty if the cell did not run here. is_apart: whether the
    result may be hidden, so that later results must not refer to its line."""
    # There is no information about a run outside this site.
    if result.status not in _DONE or result.imported:
        return ""
    options = cell.options
    seed = options.seed if options.seed is not None else rendering.document.front.execution.seed
    told, line = rendering.last_run_line, run_line(result, options.session, seed, options.freeze)
    is_told = line.is_same(told)
    if is_told and told:
        line = replace(line, packages=line.packages | told.packages)
    if options.provenance in ("once", "full") and not is_apart:
        rendering.last_run_line = line
    elif not is_told:
        rendering.last_run_line = None
    return provenance(
        result,
        seed,
        options.freeze,
        rendering.language,
        style=options.provenance,
        previous=told if is_told and options.provenance == "once" and not is_apart else None,
    )


# The note on a page with code that was not run because of an unmet need.


_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "cuda": "CUDA",
        "flash_attn": "FlashAttention",
        "jax": "JAX",
        "latex": "LaTeX",
        "numpy": "NumPy",
        "scipy": "SciPy",
        "tensorflow": "TensorFlow",
        "torch": "PyTorch",
    }
)
"""Module → name that readers know. Other modules are shown under their import name."""


def unmet_note(rendering: PageRendering) -> str:
    """Return the note before the first cell that was not run; for later cells, return an empty string."""
    if rendering.has_unmet_note:
        return ""
    rendering.has_unmet_note = True
    cells = [result for result in rendering.results.cells.values() if result.status != "off"]
    skipped = [result for result in cells if result.status == "skipped" and result.unmet]
    needs: dict[str, str] = {}
    for need in (need for result in skipped for need in result.unmet):
        name, _, version = need.partition(">=")
        needs[name] = version or needs.get(name, "")
    template = (
        "The code on this page needs {needs} and was not run here."
        if len(skipped) == len(cells)
        else "Some code on this page needs {needs} and was not run here."
    )
    note = rendering.language.translate(template, needs=" + ".join(map(_display_name, needs, needs.values())))
    return f'<p class="output-note">{escape_html(note)}</p>\n'


def _display_name(name: str, version: str) -> str:
    """Return `PyTorch ≥ 2.6` for `torch` and `2.6`."""
    return _NAMES.get(name, name) + (f" ≥ {version}" if version else "")


# Results of a cell for each value of its sweep: each is in a fold, and a script turns the folds into sliders.


ShowRun = Callable[[Cell, CellResult], str]
"""Function that returns the outputs and provenance of a cell and its result, as HTML."""


def sweep_runs(rendering: PageRendering, cell: Cell, sweep: Sweep, result: CellResult, show: ShowRun) -> str:
    """Return the outputs of all runs of a sweep, in order. Only the default run is open; feeds and print show
    only that run. show: function that renders one run."""
    rendering.widgets.update(("teaching", "sweep"))
    sliders = "".join(map(_slider, sweep.axes, sweep.default_point.at))
    runs = "".join(_runs(_with_alt_text(rendering, cell), sweep, result, show))
    # without the script sliders do nothing, and some browsers would restore their position
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
        # the label of a figure or table refers to the default run
        label = cell.label if is_default else ""
        one = replace(cell, label=label, options=replace(cell.options, fig_alt=own_alt))
        inside = show(one, result if is_default else _sweep_result(result, point.key))
        own = " open data-default" if is_default else ""
        summary = f"<summary>{escape_html(point.label)}</summary>"
        yield f'<details class="sweep-run"{own}>{summary}\n{inside}</details>\n'


def _with_alt_text(rendering: PageRendering, cell: Cell) -> Cell:
    """Return the cell with its figure caption as alternative text, if the author wrote no alternative
    text."""
    options = cell.options
    if options.fig_alt or not options.fig_cap:
        return cell
    caption = plain_argument(rendering, option_text(cell, "fig-cap", options.fig_cap))
    return replace(cell, options=replace(options, fig_alt=caption))


def _sweep_result(result: CellResult, key: str) -> CellResult:
    return result.others.get(key) or CellResult("pending")
