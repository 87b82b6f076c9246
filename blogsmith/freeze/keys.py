"""Keys of cells and values: what a recorded result must have been made from to be valid.

The key of a cell hashes the key before it in its session, its code and the options that change what it
computes. Prose, captions and everything that only shows are no part of it, nor is the session's name, nor how
Python's code is laid out. In records of before 2026-11-23 code counts as it is written, see `EXACT`.
Files and modules that code reads have digests of their own beside the keys (`record.py`).
"""

from __future__ import annotations

import hashlib
import io
import token
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct

from ..base.patterns import lazy_pattern
from ..model.cells import Cell, FigureSettings, PageCells

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


# Code as it counts for its result: without comments, and laid out in any way.
#
# The form is that of tokens, and the same in every version of Python. Code that has none, such as a line for
# a shell, counts as it is written.


_LAYOUT = frozenset({tokenize.NL, tokenize.ENCODING, token.ENDMARKER})
_MARKS = {token.NEWLINE: "\n", token.INDENT: "\x0e", token.DEDENT: "\x0f"}
# names of Python 3.12 and later, where an f-string is several tokens
_BEGINS = frozenset(getattr(token, name, -1) for name in ("FSTRING_START", "TSTRING_START"))
_ENDS = frozenset(getattr(token, name, -1) for name in ("FSTRING_END", "TSTRING_END"))
_FOREIGN = frozenset("!?$`")
"""Signs that only some versions of Python take for tokens."""
_READS_ITSELF = lazy_pattern(r"\b(?:inspect|getsource|linecache|__doc__|tokenize)\b")
"""Code that may see how it is written."""


def plain_form(code: str) -> str:
    """The code as it is written: with \\n as line end, without what is blank behind its last line."""
    return code.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def canonical_form(code: str, *, has_shapes: bool = False) -> str:
    """Python's code without what changes nothing of what it does.

    has_shapes: comments are checked while it runs, so they count.
    """
    plain = plain_form(code)
    if _READS_ITSELF.search(plain):
        return plain
    try:
        parts = [text for text, _ in _significant(plain, has_shapes=has_shapes)]
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return plain
    # no code can hold the separator, so that two tokens are never taken for one
    return "\x1f".join(parts) if "\x1f" not in plain and "\x00" not in plain else plain


def line_layout(code: str) -> str:
    """The line of each token: what moves when lines are put in, taken out or joined."""
    plain = plain_form(code)
    try:
        return " ".join(str(line) for _, line in _significant(plain, has_shapes=False))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return plain


def _significant(code: str, *, has_shapes: bool) -> Iterator[tuple[str, int]]:
    """Text and line of each token that counts; SyntaxError where Python knows no token."""
    lines = code.split("\n")
    depth, begin = 0, (0, 0)
    for found in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = found.type
        if kind in _BEGINS:
            begin = begin if depth else found.start
            depth += 1
        elif kind in _ENDS:
            depth -= 1
            if not depth:
                yield _between(lines, begin, found.end), begin[0]
        elif depth or kind in _LAYOUT or (kind == tokenize.COMMENT and not has_shapes):
            continue
        elif kind == token.ERRORTOKEN or found.string in _FOREIGN:
            raise SyntaxError(found.string)
        else:
            yield _MARKS.get(kind, found.string), found.start[0]


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "\n".join((lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]))
