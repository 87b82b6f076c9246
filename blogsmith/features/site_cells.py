"""The cells of posts that a command names: run and record them, or report their state. No site is written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ..base.diagnostics.model import SiteError
from ..build.load import read_facts
from ..cells.results import CellUpdate
from ..cells.status import SiteStatus, read_environment, survey_pages
from ..cells.update import package_versions, update_cells
from ..cells.verify import VerifyCounts, VerifyOptions, verify_records
from ..hooks.calls import convert_plugin_errors
from ..project.context import SiteContext, open_site
from ..project.report import (
    BuildLog,
    BuildOptions,
    BuildReport,
    Counts,
    ExecutionOptions,
    Progress,
    no_progress,
)


def execute_site(
    root: Path, posts: Sequence[str], options: BuildOptions, progress: Progress = no_progress
) -> BuildReport:
    """Run the stale cells of `posts`, by default of all posts, and return the report. Errors of an author are
    in the report, never an exception."""
    log = BuildLog(progress, strict=options.strict)
    try:
        context = open_site(root)
        with convert_plugin_errors(context.plugins):
            return _execute(context, posts, options, log)
    except SiteError as error:
        log.add(error.diagnostics)
        return log.close(Counts())


def _execute(context: SiteContext, posts: Sequence[str], options: BuildOptions, log: BuildLog) -> BuildReport:
    log.levels = context.config.diagnostics.as_levels
    performed = update_cells(read_facts(context, posts, options, log), context, options, log)
    return log.close(_counts(performed))


def _counts(done: CellUpdate) -> Counts:
    return Counts(
        cells=done.cells, executed_cells=done.ran_cells, unmet=done.unmet_cells, missing=done.missing_needs
    )


def verify_site(
    root: Path, posts: Sequence[str], options: VerifyOptions, now: dt.datetime, log: BuildLog
) -> VerifyCounts:
    """Run the recorded cells of `posts` again, by default of all, and report results that differ. Return the
    number of results with each outcome. Raise SiteError if the site cannot be read."""
    context = open_site(root)
    log.levels = context.config.diagnostics.as_levels
    asked = BuildOptions(
        now=now, drafts=True, future=True, use_cache=True, execution=ExecutionOptions(execute="all")
    )
    with convert_plugin_errors(context.plugins):
        pages = read_facts(context, posts, asked, log)
        surveyed = survey_pages(root, read_environment(root, context.config), pages)
        versions = package_versions(surveyed.pages, context, asked.execution, may_run=True)
        return verify_records(surveyed, context, options, versions, log)


def survey_site(root: Path, posts: Sequence[str], now: dt.datetime, *, use_cache: bool = False) -> SiteStatus:
    """Return the state of the named posts, by default of all, including drafts. use_cache: as in
    `BuildOptions`. Raise SiteError if the site cannot be read."""
    context = open_site(root)
    options = BuildOptions(now=now, drafts=True, future=True, use_cache=use_cache)
    pages = read_facts(context, posts, options, BuildLog(no_progress))
    found = survey_pages(root, read_environment(root, context.config), pages)
    return replace(found, has_own_python=not context.config.execution.python)
