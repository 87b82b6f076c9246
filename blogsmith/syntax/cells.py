"""Cells: fences whose code runs.

A python fence opts in with a `#|` line in front of its code, with `eval` in its info string, or by the forms
of Quarto and MyST, `{python}` and `{code-cell}`; a page with `execute: all` opts in for all of them. The
lines of options leave the code, so that what is shown and copied is what runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..cells import Cell, PageCells
from ..errors import Place
from ..model import Document
from .cell_checks import check_cells
from .cell_lines import option_lines, read_head, warn_of_comment, warn_of_late
from .cell_options import Described, read_options
from .cell_values import refuse_values
from .records import Fence, get, put
from .refs import label_id
from .state import PageState, page_of

_PYTHON = frozenset({"python", "python3", "py", "ipython", "ipython3"})
_ENGINES = frozenset(
    {
        "r",
        "julia",
        "ojs",
        "bash",
        "sh",
        "zsh",
        "sql",
        "stan",
        "node",
        "octave",
        "perl",
        "ruby",
        "rust",
        "scala",
    }
)
"""Languages that run in Quarto and knitr when they stand in braces."""


def cells(state: StateCore) -> None:
    """Core rule behind `fences`: make the cells, in the order of the source."""
    page = page_of(state.env)
    found: dict[int, Cell] = {}
    tokens: dict[int, Token] = {}
    for token, in_browser in sorted(_fences(state.tokens), key=lambda item: item[0].map or [0]):
        if _is_cell(token, page, in_browser=in_browser):
            number = len(found) + 1
            found[number], tokens[number] = _make(token, number, page), token
        else:
            _leave(token, page)
    for cell in check_cells(_seeded(list(found.values()), page), page):
        put(tokens[cell.number], cell)


def _fences(tokens: Sequence[Token]) -> Iterator[tuple[Token, bool]]:
    """Every fence, and whether it stands in a block that runs in the browser."""
    depth = 0
    for token in tokens:
        if token.type in ("runnable_open", "runnable_close"):
            depth += token.nesting
        elif token.type == "fence":
            yield token, depth > 0


def _is_python(fence: Fence) -> bool:
    return fence.language.casefold() in _PYTHON or (fence.form == "code-cell" and not fence.language)


def _is_cell(token: Token, page: PageState, *, in_browser: bool) -> bool:
    fence = get(token, Fence)
    if not _is_python(fence):
        return False
    if fence.form or fence.is_marked or option_lines(token.content):
        return True
    return page.mode == "all" and not in_browser


def _leave(token: Token, page: PageState) -> None:
    """A fence that does not run: say so where it looks as if it should."""
    fence = get(token, Fence)
    place = fence.place or Place(page.first_line)
    language = fence.language.casefold()
    is_foreign = fence.form == "code-cell" or (fence.form == "braces" and language in _ENGINES)
    off = any(setting.key == "eval" and setting.value is False for setting in fence.settings)
    if not _is_python(fence) and (is_foreign or (fence.is_marked and not off)):
        hint = f"write ```{fence.language} for code that is only shown"
        message = f"only Python is run; this {fence.language or 'code'} is shown as it is"
        page.reporter.warn("cell-language", message, place, hint)
        if is_foreign:
            token.content = token.content.removeprefix(option_lines(token.content))
        return
    if _is_python(fence):
        first = (token.map or [0])[0] + 1
        warn_of_comment(token.content.partition("\n")[0], first, page)
        warn_of_late(token.content, first, page)
    if not off:
        for setting in fence.settings:
            message = f"{setting.key} says nothing on a fence that does not run"
            page.reporter.warn("fence-info", message, setting.key_place, "add eval")


def _make(token: Token, number: int, page: PageState) -> Cell:
    """The cell of a fence; the fence keeps what concerns the look of its code."""
    fence = get(token, Fence)
    first = (token.map or [0])[0] + 1
    head = read_head(token.content, first, page, myst=fence.form == "code-cell")
    described = _with_info(read_options((*fence.settings, *head.settings), page), fence, page)
    options = described.options
    for text in options.texts.values():
        refuse_values(text, page.reporter)
    code = "\n".join(token.content.split("\n")[head.lines :])
    token.content = code
    put(token, replace(fence, language="python", id="", fold=options.code_fold, settings=()))
    first_line = page.first_line + first + head.lines
    return Cell(number, code, first_line, fence.place or Place(first_line), described.label, options)


def _with_info(described: Described, fence: Fence, page: PageState) -> Described:
    """What the info string says in words of its own: `{#label}` and `fold`."""
    options = described.options
    if fence.fold and "code-fold" not in options.places:
        options = replace(options, code_fold=fence.fold)
    if fence.id and described.label:
        message = f"the cell has two labels, {fence.id} and {described.label}"
        page.reporter.error("cell-option", message, options.places.get("label"))
    return Described(described.label or label_id(fence.id), options)


def _seeded(found: list[Cell], page: PageState) -> list[Cell]:
    """The page's seed is set once, before the first cell of each session."""
    seed, begun = page.execution.seed, set[str]()
    seeded = []
    for cell in found:
        session = cell.options.session
        if seed is not None and cell.runs and session not in begun and cell.options.seed is None:
            cell = replace(cell, options=replace(cell.options, seed=seed))
        if cell.runs:
            begun.add(session)
        seeded.append(cell)
    return seeded


def page_cells(document: Document, tokens: Sequence[Token], page: PageState) -> PageCells:
    """All that runs in the page, once everything is numbered."""
    metas: Iterator[Mapping[str, object]] = (token.meta for token in tokens if token.type == "fence")
    found = [cell for meta in metas if isinstance(cell := meta.get("cell"), Cell)]
    in_order = tuple(sorted(found, key=lambda cell: cell.number))
    asked = page.execution
    values = tuple(page.values)
    return PageCells(document.path, in_order, values, asked.depends, asked.timeout_s, asked.memory_bytes)
