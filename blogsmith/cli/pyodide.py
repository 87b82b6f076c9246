"""`blogsmith pyodide`: manage Pyodide, the Python for code that readers run in their browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.diagnostics.counts import plural
from ..base.diagnostics.format import printable
from . import terminal
from .clock import CommandClock
from .options import site_option, site_root
from .progress_bar import ProgressBar
from .site_folder import format_path
from .verbosity import is_quiet, verbosity_options

if TYPE_CHECKING:
    from ..features.runnable_pages import RunnablePage
    from ..project.context import SiteContext
    from ..pyodide.source import PyodideSource
    from .pyodide_vendor import VendorResult


@click.group(invoke_without_command=True)
@site_option
@verbosity_options
@click.pass_context
def pyodide(context: click.Context, site: Path | None) -> int:
    """Show where readers' browsers load Python from.

    Also lists the pages that run code there, with the packages that they import.

    Exits with 1 if the site's own copy is incomplete or damaged.
    """
    if context.invoked_subcommand:
        return 0
    site_context, pages = _open_site(context, site)
    is_well = _print_source(site_context, pages)
    longest = max((len(str(page.path)) for page in pages), default=0)
    for page in pages:
        imports = f"imports {', '.join(page.modules)}" if page.modules else "imports no package"
        terminal.print_line(printable(f"{page.path!s:<{longest}}  {plural(page.blocks, 'block')}, {imports}"))
    if not pages:
        terminal.print_line("no page runs code in the browser")
    return 0 if is_well else 1


def _open_site(context: click.Context, site: Path | None) -> tuple[SiteContext, tuple[RunnablePage, ...]]:
    """Return the site, and its pages that contain code for browsers. `--site` may precede the name of the
    subcommand."""
    asked = site or (context.parent.params.get("site") if context.parent else None)
    root = site_root(asked)
    from ..features.runnable_pages import runnable_pages
    from ..project.context import open_site

    clocks = context.obj
    assert isinstance(clocks, CommandClock)
    site_context = open_site(root)
    return site_context, runnable_pages(site_context, clocks.now())


def _print_source(site_context: SiteContext, pages: tuple[RunnablePage, ...]) -> bool:
    """Print the release of Pyodide and its source. Return False if the site's copy is incomplete."""
    from ..features.runnable_pages import imported_modules
    from ..model.units import format_size
    from ..pyodide.distribution import damaged_files, open_distribution
    from ..pyodide.release import PYTHON, VERSION
    from .pyodide_vendor import complete_copy

    settings = site_context.config.browser
    found = open_distribution(settings.pyodide, site_context.root, site_context.config.base_path)
    terminal.print_line(f"Pyodide {VERSION}, Python {PYTHON}")
    if not found.folder:
        terminal.print_line(f"from {found.url}, about {format_size(found.transfer_bytes(()))} plus packages")
        return True
    folder = site_context.root / found.folder
    damaged = damaged_files(folder, found.lock) if found.lock and not found.problems else []
    problems = [*found.problems, *(f"{found.folder}/{name} is damaged" for name in damaged)]
    if not problems and complete_copy(folder, settings.packages, imported_modules(pages)) is None:
        problems = [f"packages that pages need are missing in {found.folder}"]
    state = "incomplete" if problems else format_size(sum(found.sizes.values()))
    terminal.print_line(f"from {found.folder}: {state}")
    for problem in problems:
        terminal.print_line(f"  {printable(problem)}")
    if problems:
        terminal.print_line("  run `blogsmith pyodide vendor` to complete it")
    return not problems


@pyodide.command()
@click.option(
    "--from",
    "given",
    metavar="PATH|URL",
    default="",
    help="Source of Pyodide: an unpacked release or an https URL.  [default: the CDN of Pyodide]",
)
@click.option(
    "--to",
    metavar="PATH",
    help="Folder of the site, below static/.  "
    "[default: browser.pyodide in blogsmith.yaml, or static/pyodide]",
)
@site_option
@verbosity_options
@click.pass_context
def vendor(context: click.Context, given: str, to: str | None, site: Path | None) -> int:
    """Copy Pyodide, Python for browsers, into the site.

    The packages that its pages import are included. The SHA-256 of every file is checked. The folder is
    replaced in one step, so it contains only the files that pages need. Run the command again when pages
    import more packages.
    """
    site_context, pages = _open_site(context, site)
    from ..base.storage.lock import site_lock
    from ..features.runnable_pages import imported_modules
    from .pyodide_vendor import vendor as copy
    from .pyodide_vendor import vendor_error

    name, target = _target(site_context, to)
    packages, modules = site_context.config.browser.packages, imported_modules(pages)
    try:
        with site_lock(site_context.root, 0), ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress:
            source = _source(given, target, packages, modules)
            done = copy(site_context.root, target, source, packages, modules, progress)
    except OSError as error:
        message = f'cannot write "{name}": {error.strerror or error}'
        raise vendor_error(message, "check the folder and the free space; nothing was changed") from error
    _print_summary(done, target)
    for module in () if is_quiet() else done.unknown:
        where = ", ".join(str(page.path) for page in pages if module in page.modules)
        terminal.warn(printable(f'warning: Pyodide has no package for "{module}", which {where} imports'))
    if site_context.config.browser.pyodide != name:
        terminal.print_line(f"\nNow add to blogsmith.yaml:\n\nbrowser:\n  pyodide: {name}")
    return 0


def _target(site_context: SiteContext, to: str | None) -> tuple[str, Path]:
    """Return the name and path of the destination folder. Raise BadParameter if pages could not load files
    from it."""
    from ..pyodide.distribution import CDN, DEFAULT_FOLDER, setting_problem

    configured = site_context.config.browser.pyodide
    name = (to or (DEFAULT_FOLDER if configured == CDN else configured)).rstrip("/")
    if problem := "is not a folder" if name == CDN else setting_problem(name):
        raise click.BadParameter(
            f'"{name}" {problem}: write a folder such as static/pyodide', param_hint="--to"
        )
    target = site_context.root / name
    if not target.parent.resolve().is_relative_to(site_context.root.resolve()):
        raise click.BadParameter(f'"{name}" is outside the site', param_hint="--to")
    return name, target


def _source(given: str, target: Path, packages: tuple[str, ...], modules: tuple[str, ...]) -> PyodideSource:
    """Return the source to copy from. If the destination already has all files, return the destination."""
    from ..pyodide.source import SourceError, open_source
    from .pyodide_vendor import complete_copy, vendor_error

    try:
        return (None if given else complete_copy(target, packages, modules)) or open_source(given)
    except SourceError as problem:
        raise vendor_error(str(problem), "correct the value of `--from`; nothing was changed") from problem


def _print_summary(done: VendorResult, target: Path) -> None:
    from ..model.units import format_size

    longest = max(map(len, done.files))
    for name, size in done.files.items():
        terminal.print_line(f"{name:<{longest}}  {format_size(size):>8}")
    verb = "copied to" if done.changed else "already in"
    total = format_size(sum(done.files.values()))
    terminal.print_line(f"{plural(len(done.files), 'file')}, {total}, {verb} {format_path(target)}/")
