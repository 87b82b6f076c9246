"""`make soak`: two hours of random edits in a preview, to check that neither threads nor memory grow.

    python -m tests.bench.soak [--minutes N] [--posts N] [--seed N]

Every edit must become visible within ten seconds: words, styles, errors and their correction, cells, new,
renamed and deleted posts, all posts together. One tab stays open, others come and go. The server is sampled
once a minute, when it is idle. The test fails if an edit is missed or Ctrl-C leaves a process running. It
also fails if, after the first third of the time, a value grows by more than its limit, both by a fitted line
and in its least value.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from .preview_processes import open_files, processes, resident_bytes, threads, wait_until_idle
from .preview_rows import serving, trust
from .preview_servers import Server, end, first_answer, get
from .preview_sites import Site, pauses, subjects, write_site
from .preview_table import OURS
from .soak_client import Listener
from .soak_edits import Author, seconds_until

PATIENCE_S = 10.0
_EXIT_AFTER_INTERRUPT = 130
_VISITS = 5
"""Number of edits between two visits of another tab."""
_MB = 1e6
_WARM_UP = 1 / 3


@dataclass(frozen=True, slots=True)
class Sample:
    """State of the server at one moment."""

    seconds: float
    """Seconds since the start."""
    megabytes: float
    """Memory of the server alone."""
    threads: int
    files: int
    """Open files of the server, including sockets."""
    children: int


@dataclass(frozen=True, slots=True)
class Allowed:
    """Limit on the growth of a value between two idle moments."""

    what: str
    value: Callable[[Sample], float]
    share: float
    """Limit as a share of the mean."""
    least: float
    """Absolute limit, used if it is larger."""


ALLOWED = (
    Allowed("megabytes", lambda sample: sample.megabytes, 0.1, 10),
    Allowed("threads", lambda sample: sample.threads, 0, 1),
    Allowed("open files", lambda sample: sample.files, 0, 2),
    Allowed("child processes", lambda sample: sample.children, 0, 1),
)


@dataclass(frozen=True, slots=True)
class Soaked:
    """Results of a soak test."""

    samples: tuple[Sample, ...]
    """Samples after the first third of the time."""
    edits: int
    slowest_s: float
    """Longest time from an edit until all its changes were visible."""
    faults: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    # A shell that starts this in the background makes it ignore Ctrl-C, which the server would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        soaked = soak(Path(folder), 60 * options.minutes, options.every, options.posts, options.seed, print)
    print(f"{soaked.edits} edits, the slowest shown after {soaked.slowest_s:.2f} s")
    print("\n".join(soaked.faults) or "nothing grew")
    return 1 if soaked.faults else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--minutes", type=float, default=120, help="by default 120")
    add("--every", type=float, default=60, help="seconds between two looks; by default 60")
    add("--posts", type=int, default=60, help="by default 60")
    add("--seed", type=int, default=7, help="of what is edited; by default 7")
    return parser.parse_args(arguments)


def soak(
    folder: Path, seconds: float, every_s: float, posts: int, seed: int, say: Callable[[str], None]
) -> Soaked:
    """Serve a site in `folder` and edit it for `seconds`."""
    subject = subjects({})[OURS]
    assert subject is not None
    site = write_site(subject, folder / "site", posts)
    trust(site)
    with serving(site) as server:
        first_answer(server, site.page)
        wait_until_idle(server.process.pid, PATIENCE_S)
        with Listener(server.port) as listener:
            samples, waits, faults = _edits(site, server, listener, seconds, every_s, seed, say)
        faults += [f"{pid} was left after Ctrl-C" for pid in end(server.process)]
        if (code := server.process.returncode) != _EXIT_AFTER_INTERRUPT:
            faults.append(f"exit code {code} after Ctrl-C: {server.said()}")
    settled = tuple(sample for sample in samples if sample.seconds >= _WARM_UP * seconds)
    return Soaked(settled, len(waits), max(waits, default=0), (*faults, *grown(settled)))


def _edits(
    site: Site,
    server: Server,
    listener: Listener,
    seconds: float,
    every_s: float,
    seed: int,
    say: Callable[[str], None],
) -> tuple[list[Sample], list[float], list[str]]:
    """Return samples, the seconds until each edit was visible, and faults."""
    author, breaks = Author(site, seed), pauses(seed, 0.0, min(1.0, every_s / 10))
    samples: list[Sample] = []
    waits: list[float] = []
    faults: list[str] = []
    began = time.monotonic()
    while (now := time.monotonic() - began) < seconds:
        if now >= len(samples) * every_s:
            wait_until_idle(server.process.pid, PATIENCE_S, min(0.4, every_s / 20))
            samples.append(sample(server, time.monotonic() - began))
            say(f"{samples[-1]}, {len(waits)} edits, {listener.streams} streams")
        if len(waits) % _VISITS == 0:
            with Listener(server.port):
                get(server.port, site.page)
        done = author.act()
        took = seconds_until(done, server.port, listener, PATIENCE_S)
        waits.append(PATIENCE_S if took is None else took)
        if took is None:
            faults.append(f"not shown after {PATIENCE_S:g} s: {done}")
        time.sleep(next(breaks))
    return samples, waits, faults


def sample(server: Server, seconds: float) -> Sample:
    pid, *children = processes(server.process.pid)
    return Sample(seconds, resident_bytes(pid) / _MB, threads(pid), open_files(pid), len(children))


def grown(samples: Sequence[Sample]) -> list[str]:
    """Return a message for each value that grew beyond its limit."""
    if len(samples) < 4:
        return ["too few looks at the server to say whether anything grew"]
    seconds = [sample.seconds for sample in samples]
    third = max(1, len(samples) // 3)
    found = []
    for allowed in ALLOWED:
        values = [allowed.value(sample) for sample in samples]
        bound = max(allowed.share * fmean(values), allowed.least)
        fitted = slope(seconds, values) * (seconds[-1] - seconds[0])
        risen = min(values[-third:]) - min(values[:third])
        if min(fitted, risen) > bound:
            hours = (seconds[-1] - seconds[0]) / 3600
            found.append(f"{allowed.what} grew by {fitted:.1f} in {hours:.2g} hours, allowed are {bound:.1f}")
    return found


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of the least-squares line."""
    middle_x, middle_y = fmean(x), fmean(y)
    spread = sum((value - middle_x) ** 2 for value in x)
    return sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True)) / spread


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
