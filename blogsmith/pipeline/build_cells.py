"""The cells of a build: what is stale runs once, when all pages that have cells are known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..model.documents import PageFacts
from ..project.context import SiteContext
from ..project.report import BuildLog, BuildOptions, Counts, ExecutionOptions
from .cell_source import PageCellsState

if TYPE_CHECKING:
    from .cells.results import CellUpdate


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
        from .cells.update import update_cells

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
