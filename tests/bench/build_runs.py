"""One run of a generator: seconds, CPU time and memory, on a limited number of cores."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .build_sites import Site
from .build_subjects import ROOT

# `ru_maxrss` is in kilobytes on Linux and in bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Run:
    """Time and memory of one run."""

    wall_s: float
    """Seconds from the start of the program to its end."""
    cpu_s: float
    """User and system seconds of the program and its child processes."""
    peak_bytes: int
    """Peak memory of the largest process.

    At least the memory of this process at the start of the run, because Linux counts a child from its fork
    on.
    """


def prepare_machine(cores: int) -> None:
    """Compile our package, and limit child processes to this number of cores if the system can."""
    subprocess.run(
        (sys.executable, "-m", "compileall", "-q", str(ROOT / "blogsmith")), env=_environment(), check=True
    )
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def run_build(site: Site) -> Run:
    """Build the site and write its messages to a file beside the site."""
    return _run(site, site.subject.command)


def run_check(site: Site) -> Run:
    """Check the site right after a build."""
    return _run(site, site.subject.check)


def run_version(site: Site) -> Run:
    return _run(site, site.subject.version)


def _run(site: Site, command: Sequence[str]) -> Run:
    command = [part.replace("{root}", str(site.root)) for part in command]
    log = site.root.with_suffix(".log")
    environment = {**_environment(), **site.subject.environment}
    # Consent and cache of our site are in folders of the user.
    environment["XDG_STATE_HOME"] = str(site.root.with_suffix(".state"))
    environment["XDG_CACHE_HOME"] = str(site.user_cache)
    with log.open("wb") as file:
        started = time.perf_counter()
        with subprocess.Popen(command, cwd=site.root, env=environment, stdout=file, stderr=file) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
    if process.returncode:
        _fail(site, command, log)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _RSS_UNIT)


def _environment() -> dict[str, str]:
    # If the environment disabled bytecode, every start would compile the package again.
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _fail(site: Site, command: Sequence[str], log: Path) -> None:
    lines = log.read_text("utf-8", errors="replace").splitlines()[-20:]
    raise SystemExit("\n".join((f"{site.subject.name} failed: {' '.join(command)}", *lines)))
