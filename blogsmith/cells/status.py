"""Recorded cell results of pages, and whether they are still valid. Nothing runs here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.codes import CELL_CODES
from ..base.diagnostics.model import Diagnostic
from ..config.schema import Execution
from ..freeze.environment import Environment, FileDigests
from ..freeze.record import PageRecord
from ..freeze.staleness import PageVerdict, Verdict, judge_page
from ..freeze.store import ReadResult, read_page
from ..model.cells import PageCells
from ..model.documents import PageFacts


class PageStatus(Struct, frozen=True):
    """Record and verdict of one page with cells."""

    facts: PageFacts
    record: PageRecord | None
    verdict: PageVerdict

    @property
    def cells(self) -> PageCells:
        """Cells and values of the page."""
        return self.facts.cells

    @property
    def lines(self) -> list[str]:
        """Lines of the source file, quoted in messages."""
        return self.facts.document.source.text.split("\n")

    @property
    def has_errors(self) -> bool:
        """Whether a cell or value of the page has a syntax error. If so, nothing of the page may run."""
        return any(d.severity == "error" and d.code in CELL_CODES for d in self.facts.diagnostics)

    @property
    def is_stale(self) -> bool:
        """Whether any result of the page is missing or stale."""
        return bool(self.verdict.outdated_cells())

    @property
    def summary(self) -> str:
        """Summary for a list, such as `3 fresh, 1 stale`."""
        states = [found.state for found in (*self.verdict.cells.values(), *self.verdict.values.values())]
        counts = [(states.count(state), state) for state in ("fresh", "stale", "missing")]
        return ", ".join(f"{count} {state}" for count, state in counts if count)

    @property
    def devices(self) -> str:
        """Devices of recorded cells, such as `4 on CPU, 1 on NVIDIA H200`. Empty if nothing is recorded."""
        found = [self._device(verdict) for verdict in self.verdict.cells.values() if verdict.record]
        return ", ".join(f"{found.count(device)} on {device}" for device in dict.fromkeys(found))

    def _device(self, verdict: Verdict) -> str:
        is_cuda = verdict.record is not None and verdict.record.run.device == "cuda"
        gpu = verdict.origin.machine.gpu if verdict.origin else ""
        return (gpu or "an unknown GPU") if is_cuda else "CPU"

    def explanations(self) -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
        """Yield (name, line, state, reasons) for each cell, then for each value."""
        for cell in self.cells.cells:
            if cell.number in self.verdict.cells:
                found = self.verdict.cells[cell.number]
                yield cell.name, cell.place.line, found.state, found.reasons
        for value in self.cells.values:
            if value.number in self.verdict.values:
                found = self.verdict.values[value.number]
                name = f"{{= {value.expression} =}}"
                yield name, value.origin.place(0).line, found.state, found.reasons


class SiteStatus(Struct, frozen=True):
    """Status of all pages with cells."""

    root: Path
    pages: tuple[PageStatus, ...]
    environment: Environment
    """Environment before anything ran."""
    diagnostics: tuple[Diagnostic, ...] = ()
    has_own_python: bool = True
    """Whether cells run in the Python that runs blogsmith, so that its packages are those of the results."""

    def rescan(self) -> Environment:
        """Return the environment with the files as they are now."""
        files = FileDigests(self.root)
        return replace(self.environment, digest_of=files.digest, matches=files.matches, running=False)


class RunOutcome(Struct, frozen=True):
    """Result of running the stale sessions of a site."""

    status: SiteStatus
    """Status of the site after the run, judged with the new records."""
    cells: int = 0
    """Number of cells that ran."""
    failed_posts: frozenset[str] = frozenset()
    """Source paths of posts with a failed session. The failures are already reported."""
    unmet_needs: frozenset[str] = frozenset()
    """Needs of cells that this machine does not meet, such as `torch>=2.6`."""


def survey_pages(
    root: Path,
    around: Environment,
    found: Sequence[PageFacts],
    read: Callable[[Path, PurePosixPath], ReadResult] = read_page,
) -> SiteStatus:
    """Judge the records of all pages that have cells."""
    pages: list[PageStatus] = []
    diagnostics: list[Diagnostic] = []
    for page in found:
        if page.cells.sessions():
            reading = read(root, page.cells.path)
            diagnostics += reading.diagnostics
            verdict = judge_page(page.cells, reading.record, around)
            pages.append(PageStatus(page, reading.record, verdict))
    return SiteStatus(root, tuple(pages), around, tuple(diagnostics))


def read_environment(
    root: Path, execution: Execution, *, running: bool = False, versions: Mapping[str, str] | None = None
) -> Environment:
    """Return what results depend on outside the posts. Each file is read once.

    running: whether cells may run now.
    versions: see `Environment`.
    """
    files = FileDigests(root)
    environment = {name: os.environ[name] for name in execution.env if name in os.environ}
    return Environment(environment, files.digest, files.matches, execution.figures, versions, running)
