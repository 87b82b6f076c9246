"""A session on another machine: what it takes from there, what it brings along, and how it ends.

A checkout of the site stands there at the same path. Temporary folder, environment and, where the site names
none, Python are those of that machine; only variables that the site declares keep the values they have here,
since results depend on them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from ...model.results import SessionRun
from ..session.environment import cell_environment
from ..session.jobs import SessionJob
from ..session.pool import Live
from ..session.process import spawn
from ..session.session import SessionObserver, Start, silent_observer
from ..session.working_folder import working_folder

POLL_S = 0.1
"""Between two looks at whether a session is still wanted."""

Run = Callable[[SessionJob, SessionObserver, Start], SessionRun]
"""Called as `run_session`."""


@dataclass(frozen=True, slots=True)
class RemoteEnvironment:
    """What sessions bring along wherever they run."""

    python: str = ""
    """Path of the Python that runs cells; empty: the one blogsmith runs in there."""
    names: tuple[str, ...] = ()
    """Variables that the site declares."""
    values: tuple[tuple[str, str], ...] = ()
    """Those of them that are set, with their values."""

    @property
    def python_there(self) -> str:
        """Called where the session runs."""
        return self.python or sys.executable

    def environment(self, environ: Mapping[str, str], threads: int, temporary: Path) -> dict[str, str]:
        """The whole environment of cells. environ: of the machine they run on."""
        own = {name: value for name, value in environ.items() if name not in self.names}
        return cell_environment({**own, **dict(self.values)}, self.names, threads, temporary)


def terms_of(python: str, names: tuple[str, ...], environ: Mapping[str, str]) -> RemoteEnvironment:
    """What the site says. python: as in `RemoteEnvironment`; environ: the builder's."""
    return RemoteEnvironment(python, names, tuple((name, environ[name]) for name in names if name in environ))


def run_there(run: Run, job: SessionJob, terms: RemoteEnvironment, wanted: Callable[[], bool]) -> SessionRun:
    """Run a session on the machine where this is called.

    wanted: asked again and again; once it is false, all processes of the session are ended.
    """
    with working_folder() as folder:
        there = replace(
            job, python=terms.python_there, env=terms.environment(os.environ, job.threads, folder)
        )
        live = Live(spawn)
        with _end_unless(wanted, live):
            return structs.replace(run(there, silent_observer, live.start), python="")


def remote_environment(terms: RemoteEnvironment) -> dict[str, str]:
    """The environment of cells on the machine where this is called, for who asks its Python something."""
    return terms.environment(os.environ, 1, Path(tempfile.gettempdir()))


@contextmanager
def _end_unless(wanted: Callable[[], bool], live: Live) -> Iterator[None]:
    over = threading.Event()

    def watch() -> None:
        while not over.wait(POLL_S):
            if not wanted():
                live.stop()
                return

    watching = threading.Thread(target=watch, name="session-wanted", daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
