"""Pages with cells, their runs and environments, for tests of recorded results; no disk is touched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from blogsmith.base.diagnostics.model import Place, TextMap
from blogsmith.freeze.environment import Environment
from blogsmith.freeze.record import PageRecord
from blogsmith.freeze.recording import session_record
from blogsmith.freeze.staleness import PageVerdict, judge_page
from blogsmith.model.cells import Cell, CellOptions, FigureSettings, PageCells, Value
from blogsmith.model.results import Blob, CellRun, Display, Machine, SessionRun, Stream, ValueRun

POST = PurePosixPath("content/posts/attention.md")
DAY = "2026-11-21"
MACHINE = Machine(python="3.11.7", platform="Linux x86_64", packages={"numpy": "2.4.6"})


def cell(code: str = "x = 1\n", label: str = "", language: str = "python", **options: Any) -> Cell:
    return Cell(0, code, 1, Place(1), label, CellOptions(**options), language)


def page(
    *cells: Cell, values: Sequence[tuple[str, int]] = (), depends: tuple[str, ...] = (), lines: int = 0
) -> PageCells:
    """Return a page. values: expression and number of cells before it. lines: number of lines before the
    cells.
    """
    placed = tuple(
        Cell(number, c.code, lines + 10 * number, Place(lines + 9), c.label, c.options, c.language)
        for number, c in enumerate(cells, 1)
    )
    inline = tuple(
        Value(number, expression, TextMap(expression, ((lines + 1, 1),)), after=after)
        for number, (expression, after) in enumerate(values, 1)
    )
    return PageCells(POST, placed, inline, depends)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def around(files: Mapping[str, str] | None = None, **others: Any) -> Environment:
    """Return an environment. files: path → content."""
    known = files or {}
    digests = {path: digest(text) for path, text in known.items()}

    def matches(pattern: str, post: PurePosixPath) -> tuple[str, ...]:
        return tuple(path for path in sorted(known) if fnmatchcase(path, str(post.parent / pattern)))

    def state(key: str, like: str) -> str:
        return digests.get(key, like)

    settings: dict[str, Any] = {"environment": {}, "figures": FigureSettings()}
    settings |= {"digest_of": digests.get, "matches": matches, "state_of": state}
    return Environment(**settings | others)


def picture(data: bytes = b"<svg/>", mime: str = "image/svg+xml") -> dict[str, str | Blob]:
    return {mime: Blob(hashlib.sha256(data).hexdigest(), data)}


def run_page(
    post: PageCells,
    session: str = "main",
    machine: Machine = MACHINE,
    runs: Mapping[int, CellRun] | None = None,
) -> SessionRun:
    """Return a run where every cell prints its code, and every value is its expression in capitals.

    runs: position in the session → another result.
    """
    cells = tuple(
        (runs or {}).get(position, CellRun("ok", (Stream("stdout", c.code),), seconds=0.25))
        for position, c in enumerate(post.session_cells(session))
    )
    values = {v.number: ValueRun("ok", v.expression.upper()) for v in post.values if session == "main"}
    return SessionRun(session, cells, values, machine)


def record(
    post: PageCells, surroundings: Environment | None = None, runs: Mapping[int, CellRun] | None = None
) -> PageRecord:
    """Return the record after all sessions of a page have run. `runs`: as in `run_page`, for each session."""
    sessions = {}
    for name in post.sessions():
        made = session_record(post, run_page(post, name, runs=runs), surroundings or around(), DAY)
        assert made is not None
        sessions[name] = made
    return PageRecord(sessions)


def unsealed(data: bytes) -> bytes:
    """Return a record as an older blogsmith wrote it, so that tests may edit it."""

    def without(part: object) -> object:
        if isinstance(part, dict):
            return {key: without(value) for key, value in part.items() if key != "seal"}
        return [without(value) for value in part] if isinstance(part, list) else part

    loaded = without(json.loads(data))
    return (json.dumps(loaded, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def words(verdict: PageVerdict) -> dict[int, str]:
    """Map cell numbers to the reasons why they are not fresh."""
    return {number: found.summary for number, found in verdict.cells.items() if found.state != "fresh"}


def judged(
    post: PageCells, known: PageRecord | None, surroundings: Environment | None = None
) -> dict[int, str]:
    return words(judge_page(post, known, surroundings or around()))


def shown(data: bytes) -> Display:
    return Display("display", picture(data))


def pictured(*pictures: bytes, label: str = "scores") -> PageRecord:
    """Return the record of a page with one cell that draws these images."""
    return record(page(cell("plot()\n", label)), runs={0: CellRun("ok", tuple(map(shown, pictures)))})
