"""The engines that pages can name, and the one a page has."""

from __future__ import annotations

from ..model.cells import PageCells
from .kernel.session import KernelEngine
from .session.engine import WORKER, Engine


def engine_of(page: PageCells) -> Engine:
    """What the cells of `page` run in."""
    return KernelEngine(page.kernel) if page.engine == "jupyter" else WORKER
