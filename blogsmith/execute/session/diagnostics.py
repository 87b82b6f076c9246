"""Diagnostics for everything that failed in a session, with their lines in the post."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType

from msgspec import Struct

from ...base.diagnostics.extras import module_install_command
from ...base.diagnostics.model import Diagnostic, Place, Reporter, find_word_range, nearest
from ...model.cells import INSTALL_HINTS, SYNTAX_HINT, Cell, PageCells, Value
from ...model.claims import unjudged_message
from ...model.results import CellRun, Failure, SessionRun, ShapeMismatch, UndecidedClaim, ValueRun

_CODES: Mapping[str, str] = MappingProxyType(
    {
        "error": "cell-error",
        "exit": "cell-exit",
        "timeout": "cell-timeout",
        "memory": "cell-memory",
        "died": "cell-died",
    }
)
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "cell-exit": "remove the call, so that the code after it and later cells run",
        "cell-timeout": "write `#| timeout: 5 min` in the cell, or set `execute: timeout:` in blogsmith.yaml",
        "cell-died": "use less memory, or find the fault by running the code in a terminal",
        "cell-memory": "write `#| memory: 8 GB` in the cell, or set `execute: memory:` in blogsmith.yaml",
    }
)
_EXIT_HINT = "remove the call of `os._exit`"
_START_HINT = "check `execute: python:` in blogsmith.yaml, then run `blogsmith execute` again"
_SHOW_ERROR_HINT = "correct the code, or write `#| error: true` to show the exception on the page"
_NOT_PYTHON = re.compile(r" \(<cell \d+>, line \d+\)\Z")
"""Suffix of Python's message about a syntax error in a cell. It is removed, as the diagnostic has
a location."""
_MODULE = re.compile(r"No module named '([A-Za-z_]\w*)('?)")
_EXCEPTION_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "compiler": "correct the code, or write `#| error: true` to show the message on the page",
        "program": "return 0 from `main`, or write `#| error: true` to show what the program has printed",
        "NameError": "define it in an earlier cell of the session; code blocks that are not cells do not run",
        "FileNotFoundError": "write the path relative to the folder of the post, where cells run",
        # raised by the lab: this machine lacks torch, a GPU or a kernel
        "BackendError": "write `#| needs: torch` or `#| needs: cuda`, or `#| error: true` to show the error",
        "EOFError": "do not call `input()`: cells have no input",
        "StdinNotImplementedError": "do not call `input()`: cells have no input",
    }
)
"""Exception → hint about the environment of cells."""
_INSTALL_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "worker": "install it for the Python that runs cells, set by `execute: python:` in blogsmith.yaml",
        "jupyter": "install it for the Python of the kernel",
    }
)
"""Engine → hint for a missing module."""
_LAB_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "worker": "import from `blogsmith.lab`, the only part of blogsmith that cells can import",
        "jupyter": "import from `blogsmith.lab` in a kernel on this machine; other kernels do not have it",
    }
)
"""Engine → hint for a missing part of blogsmith."""


class _MissingModuleHints(Struct, frozen=True):
    """Hints for missing modules."""

    engine: str
    python: str
    """Path of the Python; see `SessionRun`."""

    def hint(self, module: str, *, is_part: bool) -> str:
        """Return a hint. is_part: a submodule is missing, not the module itself."""
        if module == "blogsmith":
            # The package named blogsmith in registries is another program, so do not suggest installing it.
            return _LAB_HINTS[self.engine]
        return f"{self._advice(module, is_part=is_part)}, or write `#| needs: {module}`"

    def _advice(self, module: str, *, is_part: bool) -> str:
        may_install = self.engine == "worker" and not is_part
        if may_install and (command := module_install_command(self.python, module)):
            return f"run `{command}`"
        where = _INSTALL_HINTS[self.engine]
        return f"call `display()` without an import; for the rest, {where}" if module == "IPython" else where


def quoted_name(cell: Cell) -> str:
    """Return the name of a cell for messages: `cell "load"` by its label, otherwise `cell 3`."""
    return f'cell "{cell.label}"' if cell.label else f"cell {cell.number}"


def session_errors(page: PageCells, run: SessionRun, lines: Sequence[str]) -> list[Diagnostic]:
    """Return errors for everything that failed. A cell with `error: true` may end with an exception, but not
    in any other way. lines: lines of the post's file."""
    reporter = Reporter(str(page.path), lines)
    cells = page.session_cells(run.session)
    if run.problem:
        where = cells[0].place if cells else (page.values[0].origin.place(0) if page.values else None)
        message = f'cannot run session "{run.session}": {run.problem}'
        reporter.error("cell-start", message, where, _START_HINT)
        return reporter.diagnostics
    absent = _MissingModuleHints(page.engine, run.python)
    for cell, result in zip(cells, run.cells, strict=True):
        for key, other in result.others.items():
            _check_cell(cell, other, cells, reporter, absent, point=key)
        _check_cell(cell, result, cells, reporter, absent)
    for value in page.values:
        if value.number in run.values:
            _check_value(value, run.values[value.number], cells, reporter)
    return reporter.diagnostics


def _check_cell(
    cell: Cell,
    run: CellRun,
    cells: Sequence[Cell],
    reporter: Reporter,
    absent: _MissingModuleHints,
    *,
    point: str = "",
) -> None:
    """Report a failed cell. point: values of the sweep's variables in this run; empty for the run with the
    default values."""
    _report_shapes(run.shapes, cell, cells, reporter)
    if run.has_succeeded(error=cell.options.error):
        return
    failure = next((output for output in reversed(run.outputs) if isinstance(output, Failure)), None)
    if cell.options.claim and run.status == "error" and (failure is None or not failure.cell):
        _report_claim(cell, run, failure, reporter, point)
        return
    if cell.is_drawing and failure and run.status == "error":
        _report_drawing(cell, failure, _cell_reporter(cell, failure.line, reporter))
        return
    at, line = _failure_place(cell, run, failure, cells)
    reporter = _cell_reporter(at, line, reporter)
    place = _line_place(at, line, reporter.lines)
    if run.status == "error" and failure and _NOT_PYTHON.search(failure.message):
        reporter.error("cell-syntax", f"invalid Python: {_format_failure(failure)}", place, SYNTAX_HINT)
        return
    code = _CODES[run.status]
    if failure and run.status == "error":
        message = _format_failure(failure)
    elif (called := run.problem.removeprefix("it calls ")) != run.problem:
        message = f'{quoted_name(cell)} ends the whole session with "{called}"'
    else:
        message = f"{quoted_name(cell)}: {run.problem}"
    message = f"{message} (with {point})" if point else message
    hint = _hint(code, run.problem, failure, at, cell, absent).replace("#|", cell.option_mark)
    reporter.error(code, message, place, hint)


def _report_shapes(
    shapes: Sequence[ShapeMismatch], cell: Cell, cells: Sequence[Cell], reporter: Reporter
) -> None:
    """Report mismatched shapes. cell: where to report those that do not name a cell."""
    for shape in shapes:
        message = f'invalid shape "{shape.written}": expected {shape.expected}, got {shape.got}'
        at = cells[shape.cell - 1] if 0 < shape.cell <= len(cells) else cell
        of_file = _cell_reporter(at, shape.line, reporter)
        place = _shape_place(at, shape.line, shape.written, of_file.lines)
        of_file.error("cell-shape", message, place, "correct the code, or the shape in the comment")


def _report_claim(cell: Cell, run: CellRun, failure: Failure | None, reporter: Reporter, point: str) -> None:
    """Report a claim that is false or could not be evaluated. failure: exception raised while the claim was
    evaluated."""
    line = len(cell.code.rstrip().split("\n")) if failure else run.line
    reporter = _cell_reporter(cell, line, reporter)
    place = _line_place(cell, line, reporter.lines)
    if failure is not None:
        message, hint = unjudged_message(UndecidedClaim("object"))
        reporter.error("claim-false", f"{message}: {_format_failure(failure)}", place, hint)
    elif run.unjudged is not None:
        message, hint = unjudged_message(run.unjudged)
        reporter.error("claim-false", message, place, hint)
    else:
        sides = f" ({run.claim})" if run.claim else ""
        sides += f" (with {point})" if point else ""
        hint = "correct the code, or the claim if the result is right"
        reporter.error("claim-false", f'the claim "{cell.options.claim}" is false{sides}', place, hint)


def _failure_place(
    cell: Cell, run: CellRun, failure: Failure | None, cells: Sequence[Cell]
) -> tuple[Cell, int]:
    """Return the cell and the line of a failure: where the post's code raised the exception or, without one,
    where the cell stopped."""
    if failure and 0 < failure.cell <= len(cells):
        return cells[failure.cell - 1], failure.line
    return cell, run.line


def _format_failure(failure: Failure) -> str:
    first = failure.message.split("\n", 1)[0]
    if _NOT_PYTHON.search(failure.message):
        return _NOT_PYTHON.sub("", first)
    return f"{failure.name}: {first}" if first else failure.name


def _hint(
    code: str, problem: str, failure: Failure | None, at: Cell, cell: Cell, absent: _MissingModuleHints
) -> str:
    if failure is None or code != "cell-error":
        return _EXIT_HINT if code == "cell-died" and "os._exit" in problem else _HINTS.get(code, "")
    called = "" if at is cell else f" (called from {quoted_name(cell)})"
    module = _MODULE.match(failure.message) if failure.name == "ModuleNotFoundError" else None
    if module:
        return absent.hint(module[1], is_part=not module[2]) + called
    if failure.message.startswith("asyncio.run() cannot be called"):
        return f"write `await` instead, which works outside functions{called}"
    return _EXCEPTION_HINTS.get(failure.name, _SHOW_ERROR_HINT) + called


def _check_value(value: Value, run: ValueRun, cells: Sequence[Cell], reporter: Reporter) -> None:
    if run.shapes and cells:
        _report_shapes(run.shapes, cells[0], cells, reporter)
    if run.status != "error" or (run.shapes and cells and run.failure is None):
        return
    what = _format_failure(run.failure) if run.failure else "the value cannot be shown"
    place = value.origin.place(0, len(value.origin.text))
    late = run.failure is not None and run.failure.name == "NameError"
    hint = 'define it in a cell above, in the session "main"' if late else "correct the value, or its format"
    reporter.error("value-error", f'"{value.origin.text}": {what}', place, hint)


def _cell_reporter(cell: Cell, line: int, reporter: Reporter) -> Reporter:
    """Return a reporter for a line of a cell, whose code may be in another file. Its diagnostics are added to
    `reporter`."""
    if not cell.file or line < 1:
        return reporter
    code = [f"{cell.indent}{text}" for text in cell.code.split("\n")]
    return Reporter(cell.file, [*[""] * (cell.first_line - 1), *code], reporter.diagnostics, reporter._seen)


def _line_place(cell: Cell, line: int, lines: Sequence[str]) -> Place:
    """Return the range of a line of code. If the line is unknown, return the range of the cell."""
    number = cell.first_line + line - 1
    if line < 1 or number > len(lines):
        return cell.place
    text = lines[number - 1]
    # in a quote or list, the text before the cell's code is not code
    written = cell.code.split("\n")[line - 1].strip() if line <= cell.code.count("\n") + 1 else ""
    column = text.find(written) if written else len(text) - len(text.lstrip())
    return Place(number, max(0, column) + 1, max(1, len(written or text.strip())))


def _shape_place(cell: Cell, line: int, written: str, lines: Sequence[str]) -> Place:
    place = _line_place(cell, line, lines)
    column = lines[place.line - 1].rfind(written) if place.line <= len(lines) else -1
    return Place(place.line, column + 1, len(written)) if column >= 0 else place


# Errors of drawings. TeX splits the line of an error in two: the part that it has read, and the rest.


_TEX_CONTEXT = re.compile(r"^l\.\d+ (?:\.\.\.)?([^\n]*)", re.MULTILINE)
_CAPITALIZED = re.compile(r"\A[A-Z](?=[a-z]+\b)")
"""Start of a sentence, as opposed to a name such as `TeX`."""
_LAST_PART = re.compile(r"(\\(?:[A-Za-z@]+|.)|\S+)\s*\Z")
_MISSING_END = re.compile(r'missing "(\\end[^"]+)"')
_MISSING_FILE = re.compile(r'file "([^"/]+)\.(?:sty|tex)" not found')
_PACKAGE_HINT = (
    "install its TeX package, for example with `apt install texlive-plain-generic texlive-latex-extra`"
)


_TEX_HINTS = (
    ("output too large", "draw fewer points or lines"),
    ("undefined control", "correct the name, or load its package with `\\usepackage`"),
    ("missing content", "draw something, as in `\\draw (0,0) -- (1,1);`"),
    ("giving up on this path", "end the path before it with `;`"),
    ('file "', "write the content of the file here, because drawings read no files"),
)
_TEX_HINT = "correct the drawing at this line"


def _report_drawing(cell: Cell, failure: Failure, reporter: Reporter) -> None:
    """Report the error of a drawing at the place in the code where TeX stopped."""
    message = _CAPITALIZED.sub(lambda found: found[0].lower(), failure.message)
    # TeX may report the line after the code, for example for a missing `\end`
    number = min(failure.line, cell.code.rstrip().count("\n") + 1)
    place = _tex_place(cell, failure, number, _line_place(cell, number, reporter.lines))
    hint = next((hint for start, hint in _TEX_HINTS if message.startswith(start)), _TEX_HINT)
    if end := _MISSING_END.match(message):
        hint = f"write `{end[1]}` where it ends"
    elif missing := _MISSING_FILE.match(message):
        hint = _PACKAGE_HINT
        if missing[1] in cell.code:
            place = find_word_range(missing[1], Place(cell.first_line), reporter.lines) or place
    reporter.error("drawing-tex", f'invalid "{cell.language}" drawing: {message}', place, hint)


def _tex_place(cell: Cell, failure: Failure, number: int, line: Place) -> Place:
    """Return the range of the last command or word that TeX read, or `line` if the range is unknown."""
    context = _TEX_CONTEXT.search(failure.text)
    last = _LAST_PART.search(context[1]) if context and failure.line else None
    written = cell.code.split("\n")[number - 1]
    if context is None or last is None or context[1].rstrip() not in written:
        return line
    start = written.find(context[1].rstrip()) + last.start(1)
    shift = start - (len(written) - len(written.lstrip()))
    return Place(line.line, line.column + max(0, shift), len(last[1]))


def missing_need_error(path: PurePosixPath, cell: Cell, reason: str, lines: Sequence[str]) -> Diagnostic:
    """Return the error for a cell that cannot run here and has neither a record nor a fallback."""
    reporter = Reporter(str(path), lines)
    place = cell.options.places.get("needs", cell.place)
    hint = "run `blogsmith execute` where it is available, or write `#| fallback: skip`"
    if reason.endswith("is not installed"):
        hint = (
            "install the package, run `blogsmith execute` where it is installed, or write `#| fallback: skip`"
        )
    if own := next((need.name for need in cell.options.needs if need.name in INSTALL_HINTS), ""):
        where = "LaTeX" if cell.is_drawing else f"`{own}`"
        is_absent = reason.endswith("is not installed")
        hint = (
            f"{INSTALL_HINTS[own]}, or run `blogsmith execute` where {where} is installed"
            if is_absent
            else hint
        )
    hint = hint.replace("#|", cell.option_mark)
    names = [need.name for need in cell.options.needs]
    if near := next((name for name in names if name != "cuda" and nearest(name, ["cuda"])), ""):
        hint = f"did you mean `cuda` instead of `{near}`?"
    reporter.error(
        "cell-need", f"{quoted_name(cell)} cannot run and has no recorded result: {reason}", place, hint
    )
    return reporter.diagnostics[0]
