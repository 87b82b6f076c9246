"""How long the import of many Hugo posts takes: with one process, several, and another version of blogsmith.

    python -m tests.bench.imports [--posts N] [--rounds N] [--base PROGRAM]

They take turns, because only times of the same run are comparable. CPU time includes all processes. Posts
are generated from a seed.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from blogsmith.cli.garbage import rare_collections
from blogsmith.execute.session.environment import count_cores
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.page_work import Workers
from blogsmith.project.report import no_progress

from .build_corpus import make_post

_SETTINGS = """
baseURL = "https://example.org/"
title = "Bench"
[markup.goldmark.renderer]
unsafe = true
[markup.goldmark.extensions.passthrough]
enable = true
[markup.goldmark.extensions.passthrough.delimiters]
block = [["$$", "$$"]]
inline = [["$", "$"]]
"""


class ImportTime(NamedTuple):
    """Times of one run."""

    wall_s: float
    processor_s: float
    """CPU seconds of all its processes."""


def write_hugo_site(root: Path, posts: int) -> None:
    """Write a Hugo site with this number of posts."""
    folder = root / "content" / "posts"
    folder.mkdir(parents=True)
    (root / "hugo.toml").write_text(_SETTINGS, encoding="utf-8")
    for number in range(posts):
        post = make_post(number, "/posts/{}/".format)
        (folder / f"{post.slug}.md").write_text(f"{post.head}\n{post.body}", encoding="utf-8")


def print_times(posts: int, rounds: int, base: str = "") -> None:
    """Measure, and print each subject with its ratios to the first.

    base: path of another `blogsmith` program; empty for none.
    """
    with tempfile.TemporaryDirectory(prefix="imports") as name:
        folder = Path(name)
        write_hugo_site(folder / "source", posts)
        subjects = _subjects(base)
        times: dict[str, list[ImportTime]] = {subject: [] for subject in subjects}
        print(f"load {os.getloadavg()[0]:.1f}, {count_cores()} cores, {posts} Hugo posts", flush=True)
        for _ in range(rounds):
            for subject, command in subjects.items():
                times[subject].append(_measure((*command, "source", "new"), folder))
                shutil.rmtree(folder / "new")
    first, *_ = (_middle(each) for each in times.values())
    print(f"{'':20} {'wall s':>8} {'ratio':>6} {'processor s':>12} {'ratio':>6}")
    for subject, every in times.items():
        found = _middle(every)
        ratios = found.wall_s / first.wall_s, found.processor_s / first.processor_s
        line = f"{found.wall_s:8.1f} {ratios[0]:6.2f} {found.processor_s:12.1f} {ratios[1]:6.2f}"
        print(f"{subject:20} {line}")


def _subjects(base: str) -> Mapping[str, tuple[str, ...]]:
    """Return name → command, without the source and target arguments."""
    # Only our own commands may find this checkout.
    here = ("env", f"PYTHONPATH={Path(__file__).parents[2]}", sys.executable, "-m", __name__)
    found = {"base": (base, "import", "--quiet")} if base else {}
    several = max(2, count_cores())
    return {**found, "one process": (*here, "1"), f"{several} processes": (*here, str(several))}


def _measure(command: tuple[str, ...], folder: Path) -> ImportTime:
    before, started = os.times(), time.monotonic()
    # If the environment disabled bytecode, every start would compile the package again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after, wall_s = os.times(), time.monotonic() - started
    return ImportTime(
        wall_s,
        after.children_user + after.children_system - before.children_user - before.children_system,
    )


def _middle(times: list[ImportTime]) -> ImportTime:
    return ImportTime(*(median(column) for column in zip(*times, strict=True)))


def main(count: str, source: str, into: str) -> None:
    """Import a site with this number of processes."""
    options = ImportOptions(now=dt.datetime.now(dt.UTC), workers=Workers(int(count)))
    with rare_collections():
        import_site(Path(source), Path(into), options, no_progress)


if __name__ == "__main__":
    main(*sys.argv[1:])
