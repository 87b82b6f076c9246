"""Processes that know what this one knows: forked from it, so that only what they make has to be sent.

Who is forked must not depend on threads of this process, so pools are used by builds alone. The processes end
with the pool, and with this process whatever ends it: each waits for requests on a pipe that breaks then.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_AHEAD = 2
"""Requests a process has at once: it never waits for the next one."""
MAX_PROCESSES = 16
"""More of them than that make pages faster than one process takes them in."""


class ProcessDied(Exception):
    """A process of a pool ended while it worked on a request."""

    def __init__(self, request: int, ending: str) -> None:
        super().__init__(f"a process {ending}")
        self.request = request
        """Its number."""
        self.ending = ending
        """How, as the end of a sentence."""


class PoolAnswer(NamedTuple):
    """What came of one request."""

    request: int
    """Its number among those that were sent together."""
    process: int
    """Which process has worked on it."""
    data: bytes | None
    """None: an exception was raised there; here it will be, too."""


def can_fork() -> bool:
    """Whether this system copies a process as it is, without harm to libraries of the system."""
    return sys.platform == "linux"


class ProcessPool:
    """Some processes that all answer requests in the same way."""

    def __init__(self, count: int, answer: Callable[[bytes], bytes]) -> None:
        """answer: is called in the processes, with whatever it knows at this moment."""
        # most builds make few pages, and start none
        from multiprocessing.connection import Pipe

        self._pipes: list[Connection] = []
        self._pids: list[int | None] = []
        """None: it has ended."""
        for _ in range(count):
            here, there = Pipe()
            pid = os.fork()
            if pid == 0:
                # the other ends would keep pipes from breaking
                for pipe in (here, *self._pipes):
                    pipe.close()
                _serve(there, answer)
            there.close()
            self._pipes.append(here)
            self._pids.append(pid)

    def __len__(self) -> int:
        return len(self._pipes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in self._pipes:
            pipe.close()
        for pid in filter(None, self._pids):
            if kind is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def map(self, requests: Sequence[bytes], process_of: Sequence[int] | None = None) -> Iterator[PoolAnswer]:
        """The answers to all requests, as they come.

        process_of: request → the process that is to work on it; None: any. ProcessDied if one ends meanwhile.
        """
        from multiprocessing.connection import Connection, wait

        anyone = deque(range(len(requests)))
        own: list[deque[int]] = [anyone] * len(self) if process_of is None else [deque() for _ in self._pipes]
        for request, process in enumerate(process_of or ()):
            own[process].append(request)
        sent: list[deque[int]] = [deque() for _ in self._pipes]
        for _ in range(_AHEAD):
            for process in range(len(self)):
                self._send(process, own[process], sent[process], requests)
        while any(sent):
            busy = {pipe: process for process, pipe in enumerate(self._pipes) if sent[process]}
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                process = busy[pipe]
                data = self._receive(process, sent[process][0])
                request = sent[process].popleft()
                self._send(process, own[process], sent[process], requests)
                yield PoolAnswer(request, process, data)

    def _send(self, process: int, waiting: deque[int], sent: deque[int], requests: Sequence[bytes]) -> None:
        if waiting:
            request = waiting.popleft()
            sent.append(request)
            with suppress(OSError):  # it is dead, which is seen when its answer is read
                self._pipes[process].send_bytes(requests[request])

    def _receive(self, process: int, request: int) -> bytes | None:
        try:
            data = self._pipes[process].recv_bytes()
        except (EOFError, OSError):
            raise ProcessDied(request, self._ending(process)) from None
        return data[1:] if data[:1] == _MADE else None

    def _ending(self, process: int) -> str:
        # another process may get its number now, and is not to be ended
        pid, self._pids[process] = self._pids[process], None
        assert pid is not None, "a process that has died gets no request"
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


_MADE, _RAISED = b"+", b"-"


def _serve(pipe: Connection, answer: Callable[[bytes], bytes]) -> None:
    """Answer requests until the pipe breaks; never returns."""
    code = 1
    try:
        # an interrupt is for the process that the author sees
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True:
            request = pipe.recv_bytes()
            try:
                data = _MADE + answer(request)
            except Exception:
                data = _RAISED
            pipe.send_bytes(data)
    except (EOFError, OSError):
        code = 0
    finally:
        # what this process has taken over is not its own to close
        os._exit(code)
