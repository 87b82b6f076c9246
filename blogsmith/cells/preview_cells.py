"""Cell results in the preview. A record or a file is read again only if it has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from ..base.diagnostics.notebook_cells import NOTEBOOK
from ..base.storage.stamps import FileStamp, read_stamp
from ..freeze.environment import Environment, FileDigests
from ..freeze.record import PageRecord
from ..freeze.signatures import SIGNATURE, SIGNERS
from ..freeze.store import FREEZE, OUTPUTS, ReadResult, page_folder, read_page
from ..model.documents import PageFacts
from ..project.context import SiteContext
from ..project.report import BuildLog, ExecutionOptions, no_progress
from .notebook_outputs import read_notebook_outputs
from .results import show_results
from .source import PageCellsState
from .status import PageStatus, RunOutcome, read_environment, survey_pages
from .update import package_versions

_Stamps = tuple[FileStamp | None, ...]
"""Stamps of three files: a record, its signature, and the list of signers."""


@dataclass(slots=True)
class CellCache:
    """Cache of records and file digests, keyed by the size and time of their files. Belongs to one preview
    and is used by one thread."""

    root: Path
    _records: dict[PurePosixPath, tuple[_Stamps, ReadResult]] = field(default_factory=dict)
    _outputs: dict[PurePosixPath, tuple[FileStamp | None, PageRecord]] = field(default_factory=dict)
    """Path of a notebook → stamp of its file, and the outputs stored in it."""
    _digests: dict[str, tuple[FileStamp | None, str | None]] = field(default_factory=dict)
    _versions: dict[frozenset[str], Mapping[str, str]] = field(default_factory=dict)

    def forget(self, changed: Collection[str]) -> None:
        """Drop cached data about changed files, even if their size and time are unchanged. changed: paths
        relative to the site root."""
        for path in changed:
            self._digests.pop(path, None)
            self._outputs.pop(PurePosixPath(path), None)
        folders = {PurePosixPath(path).parent for path in changed if path.startswith("_freeze/")}
        for post in [post for post in self._records if page_folder(post) in folders]:
            del self._records[post]

    def page_state(
        self,
        facts: PageFacts,
        context: SiteContext,
        execution: ExecutionOptions,
        *,
        may_run: bool,
        busy: bool,
    ) -> PageCellsState:
        """Return the results that a page shows, with diagnostics. busy: whether the page's cells are running,
        are about to run or have failed. In that case missing and stale results are not reported."""
        if not facts.cells.sessions():
            return PageCellsState()
        log = BuildLog(no_progress)
        around = self._environment(context, may_run=may_run)
        surveyed = survey_pages(self.root, around, [facts], self._read, self._read_outputs)
        log.add(surveyed.diagnostics)
        versions = self._installed_versions(surveyed.pages, context, execution, may_run=may_run)
        path = str(facts.document.path)
        ran = RunOutcome(surveyed, 0, frozenset([path] if busy else []))
        performed = show_results(ran, context, execution, versions, log, may_run=may_run)
        return PageCellsState(performed.results[path], surveyed.pages[0], log.report())

    def _environment(self, context: SiteContext, *, may_run: bool) -> Environment:
        around = read_environment(self.root, context.config, running=may_run)
        return replace(around, digest_of=self._digest)

    def _digest(self, path: str) -> str | None:
        stamp = read_stamp(self.root / path)
        known = self._digests.get(path)
        if known is None or known[0] != stamp:
            known = self._digests[path] = (stamp, FileDigests(self.root).digest(path))
        return known[1]

    def _read(self, root: Path, post: PurePosixPath) -> ReadResult:
        folder = root / page_folder(post)
        files = (folder / OUTPUTS, folder / SIGNATURE, root / FREEZE / SIGNERS)
        stamp = tuple(map(read_stamp, files))
        known = self._records.get(post)
        if known is None or known[0] != stamp:
            known = self._records[post] = (stamp, read_page(root, post))
        return known[1]

    def _read_outputs(self, root: Path, post: PurePosixPath) -> PageRecord:
        if post.suffix.lower() != NOTEBOOK:
            return PageRecord()
        stamp = read_stamp(root / post)
        known = self._outputs.get(post)
        if known is None or known[0] != stamp:
            known = self._outputs[post] = (stamp, read_notebook_outputs(root, post))
        return known[1]

    def _installed_versions(
        self, pages: Sequence[PageStatus], context: SiteContext, execution: ExecutionOptions, *, may_run: bool
    ) -> Mapping[str, str]:
        """Return the versions of installed packages. They are cached, since nobody installs packages while
        watching a preview."""
        records = (page.record for page in pages if page.record)
        sessions = (session for record in records for session in record.sessions.values())
        names = frozenset(name for session in sessions for name in session.origin.machine.packages)
        if names not in self._versions:
            self._versions[names] = package_versions(pages, context, execution, may_run=may_run)
        return self._versions[names]
