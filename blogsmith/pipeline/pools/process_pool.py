"""Processes that answer requests side by side; how they are started is the business of each kind of pool.

| pool | its processes | know |
|---|---|---|
| `fork_pool` | are copies of this one | all that this one knows |
| `spawn_pool` | are started fresh | what they are sent as data |
| `cluster_pool` | are started fresh by the workers of a Dask cluster | what they are sent as data |
"""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self, overload

AHEAD = 2
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


class PoolJob(Protocol):
    """What the processes of a pool do."""

    name: str
    """Of the workers of a process that is started fresh, as in `spawned_worker`."""

    def answer(self, request: bytes) -> bytes:
        """What a process does that knows all that this one knows."""

    def state(self, *, is_elsewhere: bool) -> bytes:
        """What a worker is made from; NotStorable if something in it has no form outside this process.

        is_elsewhere: on a machine that has no file of the site.
        """


class WorkerPool(ABC):
    """Some processes that all answer requests in the same way; they end with it."""

    knows_sources = False
    """Whether its processes have the sources of pages, or are sent them with the requests."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def close(self, *, is_broken_off: bool) -> None:
        """End all processes; at once if the pool is broken off."""

    @abstractmethod
    def map(self, requests: Sequence[bytes], process_of: Sequence[int] | None = None) -> Iterator[PoolAnswer]:
        """The answers to all requests, as they come; each request is asked for once, when it is sent.

        process_of: request → the process that knows most of it; None: any. ProcessDied if one ends meanwhile.
        """

    @abstractmethod
    def share(self, request: bytes) -> None:
        """Let every process work on the same request, whose answer is of no interest."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(is_broken_off=kind is not None)


StartPool = Callable[[PoolJob], WorkerPool]
"""Starts processes for a job."""


class ProcessPool(WorkerPool):
    """Processes of this machine, each of which answers its requests one after another."""

    @abstractmethod
    def _send(self, process: int, request: bytes) -> None:
        """Hand a request to a process; one that is dead is noticed when it is to answer."""

    @abstractmethod
    def _receive(self, busy: Sequence[int]) -> Iterator[tuple[int, bytes | None]]:
        """Answers of some of these processes, when there are any; None: that process has died."""

    @abstractmethod
    def _ending(self, process: int) -> str:
        """How a process has died, as the end of a sentence."""

    def share(self, request: bytes) -> None:
        """As in `WorkerPool`."""
        for _ in self.map([request] * len(self), range(len(self))):
            pass

    def map(self, requests: Sequence[bytes], process_of: Sequence[int] | None = None) -> Iterator[PoolAnswer]:
        """As in `WorkerPool`."""
        anyone = deque(range(len(requests)))
        own: list[deque[int]] = (
            [anyone] * len(self) if process_of is None else [deque() for _ in range(len(self))]
        )
        for request, process in enumerate(process_of or ()):
            own[process].append(request)
        sent: list[deque[int]] = [deque() for _ in own]

        def send(process: int) -> None:
            if own[process]:
                request = own[process].popleft()
                sent[process].append(request)
                self._send(process, requests[request])

        for process in [*range(len(self))] * AHEAD:
            send(process)
        while any(sent):
            for process, answer in self._receive([process for process, waits in enumerate(sent) if waits]):
                if answer is None:
                    raise ProcessDied(sent[process][0], self._ending(process))
                request = sent[process].popleft()
                send(process)
                yield PoolAnswer(request, process, unpack_answer(answer))


_MADE, _RAISED = b"+", b"-"


def answer_safely(answer: Callable[[bytes], bytes], request: bytes) -> bytes:
    """The answer in the form in which processes send it; what is raised is none."""
    try:
        return _MADE + answer(request)
    except Exception:
        return _RAISED


def unpack_answer(data: bytes) -> bytes | None:
    """What `answer_safely` was given by the worker; None: it raised."""
    return data[1:] if data[:1] == _MADE else None


def describe_exit(code: int) -> str:
    """How a process ended, as the end of a sentence. code: negative for a signal."""
    if code >= 0:
        return f"ended with status {code}"
    return f"was ended by {signal.Signals(-code).name}"


class LazyRequests(Sequence[bytes]):
    """Requests that are made when they are sent: all at once they may hold every text of the site."""

    def __init__(self, count: int, make: Callable[[int], bytes]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[bytes]: ...
    def __getitem__(self, number: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(number, slice):
            return [self._make(one) for one in range(*number.indices(self._count))]
        return self._make(number)
