"""Servers that are measured, as separate processes.

Each starts on a free port, is polled until it answers, and ends as if by Ctrl-C in a terminal.
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
"""Timeout in seconds for the first page of the slowest server."""
STOP_S = 10
"""Timeout in seconds for a server to end."""
_POLL_S = 0.005


class MeasureError(Exception):
    """A measurement failed; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    """File with its output."""
    began: float
    """The value of `time.perf_counter()` just before the start."""

    @property
    def origin(self) -> str:
        """The URL of the server, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def said(self) -> str:
        """Return the end of its output."""
        return self.log.read_text("utf-8", errors="replace").strip()[-400:]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextmanager
def started(
    command: tuple[str, ...], folder: Path, environment: Mapping[str, str], port: int
) -> Iterator[Server]:
    """Run a server during the block, in a process group of its own, as in a terminal."""
    log = folder.with_suffix(".log")
    with log.open("wb") as said:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            # The modules of an installed program are compiled.
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
    """Send Ctrl-C and return the processes that had to be killed after it.

    This includes processes with a group of their own.
    """
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
    """Poll the page at `path`; return the seconds from the start of the server to its last byte."""
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
    """Return status and body of a response; the status is 0 if none arrived completely."""
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, HTTPException):
        return 0, b""
    finally:
        connection.close()
