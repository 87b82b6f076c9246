"""Chooses the processes that render pages. They may be this process, several on this machine, or those of a
cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..execute.session.environment import count_cores
from ..hooks.plugin_code import FOLDER
from ..project.context import SiteContext
from ..project.report import BuildOptions
from ..project.trust.consent import is_trusted
from .pool import MAX_PROCESSES, MapTasks, ProcessPool, TaskRunnerFactory, can_fork

_CODE = "build-executor"
_SETTING = ("build", "executor")
# rendering a body takes 8 ms of processor time, so a second process saves 4 ms for each
MIN_FORK_BODIES = 20
"""Minimum number of bodies for which forking is worthwhile. A fork takes some hundredths of a second."""
MIN_SPAWN_BODIES = 150
"""Minimum number of bodies for which starting fresh processes is worthwhile. A fresh process finishes its
first page after 0.6 s. With 100 pages, two fresh processes are as fast as the present process alone."""
MIN_DASK_BODIES = 300
"""Minimum number of bodies for which Dask is worthwhile. Import and connection need a second more than
starting processes."""
_BODIES_PER_CALL = 2
"""Number of bodies in one call. A body takes about 10 ms, the call itself 0.2 ms."""


class PageExecutor(Struct, frozen=True):
    """Processes that render the bodies of pages."""

    kind: Literal["here", "fork", "spawn", "dask"]
    processes: int
    """Number of processes: 1 for `here`, otherwise at least 2. For `dask`, it is the number of workers to
    start if blogsmith starts the cluster."""
    context: SiteContext
    problems: tuple[Diagnostic, ...] = ()
    """Warnings that explain why this executor is used instead of the one that the site requests."""

    @property
    def min_bodies(self) -> int:
        """Minimum number of bodies for which starting the processes is worthwhile."""
        return {"here": 0, "fork": MIN_FORK_BODIES, "spawn": MIN_SPAWN_BODIES, "dask": MIN_DASK_BODIES}[
            self.kind
        ]

    @property
    def is_remote(self) -> bool:
        """Whether the processes are on machines that have no files of the site."""
        return self.kind == "dask" and bool(self.context.config.execution.dask.scheduler)

    @contextmanager
    def start_pool(self, make: TaskRunnerFactory) -> Iterator[MapTasks]:
        """Yield a function that maps tasks to results. make: see `TaskRunnerFactory`; it must be picklable,
        unless processes are forked. Raises `SiteError` if the cluster cannot be used."""
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
    """Return the processes for the bodies of a site, depending on their number, the settings and this
    machine."""
    processes = min(options.execution.jobs or count_cores(), MAX_PROCESSES)
    problems: tuple[Diagnostic, ...] = ()
    # a plugin of the site may keep state between pages, so one process must render all of them
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
    """Return the start method of processes that is used by default."""
    return "fork" if can_fork() else "spawn"


def count_copies(context: SiteContext, options: BuildOptions) -> int:
    """Return the number of forked processes that may fill templates. If it is 1, the present process fills
    them."""
    executor = choose_executor(context, options)
    return executor.processes if executor.kind == "fork" else 1


def process_death_error(message: str, path: str = "") -> SiteError:
    """Return the error for a page that kills its process."""
    hint = "run with `--jobs 1` to render all pages in one process"
    if "SIGKILL" in message:
        message += ": perhaps memory ran out"
        hint = "run with `--jobs 1`, which needs less memory, or split the page"
    return SiteError(Diagnostic("page-process", message, path, hint=hint))


def _cluster_obstacle(context: SiteContext, *, has_code: bool) -> tuple[str, str] | None:
    """Return (reason, hint) if the requested cluster cannot render the pages; otherwise None. has_code:
    whether the site has plugins of its own."""
    if has_code:
        files = context.plugins.code.sources if context.plugins.code else {}
        names = [name for name in context.config.plugins if f"{FOLDER}/{name}.py" in files]
        why = f'plugin "{names[0]}" must see all pages' if names else "plugins of the site must see all pages"
        return why, "remove `executor: dask` under `build:` in blogsmith.yaml"
    if context.config.execution.dask.scheduler and not is_trusted(context.root, context.config):
        # the two sides of a connection to Dask can make each other run code
        return "this site is not trusted to use a cluster", "run `blogsmith trust` if you know the address"
    return None


def _note(context: SiteContext, why: str, hint: str) -> Diagnostic:
    found = context.error_at(_CODE, _SETTING, f'"executor: dask" has no effect because {why}', hint)
    return replace(found, severity="warning")
