"""Requests to a worker and its answers, within limits of time, memory and processes.

A request that takes too long is interrupted, as by Ctrl-C. If the worker does not stop within a second, it is
killed. Before that, the builder requests the worker's stack: `faulthandler` can write it even during a long
call into C.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from ...model.units import format_size
from .output_buffer import OutputBuffer
from .process import Process, describe_exit
from .protocol import Frame, PipeText, SocketClosed, WorkerConnection
from .reaper import Mark, end_session, process_limit, usage

GRACE_S = 1.0
"""Seconds that a worker has after an interrupt before it is killed."""
POLL_S = 0.05
"""Seconds between two checks of memory and processes."""
_DEATH_S = 3.0
_STACK_S = 5.0
"""Seconds to wait for the stack, which a process on a busy machine writes late."""
_STACK_POLL_S = 0.02
_DISCONNECTED = "it closed its connection to blogsmith, or became another program"

FailureKind = Literal["timeout", "memory", "died"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome of one request."""

    frame: Frame | None = None
    """Frame that answers the request; None if the worker is gone."""
    failure: FailureKind | None = None
    """Limit that the request exceeded, or `died`; None if it was answered in time."""
    problem: str = ""
    """Description of `failure`, as a message."""


@dataclass(slots=True)
class RequestLimits:
    """Limits of one request, starting now."""

    timeout_s: float
    memory_bytes: int = 0
    """Memory limit in bytes for all processes of the session together; 0 for no limit."""
    began: float = field(default_factory=time.monotonic)
    is_interrupted: bool = False

    @property
    def end(self) -> float:
        """Time of the next action (interrupt the request; after that, kill the worker), in seconds of the
        monotonic clock."""
        return self.began + self.timeout_s + (GRACE_S if self.is_interrupted else 0.0)

    @property
    def timeout_message(self) -> str:
        """Message for an exceeded time limit."""
        return f"it ran longer than {self.timeout_s:g} s"


class RequestChannel:
    """Channel for requests to one worker."""

    def __init__(self, process: Process, mark: Mark) -> None:
        self._process = process
        self._mark = mark
        self._wire = WorkerConnection(process)
        self._events: deque[PipeText | SocketClosed | Frame] = deque()
        self._next_look = 0.0
        self._gone = Answer()

    @property
    def is_over(self) -> bool:
        return self._gone.failure is not None

    @property
    def piped_bytes(self) -> int:
        """Number of bytes received through the two pipes."""
        return self._wire.piped_bytes

    def request(
        self,
        request: dict[str, object],
        event: str,
        limits: RequestLimits,
        outputs: OutputBuffer,
        *,
        passed: int | None = None,
    ) -> Answer:
        """Send a request and read messages until `event` arrives, a limit is exceeded or the worker is gone.
        outputs: receives all output in the meantime. passed: descriptor to send with the request."""
        if self.is_over:
            return self._gone
        self._wire.send(request)
        if passed is not None:
            self._wire.send_descriptor(passed)
        while True:
            if broken := self._check_limits(limits, outputs):
                self._gone = broken
                return broken
            for happened in self._next_events(min(POLL_S, limits.end - time.monotonic())):
                if isinstance(happened, SocketClosed):
                    self._gone = self._report_death(limits, happened.problem, outputs)
                    return self._gone
                frame = self._store_output(happened, outputs)
                if frame is not None and frame.get("event") == event:
                    return _judge_answer(frame, limits)

    def end_worker(self, request: dict[str, object], wait_s: float) -> None:
        """Send a last request and wait for the worker to exit, for at most `wait_s` seconds."""
        self._wire.send(request)
        end = time.monotonic() + wait_s
        while not self._wire.closed and self._process.wait(0) is None and time.monotonic() < end:
            # Keep reading: a worker that still prints would otherwise wait for us.
            self._wire.wait(POLL_S)

    def _next_events(self, timeout_s: float) -> list[PipeText | SocketClosed | Frame]:
        """Return the next event if one arrives in time; the list is empty otherwise. Further events stay in
        the queue."""
        if not self._events:
            self._events.extend(self._wire.wait(timeout_s))
        return [self._events.popleft()] if self._events else []

    def _store_output(self, happened: PipeText | Frame, into: OutputBuffer) -> Frame | None:
        """Store `happened` if it is an output, and return None. Otherwise return it."""
        if isinstance(happened, PipeText):
            into.add_pipe_text(happened.name, happened.text)
            return None
        match happened.get("event"):
            case "stream":
                into.add_text(happened["name"], happened["text"])
            case "dropped":
                into.drop(happened["name"], happened["bytes"])
            case "display":
                name = happened.get("id", "")
                into.add_display(happened["kind"], happened["text"], happened["binary"], name)
            case "update":
                into.update_display(happened["id"], happened["text"], happened["binary"])
            case "clear":
                into.clear()
            case "sync":
                self._wire.send({"op": "go"})
            case _:
                return happened
        return None

    def _check_limits(self, limits: RequestLimits, into: OutputBuffer) -> Answer | None:
        """Return an answer if a limit is exceeded, otherwise None. A request that takes too long is
        interrupted first."""
        now = time.monotonic()
        if now >= limits.end and limits.is_interrupted:
            return self._kill("timeout", limits.timeout_message, into)
        if now >= limits.end:
            limits.is_interrupted = True
            # SIGCONT: a process that stopped itself receives no signals until it continues
            self._signal(signal.SIGINT, signal.SIGCONT)
        if now < self._next_look:
            return None
        self._next_look = now + POLL_S
        if self._process.wait(0) is not None:
            # reached only if a child of the worker keeps the socket open
            return self._report_death(limits, "", into)
        used = usage(self._process, self._mark, limits.memory_bytes)
        if used.processes > process_limit():
            return self._kill("died", f"it started more than {process_limit()} processes", into)
        if 0 < limits.memory_bytes < used.memory_bytes:
            sizes = format_size(used.memory_bytes), format_size(limits.memory_bytes)
            return self._kill("memory", f"it used {sizes[0]}, more than the limit of {sizes[1]}", into)
        return None

    def _kill(self, bad: FailureKind, problem: str, into: OutputBuffer) -> Answer:
        self._signal(signal.SIGUSR2)
        end = time.monotonic() + _STACK_S
        # The stack arrives in parts. It is complete when nothing follows.
        while time.monotonic() < end and (self._read_some(into) or not into.has_stack()):
            pass
        end_session(self._process, self._mark)
        self._read_rest(into)
        return Answer(failure=bad, problem=problem)

    def _report_death(self, limits: RequestLimits, problem: str, into: OutputBuffer) -> Answer:
        code = self._process.wait(_DEATH_S)
        end_session(self._process, self._mark)
        self._read_rest(into)
        if limits.is_interrupted:
            return Answer(failure="timeout", problem=limits.timeout_message)
        return Answer(
            failure="died", problem=problem or (_DISCONNECTED if code is None else describe_exit(code))
        )

    def _read_some(self, into: OutputBuffer) -> bool:
        """Read messages for a moment. Return whether any arrived."""
        self._events.extend(self._wire.wait(_STACK_POLL_S))
        heard = bool(self._events)
        self._read_waiting(into)
        return heard

    def _read_waiting(self, into: OutputBuffer) -> None:
        while self._events:
            happened = self._events.popleft()
            if not isinstance(happened, SocketClosed):
                self._store_output(happened, into)

    def _read_rest(self, into: OutputBuffer) -> None:
        self._events.extend(self._wire.read_rest())
        self._read_waiting(into)

    def _signal(self, *numbers: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            for number in numbers:
                os.kill(self._process.pid, number)


def _judge_answer(frame: Frame, limits: RequestLimits) -> Answer:
    """Return an answer as valid or as a timeout. If an interrupt was sent, the answer is valid only if the
    work was done in time."""
    interrupted = (frame.get("failure") or {}).get("name") == "KeyboardInterrupt"
    in_time = float(frame.get("seconds") or limits.timeout_s + 1) <= limits.timeout_s and not interrupted
    if limits.is_interrupted and not in_time:
        return Answer(frame, "timeout", limits.timeout_message)
    return Answer(frame)
