"""Interface through which a build or a preview gets the cell results of its pages."""

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
    """State of the cells of one page."""

    results: PageResults = PageResults()
    """Results that the page shows."""
    page: PageStatus | None = None
    """Status of the page; None if the page has no cells, and always None in a build."""
    diagnostics: tuple[Diagnostic, ...] = ()


class CellSource(Protocol):
    """Source of the cell results that pages show."""

    def forget(self, changed: Collection[str]) -> None:
        """Drop cached data about changed files, even if their size and time are unchanged. changed: paths
        relative to the site root."""

    def page_state(
        self,
        facts: PageFacts,
        context: SiteContext,
        execution: ExecutionOptions,
        *,
        may_run: bool,
        busy: bool,
    ) -> PageCellsState:
        """Return the results that a page shows. busy: whether the page's cells are running, are about to run
        or have failed. In that case missing and stale results are not reported."""


class BuildCells:
    """Cell results of one build."""

    def __init__(self) -> None:
        self._update: CellUpdate | None = None
        """Cell results of the build; None until `run` is called."""

    def complete(self, counts: Counts) -> Counts:
        done = self._update
        if done is None:
            return counts
        return replace(
            counts,
            cells=done.cells,
            executed_cells=done.ran_cells,
            pending_results=done.due_cells,
            unmet=done.unmet_cells,
            missing=done.missing_needs,
            outside=done.depends_outside,
        )

    def forget(self, changed: Collection[str]) -> None:
        """Do nothing, because a build reads every file once."""

    def run(
        self, pages: Sequence[PageFacts], context: SiteContext, options: BuildOptions, log: BuildLog
    ) -> None:
        """Run the cells of these pages that must run. Call this before any of the pages is rendered."""
        # imported late: most sites have no cells
        from .update import update_cells

        self._update = update_cells(pages, context, options, log)

    def page_state(
        self,
        facts: PageFacts,
        context: SiteContext,
        execution: ExecutionOptions,
        *,
        may_run: bool,
        busy: bool,
    ) -> PageCellsState:
        """Return the results that a page shows. `run` has already logged problems of its cells."""
        found = self._update.results.get(str(facts.document.path)) if self._update else None
        return PageCellsState() if found is None else PageCellsState(found)
