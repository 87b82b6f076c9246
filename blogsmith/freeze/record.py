"""What is recorded of a page: results, with what they were made from.

A result is valid if its key is the present one and every file it was made from has the present digest.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from ..model.results import CellRun
from .keys import EXACT, KeyForm
from .record_form import Origin, ValueRecord


class CellRecord(Struct, frozen=True):
    """The result of one cell."""

    key: str
    code: str
    """Digest of its code alone; tells a change of it from one before it."""
    run: CellRun
    label: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    """As `keys.relevant_options` gives them."""
    depends: Mapping[str, str] = field(default_factory=dict)
    """Files that its `depends` matched, relative to the site root → hex SHA-256."""
    origin: Origin | None = None
    """Of an earlier run than the session's: kept because the cell could not run in that one.

    Then `run.reads`, `run.modules` and `run.absent` also hold what the cells before it had used."""
    layout: str = ""
    """`keys.layout_digest` of the cells up to it, if its outputs name lines of code."""
    others: Mapping[str, CellRecord] = field(default_factory=dict)
    """Of a cell with a sweep: key of a point → its result. What it used is with the cell; its `origin` is
    that of a run of its own, if it had one."""


class SessionRecord(Struct, frozen=True):
    """One session as it ran in one process."""

    start: str
    """The key before its first cell."""
    cells: tuple[CellRecord, ...] = ()
    """In order; a cell that was skipped and has no earlier result is not among them."""
    values: tuple[ValueRecord, ...] = ()
    """Each key once; those that failed are not among them."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Name of a declared variable → short digest of its value, never the value."""
    depends: Mapping[str, str] = field(default_factory=dict)
    """Files that the page's `depends` matched, as in `CellRecord`."""
    origin: Origin = field(default_factory=Origin)
    reads: Mapping[str, str] = field(default_factory=dict)
    """What values used before any cell ran, as in `CellRun`; likewise the next two. Older records have it
    with the first cell, and nowhere if no cell ran."""
    modules: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    form: KeyForm = EXACT
    """Of its keys."""

    def timeless(self) -> SessionRecord:
        """Without seconds and date: what two runs must agree in to be equal."""
        cells = tuple(map(_timeless, self.cells))
        return replace(self, cells=cells, origin=Origin(self.origin.machine))


def _timeless(cell: CellRecord) -> CellRecord:
    return replace(
        cell,
        run=replace(cell.run, seconds=0.0),
        origin=cell.origin and Origin(cell.origin.machine),
        others={key: _timeless(other) for key, other in cell.others.items()},
    )


class PageRecord(Struct, frozen=True):
    """Everything recorded of one page."""

    sessions: Mapping[str, SessionRecord] = field(default_factory=dict)

    def timeless(self) -> dict[str, SessionRecord]:
        """All sessions without seconds and dates."""
        return {name: session.timeless() for name, session in self.sessions.items()}


def module_files(stem: str) -> tuple[str, str]:
    """The files that a module can be, by its path without suffix."""
    return f"{stem}.py", f"{stem}/__init__.py"
