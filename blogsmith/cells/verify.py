"""Verifies recorded results. Their cells run again, and the new results are compared with the records.

The sessions run in new processes and in a copy of the site, so the site itself does not change. A session
with a different result runs once more, to find results that change with every run. On request, claims are
also evaluated with other constants in their cells.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Reporter
from ..execute.probe.requirements import unmet_reason
from ..execute.session.counter_check import NEVER_FAILS, NO_CONSTANT, UNCHECKED
from ..execute.session.diagnostics import session_errors
from ..execute.session.environment import count_cores
from ..execute.session.jobs import CellStep, ExecutionSetting, SessionJob
from ..execute.session.pool import run_sessions
from ..execute.session.session import SessionObserver, silent_observer
from ..execute.session.signals import handle_termination
from ..execute.session.site_copy import copy_site
from ..execute.session.working_folder import working_folder
from ..freeze.repeatability import repeatability_hint
from ..freeze.repetition import run_differences, summary, text_differences
from ..freeze.staleness import Verdict
from ..model.cells import Cell, Need, Value
from ..model.results import CellRun, SessionRun
from ..project.context import SiteContext
from ..project.report import BuildLog, ExecutionOptions
from .requirements import create_job, version_warning
from .results import claim_hint, item_name, item_place
from .run import execution_setting, find_unmet_needs
from .status import PageStatus, SiteStatus, recorded_reasons

Item = Cell | Value
Result = CellRun | str
"""Result to compare, either the run of a cell or the text of a value."""


class VerifyOptions(Struct, frozen=True):
    """Options of the command line for a verification."""

    sample: int = 0
    """Number of randomly chosen results to verify, by running their sessions; 0 for all results."""
    seed: int = 0
    """Seed of the random sample."""
    tolerance: float = 0.0
    """Maximum allowed difference of two numbers, as a fraction of the larger one. A cell may allow more."""
    breaks: bool = False
    """Whether to run the cells of claims with other constants, to find claims that never fail."""
    jobs: int = 0
    """Number of parallel sessions; 0 uses the setting of the site."""
    watch: SessionObserver | None = None
    """Observer of running cells."""


class VerifyCounts(Struct, frozen=True):
    """Number of results with each outcome of a new run."""

    agreeing: int = 0
    differing: int = 0
    """Number of results that differ from the record, but are equal in two new runs."""
    unstable: int = 0
    """Number of results that differ from the record and between two new runs."""
    announced: int = 0
    """Number of results that differ from the record in cells that declare this with `repeatable: false`."""
    failed: int = 0
    """Number of results in sessions that failed."""
    unmet: int = 0
    """Number of results in sessions with a cell whose needs this machine does not meet."""
    outdated: int = 0
    """Number of results that are missing or stale, so that there is nothing to compare."""
    failing_claims: int = 0
    """Number of claims that fail after some change of a constant, as they should."""
    unfailing_claims: int = 0
    """Number of claims that are true after every change of a constant."""
    unchanged_claims: int = 0
    """Number of claims that could not be counter-checked, because there is no constant to change or because
    the counter-check did not run."""


class _Check(Struct, frozen=True):
    """A session to run, with the results to compare."""

    page: PageStatus
    session: str
    items: tuple[Item, ...]

    def tolerance(self, item: Item, options: VerifyOptions) -> float:
        cells = self.page.cells.session_cells(self.session)
        own = (
            item.options.tolerance
            if isinstance(item, Cell)
            else max((c.options.tolerance for c in cells), default=0.0)
        )
        return max(own, options.tolerance)


def verify_records(
    surveyed: SiteStatus,
    context: SiteContext,
    options: VerifyOptions,
    versions: Mapping[str, str],
    log: BuildLog,
) -> VerifyCounts:
    """Run recorded cells again, report every result that differs, and return the counts. versions: import
    name → version installed here."""
    log.add(surveyed.diagnostics)
    pages = [page for page in surveyed.pages if not page.has_errors]
    checks = [check for page in pages for check in _page_checks(page)]
    items = [item for page in pages for item in (*page.verdict.cells.values(), *page.verdict.values.values())]
    recorded = sum(len(check.items) for check in checks)
    counts = VerifyCounts(outdated=len(items) - recorded)
    checks = _choose(checks, options)
    if not checks:
        return counts
    with handle_termination(), working_folder() as folder:
        setting = execution_setting(context, folder)
        chosen = [check.page for check in checks]
        unmet = find_unmet_needs(chosen, ExecutionOptions(execute="all"), setting, None)
        here = [check for check in checks if not _has_unmet_need(check, unmet)]
        first = _run(here, context, setting, folder / "1", options, breaks=options.breaks)
        errors = [session_errors(c.page.cells, run, c.page.lines) for c, run in zip(here, first, strict=True)]
        good = [
            (check, run, differences)
            for check, run, wrong in zip(here, first, errors, strict=True)
            if not wrong
            and (differences := _compare(check, _recorded_results(check), _new_results(check, run), options))
        ]
        again = _run([check for check, _, _ in good], context, setting, folder / "2", options)
    for (check, run, differences), other in zip(good, again, strict=True):
        changing = _compare(check, _new_results(check, run), _new_results(check, other), options)
        log.add(_report(check, differences, changing))
        log.add(version_warning(check.page, versions))
        counts = _count(counts, check, differences, changing)
    log.add(error for wrong in errors for error in wrong)
    if options.breaks:
        for check, run, failures in zip(here, first, errors, strict=True):
            counts = counts if failures else _judge_claims(check, run, counts, log)
    failed = sum(len(check.items) for check, wrong in zip(here, errors, strict=True) if wrong)
    run_here = sum(len(check.items) for check in here)
    wrong = failed + counts.differing + counts.unstable + counts.announced
    missing = sum(len(check.items) for check in checks) - run_here
    return replace(counts, agreeing=run_here - wrong, failed=failed, unmet=missing)


def _page_checks(page: PageStatus) -> Iterator[_Check]:
    """Yield the sessions of a page that have valid results."""
    for session in page.cells.sessions():
        cells = [
            cell for cell in page.cells.session_cells(session) if _is_valid(page.verdict.cells[cell.number])
        ]
        values = [
            v
            for v in page.cells.values
            if session == "main" and page.verdict.values[v.number].state == "fresh"
        ]
        if cells or values:
            yield _Check(page, session, (*cells, *values))


def _is_valid(verdict: Verdict) -> bool:
    return verdict.state == "fresh" and not verdict.outdated


def _choose(checks: Sequence[_Check], options: VerifyOptions) -> list[_Check]:
    """Return the sessions that contain a random sample of results. If `options.sample` is 0, return all
    sessions."""
    places = [number for number, check in enumerate(checks) for _ in check.items]
    if not options.sample or options.sample >= len(places):
        return list(checks)
    drawn = {*random.Random(options.seed).sample(places, options.sample)}
    return [check for number, check in enumerate(checks) if number in drawn]


def _has_unmet_need(check: _Check, unmet: Mapping[Need, str]) -> bool:
    """Return whether a cell of the session cannot run here. If so, the session is not verified, because later
    cells may depend on that cell."""
    return any(unmet_reason(cell, unmet) for cell in check.page.cells.session_cells(check.session))


def _run(
    checks: Sequence[_Check],
    context: SiteContext,
    setting: ExecutionSetting,
    folder: Path,
    options: VerifyOptions,
    *,
    breaks: bool = False,
) -> list[SessionRun]:
    """Run sessions in a new copy of the site, and return their results. breaks: whether to counter-check all
    claims instead of none."""
    if not checks:
        return []
    root = copy_site(context.root, folder, setting.exclude)
    setting = dataclasses.replace(setting, root=root, exclude=())
    jobs = [
        _with_counter_checks(create_job(c.page, c.session, setting, {}, is_whole=True), breaks=breaks)
        for c in checks
    ]
    watch: SessionObserver = options.watch or silent_observer
    watch.expect_cells(sum(len(check.page.cells.session_cells(check.session)) for check in checks))
    workers = options.jobs or context.config.execution.jobs or count_cores()
    # Nothing is preloaded: each session gets a new process.
    with closing(run_sessions(jobs, workers=workers, watch=watch)) as runs:
        return list(runs)


def _with_counter_checks(job: SessionJob, *, breaks: bool) -> SessionJob:
    steps = (
        dataclasses.replace(step, counter_check=breaks) if isinstance(step, CellStep) else step
        for step in job.steps
    )
    return dataclasses.replace(job, steps=tuple(steps))


def _compare(
    check: _Check, old: Sequence[Result], new: Sequence[Result], options: VerifyOptions
) -> dict[int, str]:
    """Return position of a result → difference, as a message, for each result that differs."""
    found = {}
    for position, (item, one, other) in enumerate(zip(check.items, old, new, strict=True)):
        tolerance = check.tolerance(item, options)
        if isinstance(one, CellRun) and isinstance(other, CellRun):
            changes = run_differences(one, other, tolerance)
        else:
            changes = list(text_differences(str(one), str(other), tolerance))
        if changes:
            found[position] = summary(changes)
    return found


def _recorded_results(check: _Check) -> list[Result]:
    verdict = check.page.verdict
    found: list[Result] = []
    for item in check.items:
        if isinstance(item, Cell):
            record = verdict.cells[item.number].record
            others = {key: other.run for key, other in record.others.items()} if record else {}
            found.append(replace(record.run, others=others) if record else CellRun("skipped"))
        else:
            value = verdict.values[item.number].value
            found.append(value.text if value else "")
    return found


def _new_results(check: _Check, run: SessionRun) -> list[Result]:
    cells = check.page.cells.session_cells(check.session)
    runs = {cell.number: result for cell, result in zip(cells, run.cells, strict=True)}
    return [
        runs[item.number] if isinstance(item, Cell) else run.values[item.number].text for item in check.items
    ]


def _report(check: _Check, differences: Mapping[int, str], changing: Mapping[int, str]) -> list[Diagnostic]:
    reporter = Reporter(str(check.page.cells.path), check.page.lines)
    for position, change in differences.items():
        item = check.items[position]
        what, place = item_name(item), item_place(item)
        if _is_announced(item):
            continue
        if position in changing:
            message = f"result of {what} changes with every run: {changing[position]}"
            mark = item.option_mark if isinstance(item, Cell) else "#|"
            hint = repeatability_hint(_reasons(check, item), mark)
            reporter.error("verify-unstable", message, place, hint)
        else:
            message = f"result of {what} differs in a new run: {change}"
            hint = f"run `blogsmith execute --all {check.page.cells.path}` to record the new result"
            reporter.error("verify-differs", message, place, hint)
    return reporter.diagnostics


def _judge_claims(check: _Check, run: SessionRun, counts: VerifyCounts, log: BuildLog) -> VerifyCounts:
    """Report an error for each claim of a session that can never fail. Return the sum of `counts` and the
    session's counts."""
    reporter = Reporter(str(check.page.cells.path), check.page.lines)
    found = []
    for item, result in zip(check.items, _new_results(check, run), strict=True):
        if not isinstance(item, Cell) or not isinstance(result, CellRun) or not item.options.claim:
            continue
        place = item.options.places.get("claim", item.place)
        outcome = ""
        for note in result.notes:
            if note.startswith(NEVER_FAILS):
                outcome = NEVER_FAILS
                message = f"claim of {item_name(item)} {note}"
                reporter.error("verify-break", message, place, claim_hint(note))
            elif note.startswith(UNCHECKED):
                outcome = UNCHECKED
                message = f"missing counter-check: the claim of {item_name(item)} {note}"
                reporter.warn("verify-break", message, place, claim_hint(note))
            elif note == NO_CONSTANT:
                outcome = UNCHECKED
        found.append(outcome)
    log.add(reporter.diagnostics)
    return replace(
        counts,
        failing_claims=counts.failing_claims + found.count(""),
        unfailing_claims=counts.unfailing_claims + found.count(NEVER_FAILS),
        unchanged_claims=counts.unchanged_claims + found.count(UNCHECKED),
    )


def _count(
    counts: VerifyCounts, check: _Check, differences: Mapping[int, str], changing: Mapping[int, str]
) -> VerifyCounts:
    announced = {position for position in differences if _is_announced(check.items[position])}
    unstable = differences.keys() & changing.keys() - announced
    return replace(
        counts,
        announced=counts.announced + len(announced),
        unstable=counts.unstable + len(unstable),
        differing=counts.differing + len(differences) - len(announced) - len(unstable),
    )


def _is_announced(item: Item) -> bool:
    return isinstance(item, Cell) and not item.options.repeatable


def _reasons(check: _Check, item: Item) -> tuple[str, ...]:
    return recorded_reasons(check.page.verdict.cells[item.number]) if isinstance(item, Cell) else ()
