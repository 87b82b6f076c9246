"""`make fuzz-site`: posts, front matter, shortcodes, cells, records and the preview by chance.

    python -m tests.fuzz_site [--seconds N] [--seed TEXT] [--workers N] [--only NUMBER] [--folder FOLDER]

No input may end in an exception, take more than five seconds of processor time, give other bytes the second
time, or, where `markup.untrusted` is on, give what acts or is no HTML. Each fault is printed once; what shows
it is written to a file, with the command that tries it again. The same seed makes the same inputs; without
one the day's date is taken. 1 if there is a fault.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from .fuzz_judge import judge
from .fuzz_math import start_process, stop_process
from .fuzz_texts import KINDS, case

PATIENCE_S = 180
"""Without any answer a worker counts as hanging: far more than a busy machine needs for five seconds."""
MEMORY_BYTES = 3 << 30
THOROUGH_EVERY = 5
MAX_FAULTS = 25


def _work(pipe: Connection, seed: str, first: int, step: int) -> None:
    """Judge case after case and tell of each; ends when the other side hangs up."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    number = first
    while True:
        pipe.send((number, None))
        pipe.send((number, judge(case(seed, number), thorough=number // step % THOROUGH_EVERY == 0)))
        number += step


@dataclass(slots=True)
class Worker:
    """A process that judges, and where it is."""

    process: SpawnProcess
    pipe: Connection
    at: int
    since: float


@dataclass(slots=True)
class Findings:
    """What came out so far."""

    faults: dict[str, int] = field(default_factory=dict)
    """Fault → number of the first case that showed it."""
    counts: Counter[str] = field(default_factory=Counter)
    """Kind → cases."""


def fuzz(seed: str, seconds: float, workers: int) -> Findings:
    """Judge cases for so long."""
    findings = Findings()
    end = time.monotonic() + seconds
    pool = [_worker(seed, number, workers) for number in range(workers)]
    while time.monotonic() < end and len(findings.faults) < MAX_FAULTS:
        ready = wait([worker.pipe for worker in pool], timeout=1)
        for place, worker in enumerate(pool):
            lost = _hear(worker, findings) if worker.pipe in ready else ""
            if not lost and time.monotonic() - worker.since > PATIENCE_S:
                lost = "hang"
            if lost:
                _tell(findings, f"{lost}: {KINDS[worker.at % len(KINDS)]}", worker.at)
                stop_process(worker.process)
                pool[place] = _worker(seed, worker.at + workers, workers)
    for worker in pool:
        stop_process(worker.process)
    return findings


def _worker(seed: str, first: int, step: int) -> Worker:
    process, pipe = start_process(_work, seed, first, step)
    return Worker(process, pipe, first, time.monotonic())


def _hear(worker: Worker, findings: Findings) -> str:
    """Take in what a worker says; `crash` if it is gone."""
    try:
        while worker.pipe.poll():
            worker.at, fault = worker.pipe.recv()
            worker.since = time.monotonic()
            if fault is not None:
                findings.counts[KINDS[worker.at % len(KINDS)]] += 1
            if fault:
                _tell(findings, fault, worker.at)
    except (EOFError, ConnectionResetError):
        return "crash"
    return ""


def _tell(findings: Findings, fault: str, number: int) -> None:
    if fault not in findings.faults:
        findings.faults[fault] = number
        print(f"case {number}: {fault}", flush=True)


def write_case(folder: Path, seed: str, number: int, fault: str) -> Path:
    """A file with the input of a case, behind what is wrong and the command that tries it again."""
    made = case(seed, number)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{seed}-{number}.txt"
    head = f"{fault}\npython -m tests.fuzz_site --seed {seed} --only {number}\n{made.kind}\n{made.config}\n"
    file.write_bytes(f"{head}{'-' * 20}\n{made.text}".encode("utf-8", "surrogatepass"))
    return file


def main(arguments: Sequence[str]) -> int:
    """Look for faults, print them and keep what shows them."""
    options = _options(arguments)
    if options.only is not None:
        made = case(options.seed, options.only)
        fault = judge(made, thorough=True)
        print(f"{made!a}\n{fault or 'nothing is wrong'}")
        return 1 if fault else 0
    findings = fuzz(options.seed, options.seconds, options.workers)
    for fault, number in findings.faults.items():
        print(f"{fault}: {write_case(options.folder, options.seed, number, fault)}")
    kinds = ", ".join(f"{findings.counts[kind]:,} {kind}" for kind in KINDS)
    print(f"seed {options.seed}: {findings.counts.total():,} inputs, {len(findings.faults)} faults ({kinds})")
    return 1 if findings.faults else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    today = dt.date.today().isoformat()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_site", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long; by default 60")
    parser.add_argument("--seed", default=today, help="any text; by default today's date")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="by default one a processor")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="try this case alone and print it")
    parser.add_argument("--folder", type=Path, default=Path(".cache/fuzz"), help="by default .cache/fuzz")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
