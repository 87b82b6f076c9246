"""Options of the commands that run cells, and their conversion to `ExecutionOptions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from . import terminal
from .progress_bar import ProgressBar

if TYPE_CHECKING:
    from ..project.report import ExecutionOptions
    from .cell_progress import CellObserver

execute_option = click.option(
    "--execute",
    type=click.Choice(["stale", "all"]),
    is_flag=False,
    flag_value="stale",
    default=None,
    metavar="[=stale|all]",
    help="Run cells even if the site is not trusted on this machine: those with a missing or stale result, "
    "or all.  [default: stale cells, on trusted sites only]",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of processes that render pages, and of sessions that run, in parallel.  "
    "[default: number of CPU cores; for sessions, execute.jobs in blogsmith.yaml]",
)
_EXECUTION_OPTIONS = (
    execute_option,
    click.option(
        "--frozen",
        is_flag=True,
        help="Run no cells. Exit with 3 if a result is missing or stale.",
    ),
    click.option(
        "--strict-env",
        is_flag=True,
        help="Treat results of other package versions as stale.  [default: only warn]",
    ),
    jobs_option,
)
verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show what cells print while they run, why pages are rebuilt, and the traceback if blogsmith "
    "itself fails.",
)


def run_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of all commands that run cells to a command."""
    for option in reversed(_EXECUTION_OPTIONS):
        command = option(command)
    return command


def execution_options(progress: ProgressBar, verbose: bool, options: dict[str, Any]) -> ExecutionOptions:
    """Remove the options of `run_options` from `options` and convert them. Raise UsageError if they
    contradict each other."""
    execute, frozen = options.pop("execute", None), options.pop("frozen", False)
    if execute and frozen:
        raise click.UsageError("--frozen and --execute cannot be combined")
    # This import is slow, and help output does not need it.
    from ..project.report import ExecutionOptions

    return ExecutionOptions(
        execute=execute or "",
        frozen=frozen,
        strict_versions=options.pop("strict_env", False),
        jobs=options.pop("jobs", None) or 0,
        watch=cell_observer(progress, verbose),
    )


def cell_observer(progress: ProgressBar, verbose: bool) -> CellObserver:
    """Return an observer of running cells. It updates `progress`. If `verbose`, it also prints the output of
    cells on stderr."""
    # This import is slow, and help output does not need it.
    from .cell_progress import CellObserver

    return CellObserver(progress, terminal.warn if verbose else None)
