"""Client of the fork server, which has already imported numpy or torch and forks workers.

There is one server process for a whole run of the builder. A session with other requirements than the
server's gets a worker that is started separately. Its results are the same, but it starts more slowly.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from types import MappingProxyType, TracebackType
from typing import Any

from .engine import START
from .jobs import SessionJob
from .process import Process, ReportedExit, end_group_with_pipe, spawn
from .reaper import MARK_NAME

_MARK_PLACEHOLDER = "0" * len(str(1 << 48))
"""Placeholder for the session's mark, of the same length, which each forked worker overwrites with its own
mark."""
_SESSION_VARIABLES = frozenset((MARK_NAME, "TMPDIR"))
"""Variables that differ for every session."""
READY_S = 30.0
"""Maximum number of seconds for the server's imports, because sessions wait for them. After that time no
worker is forked."""
_STARTED = b"s"
_START_S = 30.0
_LEAVE_S = 2.0


class ForkServer:
    """Server that starts workers: `with ForkServer(…) as server: run_session(job, watch, server.start)`.

    python: path of the Python that runs the sessions. preload: modules to import. environ: environment of the
    sessions, without the variables whose values differ from session to session.
    """

    def __init__(self, python: str, preload: tuple[str, ...], environ: Mapping[str, str]) -> None:
        self._python, self._preload, self._environ = python, preload, dict(environ)
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._refusal: str | None = None
        """Reason why the server cannot fork. Empty if the server can fork; None until it has reported
        either."""
        self._problems: Mapping[str, str] = MappingProxyType({})
        self._modules: frozenset[str] = frozenset()

    def __enter__(self) -> ForkServer:
        """Start the server and return it. It imports its modules in the background."""
        control, far = socket.socketpair()
        with far:
            try:
                self._server = subprocess.Popen(
                    [self._python, str(START), "fork_server", str(far.fileno()), *self._preload],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(far.fileno(),),
                    cwd="/",
                    env={**self._environ, MARK_NAME: _MARK_PLACEHOLDER},
                    start_new_session=True,
                )
            except OSError as error:
                control.close()
                self._refusal = f'cannot start "{self._python}": {error.strerror or error}'
                return self
        self._control = control
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the server. Running workers continue."""
        with self._lock:
            self._give_up("the fork server is closed")
        if self._server:
            try:
                self._server.wait(_LEAVE_S)
            except subprocess.TimeoutExpired:
                # it is in the middle of an import
                self._server.kill()
                self._server.wait()

    def start(self, job: SessionJob) -> Process:
        """Start a worker for `job`. It is forked unless `fork_obstacle` returns a reason; otherwise it is
        spawned. Raises `OSError` if the system cannot start it."""
        return (None if self.fork_obstacle(job) else self._fork(job)) or spawn(job)

    def fork_obstacle(self, job: SessionJob) -> str:
        """Return why a job cannot be forked, as a message. Empty if the job can be forked. Wait until the
        server has imported its modules."""
        if not job.engine.is_forkable:
            return f"it runs in {job.program}"
        if job.cuda:
            return "CUDA does not survive a fork"
        if job.threads != 1:
            return f"it uses {job.threads} threads, and threads do not survive a fork"
        if job.python != self._python:
            return f"it runs in {job.python}"
        env = job.env
        for name in sorted((env.keys() | self._environ.keys()) - _SESSION_VARIABLES):
            if env.get(name) != self._environ.get(name):
                return f"its environment variable {name} differs"
        return self._server_problem()

    @property
    def import_errors(self) -> Mapping[str, str]:
        """Map each module that could not be imported to the reason. Wait until the server has imported its
        modules."""
        self._server_problem()
        return self._problems

    @property
    def modules(self) -> frozenset[str]:
        """Return the top-level names of all modules that forked workers have loaded. Wait until the server
        has imported its modules."""
        self._server_problem()
        return self._modules

    @property
    def has_died(self) -> bool:
        return self._server is None or self._server.poll() is not None

    def kill(self) -> None:
        """End the server immediately, even during an import. Threads that wait for the server continue
        without it."""
        if self._server:
            self._server.kill()

    def _server_problem(self) -> str:
        with self._lock:
            if self._refusal is None:
                answer = self._answer()
                if answer is None:
                    return self._give_up("the fork server ended while it imported its modules")
                self._problems = MappingProxyType(dict(answer["problems"]))
                self._modules = frozenset(answer["modules"])
                self._refusal = str(answer["refusal"])
                if self._preload and len(self._problems) == len(self._preload):
                    self._refusal = "none of the modules can be imported"
            return self._refusal

    def _answer(self) -> dict[str, Any] | None:
        """Return the message that the server sends after its imports. None if the server has ended or is too
        slow."""
        if self._control is None:
            return None
        self._control.settimeout(READY_S)
        try:
            with self._control.makefile("rb") as stream:
                length = int.from_bytes(stream.read(4), "big")
                answer: dict[str, Any] = json.loads(stream.read(length))
                return answer
        except (OSError, ValueError, RecursionError):
            return None

    def _give_up(self, reason: str) -> str:
        if self._control is not None:
            self._control.close()
            self._control = None
        self._refusal = reason
        return reason

    def _fork(self, job: SessionJob) -> Process | None:
        """Return a forked worker. None if the fork failed."""
        with ExitStack() as ours, ExitStack() as life_end, ExitStack() as theirs:
            control, far = socket.socketpair()
            (out, far_out), (err, far_err), (status, far_status) = os.pipe(), os.pipe(), os.pipe()
            far_life, life = os.pipe()
            ours.callback(control.close)
            theirs.callback(far.close)
            life_end.callback(os.close, far_life)
            for stack, descriptors in (
                (ours, (out, err, status, life)),
                (theirs, (far_out, far_err, far_status)),
            ):
                for descriptor in descriptors:
                    stack.callback(os.close, descriptor)
            if not self._request_worker(job, [far.fileno(), far_out, far_err, far_status, far_life]):
                return None
            # if they stayed open, our ends would not notice the end of the worker
            theirs.close()
            pid = _started_process(status)
            if pid is None:
                return None
            end_group_with_pipe(far_life, pid)
            ours.pop_all()
            return Process(pid, pid, control, out, err, ReportedExit(pid, status), (life,))

    def _request_worker(self, job: SessionJob, descriptors: list[int]) -> bool:
        """Ask the server for a worker that gets these descriptors. Return False if the server is gone."""
        data = json.dumps({"env": dict(job.env), "folder": str(job.folder)}).encode("ascii")
        with self._lock:
            if self._control is None:
                return False
            try:
                socket.send_fds(self._control, [len(data).to_bytes(4, "big")], descriptors)
                self._control.sendall(data)
            except OSError:
                self._give_up("the fork server has ended")
                return False
        return True


def _started_process(status: int) -> int | None:
    """Return the process id that a new worker sends. None if it failed to start."""
    if not select.select([status], [], [], _START_S)[0]:
        return None
    message = os.read(status, 5)
    return int.from_bytes(message[1:], "big") if message[:1] == _STARTED else None
