"""The options of commands that run cells, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from . import terminal
from .progress_bar import ProgressBar

if TYPE_CHECKING:
    from ..project.report import ExecutionOptions
    from .cell_progress import Watching

execute_option = click.option(
    "--execute",
    type=click.Choice(["stale", "all"]),
    is_flag=False,
    flag_value="stale",
    default=None,
    metavar="[=stale|all]",
    help="Run cells also on a site that is not trusted here: those whose result is missing or stale, "
    "or all; by default stale ones run on trusted sites only.",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Processes that make pages, and sessions that run, at once; by default as many as there are cores, "
    "and sessions as the setting execute.jobs says.",
)
_EXECUTION_OPTIONS = (
    execute_option,
    click.option(
        "--frozen",
        is_flag=True,
        help="Run nothing, and exit with 3 if a result is missing or stale.",
    ),
    click.option(
        "--strict-env",
        is_flag=True,
        help="Treat results of other package versions as stale; by default they only warn.",
    ),
    jobs_option,
)
loud_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show what cells print while they run, why pages are made anew, and the traceback if blogsmith "
    "itself fails.",
)


def executing(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of every command that runs cells."""
    for option in reversed(_EXECUTION_OPTIONS):
        command = option(command)
    return command


def execution_options(progress: ProgressBar, verbose: bool, options: dict[str, Any]) -> ExecutionOptions:
    """Take the options above out of `options`; wrong usage if they contradict each other."""
    execute, frozen = options.pop("execute", None), options.pop("frozen", False)
    if execute and frozen:
        raise click.UsageError("--frozen runs nothing and --execute runs cells: choose one")
    # records bring a library with them, which help texts need not wait for
    from ..project.report import ExecutionOptions

    return ExecutionOptions(
        execute=execute or "",
        frozen=frozen,
        strict_versions=options.pop("strict_env", False),
        jobs=options.pop("jobs", None) or 0,
        watch=watching(progress, verbose),
    )


def watching(progress: ProgressBar, verbose: bool) -> Watching:
    """What follows running cells: the bar, and their output on stderr if asked for."""
    # it brings the records of runs with it, which help texts need not wait for
    from .cell_progress import Watching

    return Watching(progress, terminal.warn if verbose else None)
