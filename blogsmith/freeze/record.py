"""Record of a page: its results, and the state of everything that they depend on.

A result is valid if its key equals the current key and every file that it depends on has its recorded digest.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from ..base.storage.path_states import is_outside
from ..model.results import CellRun, Uses
from .keys import AS_WRITTEN, KeyForm
from .record_form import Origin, ValueRecord


class CellRecord(Struct, frozen=True):
    """Recorded result of one cell."""

    key: str
    code: str
    """Digest of the cell's code alone. It shows whether the cell itself or something before it has
    changed."""
    run: CellRun
    label: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options as returned by `keys.result_options`."""
    depends: Mapping[str, str] = field(default_factory=dict)
    """Files that its `depends` matched, relative to the site root → hex SHA-256."""
    origin: Origin | None = None
    """Machine and date of an earlier run, if the result comes from there, because the cell could not run with
    the rest of its session. Otherwise None.

    If set, `run.reads`, `run.modules` and `run.absent` also include the files that earlier cells had used.
    """
    layout: str = ""
    """Result of `keys.layout_digest` for the cells up to this one. Empty if the outputs contain no line
    numbers of code."""
    others: Mapping[str, CellRecord] = field(default_factory=dict)
    """Key of each other point of a sweep → its result. The files that these runs used are recorded with the
    cell. Their `origin` is set if they ran separately."""


class SessionRecord(Struct, frozen=True):
    """Record of one session, all of whose cells ran in one process."""

    start: str
    """Key before the first cell of the session."""
    cells: tuple[CellRecord, ...] = ()
    """Records in order. A cell that was skipped and has no earlier result is left out."""
    values: tuple[ValueRecord, ...] = ()
    """Records of values, at most one for each key. Values that failed are left out."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Name of a declared variable → short digest of its value; never the value itself."""
    depends: Mapping[str, str] = field(default_factory=dict)
    """Files that the page's `depends` matched, in the form of `CellRecord.depends`."""
    origin: Origin = field(default_factory=Origin)
    reads: Mapping[str, str] = field(default_factory=dict)
    """Files that values read before any cell ran, in the form of `CellRun.reads`. The next two fields list
    the modules in the same way. Older records store these files with the first cell, or not at all if no cell
    ran."""
    modules: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    uses: Uses | None = None
    """Other dependencies of the values before the first cell. None if there are none, or if the record is too
    old to contain any."""
    form: KeyForm = AS_WRITTEN
    """Form in which the keys hash code."""
    sealed: bool = True
    """Whether the record has a seal. Records of an older blogsmith have none."""

    def timeless(self) -> SessionRecord:
        """Return a copy without run times, dates and seals. Two runs count as equal if these copies are
        equal."""
        cells = tuple(map(_timeless, self.cells))
        return replace(self, cells=cells, origin=_undated(self.origin), sealed=True)


def _timeless(cell: CellRecord) -> CellRecord:
    return replace(
        cell,
        run=replace(cell.run, seconds=0.0),
        origin=cell.origin and _undated(cell.origin),
        others={key: _timeless(other) for key, other in cell.others.items()},
    )


def _undated(origin: Origin) -> Origin:
    """Return the origin without the date of the run. The date of acceptance stays, because a new run has none
    and must differ from an accepted result."""
    return Origin(origin.machine, accepted=origin.accepted)


class PageRecord(Struct, frozen=True):
    """All recorded sessions of one page."""

    sessions: Mapping[str, SessionRecord] = field(default_factory=dict)

    @property
    def depends_outside(self) -> bool:
        """Whether a result depends on files outside the site or on environment variables."""
        sessions = self.sessions.values()
        found = [use for one in sessions for use in (one.uses, *(cell.run.uses for cell in one.cells)) if use]
        return any(use.variables or any(map(is_outside, use.states)) for use in found)

    def timeless(self) -> dict[str, SessionRecord]:
        """Return all sessions without run times and dates."""
        return {name: session.timeless() for name, session in self.sessions.items()}


def module_files(stem: str) -> tuple[str, str]:
    """Return the two paths that the file of a module can have, given its path without suffix."""
    return f"{stem}.py", f"{stem}/__init__.py"
