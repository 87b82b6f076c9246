"""The program of a process started fresh to make pages: requests come by one pipe, answers go by another.

Both are the standard ones; what else is printed goes where errors go. The first message says which worker
lives here and what it is made from; whatever is wrong with that is raised for each request.
"""

from __future__ import annotations

import gc
import os
import queue
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Literal

import msgspec

from .frames import read_frame, write_frame
from .process_pool import answer_safely

Answer = Callable[[bytes], bytes]
_IN, _OUT, _ERRORS = 0, 1, 2
_NEW_OBJECTS = 50_000
"""Between two searches for cycles of dead objects."""


class WorkerStart(msgspec.Struct, frozen=True, array_like=True):
    """The first message."""

    worker: str
    state: bytes
    """What the worker is made from."""
    idle_s: float = 0.0
    """Seconds without a request after which the process ends; 0: it waits for ever."""


def start_worker(start: WorkerStart) -> Answer:
    """What answers requests. In a function of its own, for it imports what makes pages."""
    if start.worker == "bodies":
        from .body_state import body_worker

        return body_worker(start.state).answer
    raise LookupError(start.worker)


def serve() -> None:
    """Answer requests until the pipe breaks; never returns."""
    requests, answers = _take_pipes()
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # reads at any time: so who sends never waits for who is about to answer
    Thread(target=_read, args=(requests, waiting), daemon=True).start()
    start = msgspec.msgpack.decode(waiting.get(), type=WorkerStart)
    worker = cache(lambda: start_worker(start))
    # as `cli.garbage` does: what is made here is mostly freed at once, or never
    gc.set_threshold(_NEW_OBJECTS)
    while True:
        try:
            request = waiting.get(timeout=start.idle_s or None)
        except queue.Empty:
            os._exit(0)
        try:
            write_frame(answers, answer_safely(lambda data: worker()(data), request))
        except OSError:
            os._exit(0)


def _read(requests: BinaryIO, waiting: queue.SimpleQueue[bytes]) -> None:
    while (request := read_frame(requests)) is not None:
        waiting.put(request)
    # who would take answers is gone, whatever is being made
    os._exit(0)


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The standard pipes, for ourselves alone."""
    pipes = _own(_IN, "rb"), _own(_OUT, "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), _IN)
    os.dup2(_ERRORS, _OUT)
    return pipes


def _own(descriptor: int, mode: Literal["rb", "wb"]) -> BinaryIO:
    return os.fdopen(os.dup(descriptor), mode)
