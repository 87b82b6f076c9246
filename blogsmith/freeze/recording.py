"""Creates records of sessions that have run. If a run only repeats the recorded results, the record stays
unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ..model.cells import Cell, PageCells
from ..model.results import CellRun, Failure, SessionRun, Stream, Uses
from .changes import variable_digests
from .environment import Environment
from .keys import AS_WRITTEN, SessionKeys, environment_digests, layout_digest, session_keys
from .matching import match_cells
from .record import CellRecord, SessionRecord
from .record_form import Origin, ValueRecord
from .repetition import is_repetition


def session_record(
    page: PageCells,
    run: SessionRun,
    around: Environment,
    date: str,
    old: SessionRecord | None = None,
) -> SessionRecord | None:
    """Return the record of a session. None if one of its cells failed, because failures are not recorded.

    Values that failed are left out. around: environment with the files as they are now. old: the previous
    record of the session. If a cell was skipped because its needs are not met, the result in `old` is used
    for it.
    """
    cells = page.session_cells(run.session)
    if run.problem or any(_is_failed(cell, result) for cell, result in zip(cells, run.cells, strict=True)):
        return None
    keys = session_keys(page, run.session, around.environment, around.figures)
    if old is not None and old.form != keys.form:
        known_keys = session_keys(page, run.session, around.environment, around.figures, old.form)
        if run.only_sweeps or _has_all_keys(old, known_keys):
            # Then only the form of the keys would differ.
            keys = known_keys
        else:
            old = _rekey(cells, old, known_keys, keys)
    if run.only_sweeps:
        return _merge_sweep_points(cells, run, keys, date, old, around)
    known = _recorded_sweep_points(cells, keys, old)
    kept = _earlier_results(cells, keys, old)
    found = []
    for position, (cell, result) in enumerate(zip(cells, run.cells, strict=True)):
        if result.status != "skipped":
            record = _cell_record(page, cell, result, keys, position, around)
            if keys.form != AS_WRITTEN and _names_lines(result):
                record = replace(record, layout=layout_digest(cells[: position + 1]))
            found.append(_add_sweep_points(record, position, result, keys, known.get(position, {})))
        elif position in kept:
            found.append(kept[position])
    made = SessionRecord(
        start=keys.start,
        cells=tuple(found),
        values=_values(page, run, keys),
        environment=environment_digests(around.environment),
        depends=_digests(page.depends, page, around),
        origin=Origin(run.machine, date),
        reads=run.reads,
        modules=run.modules,
        absent=run.absent,
        uses=run.uses and _with_digests(run.uses, around),
        form=keys.form,
    )
    tolerances = {key: cell.options.tolerance for key, cell in zip(keys.cells, cells, strict=True)}
    return old if old is not None and is_repetition(old, made, tolerances, around) else made


def _has_all_keys(old: SessionRecord, keys: SessionKeys) -> bool:
    return old.start == keys.start and tuple(cell.key for cell in old.cells) == keys.cells


def _rekey(cells: Sequence[Cell], old: SessionRecord, known: SessionKeys, keys: SessionKeys) -> SessionRecord:
    """Return an old record with its keys in the current form. known: current keys, in the form of the old
    record. keys: current keys, in the current form."""
    found = list(old.cells)
    for position, match in enumerate(match_cells(cells, known, old.cells)):
        if match is None or found[match.index].key != known.cells[position]:
            continue
        points = keys.sweeps.get(position, {})
        same = {
            point: replace(other, key=points[point], code=keys.codes[position])
            for point, other in found[match.index].others.items()
            if point in points and other.key == known.sweeps.get(position, {}).get(point)
        }
        found[match.index] = replace(
            found[match.index], key=keys.cells[position], code=keys.codes[position], others=same
        )
    return replace(old, start=keys.start if old.start == known.start else old.start, cells=tuple(found))


def _names_lines(run: CellRun) -> bool:
    """Return whether the outputs contain line numbers of code."""
    runs = (run, *run.others.values())
    outputs = [output for one in runs for output in one.outputs]
    return any(
        isinstance(output, Failure) or (isinstance(output, Stream) and "<cell " in output.text)
        for output in outputs
    )


def _is_failed(cell: Cell, run: CellRun) -> bool:
    """Return whether a cell did not end with a valid result. A skipped cell counts as failed only if another
    cell of its session failed. Otherwise it was skipped because this machine does not meet its needs."""
    runs = (run, *run.others.values())
    return any(one.shapes or not one.has_succeeded(error=cell.options.error) for one in runs)


def _cell_record(
    page: PageCells, cell: Cell, run: CellRun, keys: SessionKeys, position: int, around: Environment
) -> CellRecord:
    return CellRecord(
        key=keys.cells[position],
        code=keys.codes[position],
        run=replace(_round_seconds(run), uses=_recorded_uses(run.uses, around)),
        label=cell.label,
        options=keys.options[position],
        depends=_digests(cell.options.depends, page, around),
    )


def _recorded_uses(uses: Uses | None, around: Environment) -> Uses | None:
    """Return the dependencies of a cell as they are recorded; None if there are none."""
    found = _with_digests(uses, around) if uses is not None else Uses()
    return None if found == Uses() else found


def _with_digests(uses: Uses, around: Environment) -> Uses:
    """Return dependencies with digests of the values of those environment variables that are compared."""
    return replace(uses, variables=variable_digests(set(uses.variables) & set(around.passed), around.passed))


def _merge_uses(*found: Uses | None) -> Uses | None:
    """Return the dependencies of several runs combined; for the same name, the later run counts. The reasons
    why a result is not repeatable are those of the last run only. Runs with None are skipped. None if nothing
    remains."""
    states: dict[str, str] = {}
    variables: dict[str, str] = {}
    for uses in filter(None, found):
        states, variables = {**states, **uses.states}, {**variables, **uses.variables}
    reasons = found[-1].reasons if found[-1] else ()
    merged = Uses(states, variables, reasons)
    return None if merged == Uses() else merged


def _round_seconds(run: CellRun) -> CellRun:
    # tenths of a millisecond; further digits are noise
    return replace(run, seconds=round(run.seconds, 4), others={})


def _add_sweep_points(
    record: CellRecord,
    position: int,
    run: CellRun,
    keys: SessionKeys,
    known: Mapping[str, CellRecord],
    origin: Origin | None = None,
) -> CellRecord:
    """Return the record of a cell with the points of its sweep added: points that ran now, and recorded
    points that are still needed.

    known: recorded points by their keys. origin: origin of the points that ran now; None if it is that of the
    session.
    """
    found = {}
    for point, key in keys.sweeps.get(position, {}).items():
        if point in run.others:
            options = {**record.options, "sweep": point}
            found[point] = CellRecord(
                key, record.code, _without_files(run.others[point]), options=options, origin=origin
            )
        elif point in known and known[point].key == key:
            found[point] = known[point]
    return replace(record, others=found) if found else record


def _without_files(run: CellRun) -> CellRun:
    """Return the run of a sweep point without its files, because these are recorded with the cell."""
    return replace(_round_seconds(run), reads={}, modules={}, absent=(), uses=None)


def _recorded_sweep_points(
    cells: Sequence[Cell], keys: SessionKeys, old: SessionRecord | None
) -> Mapping[int, Mapping[str, CellRecord]]:
    """Map the position of each cell with a sweep to its recorded points, each with its origin."""
    if old is None or not keys.sweeps:
        return {}
    found = {}
    for position, match in enumerate(match_cells(cells, keys, old.cells)):
        if match is not None and position in keys.sweeps:
            record = old.cells[match.index]
            origin = record.origin or old.origin
            found[position] = {
                key: replace(other, origin=other.origin or origin) for key, other in record.others.items()
            }
    return found


def _merge_sweep_points(
    cells: Sequence[Cell],
    run: SessionRun,
    keys: SessionKeys,
    date: str,
    old: SessionRecord | None,
    around: Environment,
) -> SessionRecord | None:
    """Return the old record of a session, with the sweep points that ran now added. None if there is no old
    record."""
    if old is None:
        return None
    found = list(old.cells)
    for position, match in enumerate(match_cells(cells, keys, old.cells)):
        result = run.cells[position]
        if match is None or not result.others:
            continue
        record = found[match.index]
        own = replace(
            record.run,
            reads={**record.run.reads, **result.reads},
            modules={**record.run.modules, **result.modules},
            absent=tuple(sorted({*record.run.absent, *result.absent})),
            uses=_merge_uses(record.run.uses, _recorded_uses(result.uses, around)),
        )
        known, origin = record.others, Origin(run.machine, date)
        record = replace(record, run=own, others={})
        found[match.index] = _add_sweep_points(record, position, result, keys, known, origin)
    return replace(old, cells=tuple(found))


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
    """Map the position of each cell to its result in `old`, in a form that no longer needs the rest of the
    session. Cells that match a record only by position have no entry."""
    if old is None:
        return {}
    matches = enumerate(match_cells(cells, keys, old.cells))
    return {at: _detach_cell(old, match.index) for at, match in matches if match is not None and match.known}


def _detach_cell(session: SessionRecord, index: int) -> CellRecord:
    """Return a recorded cell together with all its dependencies, so that it no longer needs the rest of its
    session."""
    cell = session.cells[index]
    if cell.origin is not None:
        return cell
    reads: dict[str, str] = {**session.depends, **session.reads}
    modules: dict[str, str] = dict(session.modules)
    absent = set(session.absent)
    uses = [session.uses]
    for earlier in session.cells[: index + 1]:
        if earlier.origin is None:
            # Files in `depends` count as files that were read.
            reads |= {**(earlier.depends if earlier is not cell else {}), **earlier.run.reads}
            modules |= earlier.run.modules
            absent |= set(earlier.run.absent)
            uses.append(earlier.run.uses)
    run = replace(
        cell.run,
        reads=reads,
        modules=modules,
        absent=tuple(sorted(absent)),
        uses=_merge_uses(*uses[:-1], cell.run.uses),
    )
    return replace(cell, run=run, origin=session.origin)
