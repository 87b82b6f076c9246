"""Who makes the pages of a build: this process, others of this machine, or those of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..execute.session.environment import cores
from ..project.context import SiteContext
from ..project.report import BuildOptions
from ..project.trust.consent import is_trusted
from .pool import MAX_PROCESSES, MakeAnswer, MapTasks, ProcessPool, can_fork

_CODE = "build-executor"
_SETTING = ("build", "executor")
# A body takes 8 ms of a processor, so two processes save 4 ms of each.
FORK_FEWEST = 20
"""A copy is there in some hundredths of a second."""
SPAWN_FEWEST = 150
"""A fresh process has its first page after 0.6 s; with 100 pages two are as quick as one process."""
DASK_FEWEST = 300
"""Besides, Dask takes a second to import and to connect."""
_TOGETHER = 2
"""Bodies of one call: each takes some 10 milliseconds, and a call a fifth of one."""


class PageExecutor(Struct, frozen=True):
    """What bodies are made with."""

    kind: Literal["here", "fork", "spawn", "dask"]
    processes: int
    """At least two, but for `here`; for `dask`: of a cluster that is started here."""
    context: SiteContext
    problems: tuple[Diagnostic, ...] = ()
    """Why it is not the one that the site asks for."""

    @property
    def fewest_bodies(self) -> int:
        """Bodies for which it is worth its start."""
        return {"here": 0, "fork": FORK_FEWEST, "spawn": SPAWN_FEWEST, "dask": DASK_FEWEST}[self.kind]

    @property
    def is_elsewhere(self) -> bool:
        """Whether processes are on machines that have no file of the site."""
        return self.kind == "dask" and bool(self.context.config.execution.dask.scheduler)

    @contextmanager
    def start_pool(self, make: MakeAnswer) -> Iterator[MapTasks]:
        """Start what works on tasks. SiteError if the cluster cannot be used.

        make: can be pickled, unless processes are forked.
        """
        assert self.kind != "here", "this process needs no pool"
        if self.kind != "dask":
            with ProcessPool(self.kind, self.processes, make) as pool:
                yield partial(pool.map, per_call=_TOGETHER)
            return
        # only sites that name a cluster need what speaks to one
        from ..execute.cluster.dask_connection import EXECUTOR, ClusterError
        from .cluster_pool import open_cluster_pool

        try:
            with open_cluster_pool(self.context.config.execution.dask, self.processes, make) as run:
                yield run
        except ClusterError as error:
            path = _SETTING if error.setting == EXECUTOR else error.setting
            raise SiteError(self.context.error_at(_CODE, path, str(error), error.hint)) from error


def choose_executor(context: SiteContext, options: BuildOptions) -> PageExecutor:
    """What makes the bodies of a site."""
    processes = min(options.execution.jobs or cores(), MAX_PROCESSES)
    problems: tuple[Diagnostic, ...] = ()
    # code of the site may count what it sees, and expect to see all of it
    has_code = context.plugins.code is not None
    if context.config.build.executor == "dask" and options.execution.jobs != 1:
        hindrance = _hindrance(context, has_code=has_code)
        if not hindrance:
            return PageExecutor("dask", processes, context)
        problems = (_note(context, *hindrance),)
    if has_code or processes < 2:
        return PageExecutor("here", 1, context, problems)
    return PageExecutor(options.start_method or default_method(), processes, context, problems)


def default_method() -> Literal["fork", "spawn"]:
    """How processes are started if nobody says so."""
    return "fork" if can_fork() else "spawn"


def count_copies(context: SiteContext, options: BuildOptions) -> int:
    """How many copies of this process may fill templates; 1: it does so itself."""
    executor = choose_executor(context, options)
    return executor.processes if executor.kind == "fork" else 1


def died(message: str, path: str = "") -> SiteError:
    """Return the error for a page that ends its process."""
    hint = "`--jobs 1` makes all pages in one process"
    return SiteError(Diagnostic("page-process", message, path, hint=hint))


def _hindrance(context: SiteContext, *, has_code: bool) -> tuple[str, str] | None:
    """Why pages are not made by the cluster that the site asks for, and what to do."""
    if has_code:
        return "plugins of the site may count the pages they see", "leave the setting out"
    if context.config.execution.dask.scheduler and not is_trusted(context.root, context.config):
        # Dask runs what it is sent, on both sides
        return "this site is not trusted to name a cluster", "if you know that address, run: blogsmith trust"
    return None


def _note(context: SiteContext, why: str, hint: str) -> Diagnostic:
    found = context.error_at(_CODE, _SETTING, f"pages are made on this machine: {why}", hint)
    return replace(found, severity="warning")
