"""`make fuzz`: random formulas, checked against all rules for formulas.

    python -m tests.fuzz_math [--seconds N] [--seed TEXT] [--workers N] [--only NUMBER]

Each fault is printed once, with the shortest formula that still shows it. A worker that hangs or dies is a
fault too. The same seed makes the same formulas; the default is the day's date. The exit code is 1 if there
is a fault.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Protocol

from .fuzz_checks import convert, judge
from .fuzz_formulas import Case, case
from .fuzz_pool import Findings, Judges, judge_cases, start_process, stop_process
from .fuzz_words import vocabulary

PATIENCE_S = 20
"""Seconds without an answer after which a worker is considered hanging; far more than a formula needs."""
MEMORY_BYTES = 4 << 30
THOROUGH_EVERY = 40
SHRINKING_S = 20
"""Seconds to shrink one fault."""
REPORT_EVERY = 200


def _work(pipe: Connection, seed: str, first: int, step: int) -> None:
    """Check cases and send each fault; ends when the other side closes the pipe."""
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


def fuzz(seed: str, seconds: float, workers: int) -> Findings:
    """Check formulas for `seconds`. Counts are by (family, whether typeset)."""
    judges = Judges(_work, lambda number: case(seed, number).family, PATIENCE_S)
    return judge_cases(judges, seed, seconds, workers)


class Judge(Protocol):
    """Interface of objects that find faults."""

    def fault(self, made: Case) -> str:
        """Return the fault of `made`; empty if there is none."""


class Prober:
    """Checks cases one by one in a process that may hang or die."""

    def __init__(self) -> None:
        self._process, self._pipe = start_process(_probe)

    def fault(self, made: Case) -> str:
        """Return the fault of `made`."""
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
    """Return the smallest case found in limited time that has the same fault."""
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
    """Return `text` without the parts it can lose, removed in ever smaller portions."""
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
    """Find faults, shrink and print them."""
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
