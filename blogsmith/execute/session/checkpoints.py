"""Checkpoints of a session. A checkpoint is a waiting process with the session's state after a cell, from
which the session can resume.

The worker's side of the protocol is `worker/checkpoints.py`. A checkpoint ends when its connection is closed,
and therefore when its builder ends for any reason, unless it was made to wait for later builders
(`kept_checkpoints.py`).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Protocol

from ...model.results import CellRun, ValueRun
from ...model.units import format_size
from .output_buffer import OutputBuffer
from .process import AdoptedChild, Process, ReportedExit, end_group_with_pipe
from .reaper import Mark, end_survivors, new_number, process_with_mark, resident_bytes, usage
from .requests import RequestChannel, RequestLimits
from .used_files import UsedFiles
from .working_folder import SessionFolder, mark_folder

_TAKE_S = 30.0
_RESUME_S = 10.0
_TURN_S = 2.0
"""Seconds to wait until the previous session has stopped using the folder."""
_CHANGED_BYTES = 4096


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """State of a session after some of its steps."""

    steps: int = 0
    """Number of completed steps of the job."""
    cells: tuple[CellRun, ...] = ()
    values: Mapping[int, ValueRun] = field(default_factory=dict)
    used: UsedFiles | None = None
    """Files used so far; None if no step has run."""


@dataclass(frozen=True, slots=True)
class ResumedWorker:
    """Worker that resumes from a checkpoint."""

    process: Process
    mark: Mark
    folder: SessionFolder
    progress: SessionProgress


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """State of a session after a cell, in a process that waits."""

    progress: SessionProgress
    _pid: int
    _connection: socket.socket
    _mark: Mark
    _folder: SessionFolder
    _held: ExitStack
    """Resources that are released when the checkpoint ends."""
    _wait: AdoptedChild | None
    """Waits for the checkpoint's process. None if an earlier builder made the checkpoint: its process is not
    our child, and it can be used only once."""

    @property
    def mark_number(self) -> int:
        """Number in the mark that identifies the checkpoint's process."""
        return self._mark.number

    @property
    def folder(self) -> SessionFolder:
        """Temporary folder of its session."""
        return self._folder

    def memory_bytes(self, *, shared: bool) -> int:
        """Return the memory of the process in bytes. shared: whether memory shared by several processes
        counts only in part, which is slow to compute."""
        return resident_bytes(self._pid, shared=shared)

    def resume(self, stack: ExitStack) -> ResumedWorker | None:
        """Start a worker that resumes from this checkpoint.

        Return None if files that the session has used have changed, or if the process of the checkpoint is
        gone.

        Raises `TimeoutError` if another worker still uses the folder of the session.

        stack: resources to release when the worker is gone.
        """
        if self.progress.used and self.progress.used.is_hidden():
            return None
        with ExitStack() as undo:
            if not self._folder.begin_turn(_TURN_S):
                raise TimeoutError
            undo.callback(self._folder.end_turn)
            number = new_number(self._mark.number)
            undo.enter_context(mark_folder(self._folder.path, number))
            process = self._start(number)
            if process is None:
                return None
            stack.push(undo.pop_all())
        progress = replace(self.progress, used=self.progress.used and self.progress.used.copy())
        return ResumedWorker(process, Mark(number, in_limits=True), self._folder, progress)

    def _start(self, number: int) -> Process | None:
        with ExitStack() as ours, ExitStack() as life_end, ExitStack() as theirs:
            control, far = socket.socketpair()
            (out, far_out), (err, far_err), (far_life, life) = os.pipe(), os.pipe(), os.pipe()
            ours.callback(control.close)
            theirs.callback(far.close)
            life_end.callback(os.close, far_life)
            for stack, descriptors in ((ours, (out, err, life)), (theirs, (far_out, far_err))):
                for descriptor in descriptors:
                    stack.callback(os.close, descriptor)
            passed = [far.fileno(), far_out, far_err, far_life]
            try:
                socket.send_fds(self._connection, [number.to_bytes(8, "big")], passed)
                theirs.close()
                # If the fork failed, this end receives the end of the stream early.
                ready = select.select([self._connection, control], [], [], _RESUME_S)[0]
                is_there = self._connection in ready and self._connection.recv(_CHANGED_BYTES) == b"\n"
            except OSError:
                is_there = False
            pid = process_with_mark(number, is_child=self._wait is not None) if is_there else None
            if pid is None:
                end_survivors(Mark(number, in_limits=True))
                return None
            end_group_with_pipe(far_life, pid)
            ours.pop_all()
            if self._wait is None:
                wait = ReportedExit(pid, self._connection.detach())
                return Process(pid, pid, control, out, err, wait, (life,), is_adopted=False)
            return Process(pid, pid, control, out, err, AdoptedChild(pid), (life,))

    def outlive(self, listener: socket.socket, seconds: int) -> bool:
        """Make the checkpoint wait at a socket for later builders. Return False if its process is gone.
        seconds: time without a worker after which it ends. Call no other method afterwards."""
        try:
            socket.send_fds(self._connection, [seconds.to_bytes(8, "big")], [listener.fileno()])
            is_there = self._connection.recv(1) == b"\n"
        except OSError:
            is_there = False
        if is_there:
            self._connection.close()
            self._held.pop_all()  # the folder stays; the mark is in the name of the socket
            if self._wait is not None:
                self._wait.release()
        return is_there

    def close(self) -> None:
        """End the checkpoint. Sessions resumed from it continue."""
        if self._wait is None:
            end_survivors(self._mark)
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._wait(None)
        self._connection.close()
        self._held.close()


class SessionCheckpoints(Protocol):
    """Checkpoints of one session, as used by its run."""

    def resume(self, stack: ExitStack) -> ResumedWorker | None:
        """Return a worker that resumes from the last valid checkpoint. None if there is none."""

    @property
    def max_bytes(self) -> int:
        """Maximum memory of all checkpoints together, in bytes."""

    def is_due(self, seconds: float) -> bool:
        """Return whether to make a checkpoint. seconds: run time since the last checkpoint."""

    def objection(self, progress: SessionProgress) -> str:
        """Return why no checkpoint of this state may be made, as a message; empty if it may."""

    def add(self, checkpoint: Checkpoint, seconds: float, cost_s: float) -> None:
        """Add a checkpoint. cost_s: seconds it took to make it."""


def take_checkpoint(
    exchange: RequestChannel, worker: ResumedWorker, progress: SessionProgress, most_bytes: int
) -> Checkpoint | str:
    """Make a checkpoint of a worker. Return a message if that is not possible. most_bytes: memory limit in
    bytes."""
    process, mark, folder = worker.process, worker.mark, worker.folder
    if not mark.in_limits:
        return "this system cannot mark processes"
    if (memory := resident_bytes(process.pid)) > most_bytes:
        return (
            f"it uses {format_size(memory)}, and all checkpoints together may use {format_size(most_bytes)}"
        )
    if any(folder.path.iterdir()):
        return "its temporary folder is not empty"
    if usage(process, mark, 0).processes > 1:
        return "a process that it started is still running"
    number = new_number(mark.number)
    ours, far = socket.socketpair()
    request = {"op": "checkpoint", "mark": number, "piped": exchange.piped_bytes}
    unseen = OutputBuffer(0, lambda output: None)
    with far:
        answer = exchange.request(request, "checkpoint", RequestLimits(_TAKE_S), unseen, passed=far.fileno())
    refusal = str((answer.frame or {}).get("refusal", "its session has ended"))
    pid = None if refusal else process_with_mark(number, is_child=process.is_adopted)
    if pid is None:
        ours.close()
        if not refusal:
            end_survivors(Mark(number, in_limits=True))
        return refusal or "its process cannot be found"
    ours.settimeout(_RESUME_S)
    folder.add_user()
    held = ExitStack()
    held.callback(folder.remove_user)
    held.enter_context(mark_folder(folder.path, number))
    return Checkpoint(
        progress=replace(progress, used=progress.used and progress.used.copy()),
        _pid=pid,
        _connection=ours,
        _mark=Mark(number, in_limits=True),
        _folder=folder,
        _held=held,
        _wait=AdoptedChild(pid),
    )
