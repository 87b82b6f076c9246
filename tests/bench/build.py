"""`make bench-builds`: a table with the goals of builds, next to the generators that are installed.

    python -m tests.bench.build [--posts N] [--rounds N] [--eleventy FOLDER | --install] [--hugo PROGRAM]
        [--material PROGRAM]
    python -m tests.bench.build --growth [SIZE …]

Only times of the same run are comparable, so generators take turns and goals are ratios if possible. Goals
in seconds apply to an otherwise idle machine. Rivals are measured if found: Hugo, and MkDocs with Material,
on the search path; Eleventy in a folder with its npm packages (`--install` puts them into `.cache`). Posts
are generated from a seed.
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

from .build_corpus import CODE_BLOCKS, FORMULAS
from .build_goals import BYTES_POSTS, GOAL_POSTS, goal_lines, goal_rows, step_lines
from .build_growth import HEAD, flatness_line, growth_line, measure_growth
from .build_rounds import Measured, run_rounds
from .build_runs import prepare_machine, run_build
from .build_sites import Site, output_bytes, output_formulas, write_empty_site, write_site
from .build_subjects import (
    ELEVENTY,
    HUGO,
    MATERIAL,
    Subject,
    blogsmith,
    eleventy,
    hugo,
    install_eleventy,
    material,
)

SIZES = (100, 1_000, 10_000)


def main(arguments: Sequence[str]) -> int:
    """Measure, report each round, and print the tables."""
    options = _options(arguments)
    if options.install:
        install_eleventy()
    prepare_machine(options.cores)
    print(f"load {os.getloadavg()[0]:.1f}, {options.cores} cores, Python {platform.python_version()}")
    print(f"posts with {FORMULAS} formulas and {CODE_BLOCKS} code blocks, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="builds") as name:
        folder = Path(name)
        figures = (
            _print_growth(options, folder) if options.growth is not None else _print_goals(options, folder)
        )
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.build",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--posts",
        type=int,
        default=GOAL_POSTS,
        help=f"how many posts; by default {GOAL_POSTS}, as the goals have it",
    )
    add("--rounds", type=int, default=3, help="builds of each kind; by default 3")
    add("--growth", type=int, nargs="*", metavar="SIZE", help=f"builds of ours by size; by default {SIZES}")
    add("--cores", type=int, default=2, help="cores that everything may use; by default 2")
    add("--seed", type=int, default=1, help="of the posts; by default 1")
    add("--eleventy", type=Path, metavar="FOLDER", help="where npm has installed Eleventy; by default .cache")
    add("--install", action="store_true", help="have npm install Eleventy into .cache first")
    add("--hugo", default="", metavar="PROGRAM", help="by default searched for")
    add("--material", default="", metavar="PROGRAM", help="mkdocs; by default searched for")
    add("--no-rivals", action="store_true", help="measure ours alone")
    add("--json", default="", metavar="FILE", help="a file for all numbers")
    return parser.parse_args(arguments)


def _subjects(options: argparse.Namespace) -> Iterator[Subject]:
    """Yield blogsmith and each rival that is installed; print the names of the others."""
    yield blogsmith()
    if options.no_rivals:
        return
    rivals = {
        ELEVENTY: eleventy(options.eleventy),
        HUGO: hugo(options.hugo),
        MATERIAL: material(options.material),
    }
    for name, found in rivals.items():
        if found:
            yield found
        else:
            print(f"{name} is not found here and left out")


def _print_goals(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    subjects = list(_subjects(options))
    sites = [write_site(subject, folder / subject.name, options.posts, options.seed) for subject in subjects]
    empty = write_empty_site(subjects[0], folder / "empty")
    measured: list[Measured] = []
    for one in run_rounds(sites, empty, options.rounds):
        measured.append(one)
        print(
            f"round {one.round + 1} {one.step:10} {one.name:10} {one.run.wall_s:8.3f} s",
            file=sys.stderr,
            flush=True,
        )
    # Sizes are meaningful only next to those of a rival.
    compared = subjects if len(subjects) > 1 else []
    sizes = {one.name: _bytes(one, folder / f"{one.name}-bytes", options.seed) for one in compared}
    rows = goal_rows(measured, sizes, options.posts)
    print(f"\n{options.posts} posts, {options.rounds} rounds; formulas shown: {_formulas(sites)}\n")
    print("\n".join((*goal_lines(rows), "", *step_lines(measured))))
    return {"rows": [asdict(row) for row in rows], "runs": [asdict(one) for one in measured], "bytes": sizes}


def _formulas(sites: Sequence[Site]) -> str:
    return ", ".join(f"{site.subject.name} {output_formulas(site)}" for site in sites)


def _bytes(subject: Subject, root: Path, seed: int) -> int:
    """Return the number of bytes that the generator writes for a site of `BYTES_POSTS` posts."""
    site = write_site(subject, root, BYTES_POSTS, seed)
    run_build(site)
    return output_bytes(site)


def _print_growth(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    print(f"\n{HEAD}", flush=True)
    measured = []
    for growth in measure_growth(blogsmith(), folder, options.growth or SIZES, options.rounds, options.seed):
        measured.append(growth)
        print(growth_line(growth), flush=True)
    print(flatness_line(measured))
    return {"growth": [asdict(growth) for growth in measured]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
