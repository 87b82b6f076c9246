"""Code that readers run in their browser: runnable blocks and cells.

A cell is runnable with `run-in: browser` or `both`. A block, `<div class="runnable">`, contains one Python
fence, which readers run. If that fence is a cell, it keeps its session and its recorded output, and the block
is only an ordinary `<div>` around it. Untrusted markup never becomes runnable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct

from ...base.diagnostics.model import Place
from ...model.cells import Cell
from ..records import Fence, attach_record, get_record
from ..state import PageState, get_page
from .checks import check_syntax
from .fences import is_python


class Runnable(Struct, frozen=True):
    """Code that readers run; attached to the fence of a cell, or to both tokens of a block."""

    code: str
    first_line: int
    """1-based line of the file on which `code` starts."""
    place: Place
    """Position of the cell or block."""
    session: str = "main"
    """Session name. Code of one session shares its variables, in page order."""
    timeout_s: float | None = None
    """Time limit in seconds; None uses the site's limit."""
    seed: int | None = None
    warning: bool = True
    """Whether to show output on stderr."""
    error: bool = False
    """Whether an exception is an accepted result, so that later code may run."""
    is_claim: bool = False
    """Whether the last value is the truth value of a claim, which the recorded output omits."""


class _Block(Struct, frozen=True):
    opening: Token
    closing: Token
    fences: tuple[Token, ...]
    """Python fences in the block, without those of nested blocks."""


def runnables(state: StateCore) -> None:
    """Attach a `Runnable` to code that readers may run (core rule, after `cells`)."""
    page = get_page(state.env)
    if page.options.untrusted:
        return
    inner: set[int] = set()
    for block in _blocks(state.tokens):
        found = _block_code(block, page)
        if isinstance(found, Runnable):
            check_syntax(found.code, found.first_line, page)
            attach_record(block.opening, found)
            attach_record(block.closing, found)
        elif found is not None:
            inner.add(found.number)
    for token in state.tokens:
        if token.type == "fence" and "cell" in token.meta:
            _mark_cell(token, page, inner)


def _blocks(tokens: Sequence[Token]) -> Iterator[_Block]:
    """Yield every runnable block, inner blocks first."""
    opened: list[tuple[Token, list[Token]]] = []
    for token in tokens:
        if token.type == "runnable_open":
            opened.append((token, []))
        elif token.type == "runnable_close" and opened:
            start, fences = opened.pop()
            yield _Block(start, token, tuple(fences))
        elif token.type == "fence" and opened and is_python(get_record(token, Fence)):
            opened[-1][1].append(token)


def _block_code(block: _Block, page: PageState) -> Runnable | Cell | None:
    """Return the code or the cell that the block's button runs. Warn and return None if the block has no
    Python."""
    line = (block.opening.map or [0])[0]
    place = Place(page.first_line + line, max(0, page.lines[line].find("<div")) + 1, len("<div"))
    if not block.fences:
        message = "missing Python code in this block: only Python runs in the browser"
        hint = "put a fence that starts with ```python into the block"
        page.reporter.warn("cell-browser", message, place, hint)
        return None
    first, *others = block.fences
    for other in others:
        message = "readers cannot run this fence because a block runs only its first one"
        page.reporter.warn(
            "cell-browser", message, get_record(other, Fence).place, "put it in a block of its own"
        )
    cell = first.meta.get("cell")
    if isinstance(cell, Cell) and cell.options.eval:
        return cell
    session = str(block.opening.attrs.get("data-session", "")) or "main"
    if isinstance(cell, Cell):
        return Runnable(cell.code, cell.first_line, place, session)
    return Runnable(first.content, page.first_line + (first.map or [0])[0] + 1, place, session)


def _mark_cell(token: Token, page: PageState, inner: set[int]) -> None:
    """Attach a `Runnable` to a cell that readers may run. Warn if the cell is hidden from them."""
    cell = get_record(token, Cell)
    options = cell.options
    if not options.eval or (options.run_in == "build" and cell.number not in inner):
        return
    hidden = next((key for key in ("include", "echo") if not getattr(options, key)), "")
    place = options.places.get("run-in", cell.place)
    if cell.language != "python":
        page.reporter.warn(
            "cell-browser",
            f'unsupported language "{cell.language}": only Python runs in the browser',
            place,
            "remove `run-in`, or move the cell out of the block",
        )
    elif hidden:
        message = f'readers cannot run this cell because "{hidden}: false" hides its code'
        hint = f"remove `{hidden}: false`, or remove `run-in`"
        page.reporter.warn("cell-browser", message, options.places.get(hidden, place), hint)
    else:
        if not cell.is_run:
            check_syntax(cell.code, cell.first_line, page, cell)
        # A limit that the page sets is meant for the build, not for readers' machines.
        timeout_s = options.timeout_s if "timeout" in options.places else None
        attach_record(
            token,
            Runnable(
                cell.code,
                cell.first_line,
                place,
                options.session,
                timeout_s,
                options.seed,
                warning=options.warning,
                error=options.error,
                is_claim=bool(options.claim),
            ),
        )
