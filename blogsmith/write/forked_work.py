"""A part of the work in a forked process: making and removing thousands of files keeps a core busy.

It tells how many parts it has done, and nothing else: whatever stops it, this process goes on from there and
meets the same.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from ..base.storage.linux import end_with_parent

Part = TypeVar("Part")
_COUNT_BYTES = 8


@contextmanager
def forked_work(work: Callable[[Part], None], parts: Sequence[Part]) -> Iterator[Callable[[], int]]:
    """Work through parts, one after another, in a process that ends with this context, or with this process.

    Gives what waits for its end, and then tells how many parts were done; 0 if that is not known. Only where
    `os.fork` is safe: no other thread may hold what `work` needs.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _serve(work, parts, writer, parent)
    os.close(writer)
    is_waited = False

    def wait() -> int:
        nonlocal is_waited
        data = os.read(reader, _COUNT_BYTES)
        os.waitpid(pid, 0)
        is_waited = True
        return int.from_bytes(data, "big") if len(data) == _COUNT_BYTES else 0

    try:
        yield wait
    finally:
        os.close(reader)
        if not is_waited:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _serve(work: Callable[[Part], None], parts: Sequence[Part], writer: int, parent: int) -> None:
    """Never returns."""
    done = 0
    try:
        # an interrupt is for the process that the author sees
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if end_with_parent(parent):
            for part in parts:
                work(part)
                done += 1
    finally:
        with suppress(OSError):
            os.write(writer, done.to_bytes(_COUNT_BYTES, "big"))
        # what this process has taken over is not its own to close
        os._exit(0)
