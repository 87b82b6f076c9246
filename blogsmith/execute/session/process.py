"""Process of a session, as the builder uses it: ids, a control socket, two output pipes.

The worker inherits its end of the socket; the descriptor's number is an argument of `start.py`. Descriptors 1
and 2 of the worker are pipes, for output that bypasses Python's `sys.stdout`.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import MappingProxyType

from .jobs import SessionJob

_POLL_S = 0.01
_UNKNOWN_END = -9
_SIGNALS: MappingProxyType[str, str] = MappingProxyType(
    {
        "SIGABRT": "abort",
        "SIGBUS": "bus error",
        "SIGFPE": "floating-point exception",
        "SIGILL": "illegal instruction",
        "SIGKILL": "kill; perhaps the system ran out of memory",
        "SIGSEGV": "segmentation fault",
        "SIGTERM": "termination",
    }
)


@dataclass(frozen=True, slots=True)
class Process:
    """Process of a running worker, which leads a process group of its own."""

    pid: int
    pgid: int
    control: socket.socket
    """Our end of the socket, with frames as described in `protocol.py`."""
    out: int
    """Read end of the pipe that is the worker's descriptor 1."""
    err: int
    """Read end of the pipe that is the worker's descriptor 2."""
    wait: Callable[[float | None], int | None]
    """Function that waits for at most the given seconds (None: forever). It returns the exit code, or minus
    the signal number, or None if the worker still runs."""
    extra_descriptors: tuple[int, ...] = ()
    """Further descriptors that stay open while the worker runs."""
    is_adopted: bool = True
    """Whether this process becomes the parent of child processes that outlive the worker. If not, they are
    found by their mark."""

    def close(self) -> None:
        """Close our descriptors. The worker must be gone."""
        self.control.close()
        for descriptor in (self.out, self.err, *self.extra_descriptors):
            os.close(descriptor)


def spawn(job: SessionJob) -> Process:
    """Start the process of a job's engine. Raises `OSError` if the system cannot."""
    with ExitStack() as theirs, ExitStack() as ours:
        control, far = socket.socketpair()
        ours.callback(control.close)
        theirs.callback(far.close)
        (out, far_out), (err, far_err), (far_life, life) = os.pipe(), os.pipe(), os.pipe()
        for mine, other in ((out, far_out), (err, far_err), (life, far_life)):
            ours.callback(os.close, mine)
            theirs.callback(os.close, other)
        child = subprocess.Popen(
            job.engine.command(job.python, far.fileno()),
            stdin=subprocess.DEVNULL,
            stdout=far_out,
            stderr=far_err,
            pass_fds=(far.fileno(), far_life),
            cwd=job.folder,
            env=job.engine.environment(job.env),
            start_new_session=True,
        )
        end_group_with_pipe(far_life, child.pid)
        ours.pop_all()
    return Process(child.pid, child.pid, control, out, err, _wait_function(child), (life,))


class AdoptedChild:
    """Waits for a child of this process that was forked by another process. Its instances are used as
    `Process.wait`."""

    def __init__(self, pid: int) -> None:
        """Open a handle to the child, which must exist. Raises `OSError` if the system cannot wait for a
        single child."""
        self._pid = pid
        self._lock = threading.Lock()
        self._code: int | None = None
        self._descriptor = os.pidfd_open(pid) if sys.platform == "linux" else -1

    def release(self) -> None:
        """Close the handle. Call nothing else afterwards."""
        os.close(self._descriptor)

    def __call__(self, timeout_s: float | None) -> int | None:
        """Wait for at most `timeout_s` seconds (None: forever). Return the exit code or minus the signal
        number. None if the process still runs."""
        if not self._lock.acquire(timeout=-1 if timeout_s is None else timeout_s):
            return None
        try:
            if self._code is None and select.select([self._descriptor], [], [], timeout_s)[0]:
                try:
                    self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
                except ChildProcessError:  # the code that ends sessions has already waited for it
                    self._code = -signal.SIGKILL
                os.close(self._descriptor)
            return self._code
        finally:
            self._lock.release()


class ReportedExit:
    """Waits for a worker whose parent, a server, reports its exit. Its instances are used as `Process.wait`.
    status: descriptor that the report arrives at: a byte, then four bytes with the exit code."""

    def __init__(self, pid: int, status: int) -> None:
        self._pid, self._status = pid, status
        self._code: int | None = None
        self._lock = threading.Lock()

    def __call__(self, timeout_s: float | None) -> int | None:
        if not self._lock.acquire(timeout=-1 if timeout_s is None else timeout_s):
            return None
        try:
            if self._code is None and select.select([self._status], [], [], timeout_s)[0]:
                message = os.read(self._status, 5)
                if message:
                    self._code = int.from_bytes(message[1:], "big", signed=True)
                else:
                    self._code = self._orphan_exit_code(timeout_s)
                if self._code is not None:
                    os.close(self._status)
            return self._code
        finally:
            self._lock.release()

    def _orphan_exit_code(self, timeout_s: float | None) -> int | None:
        """Return the exit code of a worker whose server has died. The system reports the code if the worker
        has become our child; otherwise return `_UNKNOWN_END`. None if the worker still runs after
        `timeout_s`."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            try:
                pid, status = os.waitpid(self._pid, os.WNOHANG)
                if pid:
                    return os.waitstatus_to_exitcode(status)
            except ChildProcessError:
                with suppress(PermissionError):
                    try:
                        os.kill(self._pid, 0)
                    except ProcessLookupError:
                        return _UNKNOWN_END
            if end is not None and time.monotonic() >= end:
                return None
            time.sleep(_POLL_S)


def end_group_with_pipe(read_end: int, pgid: int) -> None:
    """Make the system end a process group when the write end of a pipe is closed for any reason.

    A builder that is killed cannot kill its workers. So the group owns a pipe whose write end the builder
    has. When the last write end is closed, the system sends SIGIO to the group, which ends the processes by
    default. `read_end` must be open in the group.
    """
    import fcntl

    if sys.platform == "linux":  # pipes send no signals on other systems
        fcntl.fcntl(read_end, fcntl.F_SETOWN, -pgid)
        fcntl.fcntl(read_end, fcntl.F_SETFL, fcntl.fcntl(read_end, fcntl.F_GETFL) | os.O_ASYNC)


def describe_exit(code: int) -> str:
    """Describe an unexpected exit: `killed by signal 11 (segmentation fault)`."""
    if code >= 0:
        return f"the code ended its process with os._exit({code})"
    name = _signal_name(-code)
    name = _SIGNALS.get(name, name)
    return f"killed by signal {-code}" + (f" ({name})" if name else "")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


def _wait_function(child: subprocess.Popen[bytes]) -> Callable[[float | None], int | None]:
    def wait(timeout_s: float | None) -> int | None:
        try:
            return child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    return wait
