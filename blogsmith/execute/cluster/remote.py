"""Runs sessions on another machine: sets up their environment there and ends them if their builder is gone.

That machine must have a checkout of the site at the same path. It provides the temporary folder, the
environment and, unless the site names one, the Python. Only the environment variables that the site declares
keep the values that they have on the builder's machine, because results depend on them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from ...model.cells import Need
from ...model.results import SessionRun
from ..probe.requirements import unmet
from ..session.environment import cell_environment
from ..session.jobs import SessionJob
from ..session.pool import WorkerRegistry
from ..session.process import spawn
from ..session.session import SessionObserver, Start, silent_observer
from ..session.working_folder import working_folder

POLL_S = 0.1
"""Seconds between two checks whether the builder still waits for a session."""

Run = Callable[[SessionJob, SessionObserver, Start], SessionRun]
"""Function that is called like `run_session`."""


@dataclass(frozen=True, slots=True)
class RemoteEnvironment:
    """The part of a session's environment that the builder sends to every machine."""

    python: str = ""
    """Path of the Python that runs cells. If empty, it is the Python that runs blogsmith on that machine."""
    names: tuple[str, ...] = ()
    """Names of the environment variables that the site declares."""
    values: tuple[tuple[str, str], ...] = ()
    """Names and values of those declared variables that are set on the builder's machine."""

    @property
    def resolved_python(self) -> str:
        """Path of the Python that runs cells. Read this on the machine where the session runs."""
        return self.python or sys.executable

    def environment(self, environ: Mapping[str, str], threads: int, temporary: Path) -> dict[str, str]:
        """Return the complete environment of cells. environ: environment of the machine where they run."""
        own = {name: value for name, value in environ.items() if name not in self.names}
        return cell_environment({**own, **dict(self.values)}, self.names, threads, temporary)


def remote_environment_for(
    python: str, names: tuple[str, ...], environ: Mapping[str, str]
) -> RemoteEnvironment:
    """Return the environment to send for a site. python, names: as in `RemoteEnvironment`. environ:
    environment of the builder."""
    return RemoteEnvironment(python, names, tuple((name, environ[name]) for name in names if name in environ))


def run_on_this_machine(
    run: Run, job: SessionJob, terms: RemoteEnvironment, wanted: Callable[[], bool]
) -> SessionRun:
    """Run a session on the current machine. wanted: called repeatedly; when `wanted()` returns False, all
    processes of the session are ended."""
    with working_folder() as folder:
        there = replace(
            job, python=terms.resolved_python, env=terms.environment(os.environ, job.threads, folder)
        )
        live = WorkerRegistry(spawn)
        with _end_unless(wanted, live):
            return structs.replace(run(there, silent_observer, live.start), python="")


def cell_environment_here(terms: RemoteEnvironment) -> dict[str, str]:
    """Return the environment of cells on the current machine, for checks of its Python."""
    return terms.environment(os.environ, 1, Path(tempfile.gettempdir()))


@contextmanager
def _end_unless(wanted: Callable[[], bool], live: WorkerRegistry) -> Iterator[None]:
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


# Needs that the workers of a cluster meet, which decide where a session may run. One worker of each kind is
# queried: workers on one host with the same resources are treated as equal. CUDA is checked only on workers
# that offer the resources for it.


@dataclass(frozen=True, slots=True)
class WorkerResources:
    """A worker's machine and resources, as reported by the scheduler."""

    host: str
    resources: Mapping[str, float] = field(default_factory=dict)

    def has(self, resources: Mapping[str, float]) -> bool:
        """Return whether the worker offers at least these amounts."""
        return all(self.resources.get(name, 0) >= amount for name, amount in resources.items())


@dataclass(frozen=True, slots=True)
class NeedsVerdict:
    """Needs that the workers of a cluster meet or do not meet."""

    unmet: Mapping[Need, str] = field(default_factory=dict)
    """Need that no worker meets → the reason, as a message."""
    workers_by_need: Mapping[Need, frozenset[str]] = field(default_factory=dict)
    """Need → addresses of the workers that meet it."""

    def suitable(self, needs: Iterable[Need], workers: Iterable[str]) -> frozenset[str]:
        """Return those of `workers` that meet all of `needs`. Needs that were never checked are ignored."""
        fit = frozenset(workers)
        return fit.intersection(
            *(self.workers_by_need[need] for need in needs if need in self.workers_by_need)
        )


def plan_queries(
    needs: Iterable[Need], offers: Mapping[str, WorkerResources], cuda: Mapping[str, float]
) -> dict[str, tuple[Need, ...]]:
    """Choose one worker of each kind (same host, same resources). Map its address to the needs to check
    there. cuda: resources that a session with `needs: cuda` requires."""
    asked = {}
    for address in dict.fromkeys(_representatives(offers).values()):
        able = offers[address].has(cuda)
        mine = tuple(need for need in needs if able or need.name != "cuda")
        if mine:
            asked[address] = mine
    return asked


def merge_answers(
    needs: Iterable[Need],
    offers: Mapping[str, WorkerResources],
    cuda: Mapping[str, float],
    answers: Mapping[str, Mapping[Need, str] | Exception],
) -> NeedsVerdict:
    """Combine the answers of the queried workers. answers: address → each unmet need with the reason, or the
    exception if that worker did not answer."""
    speakers = _representatives(offers)
    reasons, meets = {}, {}
    for need in needs:
        who = [a for a, offer in offers.items() if need.name != "cuda" or offer.has(cuda)]
        said = {address: _format_answer(answers.get(speakers[address], {}), need) for address in who}
        meets[need] = frozenset(address for address, reason in said.items() if not reason)
        if not said:
            reasons[need] = f"no Dask worker offers {format_resources(cuda)}"
        elif not meets[need]:
            address, reason = next(iter(said.items()))
            reasons[need] = f"no Dask worker meets it; {address} reports: {reason}"
    return NeedsVerdict(reasons, meets)


async def find_unmet_needs(
    asked: Mapping[str, tuple[Need, ...]], terms: RemoteEnvironment, address: str
) -> Mapping[Need, str]:
    """Return the needs that the current machine does not meet. asked: result of `plan_queries`."""
    import asyncio  # slow to import, and the callers have imported it already

    # in a thread, so that the worker still answers its scheduler
    return await asyncio.to_thread(unmet, asked[address], terms.resolved_python, cell_environment_here(terms))


def _representatives(offers: Mapping[str, WorkerResources]) -> dict[str, str]:
    """Map the address of each worker to the address of the first worker of the same kind, which is the only
    one to be queried."""
    first: dict[tuple[str, frozenset[tuple[str, float]]], str] = {}
    for address, offer in sorted(offers.items()):
        first.setdefault(_kind(offer), address)
    return {address: first[_kind(offer)] for address, offer in offers.items()}


def _kind(offer: WorkerResources) -> tuple[str, frozenset[tuple[str, float]]]:
    return offer.host, frozenset(offer.resources.items())


def _format_answer(answer: Mapping[Need, str] | Exception, need: Need) -> str:
    if isinstance(answer, Exception):
        return f"{type(answer).__name__}: {answer}"
    return answer.get(need, "")


def format_resources(resources: Mapping[str, float]) -> str:
    """Format resources for messages: `GPU`, `GPU=2 and VRAM=80`."""
    named = (name if amount == 1 else f"{name}={amount:g}" for name, amount in resources.items())
    return " and ".join(named)
