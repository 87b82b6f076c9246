"""Results shown on a page: recorded results, and placeholders for missing ones.

They depend on page and record alone, so every machine builds the same page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from ..model.cells import Cell
from ..model.results import CellResult, Machine, PageResults, ValueResult
from .record import CellRecord
from .record_form import Origin
from .staleness import PageVerdict, Verdict


def page_results(verdict: PageVerdict, folder: Path | None, signer: str = "") -> PageResults:
    """Return the results that the judged page shows.

    A cell whose needs were never met shows the result named by its `fallback`. With `fallback: error`, and
    wherever nothing is recorded, it is `pending`.

    folder: folder with the images of the record. signer: name of the one who signed it; may be empty.
    """
    cells = {cell.number: _result(verdict.cells.get(cell.number), signer) for cell in verdict.page.cells}
    labels = {cell.label: cell for cell in verdict.page.cells if cell.label}
    shown = {
        cell.number: _placeholder_result(cell, cells, labels)
        if _uses_fallback(cell, cells)
        else cells[cell.number]
        for cell in verdict.page.cells
    }
    for number in _cells_after_gaps(verdict.page.cells, cells):
        shown[number] = replace(shown[number], has_gap=True)
    values = {number: _value(found) for number, found in verdict.values.items()}
    return PageResults(shown, values, folder)


def _result(verdict: Verdict | None, signer: str) -> CellResult:
    if verdict is None:
        return CellResult("off")
    if verdict.record is None:
        return CellResult("pending")
    others = {
        key: _cell_result(other, other.origin or verdict.origin, verdict, signer)
        for key, other in verdict.record.others.items()
    }
    return replace(_cell_result(verdict.record, verdict.origin, verdict, signer), others=others)


def _cell_result(record: CellRecord, origin: Origin | None, verdict: Verdict, signer: str) -> CellResult:
    """Return the result of one recorded run of a judged cell."""
    run = record.run
    machine = origin.machine if origin else Machine()
    return CellResult(
        status=run.status,
        outputs=run.outputs,
        seconds=run.seconds,
        device=run.device,
        packages={name: machine.packages[name] for name in run.packages if name in machine.packages},
        machine=machine,
        date=origin.date if origin else "",
        stale="" if verdict.only_due else verdict.summary,
        problem=run.problem,
        sdpa=run.sdpa,
        imported=bool(origin and origin.imported),
        accepted=origin.accepted if origin else "",
        signer=signer,
        reasons=run.uses.reasons if run.uses else (),
    )


def _uses_fallback(cell: Cell, cells: Mapping[int, CellResult]) -> bool:
    needy = cell.options.needs and cell.options.fallback != "error"
    return bool(needy) and cells[cell.number].status == "pending"


def _cells_after_gaps(page: Iterable[Cell], cells: Mapping[int, CellResult]) -> Iterator[int]:
    """Yield the cells that ran although an earlier cell of their session never ran."""
    gaps: set[str] = set()
    for cell in page:
        session = cell.options.session
        if session in gaps:
            yield cell.number
        if cell.is_run and cells[cell.number].status == "pending":
            gaps.add(session)


def _placeholder_result(
    cell: Cell, cells: Mapping[int, CellResult], labels: Mapping[str, Cell]
) -> CellResult:
    """Return the placeholder for a cell without a result."""
    unmet = tuple(map(str, cell.options.needs))
    if cell.options.fallback == "skip":
        return CellResult("skipped", unmet=unmet)
    seen = {cell.number}
    other: Cell | None = cell
    # The cell named by `fallback` may have a fallback itself.
    while other and other.options.fallback not in ("skip", "error") and _uses_fallback(other, cells):
        other = labels.get(other.options.fallback)
        if other is None or other.number in seen:
            return cells[cell.number]
        seen.add(other.number)
    if other is None or cells[other.number].status in ("pending", "off"):
        return cells[cell.number]
    needs = " and ".join("CUDA" if need == "cuda" else need for need in unmet)
    why = f"it needs {needs}, and was not run where that is"
    shown_for = f"{why}; this is the output of cell {other.label}"
    return replace(cells[other.number], unmet=unmet, shown_for=shown_for)


def _value(verdict: Verdict) -> ValueResult:
    if verdict.value is None:
        return ValueResult(pending=True)
    return ValueResult(verdict.value.text, verdict.value.latex, False, verdict.summary)
