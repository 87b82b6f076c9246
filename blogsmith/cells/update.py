"""Updates the cells in a build. Stale cells run if they may, their results are recorded, and pages show
recorded results.

A page shows only recorded results, never those of a run directly. So equal content and an equal `_freeze/`
give equal pages, whether the cells ran a moment ago, last year, or on another machine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..base.diagnostics.model import SiteError
from ..execute.probe.requirements import probe_versions
from ..execute.session.environment import cell_environment
from ..execute.session.jobs import resolve_python
from ..model.documents import PageFacts
from ..project.context import SiteContext
from ..project.report import BuildLog, BuildOptions, ExecutionOptions
from .permission import may_run
from .requirements import device_versions, installed_versions, recorded_packages
from .results import CellUpdate, show_results
from .status import PageStatus, RunOutcome, adopt_records, read_environment, survey_pages


def update_cells(
    pages: Sequence[PageFacts], context: SiteContext, options: BuildOptions, log: BuildLog
) -> CellUpdate:
    """Run the sessions that must run and return the results of all pages. Log all problems."""
    if not any(page.cells.sessions() for page in pages):
        return CellUpdate()
    asked = options.execution
    runs = may_run(context, options)
    with log.stage("records"):
        around = read_environment(context.root, context.config, running=runs)
        surveyed = survey_pages(context.root, around, pages)
    versions = package_versions(surveyed.pages, context, asked, may_run=runs)
    if asked.strict_versions:
        around = read_environment(context.root, context.config, running=runs, versions=versions)
        surveyed = survey_pages(context.root, around, pages)
    ran = RunOutcome(surveyed)
    if runs:
        # imported late: starting processes is needed only where cells may run
        from .run import run_stale_sessions

        try:
            with log.stage("run"):
                ran = run_stale_sessions(adopt_records(surveyed), context, options, log)
        except SiteError:
            log.add(surveyed.diagnostics)
            raise
    log.add(ran.status.diagnostics)
    return show_results(ran, context, asked, versions, log, may_run=runs)


def package_versions(
    pages: Iterable[PageStatus], context: SiteContext, asked: ExecutionOptions, *, may_run: bool
) -> Mapping[str, str]:
    """Return import name → installed version of each recorded package. If cells use another Python than
    blogsmith's, that Python is started only if cells may run and the command runs cells or compares versions.
    Otherwise, return an empty map."""
    names = recorded_packages(pages)
    if not context.config.execution.python:
        return installed_versions(names)
    if names and may_run and (asked.execute or asked.strict_versions):
        execution = context.config.execution
        python = resolve_python(execution.python, context.root)
        environment = cell_environment(os.environ, execution.env, 1, Path(tempfile.gettempdir()))
        return {**probe_versions(names, python, environment), **device_versions(names)}
    return {}
