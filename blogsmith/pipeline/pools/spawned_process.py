"""One process that is started fresh to make pages, as seen by who has started it.

It knows nothing but what it is sent, on every system alike. It is out of reach of an interrupt, which is for
the process that the author sees, and ends by itself as soon as the pipe to it breaks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import BinaryIO, cast

import msgspec

from .frames import read_frame, write_frame
from .process_pool import describe_exit
from .spawned_worker import WorkerStart

_CHILD = """
import sys
# the builder's own, whichever else is installed; what lies beside it is not to be found before anything else
sys.path.insert(0, sys.argv[1])
import blogsmith
del sys.path[0]
from blogsmith.pipeline.pools.spawned_worker import serve
serve()
"""
_PACKAGE = Path(__file__).parents[3]
_END_S = 5.0
"""A process that is idle ends in some milliseconds."""


class SpawnedProcess:
    """A process, from its start to its end."""

    def __init__(self, start: WorkerStart, take: Callable[[bytes | None], object]) -> None:
        """take: is called in a thread, with each answer, and with None when the process is gone."""
        # -P, and far from the site: nothing is imported from there, also with an empty entry in PYTHONPATH
        command = [sys.executable, "-P", "-c", _CHILD, str(_PACKAGE)]
        is_windows = sys.platform == "win32"
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=os.path.abspath(os.sep),  # noqa: PTH100 (pathlib has no name for it)
            start_new_session=not is_windows,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) if is_windows else 0,
        )
        self._take = take
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self.send(msgspec.msgpack.encode(start))

    def send(self, request: bytes) -> None:
        """Hand it a request; one that is dead is noticed when it is to answer."""
        # it reads at any time, so this never waits for long
        with suppress(OSError):
            write_frame(cast(BinaryIO, self._process.stdin), request)

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def close(self, *, at_once: bool = False) -> None:
        """End it."""
        if at_once:
            self._process.kill()
        with suppress(OSError):
            cast(BinaryIO, self._process.stdin).close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.wait()
        self._reader.join()
        cast(BinaryIO, self._process.stdout).close()

    def ending(self) -> str:
        """How it has ended, as the end of a sentence; called when it is gone."""
        return describe_exit(self._process.wait())

    def _read(self) -> None:
        stream = cast(BinaryIO, self._process.stdout)
        answer: bytes | None = b""
        while answer is not None:
            answer = None
            with suppress(OSError, ValueError):
                answer = read_frame(stream)
            self._take(answer)
