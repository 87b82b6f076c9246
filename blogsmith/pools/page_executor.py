"""Choice of the processes that render pages: this process, others on this machine, or those of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..execute.session.environment import count_cores
from ..project.context import SiteContext
from ..project.report import BuildOptions
from ..project.trust.consent import is_trusted
from .pool import MAX_PROCESSES, MapTasks, ProcessPool, TaskRunnerFactory, can_fork

_CODE = "build-executor"
_SETTING = ("build", "executor")
# A body takes 8 ms of processor time, so two processes save 4 ms for each.
MIN_FORK_BODIES = 20
"""Fewest bodies for which forking pays off. A fork takes some hundredths of a second."""
MIN_SPAWN_BODIES = 150
"""Fewest bodies for which starting fresh processes pays off.

A fresh process has its first page after 0.6 s; with 100 pages, two are as fast as one process.
"""
MIN_DASK_BODIES = 300
"""Fewest bodies for which Dask pays off. In addition to starting processes, it takes a second to import and
connect."""
_BODIES_PER_CALL = 2
"""Number of bodies in one call. A body takes about 10 ms, the call itself 0.2 ms."""


class PageExecutor(Struct, frozen=True):
    """Way of rendering the bodies of pages."""

    kind: Literal["here", "fork", "spawn", "dask"]
    processes: int
    """Number of processes: 1 for `here`, otherwise at least 2. For `dask`, the workers of a cluster that is
    started here."""
    context: SiteContext
    problems: tuple[Diagnostic, ...] = ()
    """Warnings that say why this is not the executor that the site requests."""

    @property
    def min_bodies(self) -> int:
        """Fewest bodies for which starting the processes pays off."""
        return {"here": 0, "fork": MIN_FORK_BODIES, "spawn": MIN_SPAWN_BODIES, "dask": MIN_DASK_BODIES}[
            self.kind
        ]

    @property
    def is_remote(self) -> bool:
        """Whether the processes are on machines that have no files of the site."""
        return self.kind == "dask" and bool(self.context.config.execution.dask.scheduler)

    @contextmanager
    def start_pool(self, make: TaskRunnerFactory) -> Iterator[MapTasks]:
        """Yield a function that maps tasks to results. Raises `SiteError` if the cluster cannot be used.

        make: must be picklable, unless processes are forked.
        """
        assert self.kind != "here", "this process needs no pool"
        if self.kind != "dask":
            with ProcessPool(self.kind, self.processes, make) as pool:
                yield partial(pool.map, per_call=_BODIES_PER_CALL)
            return
        # imported late: most sites name no cluster
        from ..execute.cluster.dask_connection import EXECUTOR_PATH, ClusterError
        from .cluster_pool import open_cluster_pool

        try:
            with open_cluster_pool(self.context.config.execution.dask, self.processes, make) as run:
                yield run
        except ClusterError as error:
            path = _SETTING if error.setting == EXECUTOR_PATH else error.setting
            raise SiteError(self.context.error_at(_CODE, path, str(error), error.hint)) from error


def choose_executor(context: SiteContext, options: BuildOptions) -> PageExecutor:
    """Choose how the bodies of a site are rendered."""
    processes = min(options.execution.jobs or count_cores(), MAX_PROCESSES)
    problems: tuple[Diagnostic, ...] = ()
    # a plugin of the site may keep state over pages, so it must see all of them
    has_code = context.plugins.code is not None
    if context.config.build.executor == "dask" and options.execution.jobs != 1:
        hindrance = _cluster_obstacle(context, has_code=has_code)
        if not hindrance:
            return PageExecutor("dask", processes, context)
        problems = (_note(context, *hindrance),)
    if has_code or processes < 2:
        return PageExecutor("here", 1, context, problems)
    return PageExecutor(options.start_method or default_method(), processes, context, problems)


def default_method() -> Literal["fork", "spawn"]:
    """Return how processes are started by default."""
    return "fork" if can_fork() else "spawn"


def count_copies(context: SiteContext, options: BuildOptions) -> int:
    """Return how many forked processes may fill templates. 1 means that this process fills them itself."""
    executor = choose_executor(context, options)
    return executor.processes if executor.kind == "fork" else 1


def process_death_error(message: str, path: str = "") -> SiteError:
    """Return the error for a page that kills its process."""
    hint = "run with `--jobs 1` to render all pages in one process"
    return SiteError(Diagnostic("page-process", message, path, hint=hint))


def _cluster_obstacle(context: SiteContext, *, has_code: bool) -> tuple[str, str] | None:
    """Return why the requested cluster cannot render the pages, with a hint. Return None if it can."""
    if has_code:
        return "plugins of the site must see all pages", "remove the setting"
    if context.config.execution.dask.scheduler and not is_trusted(context.root, context.config):
        # Dask runs whatever it is sent, on both sides of the connection.
        return "this site is not trusted to use a cluster", "run `blogsmith trust` if you know the address"
    return None


def _note(context: SiteContext, why: str, hint: str) -> Diagnostic:
    found = context.error_at(_CODE, _SETTING, f"pages are rendered on this machine: {why}", hint)
    return replace(found, severity="warning")
