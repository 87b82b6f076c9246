"""Access to Pyodide, the Python that readers run in their browsers, in the distribution that the settings
name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ..base.diagnostics.model import Reporter
from ..config.load import CONFIG_NAME
from ..project.context import SiteContext
from ..project.report import BuildLog

if TYPE_CHECKING:
    from ..pyodide.distribution import Distribution

VENDOR = "run `blogsmith pyodide vendor` to copy its files"


def browser_python(context: SiteContext, log: BuildLog) -> Callable[[], Distribution]:
    """Return a function that returns the distribution. The first call opens the distribution and reports its
    errors."""

    @cache
    def open_once() -> Distribution:
        from ..pyodide.distribution import open_distribution

        settings = context.config.browser
        found = open_distribution(settings.pyodide, context.root, context.config.base_path)
        reporter = Reporter(CONFIG_NAME, context.settings.lines)
        places = context.settings.locations
        for problem in found.problems:
            reporter.error("pyodide-folder", problem, places.get(("browser", "pyodide")), VENDOR)
        for number, name in enumerate(settings.packages):
            if not found.has(name):
                place = places.get(("browser", "packages", number))
                message = f'package not found in "{found.folder}": "{name}"'
                reporter.error("pyodide-folder", message, place, VENDOR)
        log.add(reporter.diagnostics)
        return found

    return open_once
