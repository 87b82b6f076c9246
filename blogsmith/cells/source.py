"""Where a build or a preview learns what its pages show of their cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic
from ..model.documents import PageFacts
from ..model.results import PageResults
from ..project.context import SiteContext
from ..project.report import BuildLog, BuildOptions, Counts, ExecutionOptions

if TYPE_CHECKING:
    from .results import CellUpdate
    from .status import PageStatus


class PageCellsState(Struct, frozen=True):
    """What is known of the cells of one page."""

    results: PageResults = PageResults()
    """What it shows."""
    page: PageStatus | None = None
    """None if it has no cells."""
    diagnostics: tuple[Diagnostic, ...] = ()


class CellSource(Protocol):
    """Where the pipeline learns what pages show of their cells."""

    def forget(self, changed: Collection[str]) -> None:
        """Files that have changed, relative to the root: their stamp may still be the same."""

    def status_of(
        self,
        facts: PageFacts,
        context: SiteContext,
        execution: ExecutionOptions,
        *,
        may_run: bool,
        busy: bool,
    ) -> PageCellsState:
        """What a page shows. busy: it runs, will run, or has failed, which is told elsewhere."""


class BuildCells:
    """Belongs to one build."""

    def __init__(self) -> None:
        self._update: CellUpdate | None = None
        """None: nothing has run."""

    def complete(self, counts: Counts) -> Counts:
        """Return `counts` with those of cells."""
        done = self._update
        if done is None:
            return counts
        return replace(
            counts,
            cells=done.cells,
            ran=done.ran,
            waiting=done.waiting,
            unmet=done.unmet,
            missing=done.missing,
        )

    def forget(self, changed: Collection[str]) -> None:
        """A build looks at everything once."""

    def run(
        self, pages: Sequence[PageFacts], context: SiteContext, options: BuildOptions, log: BuildLog
    ) -> None:
        """Run what is to be run of these pages, before any of them is rendered."""
        # most sites have no cells
        from .update import update_cells

        self._update = update_cells(pages, context, options, log)

    def status_of(
        self,
        facts: PageFacts,
        context: SiteContext,
        execution: ExecutionOptions,
        *,
        may_run: bool,
        busy: bool,
    ) -> PageCellsState:
        """What a page shows; what is wrong with its cells was told when they ran."""
        found = self._update.results.get(str(facts.document.path)) if self._update else None
        return PageCellsState() if found is None else PageCellsState(found)
