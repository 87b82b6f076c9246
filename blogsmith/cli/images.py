"""`blogsmith images`: manage copies of images from other hosts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.diagnostics.counts import plural
from ..base.diagnostics.format import printable
from ..model.units import format_size
from . import terminal
from .clock import CommandClock
from .options import drafts_option, future_option, site_option, site_root
from .progress_bar import ProgressBar
from .verbosity import is_quiet, print_messages, verbosity_options

if TYPE_CHECKING:
    from ..project.context import SiteContext
    from .image_fetch import FetchReport


@click.group()
def images() -> None:
    """Manage copies of images from other hosts."""


@images.command()
@drafts_option
@future_option
@click.option(
    "--renew",
    is_flag=True,
    help="Download all images again.  [default: only missing copies]",
)
@click.option("--dry-run", is_flag=True, help="Show what would be downloaded; download nothing.")
@site_option
@verbosity_options
@click.pass_obj
def fetch(
    clocks: CommandClock, drafts: bool, future: bool, renew: bool, dry_run: bool, site: Path | None
) -> int:
    """Download the images on other hosts that posts show.

    The copies are written to static/remote/; posts are not changed. remote-images.txt records the URL and
    SHA-256 of each copy. Commit both. If images: {remote: fetch} is set, builds show the copies and never
    use the network. Exits with 1 if an image cannot be downloaded.
    """
    root = site_root(site)
    from ..features.remote_images import remote_uses
    from ..project.context import open_site
    from ..project.report import BuildLog, BuildOptions
    from .image_fetch import fetch_images, plan_fetch

    context = open_site(root)
    options = BuildOptions(now=clocks.now(), drafts=drafts, future=future)
    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress:
        uses = remote_uses(context, options, BuildLog(progress))
        plan = plan_fetch(root, uses, renew=renew)
        report = fetch_images(context, plan, progress, is_dry=dry_run)
    _print_report(context, report, is_dry=dry_run)
    return 1 if report.problems else 0


def _print_report(context: SiteContext, report: FetchReport, *, is_dry: bool) -> None:
    for address, path, size in report.fetched:
        line = f"{address}  {path}  {format_size(size)}" if path else address
        terminal.print_line(printable(line))
    for address in report.unused:
        terminal.print_line(printable(f"no longer used: {address}"))
    print_messages(report.problems)
    done = plural(len(report.fetched), "image")
    total = format_size(sum(size for _, _, size in report.fetched))
    parts = [f"{done} would be downloaded" if is_dry else f"{done} downloaded ({total})"]
    parts.append(f"{report.present} already present")
    if report.problems:
        parts.append(f"{len(report.problems)} failed")
    terminal.print_line(", ".join(parts))
    if report.fetched and not is_dry and context.config.images.remote != "fetch":
        terminal.print_line("\nNow add to blogsmith.yaml:\n\nimages:\n  remote: fetch")
