"""`make fuzz`: formulas by chance, against everything that must hold for a formula.

    python -m tests.fuzz_math [--seconds N] [--seed TEXT] [--workers N] [--only NUMBER]

Each fault is printed once, with the shortest formula that still shows it. A worker that hangs or dies is a
fault too. The same seed makes the same formulas; without one the day's date is taken. 1 if there is a fault.
"""

from __future__ import annotations

import argparse
import datetime as dt
import multiprocessing
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Protocol

from .fuzz_checks import convert, judge
from .fuzz_formulas import Case, case
from .fuzz_words import vocabulary

PATIENCE_S = 20
"""Without any answer a worker counts as hanging: far more than a busy machine needs for a formula."""
MEMORY_BYTES = 4 << 30
THOROUGH_EVERY = 40
SHRINKING_S = 20
"""For one fault."""
MAX_FAULTS = 25
REPORT_EVERY = 200

SPAWN = multiprocessing.get_context("spawn")


def _work(pipe: Connection, seed: str, first: int, step: int) -> None:
    """Check case after case and tell of each fault; ends when the other side hangs up."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    accepted: Counter[tuple[str, bool]] = Counter()
    number = first
    while True:
        pipe.send(("at", number))
        made = case(seed, number)
        verdict = judge(made, thorough=number // step % THOROUGH_EVERY == 0)
        if verdict.fault:
            pipe.send(("fault", verdict.fault))
        accepted[made.family, verdict.typeset] += 1
        number += step
        if number // step % REPORT_EVERY == 0:
            pipe.send(("count", dict(accepted)))
            accepted.clear()


def _probe(pipe: Connection) -> None:
    """Answer cases with their fault."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    while True:
        pipe.send(judge(pipe.recv(), thorough=True).fault)


@dataclass(slots=True)
class Worker:
    """A process that checks, and where it is."""

    process: SpawnProcess
    pipe: Connection
    at: int
    since: float


@dataclass(slots=True)
class Findings:
    """What came out so far."""

    faults: dict[str, int] = field(default_factory=dict)
    """Fault → number of the first case that showed it."""
    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """(family, whether typeset) → cases."""


def start_process(target: Callable[..., None], *arguments: object) -> tuple[SpawnProcess, Connection]:
    """A process that runs `target(pipe, …)`, and our end of the pipe."""
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=_quiet, args=(target, there, *arguments), daemon=True)
    process.start()
    there.close()
    return process, here


def _quiet(target: Callable[..., None], *arguments: object) -> None:
    """`target(…)` until the other side has gone."""
    try:
        target(*arguments)
    except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        os._exit(0)


def fuzz(seed: str, seconds: float, workers: int) -> Findings:
    """Check cases for so long."""
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
                _tell(findings, f"{lost}: {case(seed, worker.at).family}", worker.at)
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
            kind, said = worker.pipe.recv()
            if kind == "at":
                worker.at, worker.since = said, time.monotonic()
            elif kind == "fault":
                _tell(findings, said, worker.at)
            else:
                findings.counts.update(said)
    except (EOFError, ConnectionResetError):
        return "crash"
    return ""


def _tell(findings: Findings, fault: str, number: int) -> None:
    if fault not in findings.faults:
        findings.faults[fault] = number
        print(f"case {number}: {fault}", flush=True)


def stop_process(process: SpawnProcess) -> None:
    """End it at once."""
    process.kill()
    process.join()


class Judge(Protocol):
    """Whoever knows what is wrong with a case."""

    def fault(self, made: Case) -> str:
        """What is wrong with `made`; empty if nothing is."""


class Prober:
    """Looks at one case after the other in a process that may hang or die."""

    def __init__(self) -> None:
        self._process, self._pipe = start_process(_probe)

    def fault(self, made: Case) -> str:
        """What is wrong with `made`."""
        lost = "crash"
        try:
            self._pipe.send(made)
            if self._pipe.poll(PATIENCE_S):
                return str(self._pipe.recv())
            lost = "hang"
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass
        self.close()
        self._process, self._pipe = start_process(_probe)
        return f"{lost}: {made.family}"

    def close(self) -> None:
        """End the process."""
        stop_process(self._process)


def shrink(made: Case, fault: str, prober: Judge) -> Case:
    """The smallest case found in a while that has the same fault."""
    end = time.monotonic() + SHRINKING_S

    def shows(smaller: Case) -> bool:
        return time.monotonic() < end and prober.fault(smaller) == fault

    for name in made.macros:
        fewer = {known: body for known, body in made.macros.items() if known != name}
        if shows(replace(made, macros=fewer)):
            made = replace(made, macros=fewer)
    if made.numbers and shows(replace(made, numbers=())):
        made = replace(made, numbers=())
    if made.packages and shows(replace(made, packages=frozenset())):
        made = replace(made, packages=frozenset())
    made = replace(made, tex=_shorter(made.tex, lambda tex: shows(replace(made, tex=tex))))
    for name, body in made.macros.items():
        made = replace(
            made, macros={**made.macros, name: _shorter(body, partial(_shows_with, made, name, shows))}
        )
    return made


def _shows_with(made: Case, name: str, shows: Callable[[Case], bool], body: str) -> bool:
    return shows(replace(made, macros={**made.macros, name: body}))


def _shorter(text: str, shows: Callable[[str], bool]) -> str:
    """`text` without what it can lose, ever smaller stretches of it."""
    size = len(text)
    while size:
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if shows(shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text


def main(arguments: Sequence[str]) -> int:
    """Look for faults, shrink and print them."""
    options = _options(arguments)
    if options.only is not None:
        made = case(options.seed, options.only)
        print(f"{made!a}\n{judge(made, thorough=True)}\n{convert(made).said!a}")
        return 0
    words = vocabulary()
    print(
        f"seed {options.seed}: {len(words.commands)} commands, {len(words.environments)} environments",
        flush=True,
    )
    findings = fuzz(options.seed, options.seconds, options.workers)
    for fault, number in findings.faults.items():
        prober = Prober()
        least = shrink(case(options.seed, number), fault, prober)
        prober.close()
        more = f", macros={dict(least.macros)!r}" if least.macros else ""
        more += f", numbers={least.numbers!r}" if least.numbers else ""
        more += f", packages={set(least.packages)!r}" if least.packages else ""
        tex = ascii(least.tex)
        shown = tex if len(tex) <= 400 else f"{tex[:200]} … {tex[-100:]} ({len(least.tex):,} characters)"
        print(f"\ncase {number}: {fault}\n  {shown}, display={least.display}{more}")
    _summarize(findings)
    return 1 if findings.faults else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    today = dt.date.today().isoformat()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_math", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long; by default 60")
    parser.add_argument("--seed", default=today, help="any text; by default today's date")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="by default one a processor")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="make this case alone and print it")
    return parser.parse_args(arguments)


def _summarize(findings: Findings) -> None:
    total = findings.counts.total()
    print(f"\n{total:,} formulas, {len(findings.faults)} faults")
    for family in sorted({family for family, _ in findings.counts}):
        accepted, refused = (findings.counts[family, typeset] for typeset in (True, False))
        print(f"  {family:10}{accepted + refused:9,}, typeset {accepted / max(1, accepted + refused):4.0%}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
