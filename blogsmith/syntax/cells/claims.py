"""Claims and assertions that cannot be false, seen before anything runs."""

from __future__ import annotations

from ...base.diagnostics.fixes import Fix
from ...base.diagnostics.model import Place, Reporter
from ...model.cells import Cell
from ...model.claims import ClaimFault, claim_fault, tuple_assertions, unjudged_message
from ...model.results import Unjudged
from ..state import PageState

_ASSERTION = "the assertion is always true: a comma makes a tuple of its condition"
_ASSERTION_HINT = "leave the brackets out: assert a == b, message"


def check_claim(cell: Cell, page: PageState) -> None:
    """Report what in the code of a cell that runs would pass for checked and is not."""
    if page.language != "python":
        return
    # of a claim it is a part; where a kernel runs, it stands for one
    is_relied_on = bool(cell.options.claim) or page.engine != "worker"
    reporter = page.reporter_of(cell.file) if cell.file else page.reporter
    report = reporter.error if is_relied_on else reporter.warn
    for found in tuple_assertions(cell.code):
        place = _place(cell, found, page)
        report("cell-assert", _ASSERTION, place, _ASSERTION_HINT, _without_brackets(place, reporter))
    fault = claim_fault(cell.code) if cell.options.claim and page.engine == "worker" else None
    if fault is not None:
        message, hint = unjudged_message(Unjudged(fault.kind))
        place = _place(cell, fault, page) if fault.line else cell.options.places.get("claim", cell.place)
        (reporter if fault.line else page.reporter).error("claim-false", message, place, hint)


def _without_brackets(place: Place, reporter: Reporter) -> Fix | None:
    """A fix of a tuple that is written on one line; the place is that of the tuple."""
    line = reporter.lines[place.line - 1] if place.line <= len(reporter.lines) else ""
    written = line[place.column - 1 : place.column - 1 + place.length]
    if not (written.startswith("(") and written.endswith(")")):
        return None
    return reporter.substitute(place, written, written[1:-1].strip().rstrip(","))


def _place(cell: Cell, fault: ClaimFault, page: PageState) -> Place:
    """Of what it is about; of several lines, the first."""
    line = cell.code.split("\n")[fault.line - 1]
    start = (cell.first_line + fault.line - 1, len(cell.indent) + 1)
    if not cell.file:
        start = page.text_map(line, start[0] - page.first_line).starts[0]
    is_one_line = fault.end_line == fault.line
    column = len(line.encode()[: fault.column].decode())
    end = len(line.encode()[: fault.end_column].decode()) if is_one_line else len(line.rstrip())
    return Place(start[0], start[1] + column, max(1, end - column))
