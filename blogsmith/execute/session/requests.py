"""Requests to a worker and its answers, within limits of time, memory and processes.

A request that takes too long is interrupted, as by Ctrl-C; what does not stop within a second is killed.
A worker is asked where it stands before it is killed: `faulthandler` answers even in a long call into C.
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
from .protocol import Closed, Frame, Printed, Wire
from .reaper import Mark, end_session, process_limit, usage

GRACE_S = 1.0
"""Between the interrupt and the kill."""
POLL_S = 0.05
"""Between two looks at memory and processes."""
_DEATH_S = 3.0
_STACK_S = 1.0
"""A process that gets little of the processor says late where it stands."""
_PIECE_S = 0.02
_LEFT = "it closed its connection to blogsmith, or became another program"

Bad = Literal["timeout", "memory", "died"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one request."""

    frame: Frame | None = None
    """None if the worker is gone."""
    bad: Bad | None = None
    """Which limit it broke, or that it died."""
    problem: str = ""
    """The same in words."""


@dataclass(slots=True)
class RequestLimits:
    """Of one request, from now on."""

    timeout_s: float
    memory_bytes: int = 0
    """Of all its processes; 0: any amount."""
    began: float = field(default_factory=time.monotonic)
    interrupted: bool = False

    @property
    def end(self) -> float:
        """When patience ends, in seconds of the monotonic clock."""
        return self.began + self.timeout_s + (GRACE_S if self.interrupted else 0.0)

    @property
    def too_long(self) -> str:
        """What to say if time is the reason."""
        return f"it ran longer than {self.timeout_s:g} s"


class RequestChannel:
    """A conversation with one worker."""

    def __init__(self, process: Process, mark: Mark) -> None:
        self._process = process
        self._mark = mark
        self._wire = Wire(process)
        self._events: deque[Printed | Closed | Frame] = deque()
        self._next_look = 0.0
        self._gone = Answer()

    @property
    def is_over(self) -> bool:
        """Whether the worker is gone."""
        return self._gone.bad is not None

    @property
    def piped_bytes(self) -> int:
        """That have come through the two pipes."""
        return self._wire.piped_bytes

    def request(
        self,
        request: dict[str, object],
        event: str,
        limits: RequestLimits,
        into: OutputBuffer,
        *,
        passed: int | None = None,
    ) -> Answer:
        """Send a request and listen until `event` comes, a limit is broken or the worker is gone.

        into: receives what is printed and shown meanwhile. passed: a descriptor that goes with it.
        """
        if self.is_over:
            return self._gone
        self._wire.send(request)
        if passed is not None:
            self._wire.send_descriptor(passed)
        while True:
            if broken := self._check_limits(limits, into):
                self._gone = broken
                return broken
            for happened in self._next_events(min(POLL_S, limits.end - time.monotonic())):
                if isinstance(happened, Closed):
                    self._gone = self._report_death(limits, happened.problem, into)
                    return self._gone
                frame = self._store_output(happened, into)
                if frame is not None and frame.get("event") == event:
                    return _judge_answer(frame, limits)

    def farewell(self, request: dict[str, object], wait_s: float) -> None:
        """Send a last request and let the worker go in peace, at most so long."""
        self._wire.send(request)
        end = time.monotonic() + wait_s
        while not self._wire.closed and self._process.wait(0) is None and time.monotonic() < end:
            # a worker that still prints is still read, or it would wait for us
            self._wire.wait(POLL_S)

    def _next_events(self, timeout_s: float) -> list[Printed | Closed | Frame]:
        """The next event, if there is one in time; those that came with it wait."""
        if not self._events:
            self._events.extend(self._wire.wait(timeout_s))
        return [self._events.popleft()] if self._events else []

    def _store_output(self, happened: Printed | Frame, into: OutputBuffer) -> Frame | None:
        """Keep an output; a frame that is no output is given back."""
        if isinstance(happened, Printed):
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
        """Whether a limit is broken by now; a request that takes too long is interrupted first."""
        now = time.monotonic()
        if now >= limits.end and limits.interrupted:
            return self._kill("timeout", limits.too_long, into)
        if now >= limits.end:
            limits.interrupted = True
            # SIGCONT: a process that stopped itself hears nothing until it goes on
            self._signal(signal.SIGINT, signal.SIGCONT)
        if now < self._next_look:
            return None
        self._next_look = now + POLL_S
        if self._process.wait(0) is not None:
            # noticed here only if a child of it keeps the socket open
            return self._report_death(limits, "", into)
        used = usage(self._process, self._mark, limits.memory_bytes)
        if used.processes > process_limit():
            return self._kill("died", f"it started more than {process_limit()} processes", into)
        if 0 < limits.memory_bytes < used.memory_bytes:
            sizes = format_size(used.memory_bytes), format_size(limits.memory_bytes)
            return self._kill("memory", f"it used {sizes[0]}, more than the limit of {sizes[1]}", into)
        return None

    def _kill(self, bad: Bad, problem: str, into: OutputBuffer) -> Answer:
        self._signal(signal.SIGUSR2)
        end = time.monotonic() + _STACK_S
        # the stack comes in pieces: it is whole when nothing follows
        while time.monotonic() < end and (self._read_some(into) or not into.has_stack()):
            pass
        end_session(self._process, self._mark)
        self._read_rest(into)
        return Answer(bad=bad, problem=problem)

    def _report_death(self, limits: RequestLimits, problem: str, into: OutputBuffer) -> Answer:
        code = self._process.wait(_DEATH_S)
        end_session(self._process, self._mark)
        self._read_rest(into)
        if limits.interrupted:
            return Answer(bad="timeout", problem=limits.too_long)
        return Answer(bad="died", problem=problem or (_LEFT if code is None else describe_exit(code)))

    def _read_some(self, into: OutputBuffer) -> bool:
        """Listen for a moment; whether something came."""
        self._events.extend(self._wire.wait(_PIECE_S))
        heard = bool(self._events)
        self._read_waiting(into)
        return heard

    def _read_waiting(self, into: OutputBuffer) -> None:
        while self._events:
            happened = self._events.popleft()
            if not isinstance(happened, Closed):
                self._store_output(happened, into)

    def _read_rest(self, into: OutputBuffer) -> None:
        self._events.extend(self._wire.read_rest())
        self._read_waiting(into)

    def _signal(self, *numbers: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            for number in numbers:
                os.kill(self._process.pid, number)


def _judge_answer(frame: Frame, limits: RequestLimits) -> Answer:
    """An answer after an interrupt counts only if the work was done before it."""
    interrupted = (frame.get("failure") or {}).get("name") == "KeyboardInterrupt"
    in_time = float(frame.get("seconds") or limits.timeout_s + 1) <= limits.timeout_s and not interrupted
    if limits.interrupted and not in_time:
        return Answer(frame, "timeout", limits.too_long)
    return Answer(frame)
