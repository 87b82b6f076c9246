"""Seconds a post of Typst, for posts of our site one by one and for a generated course as one PDF.

    python -m tests.bench.paper [--lectures N]

The times are CPU time, of this process and of the compiler, without the build of the site. The goal is 0.5 s
a post. The exit code is 1 if the mean of our posts or of the course is slower.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from blogsmith.api.books import BuildOptions, no_progress, open_pages
from blogsmith.paper.site_paper import compile_paper
from tests.course import SERIES, course
from tests.site_files import put

GOAL_S = 0.5
OPTIONS = BuildOptions(now=dt.datetime(2027, 1, 1, tzinfo=dt.UTC), use_cache=True)


def cpu_s() -> float:
    """Return the CPU time of this process and of its ended children, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(root: Path, series: str = "", *, is_split: bool) -> dict[str, float]:
    """Return seconds a post: path or series → time.

    is_split: make a PDF of each post, not one of all.
    """
    found = {}
    with open_pages(root, (), OPTIONS, series=series, title="", progress=no_progress) as book:
        # the HTML of pages is read before anything is measured
        assert all(page.content for page in book.pages)
        books = [replace(book, pages=(page,)) for page in book.pages] if is_split else [book]
        for one in books:
            start = cpu_s()
            compile_paper(one)
            found[series or one.pages[0].path] = (cpu_s() - start) / len(one.pages)
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the times."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.paper")
    parser.add_argument("--lectures", type=int, default=30)
    options = parser.parse_args(arguments)
    posts = measure(Path(__file__).parents[2], is_split=True)
    with tempfile.TemporaryDirectory() as name:
        lectures = measure(put(Path(name), course(options.lectures)), SERIES, is_split=False)
    for path, seconds in (posts | lectures).items():
        print(f"{seconds:6.2f} s  {path}")
    mean = sum(posts.values()) / len(posts)
    print(f"{mean:6.2f} s  mean of {len(posts)} posts; goal {GOAL_S} s")
    return int(max(mean, *lectures.values()) > GOAL_S)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
