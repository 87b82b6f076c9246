"""All lines of the table for one generator: the order of sites and servers."""

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
"""Shortest pause from a visible edit to the next one."""
# Hugo dates its responses by the second: a browser that reloads within a second shows the old page.
PEERS_PAUSE_S = 1.1
_EDITS = frozenset(("text 50", "css", "error", "fixed", "cell", "burst"))
_AT_SIZE = frozenset(("text 1000", "cold", "warm", "early", "memory", "peak"))
_AT_MOST = frozenset(("cold at most",))
_MB = 1e6
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Plan:
    """The goals to measure, and the number of repetitions."""

    keys: frozenset[str]
    """Keys of goals."""
    few: int
    """Number of posts of the small site."""
    many: int
    """Number of posts of the large site."""
    most: int
    """Number of posts of the site that is measured only for its first page."""
    edits: int
    starts: int
    """Number of cold starts, and of warm starts."""
    seed: int


Results = dict[str, Taken | str]
"""Key of the goal → values, or the reason why there are none."""


def rows_of(subject: Subject, plan: Plan, folder: Path, tab: Tab) -> Iterator[Row]:
    """Yield the rows of one generator, each when it is complete."""
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
    """Measure edits on a small site, with one server for all of them."""
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
    """Measure starts of a large site, then edits on it, and their memory."""
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
    """Measure the first page of a site without caches."""
    site = write_site(subject, folder / "most", plan.most)
    yield {"cold at most": Taken(tuple(_cold_start(site) for _ in range(plan.starts)))}


def _start(site: Site) -> float:
    """Return the seconds from the start of a server to its first page, which is not the home page."""
    with serving(site) as server:
        return first_answer(server, site.page)


def _cold_start(site: Site) -> float:
    """Return the same without caches of an earlier server."""
    forget(site)
    return _start(site)


def _serve_everything(site: Site) -> None:
    """Run a server until it is idle, so that its caches are complete."""
    with serving(site) as server:
        first_answer(server, site.page)
        wait_until_idle(server.process.pid, START_S)


def _early_edit(site: Site, word: str) -> float:
    """Return the seconds from an early edit to the page that shows it, after a warm start.

    The edit is made when the server has sent its first page.
    """
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
    """Return the measurements, or the reason why there are none."""
    try:
        return measure()
    except MeasureError as error:
        return dict.fromkeys(keys, str(error))


def trust(site: Site) -> None:
    """Allow our server to run the cells of a site of ours."""
    if site.subject.name == OURS:
        command = [sys.executable, "-m", "blogsmith", "trust"]
        environment = {**os.environ, **site.environment}
        subprocess.run(command, cwd=site.root, env=environment, stdout=subprocess.DEVNULL, check=True)
