"""Engines that pages can name, and the choice of the engine of a page."""

from __future__ import annotations

from ..model.cells import PageCells
from .kernel.session import KernelEngine
from .session.engine import WORKER, DrawingEngine, Engine


def choose_engine(page: PageCells, session: str) -> Engine:
    """Return the engine that runs the cells of a session of `page`."""
    cells = page.session_cells(session)
    if cells and cells[0].is_drawing:
        return DrawingEngine(language=cells[0].language, preamble=page.preamble)
    return KernelEngine(page.kernel) if page.engine == "jupyter" else WORKER
