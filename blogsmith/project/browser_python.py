"""Python in the browsers of a site's readers: where it comes from, and what its pages need of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct

from ..config.load import CONFIG_NAME
from ..diagnostics.model import Reporter
from ..syntax.cells.runnables import Runnable
from ..syntax.parser import Parsed
from .context import SiteContext
from .load import load_site, parse_site
from .report import BuildLog, BuildOptions, no_progress

if TYPE_CHECKING:
    from ..pyodide.distribution import Distribution

VENDOR = "fill it with: blogsmith pyodide vendor"


class RunnablePage(Struct, frozen=True):
    """A page with code that readers run."""

    path: PurePosixPath
    blocks: int
    modules: tuple[str, ...]
    """Top-level modules that it imports and that do not come with Python, sorted."""


def browser_python(context: SiteContext, log: BuildLog) -> Callable[[], Distribution]:
    """What pages say about Python; opened for the first page that asks, and its mistakes told then."""

    @cache
    def opened() -> Distribution:
        from ..pyodide.distribution import open_distribution

        settings = context.config.browser
        found = open_distribution(settings.pyodide, context.root, context.config.base_path)
        reporter = Reporter(CONFIG_NAME, context.settings.lines)
        places = context.settings.places
        for problem in found.problems:
            reporter.error("pyodide-folder", problem, places.get(("browser", "pyodide")), VENDOR)
        for number, name in enumerate(settings.packages):
            if not found.has(name):
                place = places.get(("browser", "packages", number))
                message = f"{found.folder} lacks the package {name}"
                reporter.error("pyodide-folder", message, place, VENDOR)
        log.add(reporter.diagnostics)
        return found

    return opened


def runnable_pages(context: SiteContext, now: dt.datetime) -> tuple[RunnablePage, ...]:
    """All pages with code for browsers, drafts too; what is wrong in them is not told here."""
    log = BuildLog(no_progress)
    options = BuildOptions(now=now, drafts=True, future=True)
    pages = [_page(page) for page in parse_site(load_site(context, options, log), context, log)]
    return tuple(page for page in pages if page.blocks)


def _page(page: Parsed) -> RunnablePage:
    codes = [record.code for record in _runnables(page)]
    return RunnablePage(page.document.path, len(codes), _modules(codes))


def _runnables(page: Parsed) -> list[Runnable]:
    metas = (token.meta for token in page.tokens if token.nesting >= 0)
    return [record for meta in metas if isinstance(record := meta.get("runnable"), Runnable)]


def _modules(codes: Iterable[str]) -> tuple[str, ...]:
    from ..pyodide.imports import imports_of
    from ..pyodide.names import MODULES, needs_no_package

    found = {(item.module, item.guarded) for code in codes for item in imports_of(code)}
    # what code does without, and Pyodide too, is missed by nobody
    wanted = {name for name, guarded in found if not guarded or name in MODULES}
    return tuple(sorted(name for name in wanted if not needs_no_package(name)))


def modules_of(pages: Sequence[RunnablePage]) -> tuple[str, ...]:
    """What all of them import, sorted."""
    return tuple(sorted({module for page in pages for module in page.modules}))
