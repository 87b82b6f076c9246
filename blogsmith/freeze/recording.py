"""A session that has run → its record, with what it was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ..model.cells import Cell, PageCells
from ..model.results import CellRun, SessionRun
from .environment import Environment
from .keys import SessionKeys, environment_digests, session_keys
from .matching import match_cells
from .record import CellRecord, SessionRecord
from .record_form import Origin, ValueRecord


def session_record(
    page: PageCells,
    run: SessionRun,
    around: Environment,
    date: str,
    old: SessionRecord | None = None,
) -> SessionRecord | None:
    """The record of a session; None if a cell of it failed, for a failure is not recorded.

    around: with the files as they are now. old: what was recorded of the session; a cell that was skipped
    because this machine lacks what it needs keeps its result in it. A value that failed is left out.
    """
    cells = page.session_cells(run.session)
    if run.problem or any(_is_failed(cell, result) for cell, result in zip(cells, run.cells, strict=True)):
        return None
    keys = session_keys(page, run.session, around.environment, around.figures)
    kept = _earlier_results(cells, keys, old)
    found = []
    for position, (cell, result) in enumerate(zip(cells, run.cells, strict=True)):
        if result.status != "skipped":
            found.append(_cell_record(page, cell, result, keys, position, around))
        elif position in kept:
            found.append(kept[position])
    return SessionRecord(
        start=keys.start,
        cells=tuple(found),
        values=_values(page, run, keys),
        environment=environment_digests(around.environment),
        depends=_digests(page.depends, page, around),
        origin=Origin(run.machine, date),
        reads=run.reads,
        modules=run.modules,
        absent=run.absent,
    )


def _is_failed(cell: Cell, run: CellRun) -> bool:
    """Whether a cell ended in a way that is no result. Where a session holds no such cell, skipped means:
    this machine lacks what the cell needs."""
    return bool(run.shapes) or not run.ended_well(error=cell.options.error)


def _cell_record(
    page: PageCells, cell: Cell, run: CellRun, keys: SessionKeys, position: int, around: Environment
) -> CellRecord:
    return CellRecord(
        key=keys.cells[position],
        code=keys.codes[position],
        # tenths of a millisecond: more digits are noise
        run=replace(run, seconds=round(run.seconds, 4)),
        label=cell.label,
        options=keys.options[position],
        depends=_digests(cell.options.depends, page, around),
    )


def _values(page: PageCells, run: SessionRun, keys: SessionKeys) -> tuple[ValueRecord, ...]:
    found = {}
    for value in page.values:
        result, key = run.values.get(value.number), keys.values.get(value.number)
        if result is not None and key is not None and result.status == "ok":
            found[key] = ValueRecord(
                key=key,
                expression=value.expression,
                conversion=value.conversion,
                spec=value.spec,
                text=result.text,
                latex=result.latex,
            )
    return tuple(found.values())


def _digests(patterns: Sequence[str], page: PageCells, around: Environment) -> dict[str, str]:
    paths = sorted({path for pattern in patterns for path in around.matches(pattern, page.path)})
    digests = {path: around.digest_of(path) for path in paths}
    return {path: digest for path, digest in digests.items() if digest is not None}


def _earlier_results(
    cells: Sequence[Cell], keys: SessionKeys, old: SessionRecord | None
) -> Mapping[int, CellRecord]:
    """Position of a cell → its earlier result, as one that stands alone."""
    if old is None:
        return {}
    matches = enumerate(match_cells(cells, keys, old.cells))
    return {at: _detach_cell(old, match.index) for at, match in matches if match is not None and match.known}


def _detach_cell(session: SessionRecord, index: int) -> CellRecord:
    """A recorded cell that no longer belongs to the run of its session."""
    cell = session.cells[index]
    if cell.origin is not None:
        return cell
    reads: dict[str, str] = {**session.depends, **session.reads}
    modules: dict[str, str] = dict(session.modules)
    absent = set(session.absent)
    for earlier in session.cells[: index + 1]:
        if earlier.origin is None:
            # what was declared counts like what was read
            reads |= {**(earlier.depends if earlier is not cell else {}), **earlier.run.reads}
            modules |= earlier.run.modules
            absent |= set(earlier.run.absent)
    run = replace(cell.run, reads=reads, modules=modules, absent=tuple(sorted(absent)))
    return replace(cell, run=run, origin=session.origin)
