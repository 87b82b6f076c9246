"""Keys of cells and values. A key is a digest of everything that must be unchanged for a recorded result to
be valid.

The key of a cell hashes the previous key in its session, its code and the options that change its result.
Prose, captions and options that only affect display are not included, nor are the session's name or the
layout of Python code. Records older than 2026-11-23 hash the code as written, see `AS_WRITTEN`. Files and
modules that code reads have digests of their own next to the keys (`record.py`).
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
"""Version of the keys and of the files that store them. A new version makes every record stale."""
KeyForm: TypeAlias = Literal[1, 2]
AS_WRITTEN: KeyForm = 1
"""Form of keys that hash the code as the author wrote it."""
CANONICAL: KeyForm = 2
"""Form of keys that hash Python code in its canonical form."""
DEFAULT_FIGURES = FigureSettings()
_NONE: Mapping[str, str] = MappingProxyType({})


class SessionKeys(Struct, frozen=True):
    """Keys of one session of a page, and the parts that they are made from. Digests are 32 hex digits."""

    start: str
    """Key before the first cell, made from the schema version, the language, the environment and the
    `depends` of the page."""
    cells: tuple[str, ...]
    """One key for each cell of the session that runs."""
    codes: tuple[str, ...]
    """Digest of the code alone, one for each cell."""
    options: tuple[Mapping[str, str], ...]
    """For each cell, the options that change its result and differ from the default, as strings."""
    values: Mapping[int, str]
    """Number of a value → its key. Empty except for the session `main`."""
    form: KeyForm = CANONICAL
    sweeps: Mapping[int, Mapping[str, str]] = MappingProxyType({})
    """Position of a cell with a sweep → key of each of its points except the default one → key of the result
    for that point."""


def session_keys(
    page: PageCells,
    session: str,
    environment: Mapping[str, str],
    figures: FigureSettings = DEFAULT_FIGURES,
    form: KeyForm = CANONICAL,
) -> SessionKeys:
    """Return the keys of `session`.

    environment: variables that cells may see and that are set, with their values.
    figures: figure settings of the site, for cells without their own.
    form: form in which code is hashed.
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
        options.append(result_options(cell, figures))
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
    """Return a digest of the line numbers in the code of these cells, because outputs may contain these
    numbers."""
    return _digest(*(line_layout(cell.code) for cell in cells))


def _code_digest(cell: Cell, form: KeyForm) -> str:
    if form == AS_WRITTEN or cell.language != "python":
        return code_digest(cell.code)
    return _digest("canonical", canonical_form(cell.code, has_shapes=cell.options.shapes))


def _cell_key(before: str, code: str, options: Mapping[str, str]) -> str:
    return _digest(before, code, *(part for item in options.items() for part in item))


def _runner(page: PageCells, cells: Sequence[Cell]) -> str:
    """Return a name of the program that runs the cells, as a part of their keys: the language, with the
    kernel if there is one. For drawings: the language and the LaTeX files of their preamble."""
    language = cells[0].language if cells else "python"
    if cells and cells[0].is_drawing:
        return " ".join((language, *page.preamble))
    return language if page.engine == "worker" else f"{language} in {page.kernel or 'python3'}"


def start_key(runner: str, environment: Mapping[str, str], depends: Sequence[str]) -> str:
    """Return the key before the first cell of a session. runner: language and kernel."""
    variables = environment_digests(environment)
    names = [part for name in sorted(variables) for part in (name, variables[name])]
    return _digest(str(SCHEMA), runner, str(len(names)), *names, *sorted(depends))


def code_digest(code: str) -> str:
    """Return a digest of the code as written."""
    return _digest(plain_form(code))


def environment_digests(environment: Mapping[str, str]) -> dict[str, str]:
    """Map each variable to the first 8 hex digits of its value's digest. These show whether the value has
    changed, but do not reveal a long secret."""
    return {name: _digest("environment", name, value)[:8] for name, value in environment.items()}


def result_options(cell: Cell, figures: FigureSettings) -> Mapping[str, str]:
    """Return the options that change the result of a cell and differ from the default, as strings."""
    options = cell.options
    form = options.fig_format or figures.format
    dark = figures.dark if options.fig_dark is None else options.fig_dark
    found = {}
    if options.claim:
        found["claim"] = "true"
    if options.counter_check:
        found["counter-check"] = "true"
    if options.depends:
        found["depends"] = ", ".join(sorted(set(options.depends)))
    if dark:
        found["fig-dark"] = "true"
    if form != "svg":
        found["fig-format"] = form
    if options.flags:
        found["flags"] = options.flags
    if options.needs:
        found["needs"] = ", ".join(sorted(map(str, options.needs)))
    if options.seed is not None:
        found["seed"] = str(options.seed)
    if options.shapes:
        found["shapes"] = "check"
    if options.sweep:
        # later cells see this point of the sweep; the other points have keys of their own
        found["sweep"] = options.sweep.default_point.key
    return found or _NONE


def _value_keys(page: PageCells, cells: Sequence[Cell], chain: Sequence[str]) -> dict[int, str]:
    """Map the number of each value to its key. chain: the key before the first of `cells`, then the key of
    each cell."""
    found = {}
    for value in page.values:
        before = chain[count_cells_before(cells, value.after)]
        found[value.number] = _digest("value", before, value.expression, value.conversion, value.spec)
    return found


def count_cells_before(cells: Sequence[Cell], after: int) -> int:
    """Return how many of `cells` precede a value. after: number of cells of the page, of any kind, that
    precede the value."""
    return sum(cell.number <= after for cell in cells)


def _digest(*parts: str) -> str:
    # Each part follows its length, so that different lists of parts never give the same string.
    text = "".join([f"{len(part)}:{part}" for part in parts])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# Canonical form of code: without comments and independent of layout.
#
# The form is a list of tokens and the same in every version of Python. Code that is not plain Python, such
# as a line for a shell, is used as written.


_LAYOUT = frozenset({tokenize.NL, tokenize.ENCODING, token.ENDMARKER})
_TOKEN_TEXT = {token.NEWLINE: "\n", token.INDENT: "\x0e", token.DEDENT: "\x0f"}
# Names in Python 3.12 and later, where an f-string consists of several tokens.
_FSTRING_STARTS = frozenset(getattr(token, name, -1) for name in ("FSTRING_START", "TSTRING_START"))
_FSTRING_ENDS = frozenset(getattr(token, name, -1) for name in ("FSTRING_END", "TSTRING_END"))
_INVALID_TOKENS = frozenset("!?$`")
"""Characters that only some versions of Python accept as tokens."""
_INTROSPECTION = lazy_pattern(r"\b(?:inspect|getsource|linecache|__doc__|tokenize)\b")
"""Matches code that may read its own source."""


def plain_form(code: str) -> str:
    r"""Return the code as written, but with `\n` as line end and without trailing whitespace."""
    return code.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def canonical_form(code: str, *, has_shapes: bool = False) -> str:
    """Return Python code without everything that does not affect its behaviour. has_shapes: whether to keep
    comments, because those with shapes are checked at run time."""
    plain = plain_form(code)
    if _INTROSPECTION.search(plain):
        return plain
    try:
        parts = [text for text, _ in _significant(plain, has_shapes=has_shapes)]
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return plain
    # The separator cannot occur in code, so two tokens are never read as one.
    return "\x1f".join(parts) if "\x1f" not in plain and "\x00" not in plain else plain


def line_layout(code: str) -> str:
    """Return a string with the line number of each token. It changes if lines are added, removed or
    joined."""
    plain = plain_form(code)
    try:
        return " ".join(str(line) for _, line in _significant(plain, has_shapes=False))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return plain


def _significant(code: str, *, has_shapes: bool) -> Iterator[tuple[str, int]]:
    """Yield the text and line of each significant token. Raises `SyntaxError` where Python finds no token."""
    lines = code.split("\n")
    depth, begin = 0, (0, 0)
    for found in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = found.type
        if kind in _FSTRING_STARTS:
            begin = begin if depth else found.start
            depth += 1
        elif kind in _FSTRING_ENDS:
            depth -= 1
            if not depth:
                yield _between(lines, begin, found.end), begin[0]
        elif depth or kind in _LAYOUT or (kind == tokenize.COMMENT and not has_shapes):
            continue
        elif kind == token.ERRORTOKEN or found.string in _INVALID_TOKENS:
            raise SyntaxError(found.string)
        else:
            yield _TOKEN_TEXT.get(kind, found.string), found.start[0]


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "\n".join((lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]))
