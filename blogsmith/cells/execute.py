"""`blogsmith execute`: run and record the cells of posts, and make no site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..diagnostics.model import SiteError
from ..hooks.failures import blame_plugins
from ..project.context import SiteContext, open_site
from ..project.load import parse_site
from ..project.report import BuildLog, BuildOptions, BuildReport, Counts, Progress, no_progress
from ..project.select import collect_posts
from .update import update_cells


def execute_site(
    root: Path, posts: Sequence[str], options: BuildOptions, progress: Progress = no_progress
) -> BuildReport:
    """Run what is stale of `posts`, by default of all; never raises for an author's mistake."""
    log = BuildLog(progress, strict=options.strict)
    try:
        context = open_site(root)
        with blame_plugins(context.plugins):
            return _execute(context, posts, options, log)
    except SiteError as error:
        log.add(error.diagnostics)
        return log.close(Counts())


def _execute(context: SiteContext, posts: Sequence[str], options: BuildOptions, log: BuildLog) -> BuildReport:
    log.ignore = frozenset(context.config.diagnostics.ignore)
    log.add(context.settings.diagnostics)
    loaded = collect_posts(context, posts, options, log)
    pages = [page.facts for page in parse_site(loaded, context, log)]
    performed = update_cells(pages, context, options, log)
    return log.close(Counts(cells=performed.cells, ran=performed.ran))
