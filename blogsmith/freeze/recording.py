"""Recording of sessions that have run. A run that repeats the recorded results does not change the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..model.cells import Cell, PageCells
from ..model.results import Blob, CellOutput, CellRun, Display, Failure, Machine, SessionRun, Stream
from .environment import Environment
from .keys import AS_WRITTEN, SessionKeys, environment_digests, layout_digest, session_keys
from .matching import match_cells
from .record import CellRecord, SessionRecord, module_files
from .record_form import Origin, ValueRecord


def session_record(
    page: PageCells,
    run: SessionRun,
    around: Environment,
    date: str,
    old: SessionRecord | None = None,
) -> SessionRecord | None:
    """Return the record of a session. None if one of its cells failed: failures are not recorded.

    Values that failed are left out.

    around: environment with the files as they are now.
    old: the previous record of the session. A cell that was skipped because its needs are not met keeps its
        result from there.
    """
    cells = page.session_cells(run.session)
    if run.problem or any(_is_failed(cell, result) for cell, result in zip(cells, run.cells, strict=True)):
        return None
    keys = session_keys(page, run.session, around.environment, around.figures)
    if old is not None and old.form != keys.form:
        known_keys = session_keys(page, run.session, around.environment, around.figures, old.form)
        if run.only_sweeps or _has_all_keys(old, known_keys):
            # Only the form of the keys would differ.
            keys = known_keys
        else:
            old = _rekey(cells, old, known_keys, keys)
    if run.only_sweeps:
        return _merge_sweep_points(cells, run, keys, date, old)
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
        form=keys.form,
    )
    tolerances = {key: cell.options.tolerance for key, cell in zip(keys.cells, cells, strict=True)}
    return old if old is not None and is_repetition(old, made, tolerances, around) else made


def _has_all_keys(old: SessionRecord, keys: SessionKeys) -> bool:
    return old.start == keys.start and tuple(cell.key for cell in old.cells) == keys.cells


def _rekey(cells: Sequence[Cell], old: SessionRecord, known: SessionKeys, keys: SessionKeys) -> SessionRecord:
    """Return an old record with the keys that its results would have now.

    known: current keys in the form that the old record uses.
    """
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
    """Return whether the outputs name lines of code."""
    runs = (run, *run.others.values())
    outputs = [output for one in runs for output in one.outputs]
    return any(
        isinstance(output, Failure) or (isinstance(output, Stream) and "<cell " in output.text)
        for output in outputs
    )


def _is_failed(cell: Cell, run: CellRun) -> bool:
    """Return whether a cell did not end with a valid result.

    If no cell of a session failed, a skipped cell means that this machine does not meet its needs.
    """
    runs = (run, *run.others.values())
    return any(one.shapes or not one.has_succeeded(error=cell.options.error) for one in runs)


def _cell_record(
    page: PageCells, cell: Cell, run: CellRun, keys: SessionKeys, position: int, around: Environment
) -> CellRecord:
    return CellRecord(
        key=keys.cells[position],
        code=keys.codes[position],
        run=_round_seconds(run),
        label=cell.label,
        options=keys.options[position],
        depends=_digests(cell.options.depends, page, around),
    )


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
    """Return the record of a cell with the points of its sweep: those that ran now, and known ones still in
    use.

    known: recorded points by their keys.
    origin: origin of the new runs, if it differs from the session's.
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
    """Return the run without files, which are recorded with its cell."""
    return replace(_round_seconds(run), reads={}, modules={}, absent=())


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
    cells: Sequence[Cell], run: SessionRun, keys: SessionKeys, date: str, old: SessionRecord | None
) -> SessionRecord | None:
    """Return the old record of a session with the sweep points that have run now."""
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
    """Map the position of each cell to its earlier result, detached from its session."""
    if old is None:
        return {}
    matches = enumerate(match_cells(cells, keys, old.cells))
    return {at: _detach_cell(old, match.index) for at, match in matches if match is not None and match.known}


def _detach_cell(session: SessionRecord, index: int) -> CellRecord:
    """Return a recorded cell so that it no longer belongs to the run of its session."""
    cell = session.cells[index]
    if cell.origin is not None:
        return cell
    reads: dict[str, str] = {**session.depends, **session.reads}
    modules: dict[str, str] = dict(session.modules)
    absent = set(session.absent)
    for earlier in session.cells[: index + 1]:
        if earlier.origin is None:
            # Declared files matter in the same way as files that were read.
            reads |= {**(earlier.depends if earlier is not cell else {}), **earlier.run.reads}
            modules |= earlier.run.modules
            absent |= set(earlier.run.absent)
    run = replace(cell.run, reads=reads, modules=modules, absent=tuple(sorted(absent)))
    return replace(cell, run=run, origin=session.origin)


# Comparison of a run with the recorded results. If they agree, the record stays byte-identical.
#
# Date, run time, processor and lists of absent modules are ignored. Numbers agree if they differ by at most
# the fraction of the larger one that the author allows as `tolerance`. All other text and every image must
# be equal.


_NUMBER = lazy_pattern(r"(?<![\w.])[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")


def is_repetition(
    old: SessionRecord, new: SessionRecord, tolerances: Mapping[str, float], around: Environment
) -> bool:
    """Return whether `new` has the same results as `old`, made from the same code, files and versions.

    A cell that could not run has its earlier result in `new` and repeats it by definition.

    tolerances: key of a cell → its `tolerance`; other cells allow no difference.
    around: environment with the files after the run.
    """
    widest = max(tolerances.values(), default=0.0)
    return (
        (old.start, old.form, old.environment, old.depends)
        == (new.start, new.form, new.environment, new.depends)
        and _machines_agree(old.origin.machine, new.origin.machine, is_partial=_is_partial(new))
        and len(old.cells) == len(new.cells)
        and all(
            _cells_agree(one, other, tolerances.get(other.key, 0.0))
            for one, other in zip(old.cells, new.cells, strict=True)
        )
        and _files_agree(old, new, around)
        and len(old.values) == len(new.values)
        and all(_values_agree(*pair, widest) for pair in zip(old.values, new.values, strict=True))
    )


def _is_partial(session: SessionRecord) -> bool:
    """Return whether cells of the session could not run and have the result of an earlier run."""
    return any(cell.origin is not None for cell in session.cells)


def _machines_agree(old: Machine, new: Machine, *, is_partial: bool) -> bool:
    """Return whether two machines are the same for this comparison.

    is_partial: some cells did not run, so their packages are missing in `new`.
    """
    packages = old.packages
    if is_partial:
        packages = {name: version for name, version in packages.items() if name in new.packages}
    return replace(old, cpu="", packages=packages) == replace(new, cpu="")


def _cells_agree(old: CellRecord, new: CellRecord, tolerance: float) -> bool:
    if new.origin is not None:
        return old.key == new.key and old.origin in (None, new.origin)
    return (
        old.origin is None
        and _without_outputs(old) == _without_outputs(new)
        and texts_agree(old.run.problem, new.run.problem, tolerance)
        and texts_agree(old.run.claim, new.run.claim, tolerance)
        and len(old.run.outputs) == len(new.run.outputs)
        and all(
            _outputs_agree(*pair, tolerance) for pair in zip(old.run.outputs, new.run.outputs, strict=True)
        )
        and old.others.keys() == new.others.keys()
        and all(_cells_agree(old.others[point], new.others[point], tolerance) for point in old.others)
    )


def _without_outputs(cell: CellRecord) -> CellRecord:
    """Return the cell without everything that is compared separately or ignored."""
    run = replace(
        cell.run,
        outputs=(),
        seconds=0.0,
        problem="",
        claim="",
        reads={},
        modules={},
        absent=(),
        packages=(),
        others={},
    )
    return replace(cell, run=run, others={})


class _Files(Struct, frozen=True):
    """Files and packages used by the cells of a session up to one of them."""

    reads: Mapping[str, str]
    modules: Mapping[str, str]
    absent: frozenset[str]
    packages: frozenset[str] = frozenset()

    def extended(self, run: CellRun) -> _Files:
        return _Files(
            {**self.reads, **run.reads},
            {**self.modules, **run.modules},
            self.absent.union(run.absent),
            self.packages.union(run.packages),
        )

    def includes(self, other: _Files) -> bool:
        return (
            other.reads.items() <= self.reads.items()
            and other.modules.items() <= self.modules.items()
            and other.packages <= self.packages
        )

    def is_current(self, around: Environment) -> bool:
        files = {**self.reads, **self.modules}
        hiding = (path for stem in self.absent for path in module_files(stem))
        return all(around.digest_of(path) == digest for path, digest in files.items()) and not any(
            around.digest_of(path) is not None for path in hiding
        )


def _files_agree(old: SessionRecord, new: SessionRecord, around: Environment) -> bool:
    """Return whether each cell that ran used only files that `old` names up to it, all unchanged.

    A file or package is recorded with the first cell that uses it, which is a later one if the first could
    not run. Changed files matter even if `new` did not use them: otherwise `old` would be stale at the next
    build.
    """
    before = _Files(old.reads, old.modules, frozenset(old.absent))
    now = _Files(new.reads, new.modules, frozenset(new.absent))
    ran = before
    for one, other in zip(old.cells, new.cells, strict=True):
        before = before.extended(one.run)
        if other.origin is not None:
            continue
        now, ran = now.extended(other.run), ran.extended(one.run)
        if not before.includes(now):
            return False
    return ran.is_current(around)


def _values_agree(old: ValueRecord, new: ValueRecord, tolerance: float) -> bool:
    return (
        old.key == new.key
        and texts_agree(old.text, new.text, tolerance)
        and texts_agree(old.latex, new.latex, tolerance)
    )


def _outputs_agree(old: CellOutput, new: CellOutput, tolerance: float) -> bool:
    if isinstance(old, Stream) and isinstance(new, Stream):
        same = (old.name, old.dropped) == (new.name, new.dropped)
        return same and texts_agree(old.text, new.text, tolerance)
    if isinstance(old, Display) and isinstance(new, Display):
        return (
            old.kind == new.kind
            and old.data.keys() == new.data.keys()
            and all(_parts_agree(old.data[mime], new.data[mime], tolerance) for mime in old.data)
        )
    return old == new


def _parts_agree(old: str | Blob, new: str | Blob, tolerance: float) -> bool:
    if isinstance(old, Blob) and isinstance(new, Blob):
        return old.digest == new.digest
    return isinstance(old, str) and isinstance(new, str) and texts_agree(old, new, tolerance)


def texts_agree(old: str, new: str, tolerance: float) -> bool:
    """Return whether two strings are equal except for numbers that differ by at most `tolerance`.

    tolerance: fraction of the larger number.
    """
    if old == new:
        return True
    pieces = zip_longest(_NUMBER.split(old), _NUMBER.split(new))
    # Columns are padded to the width of their numbers.
    if any(one is None or other is None or one.split() != other.split() for one, other in pieces):
        return False
    numbers = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    return all(math.isclose(_value(one), _value(other), rel_tol=tolerance) for one, other in numbers)


def _value(number: str) -> float:
    return float(number.replace("−", "-"))
