"""Workers that are started in advance. They are forked from servers that have already imported the modules a
session uses.

A session must not be able to detect that its worker was forked, because a build starts fresh processes.
Therefore a server imports the modules in the setting `preload` and at most one module of
`_PRELOADABLE_MODULES`, and serves only sessions that import that module themselves. If a file of the site has
the same name as a module in the server, the worker is started fresh.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...base.patterns import lazy_pattern
from ...execute.session.fork_server_client import ForkServer
from ...execute.session.jobs import CellStep, SessionJob
from ...execute.session.process import Process, spawn

_PRELOADABLE_MODULES = ("matplotlib.pyplot", "matplotlib", "numpy")
"""Modules that are slow to import and used by many posts. A server imports only the first of these modules
that its sessions import, because that module imports the later ones itself."""
_MAX_SERVERS = 2
"""Maximum number of servers. Each uses 15 to 70 MB, most of it shared with its workers."""
_MAX_CRASHES = 3
"""Number of crashes after which a server is not started again."""
_IMPORT = lazy_pattern(r"^[ \t]*(?:import|from)[ \t]+(.+)", re.MULTILINE)
_SETTINGS = "matplotlibrc"
"""File that matplotlib reads when it is imported."""
_SESSION_VARIABLES = frozenset(("TMPDIR", "BLOGSMITH_SESSION"))
"""Names of environment variables whose values differ in each session."""


def find_slow_import(job: SessionJob) -> str:
    """Return the module of `_PRELOADABLE_MODULES` that a session imports, or an empty string."""
    codes = (step.code for step in job.steps if isinstance(step, CellStep))
    said = [line for code in codes for line in _IMPORT.findall(code)]
    if any("matplotlib" in line and re.search(r"\bpyplot\b", line) for line in said):
        return _PRELOADABLE_MODULES[0]
    return next(
        (name for name in _PRELOADABLE_MODULES[1:] if any(re.search(rf"\b{name}\b", s) for s in said)), ""
    )


class WorkerPool:
    """Starter of the workers of all sessions; many threads may call it. In its methods, `preload` contains
    the modules in the setting of this name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[tuple[str, tuple[str, ...]], ForkServer] = {}
        """(Python program, modules) → server, the most recently used one last."""
        self._deaths: dict[tuple[str, tuple[str, ...]], int] = {}
        self._environment: Mapping[str, str] = {}
        self._problems: Mapping[str, str] = {}
        self._closed = False

    def prepare(self, jobs: Iterable[SessionJob], preload: tuple[str, ...]) -> None:
        """Start servers for these sessions, the most important first. The servers import modules in the
        background."""
        wanted = {(job.python, _modules(job, preload)): job for job in jobs if _can_be_forked(job)}
        for job in reversed(list(wanted.values())[:_MAX_SERVERS]):
            self._server(job, preload)

    def start(self, job: SessionJob, preload: tuple[str, ...]) -> Process:
        """Start a worker for a session. Raise OSError if the system cannot start it."""
        server = self._server(job, preload) if _can_be_forked(job) else None
        if server is None or server.fork_obstacle(job) or _is_detectable(job, preload, server):
            return spawn(job)
        self._problems = server.import_errors
        return server.start(job)

    @property
    def problems(self) -> Mapping[str, str]:
        """Return module → import error, as reported by the server that was used last."""
        return self._problems

    def close(self) -> None:
        """End all servers, and start no more. Running workers are not affected."""
        with self._lock:
            self._closed = True
            servers = list(self._servers.values())
            self._servers.clear()
        _end(servers)

    def _server(self, job: SessionJob, preload: tuple[str, ...]) -> ForkServer | None:
        """Return the server for a session. Start one if there is none."""
        key = (job.python, _modules(job, preload))
        environment = {name: text for name, text in job.env.items() if name not in _SESSION_VARIABLES}
        old: list[ForkServer] = []
        with self._lock:
            if self._closed:
                return None
            if environment != self._environment:
                old, self._servers, self._deaths = list(self._servers.values()), {}, {}
                self._environment = environment
            found = self._servers.pop(key, None)
            if found is not None and found.has_died:
                old.append(found)
                found = None
                self._deaths[key] = self._deaths.get(key, 0) + 1
            if found is None and self._deaths.get(key, 0) < _MAX_CRASHES:
                found = ForkServer(job.python, key[1], environment)
                found.__enter__()
            if found is None:
                return None
            self._servers[key] = found
            while len(self._servers) > _MAX_SERVERS:
                old.append(self._servers.pop(next(iter(self._servers))))
        _end(old)
        return found


def _end(servers: Iterable[ForkServer]) -> None:
    for server in servers:
        server.kill()
        server.__exit__(None, None, None)


def _modules(job: SessionJob, preload: tuple[str, ...]) -> tuple[str, ...]:
    known = find_slow_import(job)
    return preload if not known or known in preload else (*preload, known)


def _can_be_forked(job: SessionJob) -> bool:
    return job.engine.is_forkable and not job.cuda and job.threads == 1


def _is_detectable(job: SessionJob, preload: tuple[str, ...], server: ForkServer) -> bool:
    """Return whether a worker of the server could give other results than a build, because of modules that
    the server has imported."""
    modules = _modules(job, preload)
    if preload and modules == preload:
        return False  # a build also forks it from a server
    added = [name for name in modules if name not in preload]
    if any(name in server.import_errors for name in added):
        return True
    if any("matplotlib" in name for name in added) and (job.folder / _SETTINGS).exists():
        return True
    # a relative folder has another meaning in the working folder of the server
    path = job.env.get("PYTHONPATH", "")
    if path and not all(map(os.path.isabs, path.split(os.pathsep))):
        return True
    return any(_shadows_module(server.modules, folder) for folder in {job.folder, job.root})


def _shadows_module(names: frozenset[str], folder: Path) -> bool:
    """Return whether a folder contains a module with one of these names. A build would import that module
    instead."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name, _, rest = entry.name.partition(".")
                if name not in names:
                    continue
                is_package = not rest and (Path(entry.path) / "__init__.py").exists()
                if is_package or rest.endswith(("py", "pyc", "so", "pyd")):
                    return True
    except OSError:
        return True
    return False
