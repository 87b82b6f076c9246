"""Many tasks in several processes, on the interface of `concurrent.futures.Executor`.

On one machine this is a `ProcessPoolExecutor`. Forked processes know all that this one knows. Processes that
are started fresh, where forking is not safe, are given what can be pickled. An executor reports the death of
a process for every task that it has: those are tried again one by one, to find the one that is to blame.
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
MakeAnswer = Callable[[], Callable[[Any], Any]]
"""Called once in each process; gives what makes the result of a task. None as a result: there is none."""
Submit = Callable[[list[Any]], "Future[list[Any]]"]
"""Lets tasks be answered somewhere."""
Numbered = tuple[int, Any]
"""A task or a result, with the number of the task."""
MapTasks = Callable[[Iterable[Any]], Iterator[Numbered]]
"""As `ProcessPool.map`."""

MAX_PROCESSES = 16
"""More of them make pages faster than one process takes them in."""
_AHEAD = 2
"""Calls per process that are submitted at a time, so that none waits for the next one."""
_LOOK_S = 0.5
"""Between two looks whether to go on: Ctrl-C does not end a wait on every system."""
_NEW_OBJECTS = 50_000
"""Between two searches for reference cycles: most objects are freed without one, or never."""
_START = threading.Lock()
"""Held while the environment is changed for a process that starts."""
_MAKE: ContextVar[MakeAnswer] = ContextVar("make")
"""Set in each process of a pool."""


class ProcessDied(Exception):
    """A process ended while it worked on a task, and so did the one that tried the task again."""

    def __init__(self, task: int, ending: str) -> None:
        super().__init__(task, ending)
        self.task = task
        """Its number."""
        self.ending = ending
        """How the process ended, as the end of a sentence."""


def can_fork() -> bool:
    """Whether this system copies a process as it is, without harm to libraries of the system."""
    return sys.platform == "linux"


class ProcessPool:
    """Processes of this machine that all do the same; a context manager.

    An exception that leaves the context kills all of them.
    """

    def __init__(
        self,
        method: StartMethod,
        processes: int,
        make: MakeAnswer,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        """look: called twice a second; may raise an exception."""
        self._method = method
        self._processes = processes
        self._make = make
        self._look = look
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._executor = self._stack.enter_context(self._start(self._processes))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def _start(self, processes: int) -> AbstractContextManager[Executor]:
        return _start_processes(self._method, processes, self._make)

    def map(self, tasks: Iterable[Any], per_call: int = 1) -> Iterator[Numbered]:
        """Give the number and result of each task, in the order in which they are done.

        The result is None if an exception was raised, or processes cannot be started. per_call: tasks that a
        process is given together. ProcessDied if a task ends its process.
        """
        todo = enumerate(tasks)
        while suspects := (yield from self._run(self._executor, todo, per_call, self._processes)):
            self._stack.close()
            with self._start(1) as executor:
                for suspect in suspects:
                    if (yield from self._run(executor, iter([suspect]), 1, 1)):
                        raise ProcessDied(suspect[0], _describe_exit(executor))
            self._executor = self._stack.enter_context(self._start(self._processes))

    def _run(
        self, executor: Executor, todo: Iterator[Numbered], per_call: int, workers: int
    ) -> Generator[Numbered, None, list[Numbered]]:
        submit = partial(_submit, executor, self._method)
        return run_calls(submit, todo, per_call, workers, self._look)


def run_calls(
    submit: Submit,
    todo: Iterator[Numbered],
    per_call: int,
    workers: int,
    look: Callable[[], None] = lambda: None,
) -> Generator[Numbered, None, list[Numbered]]:
    """Give the results of tasks; return those that were not done when the executor broke, oldest first.

    workers: calls that run at the same time; so many tasks are taken ahead that none of them waits.
    """
    done: SimpleQueue[Future[list[Any]]] = SimpleQueue()
    waiting: dict[Future[list[Any]], list[Numbered]] = {}
    suspects: list[Numbered] = []
    while True:
        while not suspects and len(waiting) < workers * _AHEAD and (call := [*islice(todo, per_call)]):
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
        except ProcessDied as died:
            # of a call that had processes of its own
            raise ProcessDied(call[died.task][0], died.ending) from died
        except Exception:
            # the call, or what came of it, did not get through
            results = [None] * len(call)
        yield from zip((number for number, _ in call), results, strict=True)


def _next_done(done: SimpleQueue[Future[list[Any]]], look: Callable[[], None]) -> Future[list[Any]]:
    while True:
        with suppress(Empty):
            return done.get(timeout=_LOOK_S)
        look()


def failed(error: Exception) -> Future[list[Any]]:
    """Return what came of a call that could not be made."""
    future: Future[list[Any]] = Future()
    future.set_exception(error)
    return future


class _NoProcesses(Executor):
    """Where the system has no processes left, or no semaphores for them."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Nothing comes of it."""
        return failed(OSError("no processes"))


@contextmanager
def _start_processes(method: StartMethod, processes: int, make: MakeAnswer) -> Iterator[Executor]:
    """Give an executor; its processes are killed if the caller stops before all is done."""
    # most builds make few pages, and start none
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    if method == "spawn":
        # a process that imports what is in it first would let the next one wait for its start
        make = partial(_load_worker, pickle.dumps(make))
    executor: Executor = _NoProcesses()
    # what Python needs beside our processes starts here
    with suppress(ImportError, NotImplementedError, OSError), _starting(method):
        executor = ProcessPoolExecutor(processes, get_context(method), _begin, (make, method))
    try:
        yield executor
    except BaseException:
        for process in _processes_of(executor):
            process.kill()
        raise
    finally:
        queue = getattr(executor, "_call_queue", None)
        if queue and sys.version_info < (3, 11, 5):
            # python/cpython#94777: a call that no process takes any more would be waited for
            queue._reader.close()
        executor.shutdown(cancel_futures=True)


def _processes_of(executor: Executor) -> list[Any]:
    # Python 3.14 has `kill_workers`, and no version tells how they ended
    return [*(getattr(executor, "_processes", None) or {}).values()]


def _describe_exit(executor: Executor) -> str:
    """How the only process of a broken executor ended, as the end of a sentence."""
    (process,) = _processes_of(executor)
    executor.shutdown()
    code: int = process.exitcode
    return f"ended with status {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


def _submit(executor: Executor, method: StartMethod, tasks: list[Any]) -> Future[list[Any]]:
    """Submit a call, for which processes may start."""
    try:
        with _starting(method):
            return executor.submit(answer_tasks, tasks)
    except (BrokenExecutor, OSError) as error:
        # no process can start, or one has died, which the calls that it had are about to tell
        return failed(error)


@contextmanager
def _starting(method: StartMethod) -> Iterator[None]:
    """Let processes that start now never hear Ctrl-C, as the builder ends them."""
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
    """Let a fresh process import nothing from the folder of a site, and not the program that starts it."""
    with _START:
        main, names = sys.modules["__main__"], ("PYTHONPATH", "PYTHONSAFEPATH")
        before = {name: os.environ.pop(name) for name in names if name in os.environ}
        # our search path, and the name of this module, are sent to it
        os.environ["PYTHONSAFEPATH"] = "1"
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            del os.environ["PYTHONSAFEPATH"]
            os.environ.update(before)


def _begin(make: MakeAnswer, method: StartMethod) -> None:
    """Prepare a process of a pool."""
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # the builder may have a handler, and ends processes by it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.stdout and sys.stderr:
        # what is printed here is no result of the command
        os.dup2(2, 1)
    if method == "fork":
        # a search for cycles would copy all that is shared with the builder
        gc.disable()
    else:
        gc.set_threshold(_NEW_OBJECTS)
        atexit.register(_leave)
    parent = parent_process()
    assert parent is not None, "this process was started by a pool"
    threading.Thread(target=_end_after, args=(parent.join,), daemon=True).start()
    _MAKE.set(cache(make))


def _load_worker(data: bytes) -> Callable[[Any], Any]:
    make: MakeAnswer = pickle.loads(data)
    return make()


def _leave() -> None:
    """End this process without freeing all that is left, object by object."""
    with suppress(Exception):
        print(end="", flush=True)
    os._exit(0)


def _end_after(wait: Callable[[], object]) -> None:
    """End this process after its builder, whatever has ended that one."""
    wait()
    os._exit(1)


def answer_tasks(tasks: list[Any]) -> list[Any]:
    """In a process of a pool: the results of tasks, None for those that raise an exception."""
    return [_answer(task) for task in tasks]


def _answer(task: Any) -> Any:
    # raised again where the builder makes the page itself, and where it is understood
    with suppress(BaseException):
        return _MAKE.get()()(task)
    return None
