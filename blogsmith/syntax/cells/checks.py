"""Checks of cells before they run: duplicate labels, unresolved fallbacks, invalid Python, empty claims."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ...base.diagnostics.fixes import Fix, make_replacement
from ...base.diagnostics.model import Place, Reporter, format_suggestion, nearest
from ...base.patterns import lazy_pattern
from ...model.cells import SYNTAX_HINT, Cell
from ...model.claims import ClaimProblem, find_claim_problem, find_tuple_assertions, unjudged_message
from ...model.results import UndecidedClaim
from ..state import PageState

_MAGIC = lazy_pattern(
    r"(?:[\w.]+ ?= ?)?(%%?[A-Za-z]\w*|!!?[ ]*[\w./~]+(?: [\w.]+)?)|(\?\??)\w|[\w.]+(\?\??)\Z"
)
_UNNECESSARY_MAGIC = lazy_pattern(
    r"%matplotlib\b.*|%config +InlineBackend\..*|%(?:re)?load_ext +autoreload *|%autoreload\b.*"
)
_QUESTION = lazy_pattern(r"([A-Za-z_][\w.]*)\?{1,2}[ \t]*")
_NOISE = lazy_pattern(r"^invalid syntax(?:\. )?| \(detected at line \d+\)")
_LONGEST_MAGIC = 200
"""Number of characters at the start of a line that are searched for an IPython command."""
_MAGIC_HINTS: tuple[tuple[str, str], ...] = (
    (
        r"%(matplotlib|load_ext|reload_ext|autoreload|config|pylab)\b",
        "remove the line: figures are always shown",
    ),
    (r"(!|%)\s*(pip|conda|mamba|uv)\b", "remove the line, and run `{}` in a terminal"),
    (r"%%?(time|timeit)\b", "measure with `time.perf_counter()`"),
    (r"%run\b", "import what you need from the file"),
    (r"%(env|set_env)\b", "list the variable under `execute: env:` in blogsmith.yaml"),
    (r"%cd\b", "write paths relative to the folder of the post, where cells run"),
    (r"%%(bash|sh|script)\b|!|%system\b|%sx\b", "write `subprocess.run([…], check=True)`"),
    (r"\?", "write `help(name)`"),
)
"""Pattern of an IPython command → hint on what to write instead."""


class SyntaxFault(Struct, frozen=True):
    """A syntax error in Python code."""

    message: str
    """Details; empty if there are none."""
    line: int
    """1-based line of the code."""
    column: int
    """1-based column in characters."""
    length: int
    is_whole_line: bool = False
    """Whether the error concerns the whole line, such as its indentation."""


def syntax_fault(code: str, mode: str = "exec") -> SyntaxFault | None:
    """Return the first syntax error of `code`, or None if it is valid. mode: as for the built-in
    `compile`."""
    try:
        with warnings.catch_warnings():
            # An escape such as "\d" is reported when the code runs.
            warnings.simplefilter("ignore")
            ast.parse(code, mode=mode)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        is_short = error.end_lineno == line and (error.end_offset or 0) > column
        length = (error.end_offset or 0) - column if is_short else 1
        of_line = isinstance(error, IndentationError)
        return SyntaxFault(_NOISE.sub("", error.msg), max(1, line), max(1, column), length, of_line)
    except (ValueError, RecursionError, MemoryError):
        # Limits of this process. The process that runs the code may have others and reports them itself.
        return None
    return None


def check_cells(found: Sequence[Cell], page: PageState) -> Iterator[Cell]:
    """Yield the cells. Report duplicate labels and invalid fallbacks, and remove both from the cells. Also
    report invalid Python and empty claims."""
    labels: dict[str, Cell] = {}
    kept = []
    for cell in found:
        first = labels.setdefault(cell.label, cell) if cell.label else cell
        if first is not cell:
            line = first.options.places.get("label", first.place).line
            place = cell.options.places.get("label", cell.place)
            page.reporter.error(
                "label-twice",
                f'duplicate label "{cell.label}" (first defined on line {line})',
                place,
                "write another `#| label:` in one of the cells",
            )
            cell = replace(cell, label="")
        kept.append(cell)
        if cell.is_alone:
            continue
        if cell.is_run and page.engine == "worker":
            check_syntax(cell.code, cell.first_line, page, cell)
        if cell.is_run:
            check_claim(cell, page)
    for cell in kept:
        yield _with_fallback(cell, labels, page)


def _with_fallback(cell: Cell, labels: dict[str, Cell], page: PageState) -> Cell:
    name = cell.options.fallback
    target, near = labels.get(name), None
    if name in ("error", "skip") or (target and target.is_run and target.number != cell.number):
        return cell
    if target is None:
        others = [label for label, one in labels.items() if label != cell.label and one.is_run]
        near = nearest(name, (*others, "skip", "error"))
        hint = format_suggestion(near) or "write the label of a cell of this page, or `skip`"
        problem = f'unknown cell label "{name}"'
    else:
        is_other = target.number != cell.number
        hint = (
            f'write `#| eval: true` in cell "{name}", or `fallback: skip`'
            if is_other
            else "write `fallback: skip`"
        )
        why = f'cell "{name}" does not run' if is_other else "a cell cannot replace itself"
        problem = f'invalid fallback "{name}": {why}'
    place = cell.options.places.get("fallback")
    fix = page.reporter.correct(place, name, near)
    page.reporter.error("cell-fallback", problem, place, hint, fix)
    return replace(cell, options=replace(cell.options, fallback="error"))


def locate_line(text: str, line: int, page: PageState, cell: Cell | None) -> tuple[Reporter, tuple[int, int]]:
    """Return the reporter for a line of code, and the (line, column) where that line starts. cell: Cell that
    contains the code, or None."""
    if cell is not None and cell.file:
        return page.file_reporter(cell.file), (line, len(cell.indent) + 1)
    return page.reporter, page.text_map(text, line - page.first_line).starts[0]


def check_syntax(code: str, first_line: int, page: PageState, cell: Cell | None = None) -> None:
    """Report code that is not Python. If another Python version runs the cells, report only IPython commands.

    first_line: 1-based line of the file on which `code` starts.
    cell: Cell that contains the code, if any; its code may come from another file.
    """
    fault = syntax_fault(code)
    if fault is None:
        return
    lines = code.split("\n")
    text = lines[fault.line - 1] if fault.line <= len(lines) else ""
    reporter, start = locate_line(text, first_line + fault.line - 1, page, cell)
    magic = _MAGIC.match(text.strip()[:_LONGEST_MAGIC])
    word = next((part for part in magic.groups() if part), "") if magic else ""
    if word:
        at = text.find(word)
        hint = next((hint for begin, hint in _MAGIC_HINTS if re.match(begin, word)), "write it in Python")
        asked = _QUESTION.fullmatch(text.strip())
        hint = hint.replace("name", asked[1]) if asked else hint
        hint = hint.replace("{}", text[at:].lstrip("!% ").strip().replace("`", "")[:_LONGEST_MAGIC])
        place = Place(start[0], start[1] + at, len(word))
        fix = _without_magic(text, *start)
        reporter.error("cell-magic", f'unsupported syntax: "{word}" is an IPython command', place, hint, fix)
        return
    if not page.options.check_syntax:
        return
    column, length = min(fault.column, len(text) + 1), fault.length
    if fault.is_whole_line:
        column, length = len(text) - len(text.lstrip()) + 1, len(text.strip())
    place = Place(start[0], start[1] + column - 1, max(1, min(length, len(text) - column + 1)))
    message = f"invalid Python: {fault.message}" if fault.message else "invalid Python syntax"
    reporter.error("cell-syntax", message, place, SYNTAX_HINT)


def _without_magic(text: str, line: int, column: int) -> Fix | None:
    """Return a fix for a line that is only an IPython command: remove it, or turn `name?` into `help(name)`.
    None for other commands."""
    if _UNNECESSARY_MAGIC.fullmatch(text):
        # In a quote or a list, the prefix of the line would remain.
        at_margin = column == 1
        return (
            make_replacement(line, 1, f"{text}\n", "", title="remove the line", is_safe=True)
            if at_margin
            else None
        )
    asked = _QUESTION.fullmatch(text)
    return make_replacement(line, column, text, f"help({asked[1]})") if asked else None


# Claims and assertions that cannot fail, found before anything runs.


_ASSERTION = "the assertion is always true: the comma makes its condition a tuple"
_ASSERTION_HINT = "remove the parentheses: `assert a == b, message`"


def check_claim(cell: Cell, page: PageState) -> None:
    """Report assertions and claims in a running cell that would pass without checking anything."""
    if page.language != "python":
        return
    # In a claim, `assert` is a part of it; with a Jupyter kernel, an assertion is used instead of a claim.
    is_relied_on = bool(cell.options.claim) or page.engine != "worker"
    reporter = page.file_reporter(cell.file) if cell.file else page.reporter
    report = reporter.error if is_relied_on else reporter.warn
    for found in find_tuple_assertions(cell.code):
        place = _fault_place(cell, found, page)
        report("cell-assert", _ASSERTION, place, _ASSERTION_HINT, _without_brackets(place, reporter))
    fault = find_claim_problem(cell.code) if cell.options.claim and page.engine == "worker" else None
    if fault is not None:
        message, hint = unjudged_message(UndecidedClaim(fault.kind))
        place = (
            _fault_place(cell, fault, page) if fault.line else cell.options.places.get("claim", cell.place)
        )
        (reporter if fault.line else page.reporter).error("claim-false", message, place, hint)


def _without_brackets(place: Place, reporter: Reporter) -> Fix | None:
    """Return a fix that removes the parentheses of a tuple at `place`; None if it is not on one line."""
    line = reporter.lines[place.line - 1] if place.line <= len(reporter.lines) else ""
    written = line[place.column - 1 : place.column - 1 + place.length]
    if not (written.startswith("(") and written.endswith(")")):
        return None
    return reporter.substitute(place, written, written[1:-1].strip().rstrip(","))


def _fault_place(cell: Cell, fault: ClaimProblem, page: PageState) -> Place:
    """Return the position of the faulty code, or of its first line if it spans several lines."""
    line = cell.code.split("\n")[fault.line - 1]
    start = (cell.first_line + fault.line - 1, len(cell.indent) + 1)
    if not cell.file:
        start = page.text_map(line, start[0] - page.first_line).starts[0]
    is_one_line = fault.end_line == fault.line
    column = len(line.encode()[: fault.column].decode())
    end = len(line.encode()[: fault.end_column].decode()) if is_one_line else len(line.rstrip())
    return Place(start[0], start[1] + column, max(1, end - column))
