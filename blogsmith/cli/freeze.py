"""`blogsmith freeze`: show and manage the recorded results of cells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.diagnostics.counts import plural
from ..base.diagnostics.format import printable
from ..freeze.signatures import KEY_VARIABLE
from . import terminal
from .clock import CommandClock
from .options import STALE, site_option, site_root
from .site_folder import format_path
from .verbosity import print_messages, verbosity_options

if TYPE_CHECKING:
    from ..cells.status import SiteStatus


@click.group()
def freeze() -> None:
    """Manage the recorded results of cells in `_freeze/`."""


@freeze.command()
@click.argument("posts", nargs=-1, type=click.Path(), metavar="[POSTS]...")
@site_option
@verbosity_options
@click.pass_obj
def status(clocks: CommandClock, posts: tuple[str, ...], site: Path | None) -> int:
    """Show which posts have valid results.

    Prints one line per post, with the devices that its cells ran on, and who signed it. Exits with 3 if a
    result is missing or stale.
    """
    pages = _survey_site(clocks, posts, site).pages
    longest = max((len(str(page.cells.path)) for page in pages), default=0)
    widest = max((len(page.summary) for page in pages), default=0)
    for page in pages:
        signer = f"  signed by {page.signer}" if page.signer else ""
        line = f"{page.cells.path!s:<{longest}}  {page.summary:<{widest}}  {page.devices}{signer}"
        terminal.print_line(printable(line.rstrip()))
    if not pages:
        terminal.print_line("no post has cells")
    return STALE if any(page.is_stale for page in pages) else 0


@freeze.command()
@click.argument("posts", nargs=-1, type=click.Path(), metavar="[POSTS]...")
@site_option
@verbosity_options
@click.pass_obj
def explain(clocks: CommandClock, posts: tuple[str, ...], site: Path | None) -> int:
    """Show for each cell whether its result is valid and, if not, why."""
    from ..cells.requirements import installed_versions, recorded_packages, version_notes

    surveyed = _survey_site(clocks, posts, site)
    versions = installed_versions(recorded_packages(surveyed.pages)) if surveyed.has_own_python else {}
    for page in surveyed.pages:
        terminal.print_line(str(page.cells.path))
        for note in version_notes(page, versions):
            terminal.print_line(f"  recorded with another version: {printable(note)}")
        for note in page.record_notes():
            terminal.print_line(f"  {printable(note)}")
        for name, line, state, reasons in page.explanations():
            terminal.print_line(f"  line {line}, {printable(name)}: {state}")
            for reason in reasons:
                terminal.print_line(f"    {printable(reason)}")
    return 0


@freeze.command()
@click.argument("revision")
@click.argument("posts", nargs=-1, type=click.Path(), metavar="[POSTS]...")
@site_option
@verbosity_options
@click.pass_obj
def diff(clocks: CommandClock, revision: str, posts: tuple[str, ...], site: Path | None) -> int:
    """List results that changed since REVISION while their code did not.

    REVISION is a commit, a branch or a tag of Git. Each result is listed with its changed inputs, if any are
    known.

    POSTS are source files or folders of the site.  [default: all]
    """
    from ..features.result_changes import check_revision, result_changes

    root = site_root(site)
    check_revision(root, revision)
    count = 0
    for page in _survey_site(clocks, posts, site).pages:
        for found in result_changes(root, page, revision):
            why = f", after a change of {', '.join(found.causes)}" if found.causes else ""
            line = f"{page.cells.path}:{found.line}: {found.name}: {found.change}{why}"
            terminal.print_line(printable(line))
            count += 1
    if not count:
        terminal.print_line("no result has changed while its code stayed the same")
    return 0


@freeze.command()
@click.argument("posts", nargs=-1, required=True, type=click.Path(), metavar="POSTS...")
@site_option
@verbosity_options
@click.pass_obj
def accept(clocks: CommandClock, posts: tuple[str, ...], site: Path | None) -> int:
    """Accept edited records of POSTS as they are.

    Seals them again. The record and the page say that they were accepted by hand, until the cells run again.
    Records of an older blogsmith, which have no seal, get one in the same way. Signatures of changed records
    are removed.

    POSTS are source files or folders of the site.
    """
    from ..freeze.acceptance import accept_record

    survey = _survey_site(clocks, posts, site, has_messages=False)
    date = clocks.now().date().isoformat()
    count = 0
    for page in survey.pages:
        for part in accept_record(survey.root, page.folder, date):
            terminal.print_line(printable(f"{page.cells.path}: accepted {part}"))
            count += 1
    if not count:
        terminal.print_line("nothing to accept: all records match their seals")
    return 0


@freeze.command()
@click.argument("posts", nargs=-1, required=True, type=click.Path(), metavar="POSTS...")
@click.option(
    "--key",
    envvar=KEY_VARIABLE,
    required=True,
    metavar="PATH",
    help=f"OpenSSH key, or public key of one in ssh-agent; may be in ${KEY_VARIABLE} instead.",
)
@site_option
@verbosity_options
@click.pass_obj
def sign(clocks: CommandClock, posts: tuple[str, ...], key: str, site: Path | None) -> int:
    """Sign the records of POSTS with your key.

    `ssh-keygen` makes the signatures. Pages say who signed a record if `_freeze/allowed_signers` lists the
    key. If the environment variable for the key is set, runs of cells sign their new records.

    POSTS are source files or folders of the site.
    """
    from ..freeze.signing import sign_record

    survey = _survey_site(clocks, posts, site, has_messages=False)
    for page in survey.pages:
        name = sign_record(survey.root, page.folder, key)
        said = "nothing is recorded" if name is None else f"signed by {name}" if name else _UNLISTED
        terminal.print_line(printable(f"{page.cells.path}: {said}"))
    return 0


_UNLISTED = "signed; pages will not say so until `_freeze/allowed_signers` lists the key"


@freeze.command()
@site_option
@click.option("--dry-run", is_flag=True, help="Show what would be removed; remove nothing.")
@verbosity_options
@click.pass_obj
def prune(clocks: CommandClock, site: Path | None, dry_run: bool) -> int:
    """Remove results of posts that are gone or have no cells.

    Results of a renamed post are moved to its new path.
    """
    from ..cells.status import adopt_records
    from ..freeze.archive import prune as prune_records

    surveyed = _survey_site(clocks, (), site)
    if not dry_run:
        adopt_records(surveyed)
    posts = [page.cells.path for page in surveyed.pages]
    # a damaged record is not copied, so it stays where it is
    kept = [page.folder for page in surveyed.pages if page.damage]
    removed = prune_records(surveyed.root, posts, kept=kept, dry=dry_run)
    for line in removed:
        terminal.print_line(printable(line))
    if not removed:
        terminal.print_line("nothing to remove")
    return 0


@freeze.command()
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("posts", nargs=-1, type=click.Path(), metavar="[POSTS]...")
@site_option
@verbosity_options
@click.pass_obj
def pack(clocks: CommandClock, archive: Path, posts: tuple[str, ...], site: Path | None) -> int:
    """Write the results of POSTS into ARCHIVE (.tar.gz).

    Use this if the machine that runs the cells cannot push: copy the archive to another machine and unpack
    it there.

    POSTS are source files or folders of the site.  [default: all]
    """
    from ..cells.status import adopt_records
    from ..freeze.archive import pack as pack_records

    surveyed = adopt_records(_survey_site(clocks, posts, site))
    packed = pack_records(surveyed.root, [page.cells.path for page in surveyed.pages], archive)
    terminal.print_line(
        f"results of {plural(len(packed), 'post')} packed into {format_path(archive.absolute())}"
    )
    return 0


@freeze.command()
@click.argument("archive", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--keep", is_flag=True, help="Keep existing results.  [default: replace them]")
@site_option
@verbosity_options
def unpack(archive: Path, keep: bool, site: Path | None) -> int:
    """Unpack the results in ARCHIVE into `_freeze/`."""
    from ..freeze.archive import unpack as unpack_records

    done = unpack_records(site_root(site), archive, keep_existing=keep)
    for words, names in (("written", done.placed), ("unchanged", done.same), ("kept", done.kept)):
        for name in names:
            terminal.print_line(f"{name}: {words}")
    return 0


def _survey_site(
    clocks: CommandClock, posts: tuple[str, ...], site: Path | None, *, has_messages: bool = True
) -> SiteStatus:
    """Return the posts that have cells. Report damaged records if `has_messages` is set."""
    root = site_root(site)
    from ..features.site_cells import survey_site

    survey = survey_site(root, posts, clocks.now(), use_cache=True)
    if has_messages:
        print_messages(survey.diagnostics)
    return survey
