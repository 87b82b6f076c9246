"""`make fuzz-site`: random posts, front matter, shortcodes, cells, records and preview requests.

    python -m tests.fuzz_site [--seconds N] [--seed TEXT] [--workers N] [--only NUMBER] [--folder FOLDER]

No input may raise an exception, take more than five seconds of processor time, give other bytes the second
time, lose a construct between triggers of other syntax without a message, move a landmark of the theme, or,
with `markup.untrusted`, give active content or invalid HTML. Each fault is printed once; its input
is written to a file, with the command that tries it again. The same seed makes the same inputs; the default
is the day's date. The exit code is 1 if there is a fault.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from .fuzz_judge import judge
from .fuzz_pool import Findings, Judges, judge_cases
from .fuzz_texts import KINDS, case

PATIENCE_S = 180
"""Seconds without an answer after which a worker is considered hanging; far more than five seconds need."""
MEMORY_BYTES = 3 << 30
THOROUGH_EVERY = 5


def _work(pipe: Connection, seed: str, first: int, step: int) -> None:
    """Check cases and send faults; ends when the other side closes the pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    number = first
    while True:
        pipe.send(("at", number))
        fault = judge(case(seed, number), thorough=number // step % THOROUGH_EVERY == 0)
        if fault:
            pipe.send(("fault", fault))
        pipe.send(("count", {(_kind(number), not fault): 1}))
        number += step


def _kind(number: int) -> str:
    return KINDS[number % len(KINDS)]


def fuzz(seed: str, seconds: float, workers: int) -> Findings:
    """Check cases for `seconds`."""
    return judge_cases(Judges(_work, _kind, PATIENCE_S), seed, seconds, workers)


def write_case(folder: Path, seed: str, number: int, fault: str) -> Path:
    """Write the input of a case to a file, after its fault and the command that tries it again."""
    made = case(seed, number)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{seed}-{number}.txt"
    head = f"{fault}\npython -m tests.fuzz_site --seed {seed} --only {number}\n{made.kind}\n{made.config}\n"
    file.write_bytes(f"{head}{'-' * 20}\n{made.text}".encode("utf-8", "surrogatepass"))
    return file


def main(arguments: Sequence[str]) -> int:
    """Find faults, print them and store their inputs."""
    options = _options(arguments)
    if options.only is not None:
        made = case(options.seed, options.only)
        fault = judge(made, thorough=True)
        print(f"{made!a}\n{fault or 'nothing is wrong'}")
        return 1 if fault else 0
    findings = fuzz(options.seed, options.seconds, options.workers)
    for fault, number in findings.faults.items():
        print(f"{fault}: {write_case(options.folder, options.seed, number, fault)}")
    kinds = ", ".join(
        f"{findings.counts[kind, True] + findings.counts[kind, False]:,} {kind}" for kind in KINDS
    )
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
