"""Processes that check random cases. If one hangs or dies, the current case has a fault.

A check function is called as `work(pipe, seed, first, step)`. It runs the cases `first`, `first + step`, …
endlessly, and sends `("at", number)` before each, `("fault", text)` for a fault and `("count", {(kind,
accepted): cases})` occasionally.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

MAX_FAULTS = 25

SPAWN = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class Findings:
    """The results so far."""

    faults: dict[str, int] = field(default_factory=dict)
    """Fault → number of the first case with it."""
    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """(kind, whether accepted) → number of cases."""

    def add(self, fault: str, number: int) -> None:
        """Record and print a new fault."""
        if fault not in self.faults:
            self.faults[fault] = number
            print(f"case {number}: {fault}", flush=True)


@dataclass(frozen=True, slots=True)
class Judges:
    """The check function of a pool and its settings."""

    work: Callable[[Connection, str, int, int], None]
    kind_of: Callable[[int], str]
    """Function from the number of a case to a name for a lost process."""
    patience_s: float
    """Seconds without an answer after which a process is considered hanging."""


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    at: int
    since: float


def judge_cases(judges: Judges, seed: str, seconds: float, workers: int) -> Findings:
    """Check cases for `seconds`, or until there are `MAX_FAULTS` faults."""
    findings = Findings()
    end = time.monotonic() + seconds
    pool = [_start_worker(judges, seed, number, workers) for number in range(workers)]
    while time.monotonic() < end and len(findings.faults) < MAX_FAULTS:
        ready = wait([worker.pipe for worker in pool], timeout=1)
        for place, worker in enumerate(pool):
            lost = _receive(worker, findings) if worker.pipe in ready else ""
            if not lost and time.monotonic() - worker.since > judges.patience_s:
                lost = "hang"
            if lost:
                findings.add(f"{lost}: {judges.kind_of(worker.at)}", worker.at)
                stop_process(worker.process)
                pool[place] = _start_worker(judges, seed, worker.at + workers, workers)
    for worker in pool:
        stop_process(worker.process)
    return findings


def _start_worker(judges: Judges, seed: str, first: int, step: int) -> _Worker:
    process, pipe = start_process(judges.work, seed, first, step)
    return _Worker(process, pipe, first, time.monotonic())


def _receive(worker: _Worker, findings: Findings) -> str:
    """Receive the messages of a worker; return `crash` if it is gone."""
    try:
        while worker.pipe.poll():
            kind, value = worker.pipe.recv()
            if kind == "at":
                worker.at, worker.since = value, time.monotonic()
            elif kind == "fault":
                findings.add(value, worker.at)
            else:
                findings.counts.update(value)
    except (EOFError, ConnectionResetError):
        return "crash"
    return ""


def start_process(target: Callable[..., None], *arguments: object) -> tuple[SpawnProcess, Connection]:
    """Start a process that runs `target(pipe, …)`. Return it and our end of the pipe."""
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=_run_quietly, args=(target, there, *arguments), daemon=True)
    process.start()
    there.close()
    return process, here


def _run_quietly(target: Callable[..., None], *arguments: object) -> None:
    """Run `target(…)` until the other side closes the pipe."""
    try:
        target(*arguments)
    except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        os._exit(0)


def stop_process(process: SpawnProcess) -> None:
    """Kill the process."""
    process.kill()
    process.join()
