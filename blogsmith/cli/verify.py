"""`blogsmith verify`: run recorded cells again and compare the results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.diagnostics.counts import plural
from .clock import CommandClock
from .execution_options import cell_observer, jobs_option, verbose_option
from .garbage import rare_collections
from .options import STALE, site_option, site_root
from .progress_bar import ProgressBar
from .report_format import TEXT, format_option, print_for_program, summary_printer
from .verbosity import is_quiet, print_messages, quiet_option

if TYPE_CHECKING:
    from ..cells.verify import VerifyCounts


@click.command()
@click.argument("posts", nargs=-1, type=click.Path(), metavar="[POSTS]...")
@site_option
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run only the sessions of N random results.  [default: all sessions]",
)
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the sample.  [default: 0]")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="N",
    help="Accept numbers that differ by this fraction of the larger one.  [default: that of each cell]",
)
@click.option(
    "--break",
    "breaks",
    is_flag=True,
    help="Also run the cells of claims with other constants; report claims that never fail.",
)
@jobs_option
@format_option
@quiet_option
@verbose_option
@click.pass_obj
def verify(
    clocks: CommandClock,
    posts: tuple[str, ...],
    site: Path | None,
    sample: int | None,
    seed: int,
    tolerance: float,
    breaks: bool,
    jobs: int | None,
    output_format: str,
    verbose: bool,
) -> int:
    """Run the recorded cells of POSTS again and compare the results.

    The cells run in new processes, in a temporary copy of the site; nothing is recorded. Exits with 1 if a
    result differs, changes with every run, was edited or cannot be computed, or a claim never fails, and with
    3 if nothing is wrong but a result is missing or stale.

    POSTS are source files or folders of the site.  [default: all, with drafts]
    """
    root = site_root(site)
    from ..cells.permission import CAN_RUN_CELLS
    from ..cells.verify import VerifyOptions
    from ..features.site_cells import verify_site
    from ..project.report import BuildLog

    if not CAN_RUN_CELLS:
        raise click.UsageError("cells can only run on Linux, macOS or WSL")
    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress, rare_collections():
        watch = cell_observer(progress, verbose)
        asked = VerifyOptions(sample or 0, seed, tolerance, breaks, jobs or 0, watch)
        log = BuildLog(progress)
        counts = verify_site(root, posts, asked, clocks.now(), log)
    diagnostics = log.report()
    if output_format == TEXT:
        print_messages(diagnostics)
    else:
        print_for_program(diagnostics, output_format, root)
    summary_printer(output_format)(_summary(counts))
    if any(found.severity == "error" for found in diagnostics):
        return 1
    return STALE if counts.outdated else 0


def _summary(counts: VerifyCounts) -> str:
    found = [
        f"{plural(counts.agreeing, 'result')} verified",
        *(
            f"{count:,} {what}"
            for count, what in (
                (counts.differing, "changed"),
                (counts.unstable, "changing with every run"),
                (counts.announced, "different, as announced by `repeatable: false`"),
                (counts.failed, "in sessions that failed"),
                (counts.unmet, "not run: this machine lacks what they need"),
                (counts.outdated, "missing or stale"),
            )
            if count
        ),
        *(
            f"{plural(count, 'claim')} {what}"
            for count, what in (
                (counts.failing_claims, "that can fail"),
                (
                    counts.unfailing_claims,
                    f"that never {'fails' if counts.unfailing_claims == 1 else 'fail'}",
                ),
                (counts.unchanged_claims, "not counter-checked"),
            )
            if count
        ),
    ]
    return ", ".join(found)
