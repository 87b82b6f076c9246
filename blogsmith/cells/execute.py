"""`blogsmith execute`: run and record the cells of posts, and make no site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..diagnostics.model import SiteError
from ..hooks import blamed_on_plugins
from ..project.context import SiteContext, open_site
from ..project.load import parse_site
from ..project.report import BuildLog, BuildOptions, BuildReport, Counts, Progress, no_progress
from ..project.select import collect_posts
from .update import update_cells


def execute_site(
    root: Path, posts: Sequence[str], options: BuildOptions, progress: Progress = no_progress
) -> BuildReport:
    """Run what is stale of `posts`, by default of all; never raises for an author's mistake."""
    ledger = BuildLog(progress, strict=options.strict)
    try:
        workshop = open_site(root)
        with blamed_on_plugins(workshop.plugins):
            return _execute(workshop, posts, options, ledger)
    except SiteError as error:
        ledger.add(error.diagnostics)
        return ledger.close(Counts())


def _execute(
    workshop: SiteContext, posts: Sequence[str], options: BuildOptions, ledger: BuildLog
) -> BuildReport:
    ledger.ignore = frozenset(workshop.config.diagnostics.ignore)
    ledger.add(workshop.settings.diagnostics)
    collected = collect_posts(workshop, posts, options, ledger)
    performed = update_cells(parse_site(collected, workshop, ledger), workshop, options, ledger)
    return ledger.close(Counts(cells=performed.cells, ran=performed.ran))
