"""Recorded results, measured through the commands.

Measures the cost of a build that has nothing to run, and whether the same code gives the same bytes.

    python -m tests.bench.execution_site SITE RUNS

measures the build of an unchanged site in a separate process and prints JSON.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from .execution_nbclient import Measures
from .execution_posts import figure_codes, numpy_codes, write_site

ROOT = Path(__file__).parents[2]
# Lines of a record that may differ between two equal runs; the file has one value per line. Seals are digests
# that include the other two.
_TIMES = ('"date":', '"seconds":', '"seal":')
_STARTING = frozenset(
    ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen")
)
"""Audit events of a process that starts another one."""
_ABSENT = ("numpy", "matplotlib")


def measure_command(posts: Sequence[Sequence[str]], at_once: int) -> float:
    """Return the seconds that `blogsmith execute` takes for a new site, including its start."""
    with TemporaryDirectory() as folder:
        write_site(Path(folder), posts)
        began = time.perf_counter()
        _blogsmith(Path(folder), "execute", "--jobs", str(at_once))
        return time.perf_counter() - began


def measure_unchanged(
    posts: Sequence[Sequence[str]], runs: int, pick: Callable[[Sequence[float]], float]
) -> Measures:
    """Return milliseconds to judge one unchanged post, and counts of processes started and NumPy imports."""
    with TemporaryDirectory() as folder:
        write_site(Path(folder), posts)
        _blogsmith(Path(folder), "execute")
        command = [sys.executable, "-m", "tests.bench.execution_site", folder, str(runs)]
        finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found = json.loads(finished.stdout)
    return {"unchanged": pick(found["ms"]), "started": found["started"], "numpy": found["numpy"]}


def measure_sameness(posts: int) -> Measures:
    """Return the number of figures, and 1 or 0 for repeated runs and for pages built elsewhere."""
    with TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        write_site(
            site,
            [numpy_codes(n) + figure_codes(n) for n in range(posts)],
            "execute:\n  figures: {dark: true}\n",
        )
        _blogsmith(site, "execute", "--all")
        first = files_of(site / "_freeze")
        _blogsmith(site, "execute", "--all")
        again = files_of(site / "_freeze")
        shutil.rmtree(site / "_freeze")
        _blogsmith(site, "execute", "--all")
        anew = files_of(site / "_freeze")
        _blogsmith(site, "build", "--frozen")
        elsewhere = _built_elsewhere(site, Path(folder))
        return {
            "pictures": float(sum(name.endswith(".svg") for name in first)),
            "again": float(first == again),
            "anew": float(timeless(first) == timeless(anew)),
            "elsewhere": float(files_of(site / "public") == elsewhere),
        }


def _built_elsewhere(site: Path, folder: Path) -> dict[str, bytes]:
    """Build a copy of sources and records with a Python without NumPy, and return the pages."""
    copy = folder / "copy"
    shutil.copytree(site, copy, ignore=shutil.ignore_patterns("public", ".blogsmith"))
    python = bare_python(folder / "bare", _ABSENT)
    _blogsmith(copy, "build", "--frozen", python=python)
    return files_of(copy / "public")


def bare_python(folder: Path, absent: Sequence[str]) -> Path:
    """Create a Python with the packages of this one, except those whose names start with one of `absent`."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    asked = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    packages = Path(asked.stdout.strip())
    for kind in ("purelib", "platlib"):
        for package in Path(sysconfig.get_path(kind)).iterdir():
            link = packages / package.name
            if not package.name.startswith(tuple(absent)) and not link.exists():
                link.symlink_to(package)
    return python


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder: relative path → bytes."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def timeless(files: Mapping[str, bytes]) -> dict[str, list[str] | bytes]:
    """Return the files of a record without dates and durations."""
    return {
        name: data
        if not name.endswith(".json")
        else [line for line in data.decode().splitlines() if not line.strip().startswith(_TIMES)]
        for name, data in files.items()
    }


def _blogsmith(site: Path, *arguments: str, python: Path | None = None) -> None:
    command = [str(python or sys.executable), "-m", "blogsmith", *arguments]
    # A module search path of the caller could make NumPy available again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    finished = subprocess.run(command, cwd=site, env=environment, stdout=subprocess.DEVNULL)
    if finished.returncode:
        raise SystemExit(f"blogsmith {' '.join(arguments)} ended with exit code {finished.returncode}")


def judge_unchanged(site: Path, runs: int) -> list[float]:
    """Return, for each run, the milliseconds per page that unchanged cells add to a build."""
    from blogsmith.cells.update import update_cells
    from blogsmith.features.site_cells import survey_site
    from blogsmith.project.context import open_site
    from blogsmith.project.report import BuildLog, BuildOptions, ExecutionOptions, no_progress

    context, now = open_site(site), dt.datetime.now(dt.UTC)
    # As in a site of many posts, all pages share what a build looks up once.
    pages = 10 * [page.facts for page in survey_site(site, (), now).pages]
    options = BuildOptions(now=now, execution=ExecutionOptions(execute="stale"))
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        performed = update_cells(pages, context, options, BuildLog(no_progress))
        taken.append(1000 * (time.perf_counter() - began) / len(pages))
        if performed.ran_cells or not performed.cells:
            raise SystemExit("cells run although nothing has changed")
    return taken


def main(arguments: Sequence[str]) -> int:
    """Judge an unchanged site, build it, and print the measurements."""
    site, runs = Path(arguments[0]), int(arguments[1])
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event in _STARTING else None)
    from blogsmith.cli.main import main as blogsmith

    judged = judge_unchanged(site, runs)
    # The build may run stale cells, so it would start a process if any were stale.
    with redirect_stdout(io.StringIO()):
        code = blogsmith(["build", "--execute", "--site", str(site)])
    json.dump({"ms": judged, "started": len(started), "numpy": int("numpy" in sys.modules)}, sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
