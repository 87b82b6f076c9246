"""Connects to Dask clusters: to an existing one, or to one on this machine that starts and ends with its
client. When pages are rendered, the client is an executor whose workers need no files of the site."""

from __future__ import annotations

import logging
import os
import pkgutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...base.diagnostics.extras import extra_install_command
from ...base.version import __version__
from ...config.schema import Dask

SCHEDULER_PATH = ("execute", "dask", "scheduler")
EXECUTOR_PATH = ("execute", "executor")
CONNECT_S = 10.0
"""Seconds to wait for the scheduler to accept a connection or to answer."""
_START_S = 5.0
"""Seconds to wait for a cluster that was still starting when the command was cancelled, before its workers
are killed."""
_MAX_NAMED = 4
"""Largest number of workers named in a message."""
WorkerCheck = tuple[Callable[..., object], str, object, str]
"""Function to call on every worker, its argument, the expected result, and the message about a worker that
returns another result."""
VERSION_CHECK: WorkerCheck = (
    *(pkgutil.resolve_name, "blogsmith:__version__", __version__),
    f"no blogsmith {__version__}",
)


class ClusterError(Exception):
    """Error for a cluster that cannot be used. setting: path of the setting that causes the error."""

    def __init__(self, message: str, hint: str, setting: tuple[str, ...] = SCHEDULER_PATH) -> None:
        super().__init__(message)
        self.hint = hint
        self.setting = setting


@contextmanager
def require_dask() -> Iterator[None]:
    """Check that Dask is installed, and keep its log off the terminal in the `with` block. Raises
    `ClusterError` if it is missing."""
    if find_spec("distributed") is None:
        missing = 'missing package "distributed", which "executor: dask" requires'
        raise ClusterError(missing, f"run `{extra_install_command('dask')}`", EXECUTOR_PATH)
    with _silence():
        yield


@contextmanager
def connect(scheduler: str) -> Iterator[Any]:
    """Yield a client of the cluster whose scheduler has the address `scheduler`. Raises `ClusterError` if no
    scheduler answers there."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout=CONNECT_S, set_as_default=False, name="blogsmith")
    except (OSError, ValueError) as error:
        message = f'cannot connect to the Dask scheduler at "{scheduler}": {first_line(error)}'
        hint = "start one with `dask scheduler`, or remove `scheduler` to use a cluster on this machine"
        raise ClusterError(message, hint) from error
    with client:
        yield client


def check_workers(
    client: Any, scheduler: str, checks: Sequence[WorkerCheck], purpose: str, hint: str
) -> None:
    """Raise `ClusterError` unless every worker passes all checks. The functions in `checks` must exist on
    every worker."""
    lacking: dict[str, str] = {}
    for function, argument, expected, words in checks:
        answers = client.run(function, argument, on_error="return")
        if not answers:
            start = f"start one with `dask worker {scheduler}`"
            raise ClusterError(f'the Dask cluster at "{scheduler}" has no workers', start)
        lacking = {a: words for a, answer in answers.items() if answer != expected} | lacking
    if lacking:
        named = "; ".join(f"{address} ({words})" for address, words in sorted(lacking.items())[:_MAX_NAMED])
        more = f"; and {len(lacking) - _MAX_NAMED} more" if len(lacking) > _MAX_NAMED else ""
        raise ClusterError(f"some Dask workers cannot {purpose}: {named}{more}", hint)


@contextmanager
def start_cluster(workers: int, temporary: Path) -> Iterator[Any]:
    """Yield a client of a cluster on this machine, which ends with the context. Raises `ClusterError` if it
    cannot start. temporary: folder for files of workers."""
    import dask
    from distributed import Client

    with ExitStack() as stack:
        stack.enter_context(dask.config.set({"temporary-directory": str(temporary)}))
        starting: Future[Any] = Future()
        stack.callback(_close, starting)
        # Start in a thread, which Ctrl-C does not interrupt: a half-started cluster could not be closed.
        threading.Thread(target=_start_local, args=(workers, starting), daemon=True).start()
        try:
            cluster = starting.result()
        except (OSError, RuntimeError) as error:
            message = f"cannot start a Dask cluster on this machine: {first_line(error)}"
            hint = "remove `executor: dask` to run without a cluster"
            raise ClusterError(message, hint, EXECUTOR_PATH) from error
        made = Client(cluster, timeout=CONNECT_S, set_as_default=False, name="blogsmith")
        client = stack.enter_context(made)
        client.run(os.setsid)
        yield client


def _start_local(workers: int, starting: Future[Any]) -> None:
    # Workers must not import from the folder in which the command is started, the site root.
    os.environ["PYTHONSAFEPATH"] = "1"
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # if it started later, it would undo the next line
    # Ctrl-C in a terminal reaches the whole process group. Processes started by this thread ignore it: we
    # end them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        starting.set_result(_local_cluster(workers))
    except BaseException as error:
        starting.set_exception(error)


def _close(starting: Future[Any]) -> None:
    """Wait until a cluster has started, then close it. If it does not start in time, kill its workers."""
    if wait([starting], _START_S).not_done:
        import multiprocessing  # Dask has imported it by now; builds without Dask do not need it

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
        # any free port, and no dashboard
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0", "allowed_failures": 0},
        dashboard_address=None,
        # sessions have their own limits
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    )


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask's log off the terminal in the `with` block, because blogsmith reports errors itself."""
    import distributed  # noqa: F401  (its import sets up the log)

    handlers = [(handler, handler.level) for handler in logging.getLogger("distributed").handlers]
    for handler, _ in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message, or its type."""
    return (str(error) or type(error).__name__).splitlines()[0]


class PageCluster:
    """Cluster that renders pages for one build."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executor: Executor = client.get_executor(pure=False, retries=0)

    @property
    def threads(self) -> int:
        """Number of calls that run in parallel; at least 1."""
        # a client whose scheduler is gone knows no workers
        workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1).get("workers", {})
        return sum(worker["nthreads"] for worker in workers.values()) or 1

    def submitter(self, function: Callable[[Any, list[Any]], Any], state: Any) -> Callable[[list[Any]], Any]:
        """Return a function that sends a list of tasks to a worker, where `function(state, tasks)` is called.
        Each worker receives `state` once. If the scheduler is gone, each call is cancelled."""
        sent = self._client.scatter([state], broadcast=True)[0]

        def submit(tasks: list[Any]) -> Future[Any]:
            if self._client.status == "running":
                return self._executor.submit(function, sent, tasks)
            lost: Future[Any] = Future()
            lost.set_exception(CancelledError("the connection to the Dask scheduler is lost"))
            return lost

        return submit


@contextmanager
def open_cluster(settings: Dask, temporary: Path, workers: int, check: WorkerCheck) -> Iterator[PageCluster]:
    """Yield a cluster: the one that the settings name, or otherwise one on this machine that ends with the
    context.

    Raises `ClusterError`.

    temporary: folder for files of workers that are started here.
    workers: number of workers to start here.
    check: check for remote workers, in addition to the version. It may call a function of blogsmith.
    """
    with ExitStack() as stack:
        stack.enter_context(require_dask())
        if settings.scheduler:
            client = stack.enter_context(connect(settings.scheduler))
            hint = "install the same blogsmith, Python and packages on all workers"
            for one in (VERSION_CHECK, check):
                check_workers(client, settings.scheduler, [one], "render pages", hint)
        else:
            client = stack.enter_context(start_cluster(workers, temporary))
        yield PageCluster(client)
