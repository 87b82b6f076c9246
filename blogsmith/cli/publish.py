"""`blogsmith publish`: files for hosts of the site, and what there is to say before it is published."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import terminal
from .clock import Clocks
from .options import STALE, site_option, site_root
from .site_folder import format_path
from .summary import print_report
from .verbosity import verbosity_options

if TYPE_CHECKING:
    from ..pipeline.publishing import Setup, SetupRequest
    from ..publish.author_files import AuthorFile

_NAMES = ("github-pages", "gitlab", "cloudflare", "netlify", "rsync", "nginx", "caddy")
_OPTIONS = (
    click.argument("target", type=click.Choice(_NAMES)),
    site_option,
    click.option(
        "--base-url", metavar="URL", help="Address the site will have; by default the setting base_url."
    ),
    click.option(
        "--destination",
        metavar="FOLDER",
        help="Where the files go: for rsync user@host:/folder/, for nginx and caddy a folder on the server, "
        "by default /srv/www/ and the name of the host.",
    ),
    click.option(
        "--repository",
        type=click.Path(file_okay=False, exists=True, path_type=Path),
        help="Folder of the repository, if the site is a folder in it; by default the folder of the site.",
    ),
)


def host_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that say where the site goes; it takes what they come to, as a plan."""

    @wraps(command)
    def run(
        target: str,
        site: Path | None,
        base_url: str | None,
        destination: str | None,
        repository: Path | None,
        **others: bool,
    ) -> int:
        from ..pipeline.publishing import SetupRequest, plan_setup

        clocks: Clocks = click.get_current_context().obj
        request = SetupRequest(
            target=target,
            now=clocks.now(),
            base_url=base_url or "",
            destination=destination or "",
            repository=repository,
        )
        root = site_root(site)
        return command(clocks, root, request, plan_setup(root, request), **others)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


@click.group()
def publish() -> None:
    """Set up where the site is published."""


@publish.command("setup")
@host_options
@click.option("--diff", "only_shows", is_flag=True, help="Show what would change; write nothing.")
@click.option("--force", is_flag=True, help="Write also over files that you have changed.")
@verbosity_options
def setup_command(
    clocks: Clocks, root: Path, request: SetupRequest, setup: Setup, *, only_shows: bool, force: bool
) -> int:
    """Write the files with which TARGET publishes the site.

    And say what is left to do. A file that is there and differs is shown and left as it is, and then
    nothing is written.
    """
    from ..publish.author_files import compare_files, write_files

    files = compare_files(setup.root, setup.files)
    _warn(setup)
    changed = [file for file in files if file.state == "changed" and not _only_adds(file)]
    if only_shows or (changed and not force):
        return _show(files if only_shows else tuple(changed), is_refusal=not only_shows)
    write_files(setup.root, files)
    _print_outcome(setup, files, request)
    return 0


@publish.command("check")
@host_options
@verbosity_options
def check_command(clocks: Clocks, root: Path, request: SetupRequest, setup: Setup) -> int:
    """Say whether TARGET could publish the site as it is.

    Builds it as the machine that publishes does, with --frozen and --strict, into a folder that is thrown
    away, and compares the files of TARGET with what `publish setup` would write now.
    """
    from ..pipeline.publishing import rehearse
    from ..publish.author_files import compare_files

    _warn(setup)
    report = rehearse(root, setup, clocks.now())
    print_report(report, clocks.seconds() - clocks.started, write=False)
    missing = [file for file in compare_files(setup.root, setup.files) if file.state != "same"]
    for file in missing:
        _tell_file(file, request)
    if not report.ok:
        return STALE if report.has_only_stale else 1
    return 1 if any(file.state == "new" or _only_adds(file) for file in missing) else 0


def _tell_file(file: AuthorFile, request: SetupRequest) -> None:
    from ..base.diagnostics.format import printable

    command = f"blogsmith publish setup {request.target}"
    if file.state == "new" or _only_adds(file):
        terminal.warn(printable(f"{file.path} is not set up: {command}"))
    else:
        terminal.print_line(printable(f"{file.path} is not as it would be written now: {command} --diff"))


def _warn(setup: Setup) -> None:
    from ..base.diagnostics.format import wants_color
    from ..base.diagnostics.listing import print_diagnostics

    print_diagnostics(setup.problems, sys.stderr, wants_color(sys.stderr))


def _only_adds(file: AuthorFile) -> bool:
    """Whether all that is there stays, with something behind it: so it is with the settings of the site."""
    return bool(file.before.strip()) and file.text.startswith(file.before)


def _show(files: tuple[AuthorFile, ...], *, is_refusal: bool) -> int:
    from ..base.diagnostics.format import printable

    for file in files:
        for line in file.difference():
            terminal.print_line(printable(line, keep="\t"))
    names = ", ".join(file.path for file in files)
    if is_refusal:
        terminal.warn(f"nothing was written: {printable(names)} differs; --force writes it")
        return 1
    if all(file.state == "same" for file in files):
        terminal.print_line(f"nothing would change: {printable(names)}")
    return 0


def _print_outcome(setup: Setup, files: tuple[AuthorFile, ...], request: SetupRequest) -> None:
    from ..base.diagnostics.format import printable
    from ..publish.targets import TARGETS

    for file in files:
        path = printable(format_path(setup.root / file.path))
        terminal.print_line(f"{path}  {'as it was' if file.state == 'same' else 'written'}")
    site = setup.site
    where = setup.shown_at or "the address that the host gives to builds"
    terminal.print_line(printable(f"base URL: {where}"))
    terminal.print_line("next:")
    for step in TARGETS[request.target].steps(site):
        terminal.print_line(printable(f"- {step}"))
