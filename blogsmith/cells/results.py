"""Cell results shown on pages, and diagnostics about them. Nothing runs here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Place, Reporter, find_word_range
from ..execute.probe.requirements import needs_any
from ..execute.session.counter_check import NEVER_FAILS, UNCHECKED
from ..execute.session.diagnostics import quoted_name
from ..freeze.environment import Environment
from ..freeze.record import CellRecord
from ..freeze.record_form import Origin
from ..freeze.repeatability import describe_reason, repeatability_hint, undeclared_reasons
from ..freeze.staleness import PageVerdict, State, Verdict
from ..model.cells import Cell, Need, Value
from ..model.results import CellResult, Machine, PageResults, ValueResult
from ..project.context import SiteContext
from ..project.report import BuildLog, ExecutionOptions
from ..project.trust.consent import Consent, check_consent
from .permission import CAN_RUN_CELLS
from .requirements import version_warning
from .status import PageStatus, RunOutcome, recorded_reasons


def page_results(verdict: PageVerdict, folder: Path | None, signer: str = "") -> PageResults:
    """Return the results that a page shows, given the verdict on its record.

    If a cell never ran because its needs were not met, it shows the result that its `fallback` names. If that
    is `error`, or if nothing is recorded for it, the cell is `pending`.

    folder: folder with the images of the record. signer: name of the person who signed the record; empty if
    unsigned.
    """
    cells = {cell.number: _result(verdict.cells.get(cell.number), signer) for cell in verdict.page.cells}
    labels = {cell.label: cell for cell in verdict.page.cells if cell.label}
    shown = {
        cell.number: _placeholder_result(cell, cells, labels)
        if _uses_fallback(cell, cells)
        else cells[cell.number]
        for cell in verdict.page.cells
    }
    for number in _cells_after_gaps(verdict.page.cells, cells):
        shown[number] = replace(shown[number], has_gap=True)
    values = {number: _value(found) for number, found in verdict.values.items()}
    return PageResults(shown, values, folder)


def _result(verdict: Verdict | None, signer: str) -> CellResult:
    if verdict is None:
        return CellResult("off")
    if verdict.record is None:
        return CellResult("pending")
    others = {
        key: _cell_result(other, other.origin or verdict.origin, verdict, signer)
        for key, other in verdict.record.others.items()
    }
    return replace(_cell_result(verdict.record, verdict.origin, verdict, signer), others=others)


def _cell_result(record: CellRecord, origin: Origin | None, verdict: Verdict, signer: str) -> CellResult:
    """Return the result to show for one recorded run of a cell. origin: where and when the run was recorded.
    verdict: state of the cell's record."""
    run = record.run
    machine = origin.machine if origin else Machine()
    return CellResult(
        status=run.status,
        outputs=run.outputs,
        seconds=run.seconds,
        device=run.device,
        packages={name: machine.packages[name] for name in run.packages if name in machine.packages},
        machine=machine,
        date=origin.date if origin else "",
        stale="" if verdict.only_due else verdict.summary,
        problem=run.problem,
        sdpa=run.sdpa,
        imported=bool(origin and origin.imported),
        accepted=origin.accepted if origin else "",
        signer=signer,
        reasons=run.uses.reasons if run.uses else (),
    )


def _uses_fallback(cell: Cell, cells: Mapping[int, CellResult]) -> bool:
    needy = cell.options.needs and cell.options.fallback != "error"
    return bool(needy) and cells[cell.number].status == "pending"


def _cells_after_gaps(page: Iterable[Cell], cells: Mapping[int, CellResult]) -> Iterator[int]:
    """Yield the numbers of cells that ran although an earlier cell of their session has never run."""
    gaps: set[str] = set()
    for cell in page:
        session = cell.options.session
        if session in gaps:
            yield cell.number
        if cell.is_run and cells[cell.number].status == "pending":
            gaps.add(session)


def _placeholder_result(
    cell: Cell, cells: Mapping[int, CellResult], labels: Mapping[str, Cell]
) -> CellResult:
    """Return the placeholder for a cell without a result."""
    unmet = tuple(map(str, cell.options.needs))
    if cell.options.fallback == "skip":
        return CellResult("skipped", unmet=unmet)
    seen = {cell.number}
    other: Cell | None = cell
    # The cell named by `fallback` may have a fallback itself.
    while other and other.options.fallback not in ("skip", "error") and _uses_fallback(other, cells):
        other = labels.get(other.options.fallback)
        if other is None or other.number in seen:
            return cells[cell.number]
        seen.add(other.number)
    if other is None or cells[other.number].status in ("pending", "off"):
        return cells[cell.number]
    needs = " and ".join("CUDA" if need == "cuda" else need for need in unmet)
    why = f"it needs {needs}, and was not run where that is"
    shown_for = f"{why}; this is the output of cell {other.label}"
    return replace(cells[other.number], unmet=unmet, shown_for=shown_for)


def _value(verdict: Verdict) -> ValueResult:
    if verdict.value is None:
        return ValueResult(pending=True)
    return ValueResult(verdict.value.text, verdict.value.latex, False, verdict.summary)


class CellUpdate(Struct, frozen=True):
    """Cell results shown on all pages, with counts."""

    results: Mapping[str, PageResults] = field(default_factory=dict)
    """Source path → results, for all pages with cells."""
    cells: int = 0
    """Number of cells whose options let them run."""
    ran_cells: int = 0
    """Number of cells that ran in this build."""
    due_cells: int = 0
    """Number of cells and values that the next build will run. During `blogsmith check`, this includes cells
    that a build would run now."""
    unmet_cells: int = 0
    """Number of cells without a result because their needs are not met."""
    missing_needs: tuple[str, ...] = ()
    """Sorted names of needs that this machine does not meet; empty if no cell had to run."""
    depends_outside: bool = False
    """Whether a recorded result depends on files outside the site or on environment variables."""


def show_results(
    outcome: RunOutcome,
    context: SiteContext,
    asked: ExecutionOptions,
    versions: Mapping[str, str],
    log: BuildLog,
    *,
    may_run: bool,
) -> CellUpdate:
    """Return the recorded results of all pages. Log results that are missing or stale. versions: import name
    → version installed here."""
    consent = None if may_run or asked.frozen else check_consent(context.root, context.config)
    hint = _hint(consent, asked)
    is_due = CAN_RUN_CELLS and consent is not None and consent.is_given
    shown, waiting = {}, 0
    for page in outcome.status.pages:
        if not page.has_errors and str(page.cells.path) not in outcome.failed_posts:
            outdated = _outdated_items(page, asked)
            due = [item for item in outdated if is_due and not _needs(item)]
            waiting += len(due)
            rest = [item for item in outdated if item not in due]
            log.add(_report_outdated(page, rest, hint, asked, may_run=may_run, is_trusted=may_run or is_due))
        log.add(_missing_file_warnings(page, outcome.status.environment))
        log.add(_repeatability_warnings(page))
        log.add(_outdated_warnings(page))
        log.add(_claim_warnings(page))
        if not asked.frozen:  # under --frozen nothing may run, so the versions installed here do not matter
            log.add(version_warning(page, versions))
        shown[str(page.cells.path)] = page_results(page.verdict, context.root / page.folder, page.signer)
    cells = sum(cell.is_run for page in outcome.status.pages for cell in page.cells.cells)
    unmet = [cell.unmet for page in shown.values() for cell in page.cells.values() if cell.unmet]
    missing = {need.partition(">")[0] for needs in unmet for need in needs if need in outcome.unmet_needs}
    return CellUpdate(
        results=shown,
        cells=cells,
        ran_cells=outcome.cells,
        due_cells=waiting,
        unmet_cells=len(unmet),
        missing_needs=tuple(sorted(missing)),
        depends_outside=any(page.record and page.record.depends_outside for page in outcome.status.pages),
    )


def _missing_file_warnings(page: PageStatus, around: Environment) -> list[Diagnostic]:
    """Return warnings for missing files that `depends` names, because their later changes would not be
    noticed."""
    reporter = Reporter(str(page.cells.path), page.lines)
    for cell in page.cells.cells:
        for pattern in cell.options.depends if cell.is_run else ():
            if not around.matches(pattern, page.cells.path):
                place = find_word_range(pattern, cell.options.places.get("depends"), page.lines)
                reporter.warn("cell-option", f'"depends": file not found: "{pattern}"', place, _DEPENDS_HINT)
    return reporter.diagnostics


def _outdated_warnings(page: PageStatus) -> list[Diagnostic]:
    """Return warnings for results that `freeze: true` keeps although the code has changed since they were
    recorded."""
    reporter = Reporter(str(page.cells.path), page.lines)
    for cell in page.cells.cells:
        verdict = page.verdict.cells.get(cell.number)
        if verdict and verdict.outdated:
            hint = "remove `freeze: true`, and run `blogsmith execute`"
            place = cell.options.places.get("freeze", cell.place)
            _warn_stale(reporter, item_name(cell), verdict.summary, place, hint)
    return reporter.diagnostics


def _repeatability_warnings(page: PageStatus) -> list[Diagnostic]:
    """Return warnings for results that another run may not reproduce, unless the options of the cell allow
    this."""
    reporter = Reporter(str(page.cells.path), page.lines)
    for cell in page.cells.cells:
        verdict = page.verdict.cells.get(cell.number)
        reasons = undeclared_reasons(recorded_reasons(verdict), cell.options) if verdict else ()
        if reasons:
            why = describe_reason(reasons[0]) + (f", and {len(reasons) - 1} more" if len(reasons) > 1 else "")
            message = f"{quoted_name(cell)} is not repeatable: {why}"
            reporter.warn(
                "cell-repeatable", message, cell.place, repeatability_hint(reasons, cell.option_mark)
            )
    return reporter.diagnostics


def _claim_warnings(page: PageStatus) -> list[Diagnostic]:
    """Return warnings for claims that are true but prove less than their authors may believe."""
    reporter = Reporter(str(page.cells.path), page.lines)
    for cell in page.cells.cells:
        verdict = page.verdict.cells.get(cell.number)
        for note in verdict.record.run.notes if verdict and verdict.record and cell.options.claim else ():
            place = cell.options.places.get("claim", cell.place)
            reporter.warn("claim-weak", f"the claim of {quoted_name(cell)} {note}", place, claim_hint(note))
    return reporter.diagnostics


def claim_hint(note: str) -> str:
    """Return the hint for a recorded remark about a claim; empty if there is no hint for it."""
    return next((hint for start, hint in _CLAIM_HINTS.items() if note.startswith(start)), "")


_CLAIM_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("broadcasts", "combines"),
            "give both sides the same shape, for example with `.ravel()` or `.reshape(…)`",
        ),
        "wraps": "convert to a signed type first, as in `a.astype(int) - b`",
        "treats NaN": "remove `equal_nan=True`, or compare where neither side is NaN",
        "allows": "write a smaller tolerance",
        "compares only": "write `zip(…, strict=True)`, or compare the lengths too",
        NEVER_FAILS: "compare a value that depends on the constants of the cell",
        UNCHECKED: "write a longer `timeout`, and no path of the site itself, or remove `counter-check`",
    }
)
"""First words of a recorded remark about a claim → hint."""
_DEPENDS_HINT = "write the path relative to the folder of the post, such as `../../data/runs.csv`"


def _outdated_items(page: PageStatus, asked: ExecutionOptions) -> list[Cell | Value]:
    """Return the cells and values whose recorded result is missing or stale. With `--needs`, return only
    cells that have one of those needs."""
    found = page.verdict.outdated_cells()
    return [item for item in found if not asked.needs or _is_requested(item, asked.needs)]


def _report_outdated(
    page: PageStatus,
    outdated: Sequence[Cell | Value],
    hint: str,
    asked: ExecutionOptions,
    *,
    may_run: bool,
    is_trusted: bool,
) -> list[Diagnostic]:
    """Return diagnostics for outdated cells and values. There is at most one for all missing results and one
    for all stale results. Each is located at the first of these results."""
    if not outdated:
        return []
    reporter = Reporter(str(page.cells.path), page.lines)
    found: dict[State, list[Cell | Value]] = {}
    for item in outdated:
        state = _verdict(page, item).state
        # A missing result of a cell with unmet needs was already reported as an error.
        if not (may_run and state == "missing" and isinstance(item, Cell) and item.options.needs):
            found.setdefault(state, []).append(item)
    for state, items in found.items():
        what = item_name(items[0]) + (f" and {len(items) - 1} more" if len(items) > 1 else "")
        why = _verdict(page, items[0]).summary
        needs = _needs(items[0])
        # The cell was allowed to run but did not: this machine does not meet its needs.
        where = f"run `blogsmith execute` where {_quoted_needs(needs)} is available"
        where = where if needs and is_trusted else hint
        if asked.frozen:
            message = f"no valid result for {what}: {why}"
            reporter.error("freeze-stale", message, item_place(items[0]), _frozen_hint(needs) or hint)
        elif state == "missing":
            message = f"no recorded result for {what}, so none is shown"
            reporter.warn("cell-pending", message, item_place(items[0]), where)
        else:
            _warn_stale(reporter, what, why, item_place(items[0]), where)
    return reporter.diagnostics


def _warn_stale(reporter: Reporter, what: str, why: str, place: Place, hint: str) -> None:
    reporter.warn("cell-stale", f"an old result is shown for {what}: {why}", place, hint)


def _needs(item: Cell | Value) -> Sequence[Need]:
    return item.options.needs if isinstance(item, Cell) else ()


def _is_requested(item: Cell | Value, names: Sequence[str]) -> bool:
    return isinstance(item, Cell) and needs_any(item, names)


def _frozen_hint(needs: Sequence[Need]) -> str:
    if not needs:
        return ""
    options = " ".join(f"--needs {need.name}" for need in needs)
    where = _quoted_needs(needs)
    return f"run `blogsmith execute {options}` where {where} is available, and commit `_freeze/`"


def _quoted_needs(needs: Sequence[Need]) -> str:
    return " and ".join(f"`{need}`" for need in needs)


def _hint(consent: Consent | None, asked: ExecutionOptions) -> str:
    """Return the hint for results that are missing or stale. consent: whether the site is trusted; None if
    cells may run or if `--frozen` is set."""
    if asked.frozen:
        return "run `blogsmith execute` where the code may run, and commit `_freeze/`"
    if not CAN_RUN_CELLS:
        return "run `blogsmith execute` on Linux, macOS or WSL, where code can run, and commit `_freeze/`"
    if consent and consent.reason:
        return f"run `blogsmith trust` or `blogsmith execute`: the site is not trusted, {consent.reason}"
    return "run `blogsmith execute`, or `blogsmith trust` to run cells in every build"


def _verdict(page: PageStatus, item: Cell | Value) -> Verdict:
    return page.verdict.cells[item.number] if isinstance(item, Cell) else page.verdict.values[item.number]


def item_name(item: Cell | Value) -> str:
    """Return the name of an item for messages: `cell "load"`, `cell 3` for a cell without a label, or the
    source of a value in double quotes."""
    return quoted_name(item) if isinstance(item, Cell) else f'"{item.origin.text}"'


def item_place(item: Cell | Value) -> Place:
    """Return the location of a cell or value in its file."""
    return item.place if isinstance(item, Cell) else item.origin.place(0, len(item.origin.text))
