"""Summary that is printed after a build: one line, and a table of timings on request."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..base.diagnostics.counts import count_line, plural
from . import terminal
from .site_folder import format_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..base.diagnostics.model import Diagnostic
    from ..project.report import BuildReport


def print_report(
    report: BuildReport,
    seconds: float,
    *,
    write: bool,
    full: bool = False,
    for_program: bool = False,
    focus: int = 0,
    quiet: bool = False,
) -> None:
    """Print the diagnostics and the summary of a build.

    seconds: duration of the build. write: whether the build writes the site. full: whether to show every
    location of every error. for_program: whether stdout contains diagnostics for a program; if so, everything
    else is printed on stderr. focus: number of files and folders that were checked; 0 means the whole site.
    quiet: whether to print only errors.
    """
    say = terminal.warn if for_program else terminal.print_line
    found = [one for one in report.diagnostics if one.severity == "error" or not quiet]
    if found and not for_program:
        from ..base.diagnostics.format import wants_color
        from ..base.diagnostics.listing import print_diagnostics

        print_diagnostics(found, sys.stderr, wants_color(sys.stderr), full=full)
        if not write and (line := _fixable_line(found)):
            terminal.warn(line)
    for path in report.scheduled if write and not quiet else ():
        terminal.warn(f"scheduled: {path} (built from its date on, or with --future)")
    if write and not report.ok:
        for line in _describe_outcome(report):
            terminal.warn(line)
    if not quiet and (report.ok or report.wrong_pages):
        target = f"{format_path(report.target)}/" if write and report.target else ""
        say(summary_line(report, seconds, target) if not focus else _focus_line(report, seconds, focus))
    if not (write or quiet) and (line := _unchecked_line(report)):
        (say if report.ok else terminal.warn)(line)


def _fixable_line(found: Sequence[Diagnostic]) -> str:
    """Return a line with the number of diagnostics that `--fix` can fix, or an empty string."""
    fixes = [one.fix for one in found if one.fix]
    certain = sum(fix.is_safe for fix in fixes)
    proposed = len(fixes) - certain
    more = "more may be" if certain else "can be fixed"
    parts = (
        f"{certain:,} can be fixed with --fix" if certain else "",
        f"{proposed:,} {more} with --fix --unsafe-fixes" if proposed else "",
    )
    return ", ".join(filter(None, parts))


def _describe_outcome(report: BuildReport) -> Iterator[str]:
    """Yield lines about the state of the site after errors, and about what to do next."""
    pages = report.wrong_pages
    if pages:
        fates = (
            (pages.unchanged, "unchanged", "unchanged"),
            (pages.partial, "rendered in part", "rendered in part"),
            (pages.absent, "not published", "not published"),
        )
        told = [
            f"{plural(count, 'page')} {one if count == 1 else many}" for count, one, many in fates if count
        ]
        if told:
            yield f"with errors: {', '.join(told)}"
        return
    yield "nothing was written: the last build of the site is unchanged"
    if report.has_only_page_errors and not report.has_only_stale:
        yield "run `blogsmith build --keep-going` to write the pages that can be rendered"
        if code := _most_frequent(report):
            setting = f"diagnostics: {{{code}: warning}}"
            yield f"write `{setting}` in blogsmith.yaml to treat these errors as warnings"


def _most_frequent(report: BuildReport) -> str:
    """Return the most frequent error code that the author can lower to a warning, or an empty string."""
    from ..base.diagnostics.codes import LOWERABLE

    codes = [one.code for one in report.diagnostics if one.severity == "error" and one.code in LOWERABLE]
    return max(sorted({*codes}), key=codes.count, default="")


def summary_line(report: BuildReport, seconds: float, target: str) -> str:
    """Return a line with the counts, the duration and the changes on disk. target: output folder; empty if
    nothing was written."""
    counts = (
        plural(report.pages, "page"),
        plural(report.formulas, "formula"),
        plural(report.code_blocks, "code block"),
        *([_cells_text(report)] if report.cells else []),
        plural(report.images, "image"),
    )
    verb, where = ("built", f" → {target}") if target else ("checked", "")
    done = (_changes(report), _unpublished_line(report)) if target else ()
    notes = "; ".join(filter(None, (*done, _warnings(report))))
    return f"{verb} {', '.join(counts)} in {seconds:.1f} s{where}" + (f" ({notes})" if notes else "")


def _focus_line(report: BuildReport, seconds: float, files: int) -> str:
    notes = _warnings(report)
    counts = f"{plural(files, 'path')} of a site of {plural(report.pages, 'page')}"
    return f"checked {counts} in {seconds:.1f} s" + (f" ({notes})" if notes else "")


def fallback_lines(report: BuildReport) -> Iterator[str]:
    """Yield a line for each reason why the chosen converter rejected formulas, with the location of the first
    formula and the number of the others."""
    places: dict[tuple[str, str], list[str]] = {}
    for path, fallbacks in sorted(report.fallbacks.items()):
        for one in fallbacks:
            where = f"{path}:{one.place.line}:{one.place.column}" if one.place else path
            places.setdefault((one.converter, one.reason), []).append(where)
    for (converter, reason), found in places.items():
        more = f" (and {plural(len(found) - 1, 'more formula')})" if len(found) > 1 else ""
        yield f"{found[0]}: note: formula typeset by blogsmith instead of {converter}: {reason}{more}"


def execution_line(report: BuildReport, seconds: float) -> str:
    """Return the summary of `blogsmith execute`."""
    notes = "; ".join(filter(None, (_unmet_needs_line(report), _warnings(report))))
    return f"ran {report.executed_cells:,} of {plural(report.cells, 'cell')} in {seconds:.1f} s" + (
        f" ({notes})" if notes else ""
    )


def _cells_text(report: BuildReport) -> str:
    waiting = (
        f"{plural(report.pending_results, 'result')} pending until the next build"
        if report.pending_results
        else ""
    )
    notes = (
        f"{report.executed_cells:,} run now" if report.executed_cells else waiting,
        _unmet_needs_line(report),
    )
    told = ", ".join(filter(None, notes))
    return plural(report.cells, "cell") + (f" ({told})" if told else "")


def _unmet_needs_line(report: BuildReport) -> str:
    """Return a line with the number of cells that were not run because a requirement is missing, such as `10
    not run: no torch`; empty if there are none."""
    missing = f": no {' or '.join(report.missing)}" if report.missing else ""
    return f"{report.unmet:,} not run{missing}" if report.unmet else ""


def timing_table(timings: Mapping[str, float]) -> str:
    """Return a table with the milliseconds of each stage or cell, in the order they ran."""
    longest = max(map(len, timings), default=0)
    return "\n".join(f"{stage:<{longest}} {seconds * 1000:>9.1f} ms" for stage, seconds in timings.items())


def _changes(report: BuildReport) -> str:
    return f"{report.written:,} written, {report.unchanged:,} unchanged, {report.removed:,} removed"


def _unpublished_line(report: BuildReport) -> str:
    drafts = f"{plural(report.drafts, 'draft')} skipped" if report.drafts else ""
    expired = f"{report.expired:,} expired" if report.expired else ""
    scheduled = f"{len(report.scheduled):,} scheduled" if report.scheduled else ""
    return ", ".join(filter(None, (drafts, expired, scheduled)))


def _unchecked_line(report: BuildReport) -> str:
    """Return a line about pages that a check left out, and how to check them; empty if there are none."""
    counts = (
        (report.drafts, "draft"),
        (report.expired, "expired page"),
        (len(report.scheduled), "scheduled page"),
    )
    passed = [plural(count, name) for count, name in counts if count]
    options = ("--drafts",) * bool(report.drafts or report.expired) + ("--future",) * bool(report.scheduled)
    return f"not checked: {', '.join(passed)}; run `blogsmith check {' '.join(options)}`" if passed else ""


def _warnings(report: BuildReport) -> str:
    return count_line(report.diagnostics)
