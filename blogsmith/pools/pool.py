"""Runs many tasks in several processes, through the interface of `concurrent.futures.Executor`.

On one machine the executor is a `ProcessPoolExecutor`. Forked processes inherit all state of this one. Where
forking is not safe, processes start fresh and receive only what can be pickled. When a process dies, the
executor fails all its unfinished tasks. They are then tried again one by one, to find the task that kills its
process.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import cache, partial
from itertools import islice
from operator import itemgetter
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import Any, Literal, Self

StartMethod = Literal["fork", "spawn"]
TaskRunnerFactory = Callable[[], Callable[[Any], Any]]
"""Function that is called once in each process. It returns a second function, which computes the result of a
task. A result of None means that the task failed."""
Submit = Callable[[list[Any]], "Future[list[Any]]"]
"""Function that submits the tasks of one call to an executor."""
NumberedItem = tuple[int, Any]
"""A number, and the task with this number or its result."""
MapTasks = Callable[[Iterable[Any]], Iterator[NumberedItem]]
"""Function that maps tasks to numbered results, such as `ProcessPool.map`."""

MAX_PROCESSES = 16
"""Maximum number of processes. More would produce pages faster than one process can receive them."""
_CALLS_AHEAD = 2
"""Number of calls submitted for each process in advance, so that no process waits for its next call."""
_POLL_S = 0.5
"""Maximum duration of a wait in seconds. The pool checks for cancellation after each wait. On some systems,
Ctrl-C also has no effect during a wait."""
_GC_THRESHOLD = 50_000
"""Number of allocations between two runs of the garbage collector. Most objects are freed without it, or
never."""
_START_LOCK = threading.Lock()
"""Lock held while the environment variables are changed for a process that starts."""
_FACTORY: ContextVar[TaskRunnerFactory] = ContextVar("make")
"""Factory that the pool passed to each of its processes."""


class ProcessDiedError(Exception):
    """A process died during a task, and another process died when it tried this task again."""

    def __init__(self, task: int, ending: str) -> None:
        super().__init__(task, ending)
        self.task = task
        """Number of the task."""
        self.ending = ending
        """How the process ended, as the end of a sentence."""


def can_fork() -> bool:
    """Return whether forking a process is safe on this system. On some systems, a fork can damage the state
    of system libraries."""
    return sys.platform == "linux"


class ProcessPool:
    """Pool of equal processes on this machine; a context manager. If an exception leaves the context, all
    processes are killed."""

    def __init__(
        self,
        method: StartMethod,
        processes: int,
        factory: TaskRunnerFactory,
        check_cancelled: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a pool that starts when its context is entered. check_cancelled: function that is called
        twice a second during a wait; may raise an exception to cancel it."""
        self._method = method
        self._processes = processes
        self._make = factory
        self._look = check_cancelled
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._executor = self._stack.enter_context(self._start(self._processes))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def _start(self, processes: int) -> AbstractContextManager[Executor]:
        return _start_processes(self._method, processes, self._make)

    def map(self, tasks: Iterable[Any], per_call: int = 1) -> Iterator[NumberedItem]:
        """Yield the number and the result of each task, in the order in which the tasks finish. The result is
        None if the task raised an exception, or if no process can be started. per_call: number of tasks that
        a process receives together. Raises `ProcessDiedError` if a task kills its process."""
        todo = enumerate(tasks)
        while suspects := (yield from self._run(self._executor, todo, per_call, self._processes)):
            self._stack.close()
            with self._start(1) as executor:
                for suspect in suspects:
                    if (yield from self._run(executor, iter([suspect]), 1, 1)):
                        raise ProcessDiedError(suspect[0], _describe_exit(executor))
            self._executor = self._stack.enter_context(self._start(self._processes))

    def _run(
        self, executor: Executor, todo: Iterator[NumberedItem], per_call: int, workers: int
    ) -> Generator[NumberedItem, None, list[NumberedItem]]:
        submit = partial(_submit, executor, self._method)
        return run_calls(submit, todo, per_call, workers, self._look)


def run_calls(
    submit: Submit,
    todo: Iterator[NumberedItem],
    per_call: int,
    workers: int,
    look: Callable[[], None] = lambda: None,
) -> Generator[NumberedItem, None, list[NumberedItem]]:
    """Yield the results of tasks. Return the tasks that were unfinished when the executor broke, oldest
    first. workers: number of calls that run in parallel; some more are submitted, so that no worker waits.
    look: function that is called twice a second during a wait."""
    done: SimpleQueue[Future[list[Any]]] = SimpleQueue()
    waiting: dict[Future[list[Any]], list[NumberedItem]] = {}
    suspects: list[NumberedItem] = []
    while True:
        while not suspects and len(waiting) < workers * _CALLS_AHEAD and (call := [*islice(todo, per_call)]):
            future = submit([task for _, task in call])
            waiting[future] = call
            future.add_done_callback(done.put)
        if not waiting:
            return sorted(suspects, key=itemgetter(0))
        future = _next_done(done, look)
        call = waiting.pop(future)
        try:
            results = future.result()
        except BrokenExecutor:
            suspects += call
            continue
        except ProcessDiedError as died:
            # the call has processes of its own, on a cluster, and one of them died
            raise ProcessDiedError(call[died.task][0], died.ending) from died
        except Exception:
            # the call or its result could not be pickled
            results = [None] * len(call)
        yield from zip((number for number, _ in call), results, strict=True)


def _next_done(done: SimpleQueue[Future[list[Any]]], look: Callable[[], None]) -> Future[list[Any]]:
    while True:
        with suppress(Empty):
            return done.get(timeout=_POLL_S)
        look()


def failed_future(error: Exception) -> Future[list[Any]]:
    """Return a failed future for a call that could not be made."""
    future: Future[list[Any]] = Future()
    future.set_exception(error)
    return future


class _NoProcesses(Executor):
    """Executor for a system that cannot start another process or has no semaphores. Every call fails."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a failed future."""
        return failed_future(OSError("no processes"))


@contextmanager
def _start_processes(method: StartMethod, processes: int, make: TaskRunnerFactory) -> Iterator[Executor]:
    """Yield an executor. If an exception leaves the context, kill the executor's processes."""
    # imported here, because most builds make few pages and start no processes
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    if method == "spawn":
        # pickled bytes: a process that unpickled `make` before it starts would delay the start of the next
        # one
        make = partial(_load_worker, pickle.dumps(make))
    executor: Executor = _NoProcesses()
    # Python's helper processes (for semaphores and forking) start here
    with suppress(ImportError, NotImplementedError, OSError), _starting(method):
        executor = ProcessPoolExecutor(processes, get_context(method), _initialize_worker, (make, method))
    try:
        yield executor
    except BaseException:
        for process in _list_processes(executor):
            process.kill()
        raise
    finally:
        queue = getattr(executor, "_call_queue", None)
        if queue and sys.version_info < (3, 11, 5):
            # python/cpython#94777: otherwise `shutdown` waits for a call that no process will execute
            queue._reader.close()
        executor.shutdown(cancel_futures=True)


def _list_processes(executor: Executor) -> list[Any]:
    # Python 3.14 has `kill_workers`, but no version reports how processes ended
    return [*(getattr(executor, "_processes", None) or {}).values()]


def _describe_exit(executor: Executor) -> str:
    """Return how the process of a broken executor ended, as the end of a sentence. The executor has only one
    process."""
    (process,) = _list_processes(executor)
    executor.shutdown()
    code: int = process.exitcode
    return f"ended with status {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


def _submit(executor: Executor, method: StartMethod, tasks: list[Any]) -> Future[list[Any]]:
    """Submit a call. This may start processes."""
    try:
        with _starting(method):
            return executor.submit(run_tasks, tasks)
    except (BrokenExecutor, OSError) as error:
        # No process can start, or one has died. In the second case, the calls that run report it.
        return failed_future(error)


@contextmanager
def _starting(method: StartMethod) -> Iterator[None]:
    """Block Ctrl-C in processes that start in this context, because the process that started them ends
    them."""
    has_masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if has_masks else set()
    try:
        with _clean_start() if method == "spawn" else nullcontext():
            yield
    finally:
        if has_masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _clean_start() -> Iterator[None]:
    """Ensure that fresh processes import neither the main program nor modules from the folder of a site."""
    with _START_LOCK:
        main, names = sys.modules["__main__"], ("PYTHONPATH", "PYTHONSAFEPATH")
        before = {name: os.environ.pop(name) for name in names if name in os.environ}
        # the fresh process gets our search path and the name of this module
        os.environ["PYTHONSAFEPATH"] = "1"
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            del os.environ["PYTHONSAFEPATH"]
            os.environ.update(before)


def _initialize_worker(make: TaskRunnerFactory, method: StartMethod) -> None:
    """Prepare a process of a pool."""
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # the builder ends processes by SIGTERM, for which it may have installed a handler that they inherit
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.stdout and sys.stderr:
        # code of a page may print, but its output is not that of the command
        os.dup2(2, 1)
    if method == "fork":
        # a search for cycles would copy all memory that is shared with the builder
        gc.disable()
    else:
        gc.set_threshold(_GC_THRESHOLD)
        atexit.register(_exit_now)
    parent = parent_process()
    assert parent is not None, "this process was started by a pool"
    threading.Thread(target=_exit_with_parent, args=(parent.join,), daemon=True).start()
    _FACTORY.set(cache(make))


def _load_worker(data: bytes) -> Callable[[Any], Any]:
    make: TaskRunnerFactory = pickle.loads(data)
    return make()


def _exit_now() -> None:
    """End this process without freeing all remaining objects one by one."""
    with suppress(Exception):
        print(end="", flush=True)
    os._exit(0)


def _exit_with_parent(wait: Callable[[], object]) -> None:
    """End this process when the process that started it has ended, for any reason. wait: function that
    returns then."""
    wait()
    os._exit(1)


def run_tasks(tasks: list[Any]) -> list[Any]:
    """Run tasks in a process of a pool and return their results. The result is None for a task that raises an
    exception."""
    return [_run_task(task) for task in tasks]


def _run_task(task: Any) -> Any:
    # the builder renders the page again and handles the exception there
    with suppress(BaseException):
        return _FACTORY.get()()(task)
    return None
