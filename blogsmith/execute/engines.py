"""Engines that pages can name, and the choice of the engine of a page."""

from __future__ import annotations

from ..model.cells import PageCells
from .kernel.session import KernelEngine
from .session.engine import WORKER, Engine


def choose_engine(page: PageCells) -> Engine:
    """Return the engine that runs the cells of `page`."""
    return KernelEngine(page.kernel) if page.engine == "jupyter" else WORKER
