"""Keys of cells and values: what a recorded result must have been made from to be valid.

The key of a cell hashes the key before it in its session, its code and the options that change what it
computes. Prose, captions and everything that only shows are no part of it, nor is the session's name, nor how
Python's code is laid out. In records of before 2026-11-23 code counts as it is written, see `EXACT`.
Files and modules that code reads have digests of their own beside the keys (`record.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct

from ..model.cells import Cell, FigureSettings, PageCells
from .code_form import canonical_form, line_layout, plain_form

SCHEMA = 1
"""Of keys and of the files that hold them; a new one makes every record stale."""
KeyForm: TypeAlias = Literal[1, 2]
EXACT: KeyForm = 1
"""Code counts as it is written."""
CANONICAL: KeyForm = 2
"""Python's code counts in its canonical form."""
DEFAULT_FIGURES = FigureSettings()
_NONE: Mapping[str, str] = MappingProxyType({})


class SessionKeys(Struct, frozen=True):
    """The keys of one session of a page, with their parts; digests are 32 hex digits."""

    start: str
    """Before the first cell: schema, language, environment, `depends` of the page."""
    cells: tuple[str, ...]
    """One for each cell of the session that runs."""
    codes: tuple[str, ...]
    """Digest of the code alone, likewise."""
    options: tuple[Mapping[str, str], ...]
    """Options that change the result and are not the default, as words, likewise."""
    values: Mapping[int, str]
    """Number of a value → its key; empty but for the session `main`."""
    form: KeyForm = CANONICAL
    sweeps: Mapping[int, Mapping[str, str]] = MappingProxyType({})
    """Position of a cell with a sweep → key of each point but the default → the key of its result."""


def session_keys(
    page: PageCells,
    session: str,
    environment: Mapping[str, str],
    figures: FigureSettings = DEFAULT_FIGURES,
    form: KeyForm = CANONICAL,
) -> SessionKeys:
    """The keys of `session`.

    environment: the variables that cells may see and that are set, with their values.
    figures: what the site says of figures, for cells that say nothing. form: in which code counts.
    """
    cells = page.session_cells(session)
    start = start_key(_runner(page, cells), environment, page.depends)
    key = start
    keys: list[str] = []
    codes: list[str] = []
    options: list[Mapping[str, str]] = []
    sweeps: dict[int, Mapping[str, str]] = {}
    for cell in cells:
        codes.append(_code_digest(cell, form))
        options.append(relevant_options(cell, figures))
        if cell.options.sweep:
            others = cell.options.sweep.other_points()
            sweeps[len(keys)] = {
                one.key: _cell_key(key, codes[-1], {**options[-1], "sweep": one.key}) for one in others
            }
        key = _cell_key(key, codes[-1], options[-1])
        keys.append(key)
    values = _value_keys(page, cells, (start, *keys)) if session == "main" else {}
    return SessionKeys(start, tuple(keys), tuple(codes), tuple(options), values, form, sweeps)


def layout_digest(cells: Sequence[Cell]) -> str:
    """Of the lines on which the code of these cells stands, of which outputs may tell."""
    return _digest(*(line_layout(cell.code) for cell in cells))


def _code_digest(cell: Cell, form: KeyForm) -> str:
    if form == EXACT or cell.language != "python":
        return code_digest(cell.code)
    return _digest("canonical", canonical_form(cell.code, has_shapes=cell.options.shapes))


def _cell_key(before: str, code: str, options: Mapping[str, str]) -> str:
    return _digest(before, code, *(part for item in options.items() for part in item))


def _runner(page: PageCells, cells: Sequence[Cell]) -> str:
    """The language, and the kernel if there is one."""
    language = cells[0].language if cells else "python"
    return language if page.engine == "worker" else f"{language} in {page.kernel or 'python3'}"


def start_key(runner: str, environment: Mapping[str, str], depends: Sequence[str]) -> str:
    """The key before the first cell of a session. runner: language and kernel."""
    variables = environment_digests(environment)
    names = [part for name in sorted(variables) for part in (name, variables[name])]
    return _digest(str(SCHEMA), runner, str(len(names)), *names, *sorted(depends))


def code_digest(code: str) -> str:
    """Of the code as it is written."""
    return _digest(plain_form(code))


def environment_digests(environment: Mapping[str, str]) -> dict[str, str]:
    """Name → 8 hex digits of its value's digest: a change shows, and a long secret cannot be won back."""
    return {name: _digest("environment", name, value)[:8] for name, value in environment.items()}


def relevant_options(cell: Cell, figures: FigureSettings) -> Mapping[str, str]:
    """The options that change what a cell computes, where they are not the default, as words."""
    options = cell.options
    form = options.fig_format or figures.format
    dark = figures.dark if options.fig_dark is None else options.fig_dark
    found = {}
    if options.claim:
        found["claim"] = "true"
    if options.depends:
        found["depends"] = ", ".join(sorted(set(options.depends)))
    if dark:
        found["fig-dark"] = "true"
    if form != "svg":
        found["fig-format"] = form
    if options.needs:
        found["needs"] = ", ".join(sorted(map(str, options.needs)))
    if options.seed is not None:
        found["seed"] = str(options.seed)
    if options.shapes:
        found["shapes"] = "check"
    if options.sweep:
        # what the cells behind it see; other values have keys of their own
        found["sweep"] = options.sweep.default_point.key
    return found or _NONE


def _value_keys(page: PageCells, cells: Sequence[Cell], chain: Sequence[str]) -> dict[int, str]:
    """chain: the key before the first of `cells`, then theirs."""
    found = {}
    for value in page.values:
        before = chain[cells_before(cells, value.after)]
        found[value.number] = _digest("value", before, value.expression, value.conversion, value.spec)
    return found


def cells_before(cells: Sequence[Cell], after: int) -> int:
    """How many of `cells` stand before a value that has `after` cells of the page before it."""
    return sum(cell.number <= after for cell in cells)


def _digest(*parts: str) -> str:
    # each part with its length, so that no two lists of parts give the same text
    text = "".join([f"{len(part)}:{part}" for part in parts])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
