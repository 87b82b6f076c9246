"""A Dask cluster started independently of blogsmith, for tests: scheduler and workers as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.sessions import wait_for

needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None, reason="distributed is not installed; `make test-engines` has it"
)
_START_S = 60


@dataclass
class Machines:
    """A running cluster."""

    folder: Path
    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add(self, name: str, *options: str, env: Mapping[str, str] | None = None) -> None:
        """Start a worker, and wait until it is available."""
        command = ["worker", self.address, "--name", name, "--nthreads", "1", "--memory-limit", "0"]
        more = ["--no-dashboard", "--local-directory", str(self.folder / name), *options]
        self.workers.append(_dask(*command, *more, log=self.folder / f"{name}.log", env=env))
        said = self.folder / f"{name}.log"
        wait_for(lambda: "Registered to" in said.read_text(), _START_S)


@contextmanager
def machines(folder: Path) -> Iterator[Machines]:
    """Start a scheduler on 127.0.0.1. Stop it and its workers at the end."""
    file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = _dask("scheduler", *options, log=folder / "scheduler.log")
    found = Machines(folder, "", scheduler)
    try:
        wait_for(lambda: file.exists() and bool(file.read_text()), _START_S)
        found.address = json.loads(file.read_text())["address"]
        yield found
    finally:
        for process in (*found.workers, scheduler):
            process.terminate()
        for process in (*found.workers, scheduler):
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _dask(*arguments: str, log: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        return subprocess.Popen(
            # an interactive worker finds blogsmith like any program
            [sys.executable, "-m", "dask", *arguments],
            env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(log.parent), **(env or {})},
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def marked(mark: str) -> list[int]:
    """Return processes with this value of the variable USER, without zombies; Linux only."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"USER={mark}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found
