"""Server that imports shared modules once and forks a worker for each session; started by `start.py`.

It has one end of a socket pair and reports which modules it could import. Then it accepts requests: a length
of four bytes together with the descriptors of `_PASSED`, followed by JSON of that length. The forked child
sends its process id to the `status` pipe; later, the server sends how the child ended. The server ends when
its socket is closed.

A child must be like a worker that was started: with its own session, exactly the requested environment, and
fresh random numbers. Cases where a fork is not safe are rejected here (modules that start threads) or by the
builder (CUDA).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from socket import socket
    from typing import Any, NoReturn

_PASSED = ("control", "stdout", "stderr", "status", "life")
_MARK = "BLOGSMITH_SESSION"
_PR_SET_DUMPABLE = 4
STARTED, ENDED = b"s", b"e"


class Server:
    """Process that has imported shared modules and forks workers."""

    def __init__(self, control: socket) -> None:
        self._control = control
        self._running: dict[int, int] = {}
        """Process id of a child → its status pipe."""
        self._woken, self._wake = os.pipe()

    def announce(self, modules: Iterable[str]) -> None:
        """Import modules. Send the failed ones, the reason not to fork, and the loaded modules to the
        builder."""
        problems = dict(filter(None, map(_import_problem, modules)))
        loaded = sorted({name.partition(".")[0] for name in sys.modules})
        self._send({"problems": problems, "refusal": _refusal(), "modules": loaded})

    def serve(self) -> None:
        """Fork workers until the builder disconnects."""
        import gc
        import select
        import signal

        for descriptor in (self._woken, self._wake):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        _set_dumpable(0)
        _flush()
        # Freeze objects: the garbage collector would otherwise copy shared memory into every child.
        gc.collect()
        gc.freeze()
        while True:
            ready, _, _ = select.select([self._control.fileno(), self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 512)
            self._report_exits()
            if self._control.fileno() in ready and not self._take_request():
                return

    def _take_request(self) -> bool:
        """Fork one worker. Return False if the builder has disconnected."""
        import json
        from socket import recv_fds

        head, descriptors, _, _ = recv_fds(self._control, 4, len(_PASSED))
        if len(head) < 4 or len(descriptors) < len(_PASSED):
            return False
        request = json.loads(self._receive(int.from_bytes(head, "big")))
        passed = dict(zip(_PASSED, descriptors))  # noqa: B905 - Python 3.9
        child = os.fork()
        if child == 0:
            try:
                self._become_worker(request, passed)
            finally:
                os._exit(1)
        self._running[child] = passed.pop("status")
        for descriptor in passed.values():
            os.close(descriptor)
        return True

    def _become_worker(self, request: dict[str, Any], passed: dict[str, int]) -> NoReturn:
        """Run a worker in the forked child process."""
        from . import seeds
        from .main import serve

        _forget_signals()
        # the worker must read its own files in /proc, and the builder must measure its memory
        _set_dumpable(1)
        os.setsid()
        for descriptor in (self._woken, self._wake, self._control.detach(), *self._running.values()):
            os.close(descriptor)
        for target, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(passed[name], target)
            os.close(passed[name])
        _set_environment(request["env"])
        os.chdir(request["folder"])
        seeds.fresh()
        os.write(passed["status"], STARTED + os.getpid().to_bytes(4, "big"))
        os.close(passed["status"])
        serve(passed["control"])

    def _report_exits(self) -> None:
        """Send to the builder how each ended child process exited."""
        while self._running:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            descriptor = self._running.pop(child)
            with suppress(BrokenPipeError):  # nobody waits for this child any longer
                os.write(descriptor, ENDED + code.to_bytes(4, "big", signed=True))
            os.close(descriptor)

    def _send(self, message: dict[str, Any]) -> None:
        import json

        data = json.dumps(message).encode("ascii")
        self._control.sendall(len(data).to_bytes(4, "big") + data)

    def _receive(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self._control.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data


def _set_dumpable(value: int) -> None:
    """Set whether other processes of the user may read the memory of this process (prctl(2)): 0 or 1."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, value, 0, 0, 0)


def _import_problem(name: str) -> tuple[str, str] | None:
    """Return the module and the reason why it cannot be imported. None if the import succeeds."""
    from importlib import import_module

    try:
        import_module(name)
    except BaseException as error:  # whatever exception a package raises, the server continues
        return name, f"{type(error).__name__}: {error}"
    return None


def _refusal() -> str:
    """Return why this process must not be forked, as a message; empty if it can be forked. A process with
    several threads cannot: a fork copies locks that these threads hold, but not the threads."""
    import threading

    threads = threading.active_count()
    if os.path.isdir("/proc/self/task"):  # noqa: PTH112 - as everywhere in the worker
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    return f"importing the modules left {threads - 1} other threads running" if threads > 1 else ""


def _flush() -> None:
    """Flush what imported modules have printed; otherwise every child process would print it again."""
    import ctypes

    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    ctypes.CDLL(None).fflush(None)


def _forget_signals() -> None:
    import signal

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _set_environment(env: dict[str, str]) -> None:
    """Set the environment to exactly `env`. Update modules that have read the previous environment."""
    import time

    _show_mark(env.get(_MARK, ""))
    for name in [name for name in os.environ if name not in env]:
        del os.environ[name]
    os.environ.update(env)
    time.tzset()
    tempfile: Any = sys.modules.get("tempfile")
    if tempfile:
        tempfile.tempdir = None


def _show_mark(mark: str) -> None:
    """Write the session's mark where other processes read the environment of this one. The system shows them
    the environment from the start of the process, and `os.environ` only changes a copy."""
    import ctypes

    library = ctypes.CDLL(None)
    library.getenv.restype = ctypes.c_void_p
    address = library.getenv(_MARK.encode())
    data = mark.encode()
    if address and len(os.environ.get(_MARK, "")) == len(data):
        ctypes.memmove(address, data, len(data))


def serve(descriptor: int, *modules: str) -> None:
    """Import modules and fork workers until the builder closes its end of the socket."""
    import signal
    import socket

    # the builder handles Ctrl-C
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from . import figures, main  # noqa: F401 - the worker itself is what all sessions share first

    figures.install(lambda frame: None)
    server = Server(socket.socket(fileno=descriptor))
    server.announce(modules)
    server.serve()
