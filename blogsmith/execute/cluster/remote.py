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


# Which needs of cells the workers of a cluster meet, and so which of them may run a session.
#
# Each kind of worker is asked once: workers of one machine with the same resources count as alike. CUDA is
# looked for only where the resources for it are offered.


@dataclass(frozen=True, slots=True)
class WorkerResources:
    """A worker, as its scheduler describes it."""

    host: str
    resources: Mapping[str, float] = field(default_factory=dict)

    def has(self, resources: Mapping[str, float]) -> bool:
        """Whether it offers that much of each."""
        return all(self.resources.get(name, 0) >= amount for name, amount in resources.items())


@dataclass(frozen=True, slots=True)
class NeedsVerdict:
    """Who meets what."""

    unmet: Mapping[Need, str] = field(default_factory=dict)
    """Need that no worker meets → why, in words."""
    meets: Mapping[Need, frozenset[str]] = field(default_factory=dict)
    """Need → addresses of the workers that meet it."""

    def suitable(self, needs: Iterable[Need], workers: Iterable[str]) -> frozenset[str]:
        """Those of the workers that meet all of some needs; a need that nobody asked about does not count."""
        fit = frozenset(workers)
        return fit.intersection(*(self.meets[need] for need in needs if need in self.meets))


def questions(
    needs: Iterable[Need], offers: Mapping[str, WorkerResources], cuda: Mapping[str, float]
) -> dict[str, tuple[Need, ...]]:
    """Address of a worker → what to ask there; one worker of each kind.

    cuda: resources that a session with `needs: cuda` asks for.
    """
    asked = {}
    for address in dict.fromkeys(_speakers(offers).values()):
        able = offers[address].has(cuda)
        mine = tuple(need for need in needs if able or need.name != "cuda")
        if mine:
            asked[address] = mine
    return asked


def judge(
    needs: Iterable[Need],
    offers: Mapping[str, WorkerResources],
    cuda: Mapping[str, float],
    answers: Mapping[str, Mapping[Need, str] | Exception],
) -> NeedsVerdict:
    """Conclude from what the asked workers said.

    answers: address → each need that is not met there, with the reason; or why that worker did not answer.
    """
    speakers = _speakers(offers)
    reasons, meets = {}, {}
    for need in needs:
        who = [a for a, offer in offers.items() if need.name != "cuda" or offer.has(cuda)]
        said = {address: _format_answer(answers.get(speakers[address], {}), need) for address in who}
        meets[need] = frozenset(address for address, reason in said.items() if not reason)
        if not said:
            reasons[need] = f"no worker of the Dask cluster offers {format_resources(cuda)}"
        elif not meets[need]:
            address, reason = next(iter(said.items()))
            reasons[need] = f"no worker of the Dask cluster has it; {address} says: {reason}"
    return NeedsVerdict(reasons, meets)


async def unmet_there(
    asked: Mapping[str, tuple[Need, ...]], terms: RemoteEnvironment, address: str
) -> Mapping[Need, str]:
    """What is not met on the machine where this is called. asked: what `questions` gives."""
    import asyncio  # slow, and the callers have it already

    # in a thread: a worker goes on talking to its scheduler meanwhile
    return await asyncio.to_thread(unmet, asked[address], terms.python_there, remote_environment(terms))


def _speakers(offers: Mapping[str, WorkerResources]) -> dict[str, str]:
    """Address of each worker → address of the one that is asked for all of its kind."""
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
    """Resources as messages call them: `GPU`, `GPU=2 and VRAM=80`."""
    named = (name if amount == 1 else f"{name}={amount:g}" for name, amount in resources.items())
    return " and ".join(named)
