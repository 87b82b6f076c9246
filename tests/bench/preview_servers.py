"""Servers that are measured, as processes of their own: started on a free port, asked until they answer, and
ended as Ctrl-C in a terminal would end them.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from .preview_processes import is_running, processes

START_S = 300
"""How long the slowest server may take to its first page."""
STOP_S = 10
"""How long it may take to end."""
_POLL_S = 0.005


class MeasureError(Exception):
    """What was to be measured did not happen; the message says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    """What it prints."""
    began: float
    """`time.perf_counter()` just before it was started."""

    @property
    def origin(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def said(self) -> str:
        """The end of what it has printed."""
        return self.log.read_text("utf-8", errors="replace").strip()[-400:]


def free_port() -> int:
    """A port of loopback that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextmanager
def started(
    command: tuple[str, ...], folder: Path, environment: Mapping[str, str], port: int
) -> Iterator[Server]:
    """Run a server while the block runs. It has a process group of its own, as a terminal would give it."""
    log = folder.with_suffix(".log")
    with log.open("wb") as said:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            # an installed program has its modules compiled
            env={**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": ""},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield Server(process, port, log, began)
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> tuple[int, ...]:
    """Ctrl-C. Gives the processes that had to be killed after it, those with a group of their own too."""
    family = processes(process.pid)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_S)
    left = tuple(pid for pid in family if is_running(pid))
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    return left


def first_answer(server: Server, path: str, patience_s: float = START_S) -> float:
    """Seconds from the start of a server to the last byte of the page at `path`, asked for all the time."""
    deadline = server.began + patience_s
    while time.perf_counter() < deadline:
        if _answers(server.port, path, patience_s):
            return time.perf_counter() - server.began
        if server.process.poll() is not None:
            code = server.process.returncode
            raise MeasureError(f"the server ended with exit code {code}: {server.said()}")
        time.sleep(_POLL_S)
    raise MeasureError(f"no page within {patience_s:g} s: {server.said()}")


def _answers(port: int, path: str, timeout_s: float) -> bool:
    status, body = get(port, path, timeout_s)
    return status == 200 and b"</html>" in body


def get(port: int, path: str, timeout_s: float = 10) -> tuple[int, bytes]:
    """Status and body of an answer; 0 if none came whole."""
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, HTTPException):
        return 0, b""
    finally:
        connection.close()
