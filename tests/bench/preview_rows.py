"""Every line of the table for one generator: which sites are made, which servers run, in which order."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from .preview_browser import Tab
from .preview_edits import Session, burst, cell_edits, errors_and_fixes, style_edits, text_edits
from .preview_processes import MemoryWatch, wait_until_idle
from .preview_servers import (
    START_S,
    MeasureError,
    Server,
    first_answer,
    free_port,
    get,
    started,
)
from .preview_sites import Site, Subject, edited, forget, save, words, write_site
from .preview_table import GOALS, OURS, Row, Taken

OURS_PATIENCE_S = 10
PEERS_PATIENCE_S = 20
OURS_PAUSE_S = 0.3
"""The shortest from an edit that is seen to the next one."""
# Hugo dates its answers by the second: a browser that loads a page twice within one shows the first again.
PEERS_PAUSE_S = 1.1
_EDITS = frozenset(("text 50", "css", "error", "fixed", "cell", "burst"))
_AT_SIZE = frozenset(("text 1000", "cold", "warm", "early", "memory", "peak"))
_AT_MOST = frozenset(("cold at most",))
_MB = 1e6
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and how often."""

    keys: frozenset[str]
    """Of goals."""
    few: int
    """Posts of the small site."""
    many: int
    """Posts of the large one."""
    most: int
    """Posts of the site that only first pages are asked of."""
    edits: int
    starts: int
    """Cold and warm each."""
    seed: int


Results = dict[str, Taken | str]
"""By the key of the goal."""


def rows_of(subject: Subject, plan: Plan, folder: Path, tab: Tab) -> Iterator[Row]:
    """The rows of one generator, as soon as each is known."""
    for keys, measure in ((_EDITS, _small), (_AT_SIZE, _large), (_AT_MOST, _largest)):
        wanted = keys & plan.keys - ({"cell"} if subject.name != OURS else set())
        if not wanted:
            continue
        results: Results = {}
        try:
            for found in measure(subject, plan, folder, tab):
                results |= found
                yield from _rows(subject, {key: found[key] for key in found if key in wanted})
        except MeasureError as error:
            yield from _rows(subject, {key: str(error) for key in wanted - results.keys()})


def _rows(subject: Subject, results: Results) -> Iterator[Row]:
    for goal in GOALS:
        if goal.key in results:
            yield Row(goal, subject.name, results[goal.key])


def _small(subject: Subject, plan: Plan, folder: Path, tab: Tab) -> Iterator[Results]:
    """Edits on a small site, one server for all of them."""
    site = write_site(subject, folder / "few", plan.few)
    trust(site)
    with serving(site) as server:
        first_answer(server, site.page)
        wait_until_idle(server.process.pid, START_S)
        session = _session(site, server, tab, plan)
        session.open()
        for keys, measure in _SMALL:
            if plan.keys & keys and (keys != {"cell"} or subject.name == OURS):
                yield _tried(keys, lambda measure=measure: measure(session, plan.edits))  # type: ignore[misc]


def _errors(session: Session, edits: int) -> Results:
    shown, gone = errors_and_fixes(session, edits)
    return {"error": shown, "fixed": gone}


_SMALL: tuple[tuple[frozenset[str], Callable[[Session, int], Results]], ...] = (
    (frozenset(("text 50",)), lambda session, edits: {"text 50": text_edits(session, edits)}),
    (frozenset(("css",)), lambda session, edits: {"css": style_edits(session, edits)}),
    (frozenset(("error", "fixed")), _errors),
    (frozenset(("cell",)), lambda session, edits: {"cell": cell_edits(session, edits)}),
    (frozenset(("burst",)), lambda session, edits: {"burst": burst(session)}),
)


def _large(subject: Subject, plan: Plan, folder: Path, tab: Tab) -> Iterator[Results]:
    """Starts of a large site, then edits on it, and the memory they took."""
    site = write_site(subject, folder / "many", plan.many)
    if "cold" in plan.keys:
        yield {"cold": Taken(tuple(_cold_start(site) for _ in range(plan.starts)))}
    if "warm" in plan.keys:
        _serve_everything(site)
        yield {"warm": Taken(tuple(_start(site) for _ in range(plan.starts)))}
    if "early" in plan.keys:
        yield {"early": Taken(tuple(_early_edit(site, word) for word in islice(words("w"), plan.starts)))}
    forget(site)
    with serving(site) as server, MemoryWatch(server.process.pid) as memory:
        first_answer(server, site.page)
        wait_until_idle(server.process.pid, START_S)
        session = _session(site, server, tab, plan)
        session.open()
        yield _tried({"text 1000"}, lambda: {"text 1000": text_edits(session, plan.edits)})
        at_end = memory.now()
    yield {"memory": Taken((at_end / _MB,)), "peak": Taken((memory.peak_bytes / _MB,))}


def _largest(subject: Subject, plan: Plan, folder: Path, tab: Tab) -> Iterator[Results]:
    """First pages of a site that is read for the first time."""
    site = write_site(subject, folder / "most", plan.most)
    yield {"cold at most": Taken(tuple(_cold_start(site) for _ in range(plan.starts)))}


def _start(site: Site) -> float:
    """Seconds from the start of a server to its first page, which is not the home page."""
    with serving(site) as server:
        return first_answer(server, site.page)


def _cold_start(site: Site) -> float:
    """The same with nothing left of an earlier server."""
    forget(site)
    return _start(site)


def _serve_everything(site: Site) -> None:
    """Leave what a server leaves that has had its time."""
    with serving(site) as server:
        first_answer(server, site.page)
        wait_until_idle(server.process.pid, START_S)


def _early_edit(site: Site, word: str) -> float:
    """Seconds from an edit made as soon as there is a page, of a warm start, to the page that has it."""
    _serve_everything(site)
    with serving(site) as server:
        first_answer(server, site.page)
        saved = save(site.file, edited(site.number, word), "rename")
        while word.encode() not in get(server.port, site.page)[1]:
            if time.time() > saved + START_S:
                raise MeasureError("an edit right after the start is never served")
            time.sleep(_POLL_S)
        return time.time() - saved


def serving(site: Site) -> AbstractContextManager[Server]:
    port = free_port()
    return started(site.subject.serve(port), site.root, site.environment, port)


def _session(site: Site, server: Server, tab: Tab, plan: Plan) -> Session:
    if site.subject.name == OURS:
        return Session(site, server, tab, OURS_PATIENCE_S, plan.seed, OURS_PAUSE_S)
    return Session(site, server, tab, PEERS_PATIENCE_S, plan.seed, PEERS_PAUSE_S)


def _tried(keys: set[str] | frozenset[str], measure: Callable[[], Results]) -> Results:
    """What was measured, or why it was not."""
    try:
        return measure()
    except MeasureError as error:
        return dict.fromkeys(keys, str(error))


def trust(site: Site) -> None:
    """Let our server run the cells of a site of ours."""
    if site.subject.name == OURS:
        command = [sys.executable, "-m", "blogsmith", "trust"]
        environment = {**os.environ, **site.environment}
        subprocess.run(command, cwd=site.root, env=environment, stdout=subprocess.DEVNULL, check=True)
