"""Pages with code that readers run in their browsers, and the modules that this code imports."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct

from ..build.load import parse_pages
from ..project.context import SiteContext
from ..project.report import BuildLog, BuildOptions, no_progress
from ..pyodide.imports import find_imports
from ..pyodide.names import MODULES, is_built_in
from ..syntax.cells.runnables import Runnable

if TYPE_CHECKING:
    from ..syntax.parser import Parsed


class RunnablePage(Struct, frozen=True):
    """A page with code that readers run."""

    path: PurePosixPath
    blocks: int
    modules: tuple[str, ...]
    """Imported top-level modules that are not part of Python, sorted."""


def runnable_pages(context: SiteContext, now: dt.datetime) -> tuple[RunnablePage, ...]:
    """Return all pages with code for browsers, including drafts. Errors in the pages are not reported."""
    log = BuildLog(no_progress)
    options = BuildOptions(now=now, drafts=True, future=True)
    pages = [_page(page) for page in parse_pages(context, options, log)]
    return tuple(page for page in pages if page.blocks)


def _page(page: Parsed) -> RunnablePage:
    codes = [record.code for record in _runnables(page)]
    return RunnablePage(page.document.path, len(codes), _modules(codes))


def _runnables(page: Parsed) -> list[Runnable]:
    metas = (token.meta for token in page.tokens if token.nesting >= 0)
    return [record for meta in metas if isinstance(record := meta.get("runnable"), Runnable)]


def _modules(codes: Iterable[str]) -> tuple[str, ...]:
    found = {(item.module, item.guarded) for code in codes for item in find_imports(code)}
    # optional imports are left out if Pyodide does not have them either
    wanted = {name for name, guarded in found if not guarded or name in MODULES}
    return tuple(sorted(name for name in wanted if not is_built_in(name)))


def imported_modules(pages: Sequence[RunnablePage]) -> tuple[str, ...]:
    """Return all modules that the pages import, sorted."""
    return tuple(sorted({module for page in pages for module in page.modules}))
