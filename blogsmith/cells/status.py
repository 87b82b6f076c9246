"""Recorded cell results of pages, and whether they are still valid. Nothing runs here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.codes import CELL_CODES
from ..base.diagnostics.counts import plural
from ..base.diagnostics.model import Diagnostic
from ..base.storage.path_states import OWN_NAMES
from ..config.schema import Config
from ..execute.session.environment import COMPARED_VARIABLES
from ..freeze.environment import Environment, FileDigests
from ..freeze.imported import add_imported
from ..freeze.moved_records import OrphanedRecords
from ..freeze.record import PageRecord
from ..freeze.repeatability import describe_reason
from ..freeze.staleness import PageVerdict, Verdict, judge_page
from ..freeze.store import ReadResult, copy_record, page_folder, read_page
from ..model.cells import PageCells
from ..model.documents import PageFacts
from ..project.trust.consent import is_trusted
from .notebook_outputs import read_notebook_outputs


class PageStatus(Struct, frozen=True):
    """Record of one page with cells. Also states which of its results are still valid."""

    facts: PageFacts
    record: PageRecord | None
    verdict: PageVerdict
    damage: tuple[Diagnostic, ...] = ()
    """Errors about a damaged or edited record. If there are any, nothing of the page runs unless the user
    requests it."""
    warnings: tuple[Diagnostic, ...] = ()
    """Warnings about a signature that cannot be verified."""
    signer: str = ""
    """Name of the person who signed the record; empty if there is no valid signature."""
    moved_from: PurePosixPath | None = None
    """Folder of the record, if the post was renamed and the record is still in the folder of the earlier
    path; otherwise None."""

    @property
    def cells(self) -> PageCells:
        """Cells and values of the page."""
        return self.facts.cells

    @property
    def folder(self) -> PurePosixPath:
        """Folder of the record and its images, relative to the site root."""
        return self.moved_from or page_folder(self.cells.path)

    @property
    def lines(self) -> list[str]:
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
        """Devices of the recorded runs, such as `4 on CPU, 1 on NVIDIA H200`; empty if nothing is
        recorded."""
        found = [self._device(verdict) for verdict in self.verdict.cells.values() if verdict.record]
        return ", ".join(f"{found.count(device)} on {device}" for device in dict.fromkeys(found))

    def _device(self, verdict: Verdict) -> str:
        is_cuda = verdict.record is not None and verdict.record.run.device == "cuda"
        gpu = verdict.origin.machine.gpu if verdict.origin else ""
        return (gpu or "an unknown GPU") if is_cuda else "CPU"

    def record_notes(self) -> Iterator[str]:
        """Yield messages about the record. They give the earlier path of the post, who signed the record, and
        which sessions are unsealed or were accepted by the author."""
        if self.moved_from:
            yield f"its results are recorded in {self.moved_from}, for an earlier path of the post"
        if self.signer:
            yield f"its record was signed by {self.signer}"
        for name, session in self.record.sessions.items() if self.record else ():
            if session.origin.accepted:
                yield f'session "{name}" was accepted by hand on {session.origin.accepted}'
            elif not session.sealed:
                yield f'session "{name}" has no seal: it was recorded by an older blogsmith'

    def explanations(self) -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
        """Yield (name, line, state, reasons) for each cell, then for each value. `reasons` lists why the
        result is not fresh, followed by why it is not repeatable."""
        for cell in self.cells.cells:
            if cell.number in self.verdict.cells:
                found = self.verdict.cells[cell.number]
                known = map(describe_reason, recorded_reasons(found))
                reasons = (*found.reasons, *(f"not repeatable: {reason}" for reason in known))
                reasons += tuple(f"out of date: {reason}" for reason in found.outdated)
                reasons += _claim_facts(found)
                yield cell.name, cell.place.line, found.state, reasons
        for value in self.cells.values:
            if value.number in self.verdict.values:
                found = self.verdict.values[value.number]
                name = f"{{= {value.expression} =}}"
                yield name, value.origin.place(0).line, found.state, found.reasons


def _claim_facts(verdict: Verdict) -> tuple[str, ...]:
    """Return messages that describe the comparisons of a cell's recorded claim."""
    run = verdict.record.run if verdict.record else None
    if run is None:
        return ()
    counted = (f"its claim compares {plural(run.compared, 'value')}",) if run.compared else ()
    return (*counted, *(f"its claim {note}" for note in run.notes))


def recorded_reasons(verdict: Verdict) -> tuple[str, ...]:
    """Return the reasons why the recorded result of a cell is not repeatable, as `Uses.reasons` does."""
    uses = verdict.record.run.uses if verdict.record else None
    return uses.reasons if uses else ()


class SiteStatus(Struct, frozen=True):
    """Status of all pages with cells."""

    root: Path
    pages: tuple[PageStatus, ...]
    environment: Environment
    """State, before any cell ran, of everything outside a page that its results depend on."""
    has_own_python: bool = True
    """Whether cells run in the same Python as blogsmith. If not, results do not depend on the packages of
    blogsmith's Python."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Errors about damaged records, and warnings about their signatures."""
        return tuple(found for page in self.pages for found in (*page.damage, *page.warnings))

    def rescan(self) -> Environment:
        """Return `environment` with the present state of the files."""
        files = FileDigests(self.root, self.environment.ignored)
        return replace(
            self.environment,
            digest_of=files.digest,
            matches=files.matches,
            state_of=files.state,
            running=False,
        )


def adopt_record(page: PageStatus, root: Path) -> PageStatus:
    """Copy the record of a renamed post to the folder of its present path. Return the page's new status.
    Raises `SiteError` if that fails."""
    if page.moved_from is None or page.record is None or page.damage:
        return page
    copy_record(root, page.moved_from, page.cells.path, page.record)
    return replace(page, moved_from=None)


def adopt_records(surveyed: SiteStatus) -> SiteStatus:
    """Copy the records of all renamed posts, as `adopt_record` does. Return the new status of the site."""
    return replace(surveyed, pages=tuple(adopt_record(page, surveyed.root) for page in surveyed.pages))


class RunOutcome(Struct, frozen=True):
    """Result of running the stale sessions of a site."""

    status: SiteStatus
    """Status of the site after the run, based on the new records."""
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
    outputs: Callable[[Path, PurePosixPath], PageRecord] = read_notebook_outputs,
) -> SiteStatus:
    """Read the records of all pages that have cells, and determine which results are valid. If a post was
    renamed, its record is found by the code of its cells. around: state of everything outside the pages on
    which results depend. read: function that reads a page's record. outputs: function that returns the
    outputs in a notebook."""
    pages: list[PageStatus] = []
    orphans = OrphanedRecords(root)
    for page in found:
        if page.cells.sessions():
            reading, moved_from = read(root, page.cells.path), None
            if reading == ReadResult(None) and (moved := orphans.find(page.cells, around)):
                reading, moved_from = moved.found, moved.folder
            record = add_imported(reading.record, outputs(root, page.cells.path), page.cells, around)
            verdict = judge_page(page.cells, record, around)
            errors = tuple(found for found in reading.diagnostics if found.severity == "error")
            warnings = tuple(found for found in reading.diagnostics if found.severity != "error")
            pages.append(PageStatus(page, record, verdict, errors, warnings, reading.signer, moved_from))
    return SiteStatus(root, tuple(pages), around)


def read_environment(
    root: Path,
    config: Config,
    *,
    running: bool = False,
    versions: Mapping[str, str] | None = None,
) -> Environment:
    """Return the state of everything outside the posts that results depend on. Each file is read only once.

    running: whether cells may run now. Files outside the site are read only if this is set or the site is
    trusted. versions: see `Environment`.
    """
    execution = config.execution
    ignored = OWN_NAMES | {config.output}
    files = FileDigests(root, ignored, cache(lambda: running or is_trusted(root, config)))
    environment = {name: os.environ[name] for name in execution.env if name in os.environ}
    return Environment(
        environment=environment,
        digest_of=files.digest,
        matches=files.matches,
        state_of=files.state,
        figures=execution.figures,
        versions=versions,
        passed={name: os.environ.get(name) for name in COMPARED_VARIABLES if name not in execution.env},
        ignored=ignored,
        running=running,
    )
