"""Determines whether recorded results are valid and, if not, the reasons as messages."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from ..model.cells import TEX, Cell, Need, PageCells, Value
from ..model.sweeps import SweepRuns
from .changes import StaleReasons
from .environment import Environment
from .keys import CANONICAL, SessionKeys, count_cells_before, layout_digest, session_keys
from .matching import Match, match_cells
from .record import CellRecord, PageRecord, SessionRecord
from .record_form import Origin, ValueRecord

State = Literal["fresh", "stale", "missing"]
"""`fresh`: recorded and valid. `stale`: recorded but not valid. `missing`: not recorded."""
NEVER_RUN_HERE = "it comes from the notebook, and was never run here"
_MOST_REASONS = 4


class Verdict(Struct, frozen=True):
    """State of one recorded result."""

    state: State = "fresh"
    reasons: tuple[str, ...] = ()
    """Reasons why the result is not fresh, as messages without a full stop."""
    record: CellRecord | None = None
    """Record of a cell. Its result is shown even if it is stale. None for values."""
    value: ValueRecord | None = None
    """Record of a value. Its result is shown even if it is stale. None for cells."""
    origin: Origin | None = None
    """Machine and date of the run."""
    due: frozenset[str] = frozenset()
    """For a cell with a sweep: keys of the points that have no valid result."""
    only_due: bool = False
    """Whether only other points of the sweep are missing, and the result of the default point is fresh."""
    outdated: tuple[str, ...] = ()
    """For a result that `freeze: true` keeps although it is out of date: changes of the code since it was
    recorded, as messages."""

    @property
    def summary(self) -> str:
        """`reasons` in one line or, if there are none, `outdated`. Empty if the result is fresh and up to
        date."""
        reasons = self.reasons or self.outdated
        more = len(reasons) - _MOST_REASONS
        rest = (f"and {more} more",) if more > 0 else ()
        return "; ".join((*reasons[:_MOST_REASONS], *rest))


class PageVerdict(Struct, frozen=True):
    """State of all results of a page."""

    page: PageCells
    cells: Mapping[int, Verdict] = field(default_factory=dict)
    """`Cell.number` → verdict, for all cells that run."""
    values: Mapping[int, Verdict] = field(default_factory=dict)
    """`Value.number` → verdict."""
    recorded: Mapping[str, str] = field(default_factory=dict)
    """Name of a session → its name in the record. The two differ if the session was renamed. A session
    without a record has no entry."""

    def stale_sessions(self, unmet: Container[Need] = ()) -> tuple[str, ...]:
        """Return the sessions to run, in order: those with a result that is not fresh and can be computed
        here. unmet: needs that this machine does not meet."""
        found = set() if all(value.state == "fresh" for value in self.values.values()) else {"main"}
        for cell in self.page.cells:
            verdict = self.cells.get(cell.number)
            if verdict and verdict.state != "fresh" and not any(need in unmet for need in cell.options.needs):
                found.add(cell.options.session)
        return tuple(name for name in self.page.sessions() if name in found)

    def sweep_runs(self, session: str) -> SweepRuns:
        """Return which points of the sweeps in a session must run."""
        cells = [cell for cell in self.page.session_cells(session) if cell.number in self.cells]
        keys = {cell.number: self.cells[cell.number].due for cell in cells if cell.options.sweep}
        verdicts = [self.cells[cell.number] for cell in cells]
        values = self.values.values() if session == "main" else ()
        is_whole = session not in self.recorded or any(
            one.state != "fresh" and not one.only_due for one in (*verdicts, *values)
        )
        last = max((number for number, due in keys.items() if due), default=0)
        return SweepRuns(keys, 0 if is_whole else last)

    def outdated_cells(self) -> tuple[Cell | Value, ...]:
        """Return the cells and values whose result is missing or stale, for `--frozen`. A cell that never ran
        is left out if its `fallback` names something to show instead."""
        cells = [
            c for c in self.page.cells if c.number in self.cells and not _is_visible(c, self.cells[c.number])
        ]
        values = [v for v in self.page.values if self.values[v.number].state != "fresh"]
        return (*cells, *values)


def judge_page(page: PageCells, record: PageRecord | None, around: Environment) -> PageVerdict:
    """Return a verdict for every cell that runs and every value of `page`: whether its result is valid."""
    cells: dict[int, Verdict] = {}
    values: dict[int, Verdict] = {}
    names: dict[str, str] = {}
    for session in page.sessions():
        name = _recorded_name(page, session, record, around)
        form = record.sessions[name].form if record and name in record.sessions else CANONICAL
        keys = session_keys(page, session, around.environment, around.figures, form)
        if record is None or name not in record.sessions:
            cells |= {
                cell.number: _missing(cell, keys.sweeps.get(position, {}))
                for position, cell in enumerate(page.session_cells(session))
            }
            values |= {number: _never_run() for number in keys.values}
            continue
        names[session] = name
        judged = _Session.create(page, session, keys, record.sessions[name], around)
        cells |= judged.cell_verdicts()
        values |= judged.value_verdicts()
    return PageVerdict(page, cells, values, names)


def _recorded_name(page: PageCells, session: str, record: PageRecord | None, around: Environment) -> str:
    """Return the recorded name of a session. This is its own name, or the name of a recorded session that has
    the same keys and is no longer on the page."""
    if record is not None and session not in record.sessions:
        for name, known in record.sessions.items():
            if name in page.sessions():
                continue
            keys = session_keys(page, session, around.environment, around.figures, known.form)
            if keys.cells and keys.cells == tuple(cell.key for cell in known.cells):
                return name
        return _edited_alone(page, session, record) or session
    return session


def _edited_alone(page: PageCells, session: str, record: PageRecord) -> str:
    """Return the recorded name of a session whose code has changed; empty if unknown. A drawing or program
    without a label is named after its code, so its name changes, too. The recorded name is known only if no
    other session of the language has changed."""
    if not all(cell.is_alone for cell in page.session_cells(session)):
        return ""
    start, names = session.partition(".")[0] + ".", page.sessions()
    changed = [name for name in names if name.startswith(start) and name not in record.sessions]
    left = [name for name in record.sessions if name.startswith(start) and name not in names]
    return left[0] if len(left) == len(changed) == 1 else ""


class VersionChange(Struct, frozen=True):
    """A package, or `python`, whose recorded and current versions differ."""

    name: str
    then: str
    now: str

    @property
    def is_patch(self) -> bool:
        """Whether only the part after the second number differs, such as the patch level or the build tag."""
        return _series(self.then) == _series(self.now)

    def __str__(self) -> str:
        return f"{self.name} {self.then} → {self.now}"


def _series(version: str) -> str:
    """Return `2.4` for `2.4.6`, `2.4.0rc1` and `2.4.6+cpu`. Return other versions as they are."""
    found = re.match(r"(?:\d+!)?\d+\.\d+(?!\d)", version)
    return found[0] if found else version


def version_changes(record: PageRecord, versions: Mapping[str, str]) -> tuple[VersionChange, ...]:
    """Return a change for each package, and for `python`, whose version is no longer the recorded one. It is
    formatted as `numpy 2.4.6 → 2.5.0`.

    versions: import name → installed version. Packages that are missing from it are not compared. If a cell
    needs a missing package, none of the cell's versions are compared. `cuda` is included if a device exists.
    """
    found: dict[VersionChange, None] = {}
    for session in record.sessions.values():
        for cell in session.cells:
            origin = cell.origin or session.origin
            found |= dict.fromkeys(_version_changes(cell, origin, versions))
    return tuple(found)


def _version_changes(cell: CellRecord, origin: Origin, now: Mapping[str, str]) -> Iterator[VersionChange]:
    """Yield the version changes of one cell. Yield none if this machine does not meet the needs of the cell,
    or if the cell is a drawing, which does not depend on Python packages."""
    needed = needed_names(cell)
    if TEX in needed or not all(name in now for name in needed):
        return
    then = {**origin.machine.packages, "python": origin.machine.python}
    for name in ("python", *cell.run.packages):
        if then.get(name) and now.get(name) and not _is_same_version(then[name], now[name]):
            yield VersionChange(name, then[name], now[name])


def needed_names(cell: CellRecord) -> list[str]:
    """Return the names in a cell's recorded needs: `cuda` and `torch` for `cuda>=8.0, torch`."""
    needs = cell.options.get("needs", "")
    return [need.partition(">=")[0] for need in needs.split(", ") if need]


def _is_same_version(then: str, now: str) -> bool:
    """Return whether two versions are equal. Build tags are compared only if both versions have one, since
    for example pip reports `2.11.0` for `2.11.0+cu130`."""
    if "+" in then and "+" in now:
        return then == now
    return then.partition("+")[0] == now.partition("+")[0]


class _Session(Struct, frozen=True):
    """Judges one session of a page by its record."""

    page: PageCells
    cells: Sequence[Cell]
    keys: SessionKeys
    record: SessionRecord
    around: Environment
    matches: Sequence[Match | None]
    changes: StaleReasons

    @classmethod
    def create(
        cls, page: PageCells, session: str, keys: SessionKeys, record: SessionRecord, around: Environment
    ) -> _Session:
        cells = page.session_cells(session)
        matches = match_cells(cells, keys, record.cells)
        changes = StaleReasons(page, cells, keys, record, around, matches)
        return cls(page, cells, keys, record, around, matches, changes)

    def cell_verdicts(self) -> dict[int, Verdict]:
        pairs = enumerate(zip(self.cells, self.matches, strict=True))
        return {cell.number: self._cell(position, cell, match) for position, (cell, match) in pairs}

    def _cell(self, position: int, cell: Cell, match: Match | None) -> Verdict:
        if match is None:
            return _missing(cell, self.keys.sweeps.get(position, {}))
        record = self.record.cells[match.index]
        origin = record.origin or self.record.origin
        reasons = list(self._reasons(position, cell, match, record, origin))
        due = self._due_points(position, cell, match, record, is_stale=bool(reasons))
        only_due = bool(due) and not reasons
        reasons += [f"it was not run with {point}" for point in due] if only_due else []
        state: State = "stale" if reasons else "fresh"
        is_kept = cell.options.freeze == "always" and match.known and not reasons
        is_changed = is_kept and record.key != self.keys.cells[position]
        outdated = tuple(self.changes.cell_reasons(position)) if is_changed else ()
        return Verdict(state, tuple(reasons), record, None, origin, frozenset(due), only_due, outdated)

    def _due_points(
        self, position: int, cell: Cell, match: Match, record: CellRecord, *, is_stale: bool
    ) -> list[str]:
        """Return the keys of the sweep points without a valid result. is_stale: whether the cell itself has
        no valid result."""
        wanted = self.keys.sweeps.get(position, {})
        is_kept = cell.options.freeze == "always" and match.known
        is_same = record.key == self.keys.cells[position]
        if is_stale and (is_same or any(self.changes.file_reasons(match.index))):
            return list(wanted)
        return [
            point
            for point, key in wanted.items()
            if point not in record.others or (record.others[point].key != key and not is_kept)
        ]

    def _reasons(
        self, position: int, cell: Cell, match: Match, record: CellRecord, origin: Origin
    ) -> Iterator[str]:
        if origin.imported:
            # The result was imported and never ran here, so its versions do not matter.
            yield NEVER_RUN_HERE
            return
        if record.run.status == "error" and not cell.options.error:
            yield "it ended in an error, and `error: true` is gone"
        if cell.options.freeze == "always" and match.known:
            return
        if record.key != self.keys.cells[position]:
            yield from self.changes.cell_reasons(position)
        elif record.layout and record.layout != layout_digest(self.cells[: position + 1]):
            yield "its outputs name lines of code, and these have moved"
        yield from self.changes.file_reasons(match.index)
        yield from self._versions(record, origin)
        if cell.options.freeze == "never" and self.around.running:
            yield "`freeze: false` keeps no result"

    def _versions(self, record: CellRecord, origin: Origin) -> Iterator[str]:
        # These are versions of the Python that the site names; a kernel has its own.
        if self.around.versions is not None and self.page.engine == "worker":
            yield from map(str, _version_changes(record, origin, self.around.versions))

    def value_verdicts(self) -> dict[int, Verdict]:
        if not self.keys.values:
            return {}
        by_key = {value.key: value for value in self.record.values}
        return {v.number: self._value(v, by_key.get(self.keys.values[v.number])) for v in self.page.values}

    def _value(self, value: Value, record: ValueRecord | None) -> Verdict:
        position = count_cells_before(self.cells, value.after)
        reasons: list[str] = []
        if record is None:
            record = self._same_expression(value)
            reasons += self.changes.earlier_reasons(position)
        if record is None:
            return _never_run()
        known = [match.index for match in self.matches[:position] if match]
        reasons += self.changes.file_reasons(max(known, default=-1), own=False)
        if known:
            reasons += self._versions(self.record.cells[known[-1]], self.record.origin)
        return Verdict("stale" if reasons else "fresh", tuple(reasons), None, record, self.record.origin)

    def _same_expression(self, value: Value) -> ValueRecord | None:
        """Return the record of a value with the same expression; None if there is none. If several values
        have the same expression, match them in order."""
        text = (value.expression, value.conversion, value.spec)
        found = [r for r in self.record.values if (r.expression, r.conversion, r.spec) == text]
        same = [v for v in self.page.values if (v.expression, v.conversion, v.spec) == text]
        places = list(dict.fromkeys(self.keys.values[v.number] for v in same))
        return found[min(places.index(self.keys.values[value.number]), len(found) - 1)] if found else None


def _missing(cell: Cell, points: Iterable[str] = ()) -> Verdict:
    """Return the verdict for a cell that is not recorded. points: keys of the points of its sweep."""
    needs = ", ".join(map(str, cell.options.needs))
    why = f"it was never run where {needs} is" if needs else "it was never run"
    return Verdict("missing", (why,), due=frozenset(points))


def _never_run() -> Verdict:
    return Verdict("missing", ("it was never run",))


def _is_visible(cell: Cell, verdict: Verdict) -> bool:
    if verdict.state == "missing" and cell.options.needs:
        return cell.options.fallback != "error"
    return verdict.state == "fresh"
