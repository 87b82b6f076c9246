"""Processes that know what this one knows: forked from it, so that only what they make has to be sent.

Who is forked must not depend on threads of this process, so pools are used by builds alone. The processes end
with the pool, and with this process whatever ends it: each waits for requests on a pipe that breaks then.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from .process_pool import ProcessPool, answer_safely, describe_exit

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def can_fork() -> bool:
    """Whether this system copies a process as it is, without harm to libraries of the system."""
    return sys.platform == "linux"


class ForkPool(ProcessPool):
    """Copies of this process."""

    knows_sources = True

    def __init__(
        self, count: int, answer: Callable[[bytes], bytes], begin: Callable[[int], None] = lambda number: None
    ) -> None:
        """answer: is called in the processes, with whatever it knows at this moment.

        begin: is called first in each of them, with its number.
        """
        # most builds make few pages, and start none
        from multiprocessing.connection import Pipe

        self._pipes: list[Connection] = []
        self._pids: list[int | None] = []
        """None: it has ended."""
        for number in range(count):
            here, there = Pipe()
            pid = os.fork()
            if pid == 0:
                # the other ends would keep pipes from breaking
                for pipe in (here, *self._pipes):
                    pipe.close()
                _serve(there, answer, partial(begin, number))
            there.close()
            self._pipes.append(here)
            self._pids.append(pid)

    def __len__(self) -> int:
        return len(self._pipes)

    def close(self, *, is_broken_off: bool) -> None:
        """As in `ProcessPool`."""
        for pipe in self._pipes:
            pipe.close()
        for pid in filter(None, self._pids):
            if is_broken_off:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def _send(self, process: int, request: bytes) -> None:
        with suppress(OSError):
            self._pipes[process].send_bytes(request)

    def _receive(self, busy: Sequence[int]) -> Iterator[tuple[int, bytes | None]]:
        from multiprocessing.connection import Connection, wait

        process_of = {self._pipes[process]: process for process in busy}
        for pipe in wait(list(process_of)):
            assert isinstance(pipe, Connection)
            try:
                yield process_of[pipe], pipe.recv_bytes()
            except (EOFError, OSError):
                yield process_of[pipe], None

    def _ending(self, process: int) -> str:
        # another process may get its number now, and is not to be ended
        pid, self._pids[process] = self._pids[process], None
        assert pid is not None, "a process that has died gets no request"
        return describe_exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _serve(pipe: Connection, answer: Callable[[bytes], bytes], begin: Callable[[], None]) -> None:
    """Answer requests until the pipe breaks; never returns."""
    code = 1
    try:
        # an interrupt is for the process that the author sees
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # pages leave next to no cycles, and to look for them would copy all that is shared with that process
        gc.disable()
        begin()
        while True:
            pipe.send_bytes(answer_safely(answer, pipe.recv_bytes()))
    except (EOFError, OSError):
        code = 0
    finally:
        # what this process has taken over is not its own to close
        os._exit(code)
