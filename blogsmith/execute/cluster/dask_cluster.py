"""Sessions on the workers of a Dask cluster: one that exists, or one on this machine while a command runs.

The one module that knows Dask, which it imports when a cluster is asked for. What runs on a worker is
`run_there`, which starts the process of the session as a builder would; so faults of cells end there. A task
whose client is gone is cancelled by the scheduler, and its worker sees that: so sessions end with their
builder, however that ends.
"""

from __future__ import annotations

import logging
import os
import pkgutil
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from ... import __version__
from ...config.schema import Dask
from ...diagnostics.extras import install_extra
from ...model.cells import Need
from ...model.results import SessionRun
from ..session.jobs import SessionJob
from .dask_executor import DaskExecutor
from .remote import RemoteEnvironment, Run, run_there
from .remote_needs import NeedsVerdict, WorkerResources, judge, questions, unmet_there

ADDRESS = ("execute", "dask", "scheduler")
EXECUTOR = ("execute", "executor")
CONNECT_S = 10.0
"""A scheduler that has not answered by then counts as gone."""
# What Dask calls a task that goes on, and a worker that does: one without scheduler closes.
_RUNNING = frozenset({"executing", "long-running"})
_WORKING = frozenset({"running", "paused", "closing_gracefully"})
_START_S = 5.0
"""What is left of starting takes no longer when a run is broken off, or Ctrl-C has hit a worker too."""
_NAMED = 4
"""Workers that a message names."""


class ClusterError(Exception):
    """A cluster cannot be used. setting: path of the setting that is to blame."""

    def __init__(self, message: str, hint: str, setting: tuple[str, ...] = ADDRESS) -> None:
        super().__init__(message)
        self.hint = hint
        self.setting = setting


class DaskCluster:
    """The workers of one run; a context manager. Raises ClusterError."""

    def __init__(self, settings: Dask, terms: RemoteEnvironment, root: Path, temporary: Path) -> None:
        """temporary: folder for files of workers that are started here."""
        self._settings = settings
        self._terms = terms
        self._root = root
        self._temporary = temporary
        self._judged = NeedsVerdict()
        self._client: _Client | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if find_spec("distributed") is None:
            missing = "executor: dask needs the package distributed"
            raise ClusterError(missing, install_extra("dask"), EXECUTOR)
        with ExitStack() as stack:
            stack.enter_context(_silence())
            if self.is_elsewhere:
                connected = stack.enter_context(_connect(self._settings.scheduler))
                self._client = _Client(connected, self._terms)
                _check(connected, self._settings.scheduler, self._root, self._terms.python)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def is_elsewhere(self) -> bool:
        """Whether it exists without us; if not, its workers are as this machine."""
        return bool(self._settings.scheduler)

    def unmet(self, needs: Sequence[Need]) -> Mapping[Need, str]:
        """Each need that no worker meets → why, in words. For a cluster elsewhere."""
        assert self._client is not None, "a cluster on this machine starts when its work is known"
        offers, cuda = self._client.offers(), self._settings.cuda
        answers = self._client.answers(questions(needs, offers, cuda))
        self._judged = judge(needs, offers, cuda, answers)
        return self._judged.unmet

    def executor(self, jobs: Sequence[SessionJob], workers: int) -> DaskExecutor:
        """What runs the jobs; a cluster on this machine starts now. workers: the most it gets."""
        cuda = self._settings.cuda
        if self._client is None:
            started = _start_cluster(max(1, min(workers, len(jobs))), self._temporary)
            self._client = _Client(self._stack.enter_context(started), self._terms)
            if any(job.cuda for job in jobs):
                # one worker: sessions that share a device would spoil each other's times and memory
                self._client.offer(cuda, min(self._client.offers()))
        one_each = not self.is_elsewhere
        made = DaskExecutor(self._client, self._judged, cuda, one_each=one_each)
        return self._stack.enter_context(made)


class _Client:
    """A client of Dask, in our terms."""

    def __init__(self, client: Any, terms: RemoteEnvironment) -> None:
        self._client = client
        self._terms = terms

    def submit(
        self, run: Run, job: SessionJob, workers: Sequence[str] | None, resources: Mapping[str, float]
    ) -> Any:
        return self._client.submit(
            run_on_worker,
            run,
            job,
            self._terms,
            workers=workers,
            resources=dict(resources) or None,
            pure=False,
            retries=0,
        )

    def offers(self) -> dict[str, WorkerResources]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return {address: WorkerResources(w["host"], dict(w["resources"])) for address, w in workers.items()}

    def why(self, error: BaseException) -> str:
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return "the Dask worker that ran it died"
        return f"its Dask worker could not run it: {type(error).__name__}: {_first_line(error)}"

    def answers(self, asked: Mapping[str, tuple[Need, ...]]) -> Mapping[str, Any]:
        """What the asked workers do not meet; an exception of those that cannot say."""
        if not asked:
            return {}
        found: Mapping[str, Any] = self._client.run(
            _unmet_at, asked, self._terms, workers=list(asked), on_error="return"
        )
        return found

    def offer(self, resources: Mapping[str, float], address: str) -> None:
        """Let a worker offer resources."""
        self._client.run(_set_resources, dict(resources), workers=[address])


def _check(client: Any, scheduler: str, root: Path, python: str) -> None:
    """Every worker must be able to run sessions; asked with functions of Python's own, which all have."""
    site = str(root / "blogsmith.yaml")
    checks: list[tuple[Callable[..., object], str, object, str]] = [
        (pkgutil.resolve_name, "blogsmith:__version__", __version__, f"has no blogsmith {__version__}"),
        (os.path.isfile, site, True, f"has no {site}"),
    ]
    if python:
        checks.append((shutil.which, python, python, f"has no Python at {python}"))
    lacking: dict[str, str] = {}
    for function, argument, expected, words in checks:
        answers = client.run(function, argument, on_error="return")
        if not answers:
            hint = f"start some: dask worker {scheduler}"
            raise ClusterError(f"the Dask cluster at {scheduler} has no workers", hint)
        lacking = {a: words for a, answer in answers.items() if answer != expected} | lacking
    if lacking:
        named = "; ".join(f"{address} {words}" for address, words in sorted(lacking.items())[:_NAMED])
        more = f"; and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
        hint = "workers need the same blogsmith, and the site at the same path"
        raise ClusterError(f"not all workers of the Dask cluster can run sessions: {named}{more}", hint)


def run_on_worker(run: Run, job: SessionJob, terms: RemoteEnvironment) -> SessionRun:
    """Run a session as a task of a Dask worker."""
    from distributed import get_worker

    # workers do not hear Ctrl-C, by `_start_local`; the sessions that they start are to
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return worker.status.name in _WORKING and task is not None and task.state in _RUNNING

    return run_there(run, job, terms, wanted)


@contextmanager
def _connect(scheduler: str) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=CONNECT_S, set_as_default=False, name="blogsmith")
    except (OSError, ValueError) as error:
        message = f"there is no Dask scheduler at {scheduler}: {_first_line(error)}"
        hint = "start one with dask scheduler, or leave the address out for a cluster on this machine"
        raise ClusterError(message, hint) from error
    with client:
        yield client


@contextmanager
def _start_cluster(workers: int, temporary: Path) -> Iterator[Any]:
    import dask
    from distributed import Client

    with ExitStack() as stack:
        stack.enter_context(dask.config.set({"temporary-directory": str(temporary)}))
        starting: Future[Any] = Future()
        stack.callback(_close, starting)
        # in a thread, which Ctrl-C does not reach: what has only half started could not be closed
        threading.Thread(target=_start_local, args=(workers, starting), daemon=True).start()
        try:
            cluster = starting.result()
        except (OSError, RuntimeError) as error:
            message = f"a Dask cluster on this machine cannot start: {_first_line(error)}"
            hint = "leave executor: dask out to run the code without one"
            raise ClusterError(message, hint, EXECUTOR) from error
        made = Client(cluster, timeout=CONNECT_S, set_as_default=False, name="blogsmith")
        client = stack.enter_context(made)
        client.run(os.setsid)
        yield client


def _start_local(workers: int, starting: Future[Any]) -> None:
    os.environ["PYTHONSAFEPATH"] = "1"  # the folder it is started in, the site's, is no place to import from
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # when it starts, it would undo the next line
    # Ctrl-C in a terminal reaches a whole process group, but not whom this thread starts: we end them
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        starting.set_result(_local_cluster(workers))
    except BaseException as error:
        starting.set_exception(error)


def _close(starting: Future[Any]) -> None:
    """Close a cluster, as soon as it has started; one that does not get so far loses its workers."""
    if wait([starting], _START_S).not_done:
        import multiprocessing  # Dask has it by now; a build without Dask does without

        for worker in multiprocessing.active_children():
            worker.kill()
    elif starting.exception() is None:
        starting.result().close()


def _local_cluster(workers: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        # any free port, and no page of diagrams behind it
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0", "allowed_failures": 0},
        dashboard_address=None,
        # sessions have limits of their own
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    )


async def _unmet_at(
    asked: Mapping[str, tuple[Need, ...]], terms: RemoteEnvironment, dask_worker: Any
) -> Mapping[Need, str]:
    return await unmet_there(asked, terms, dask_worker.address)


async def _set_resources(resources: Mapping[str, float], dask_worker: Any) -> None:
    await dask_worker.set_resources(**resources)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask's log from the terminal: what goes wrong is told by us."""
    import distributed  # noqa: F401  (its import sets up the log)

    handlers = [(handler, handler.level) for handler in logging.getLogger("distributed").handlers]
    for handler, _ in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
