"""The commands `blogsmith build`, `check` and `execute`. They convert options to a build, and its report to
an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.diagnostics.counts import plural
from . import terminal
from .clock import CommandClock
from .completion_types import NeedType
from .execution_options import cell_observer, execution_options, jobs_option, run_options, verbose_option
from .fix_options import FixRequest, fix_options, fix_request
from .garbage import no_collections, rare_collections
from .options import (
    STALE,
    drafts_option,
    future_option,
    output_option,
    select_site_files,
    site_option,
    site_root,
)
from .progress_bar import ProgressBar
from .report_format import TEXT, format_option, print_for_program, summary_printer
from .site_folder import CONFIG_FILE
from .summary import execution_line, fallback_lines, print_report, timing_table
from .verbosity import is_quiet, print_messages, quiet_option

if TYPE_CHECKING:
    from ..project.report import BuildReport

# Checks that `blogsmith check` runs on request only: `--links`, `--budget` and `--second-opinion`.


_OPTIONS = (
    click.option(
        "--links",
        is_flag=True,
        help="Check links to other hosts. Results are cached for some days.",
    ),
    click.option(
        "--renew", is_flag=True, help="With --links: check all links again, ignoring cached results."
    ),
    click.option(
        "--budget",
        is_flag=True,
        help="Measure each page as published: bytes, files, other hosts.",
    ),
    click.option(
        "--second-opinion",
        is_flag=True,
        help="Compare the structure of each formula with the output of latex2mathml.",
    ),
)


def inspection_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of the checks that run on request to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def pop_inspections(clocks: CommandClock, options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `inspection_options` from `options`, and return them as build options. Raise
    UsageError if one has no effect without another."""
    names = ("links", "renew", "budget", "second_opinion")
    links, renew, budget, second_opinion = (options.pop(name) for name in names)
    if renew and not links:
        raise click.UsageError("--renew has no effect without --links")
    files = options.get("files", ())
    found = [_links_inspection(clocks, files, renew=renew)] if links else []
    if budget:
        found.append(_budget_inspection(files))
    if second_opinion:
        found.append(_second_opinion_inspection(files))
    return {**options, "inspections": tuple(found)} if found else options


def _links_inspection(
    clocks: CommandClock, files: Sequence[str], *, renew: bool
) -> Callable[[Any, Any], str]:
    def inspect(site: Any, log: Any) -> str:
        from ..features.links import LinkOptions, check_links
        from ..project.focus import select_files

        asked = select_files(site.context.root, files)
        done = check_links(site, LinkOptions(int(clocks.now().timestamp()), renew, asked), log)
        if done.is_offline:
            return "links: not checked, because no host answered; check your network connection"
        parts = [
            f"{plural(done.checked, 'link')} checked at {plural(done.hosts, 'host')}",
            f"{done.still_valid:,} cached" if done.still_valid else "",
            f"{done.ignored:,} ignored" if done.ignored else "",
            f"{done.unknown:,} on hosts that reject programs" if done.unknown else "",
        ]
        return "links: " + ", ".join(filter(None, parts))

    return inspect


def _budget_inspection(files: Sequence[str]) -> Callable[[Any, Any], str]:
    def inspect(site: Any, log: Any) -> str:
        from ..features.weights import measure_pages
        from ..project.focus import select_files

        return measure_pages(site, log, select_files(site.context.root, files))

    return inspect


def _second_opinion_inspection(files: Sequence[str]) -> Callable[[Any, Any], str]:
    def inspect(site: Any, log: Any) -> str:
        from ..features.second_opinion import compare_formulas
        from ..project.focus import select_files

        return compare_formulas(site, log, select_files(site.context.root, files))

    return inspect


# Options of all commands that build, in the order of the help text.
_BUILD_OPTIONS = (
    site_option,
    drafts_option,
    future_option,
    click.option("--strict", is_flag=True, help="Treat warnings as errors."),
    click.option(
        "--base-url", metavar="URL", help="URL of the published site.  [default: base_url in blogsmith.yaml]"
    ),
    click.option(
        "--full",
        is_flag=True,
        help="Show the source line and hint of every error, however many there are.",
    ),
    format_option,
    click.option(
        "--timings",
        is_flag=True,
        help="Show the time spent in each stage and each cell that ran.",
    ),
    click.option(
        "--no-cache",
        is_flag=True,
        help="Render every page again, instead of reusing unchanged pages of the last build.",
    ),
    quiet_option,
    verbose_option,
)


def _build_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of all commands that build to a command."""
    for option in reversed(_BUILD_OPTIONS):
        command = option(command)
    return command


@click.command()
@output_option
@click.option(
    "--keep-going",
    is_flag=True,
    help="Write the site even if pages have errors. Those keep their last version, or are rendered in part.",
)
@run_options
@_build_options
@click.pass_obj
def build(clocks: CommandClock, /, output: Path | None, **options: Any) -> int:
    """Build the site.

    Cells run if their recorded results are missing or stale and the site is trusted on this machine.
    Otherwise, pages show the results recorded in `_freeze/`.
    """
    return _build(clocks, output=output and output.absolute(), write=True, **options)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILES]...")
@fix_options
@inspection_options
@_build_options
@click.pass_obj
def check(
    clocks: CommandClock,
    /,
    fix: bool,
    diff: bool,
    yes: bool,
    unsafe_fixes: bool,
    output_format: str,
    **options: Any,
) -> int:
    """Check the site for errors without writing or running anything.

    Reports what a build would report. Also warns about unused macros and labels, dollar signs that may not
    be formulas, and formulas that do not follow the notation of the site.

    The whole site is read, but only problems in FILES are reported and decide the exit code. A draft,
    scheduled or expired file is checked if you name it. To check those in a folder, use --drafts and
    --future.

    FILES are files or folders of the site.  [default: all]
    """
    asked = fix_request(fix=fix, diff=diff, yes=yes, unsafe_fixes=unsafe_fixes, output_format=output_format)
    options = pop_inspections(clocks, options)
    return _build(clocks, output=None, write=False, output_format=output_format, fixes=asked, **options)


@click.command()
@click.argument("posts", nargs=-1, type=click.Path(), metavar="[POSTS]...")
@site_option
@click.option("--all", "everything", is_flag=True, help="Run all cells.  [default: stale cells]")
@click.option(
    "--needs",
    multiple=True,
    type=NeedType(),
    metavar="NAME",
    help="Run only sessions with a cell that needs NAME, e.g. cuda.  [default: all that can run]",
)
@jobs_option
@format_option
@click.option("--timings", is_flag=True, help="Show the time of each cell that ran.")
@quiet_option
@verbose_option
@click.pass_obj
def execute(
    clocks: CommandClock,
    posts: tuple[str, ...],
    site: Path | None,
    everything: bool,
    needs: tuple[str, ...],
    jobs: int | None,
    output_format: str,
    timings: bool,
    verbose: bool,
) -> int:
    """Run the cells of POSTS and record their results in `_freeze/`.

    The site itself is not written.

    POSTS are source files or folders of the site.  [default: all, with drafts]
    """
    root = site_root(site)
    from ..features.site_cells import execute_site
    from ..project.report import BuildOptions, ExecutionOptions

    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress, rare_collections():
        asked = ExecutionOptions(
            execute="all" if everything else "stale",
            jobs=jobs or 0,
            needs=needs,
            watch=cell_observer(progress, verbose),
        )
        options = BuildOptions(now=clocks.now(), drafts=True, future=True, use_cache=True, execution=asked)
        report = execute_site(root, posts, options, progress)
    if output_format == TEXT:
        print_messages(report.diagnostics)
    else:
        print_for_program(report.diagnostics, output_format, root)
    say = summary_printer(output_format)
    if report.ok or report.executed_cells:
        say(execution_line(report, clocks.seconds() - clocks.started))
    for note in report.notes:
        say(note)
    if timings and report.cell_times:
        say(timing_table(report.cell_times))
    return 0 if report.ok else 1


def _build(
    clocks: CommandClock,
    *,
    site: Path | None,
    full: bool,
    timings: bool,
    no_cache: bool,
    verbose: bool,
    output_format: str,
    files: tuple[str, ...] = (),
    fixes: FixRequest | None = None,
    **options: Any,
) -> int:
    """Build with `options`, mostly fields of BuildOptions. Print the report and return the exit code."""
    root, writes = site_root(site), options["write"]
    focus = select_site_files(root, files) if files else ()
    # A recorded report has only the text output, without what `-v`, `--timings` and other options add.
    is_plain = not (fixes or no_cache or timings or verbose or full or options.get("inspections"))
    is_plain &= output_format == TEXT
    question = _cache_key({**options, "write": writes}) if is_plain else ""
    if question and (known := _find_unchanged(root, question, clocks, focus)):
        seconds = clocks.seconds() - clocks.started
        print_report(known, seconds, write=writes, focus=len(focus), quiet=is_quiet())
        return 0

    def build_with(include: tuple[str, ...] = ()) -> BuildReport:
        # A check of some files does not know all diagnostics of the site, so it is not recorded.
        name = "" if include or not question else question + " ".join(focus)
        asked = {**options, "use_cache": not no_cache, "request_digest": name}
        return _run_build(clocks, root, verbose, {**asked, "include": include, "focus": focus})

    def build_focused() -> BuildReport:
        return _check_files(build_with, focus) if focus else build_with()

    report = build_focused()
    if fixes:
        # imported late: needs modules for diffs and files
        from .fixing import fix_site, show_fixes

        if fixes.is_dry_run:
            return show_fixes(root, report, fixes, sys.stdout)
        stream = sys.stdout if output_format == TEXT else sys.stderr
        report = fix_site(root, report, build_focused, fixes, stream)
    _print_outcome(
        report, root, clocks, focus=len(focus), writes=writes, full=full, output_format=output_format
    )
    if timings:
        summary_printer(output_format)(timing_table({**report.timings, **report.cell_times}))
    return _exit_code(report)


def _print_outcome(
    report: BuildReport,
    root: Path,
    clocks: CommandClock,
    *,
    focus: int,
    writes: bool,
    full: bool,
    output_format: str,
) -> None:
    """Print diagnostics, summary and notes. focus: number of files that were checked; 0 means all files."""
    seconds = clocks.seconds() - clocks.started
    if output_format != TEXT:
        print_for_program(report.diagnostics, output_format, root)
    print_report(
        report,
        seconds,
        write=writes,
        full=full,
        for_program=output_format != TEXT,
        focus=focus,
        quiet=is_quiet(),
    )
    for note in report.notes:
        summary_printer(output_format)(note)


def _cache_key(options: dict[str, Any]) -> str:
    """Return the cache key of a build, made from the options that the user set."""
    return repr(sorted((name, value) for name, value in options.items() if value))


def _find_unchanged(
    root: Path, question: str, clocks: CommandClock, focus: tuple[str, ...]
) -> BuildReport | None:
    """Return the report of the last build if nothing has changed since, otherwise None. focus: files and
    folders to report about. If it is empty, return the whole report."""
    with no_collections():
        from ..build.last_build import find_last_report
        from ..project.program import open_rows

    with open_rows(root) as rows:
        names = (question, question + " ".join(focus))
        found = (find_last_report(root, rows, name, clocks.now()) for name in dict.fromkeys(names))
        known = next(filter(None, found), None)
    if known is None or not focus:
        return known
    from ..project.focus import focus_on

    # Named files that the build leaves out, such as drafts, are checked separately, as if they were
    # published.
    return None if any(path in focus for path in known.left_out) else focus_on(known, focus)


def _check_files(build: Callable[[tuple[str, ...]], BuildReport], files: tuple[str, ...]) -> BuildReport:
    """Call `project.focus.check_files`. Imported here because the import is slow."""
    from ..project.focus import check_files

    return check_files(build, files)


def _run_build(clocks: CommandClock, root: Path, verbose: bool, options: dict[str, Any]) -> BuildReport:
    with no_collections():
        from ..base.diagnostics.format import printable
        from ..base.schema.files import update_schemas
        from ..build.site import build_site
        from ..project.report import BuildOptions

    update_schemas(root / CONFIG_FILE)
    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress, rare_collections():
        execution = execution_options(progress, verbose, options)
        settings = BuildOptions(now=clocks.now(), execution=execution, **options)
        report = build_site(root, settings, progress)
    for path, reason in report.rebuilt.items() if verbose and not is_quiet() else ():
        terminal.warn(printable(f"rebuilt {path}: {reason}"))
    for line in fallback_lines(report) if verbose and not is_quiet() else ():
        terminal.warn(printable(line))
    return report


def _exit_code(report: BuildReport) -> int:
    if report.ok:
        return 0
    return STALE if report.has_only_stale else 1
