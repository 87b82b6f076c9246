"""`make fuzz-site`: random posts, records, state files, imports, preview requests and editor sessions.

    python -m tests.fuzz_site [--seconds N] [--seed TEXT] [--workers N] [--kind NAME …] [--only NUMBER]
        [--folder FOLDER]

No input may raise an exception, take more than five seconds of processor time (an import: ten), give other
bytes the second time, read or write a file outside its site, lose a construct between triggers of other
syntax without a message, move a landmark of the theme, or, with `markup.untrusted`, give active content or
invalid HTML. Each fault is printed once; its input is written to a file, with the command that tries it
again. The same seed makes the same inputs; the default is the day's date. The exit code is 1 if there is a
fault.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from .fuzz_judge import judge
from .fuzz_pool import Findings, Judges, judge_cases
from .fuzz_texts import KINDS, case

PATIENCE_S = 180
"""Seconds without an answer after which a worker is considered hanging; far more than five seconds need."""
MEMORY_BYTES = 3 << 30
THOROUGH_EVERY = 5


def _work(kinds: Sequence[str], pipe: Connection, seed: str, first: int, step: int) -> None:
    """Check cases and send faults; ends when the other side closes the pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with tempfile.TemporaryDirectory() as state:
        os.environ |= {"XDG_STATE_HOME": f"{state}/state", "XDG_CACHE_HOME": f"{state}/cache"}
        _judge_all(pipe, seed, first, step, kinds)


def _judge_all(pipe: Connection, seed: str, first: int, step: int, kinds: Sequence[str]) -> None:
    position = first
    while True:
        number = _number(position, kinds)
        pipe.send(("at", number))
        fault = judge(case(seed, number), thorough=position // step % THOROUGH_EVERY == 0)
        if fault:
            pipe.send(("fault", fault))
        pipe.send(("count", {(_kind(number), not fault): 1}))
        position += step


def _number(position: int, kinds: Sequence[str]) -> int:
    """Return the number of a case: cases of these kinds take turns."""
    turn, place = divmod(position, len(kinds))
    return len(KINDS) * turn + KINDS.index(kinds[place])


def _kind(number: int) -> str:
    return KINDS[number % len(KINDS)]


def fuzz(seed: str, seconds: float, workers: int, kinds: Sequence[str] = KINDS) -> Findings:
    """Check cases of some kinds for `seconds`."""
    return judge_cases(Judges(partial(_work, kinds), _kind, PATIENCE_S), seed, seconds, workers)


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
    findings = fuzz(options.seed, options.seconds, options.workers, options.kind or KINDS)
    for fault, number in findings.faults.items():
        print(f"{fault}: {write_case(options.folder, options.seed, number, fault)}")
    kinds = ", ".join(
        f"{findings.counts[kind, True] + findings.counts[kind, False]:,} {kind}"
        for kind in options.kind or KINDS
    )
    print(f"seed {options.seed}: {findings.counts.total():,} inputs, {len(findings.faults)} faults ({kinds})")
    return 1 if findings.faults else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    today = dt.date.today().isoformat()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_site", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long; by default 60")
    parser.add_argument("--seed", default=today, help="any text; by default today's date")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="by default one a processor")
    parser.add_argument(
        "--kind", action="append", choices=KINDS, help="only cases of this kind; by default all"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="try this case alone and print it")
    parser.add_argument("--folder", type=Path, default=Path(".cache/fuzz"), help="by default .cache/fuzz")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
