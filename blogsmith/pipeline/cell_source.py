"""What the pipeline asks of cells, and what it is told: of records for a preview, of what ran for a build."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic
from ..model.documents import PageFacts
from ..model.results import PageResults
from ..project.context import SiteContext
from ..project.report import ExecutionOptions

if TYPE_CHECKING:
    from .cells.status import PageStatus


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
