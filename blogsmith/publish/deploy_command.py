"""`blogsmith publish` without a command: check the site, build it, show the changes, ask, publish."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..api.commands import STALE, CommandClock, plural, print_report, site_option, site_root, terminal
from .host_rehearsal import require_trust

if TYPE_CHECKING:
    from .pages_branch import BranchUpdate

_OPTIONS = (
    site_option,
    click.option(
        "--to",
        type=click.Choice(["github-pages", "rsync"]),
        help="Where to publish.  [default: rsync if it is set up, otherwise github-pages]",
    ),
    click.option("--dry-run", is_flag=True, help="Show what would change at the host; publish nothing."),
    click.option("-y", "--yes", is_flag=True, help="Publish without asking."),
    click.option("--remote", metavar="NAME", help="Git remote to push to.  [default: origin]"),
    click.option("--branch", metavar="NAME", help="Branch for the pages.  [default: gh-pages]"),
    click.option(
        "--base-url", metavar="URL", help="URL of the published site.  [default: base_url in blogsmith.yaml]"
    ),
)
_NOT_PUBLISHED = "nothing was published: the site has errors"
_MAX_LISTED = 20
"""Maximum number of changes that are listed."""


def deploy_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of publishing to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def deploy(
    clocks: CommandClock,
    *,
    site: Path | None,
    to: str | None,
    dry_run: bool,
    yes: bool,
    remote: str | None,
    branch: str | None,
    base_url: str | None,
) -> int:
    """Publish a site. Return 0 as exit code if it is published or was already up to date."""
    from .rsync import SCRIPT

    root = site_root(site)
    if dry_run and yes:
        raise click.UsageError("--dry-run and --yes exclude each other")
    require_trust(root)
    target = to or ("rsync" if (root / SCRIPT).is_file() else "github-pages")
    if target == "rsync":
        return _run_rsync(clocks, root, dry_run=dry_run, yes=yes)
    return _push_pages(clocks, root, remote or "", branch or "", base_url or "", dry_run=dry_run, yes=yes)


def _check(clocks: CommandClock, root: Path) -> int:
    """Run the checks of `blogsmith check` and return its exit code. Print only errors and warnings."""
    from ..api.publishing import BuildOptions, build_site

    report = build_site(root, BuildOptions(now=clocks.now(), write=False, use_cache=True))
    if not report.ok:
        print_report(report, clocks.seconds() - clocks.started, write=False)
        terminal.warn(_NOT_PUBLISHED)
    return 0 if report.ok else 1


def _run_rsync(clocks: CommandClock, root: Path, *, dry_run: bool, yes: bool) -> int:
    """Check the site, then run the script from `publish setup rsync`, which builds the site, shows the
    changes and asks."""
    from ..api.publishing import Diagnostic, SiteError
    from .rsync import SCRIPT

    if not (root / SCRIPT).is_file():
        hint = "run `blogsmith publish setup rsync --destination user@example.org:/srv/www/site/`"
        raise SiteError(Diagnostic("publish-target", f'file not found: "{SCRIPT}"', hint=hint))
    if code := _check(clocks, root):
        return code
    words = ["--dry-run"] if dry_run else ["--yes"] if yes else []
    sys.stdout.flush()
    return subprocess.run(["sh", SCRIPT, *words], cwd=root, check=False).returncode


def _push_pages(
    clocks: CommandClock, root: Path, remote: str, branch: str, base_url: str, *, dry_run: bool, yes: bool
) -> int:
    from ..api.publishing import temporary_folder
    from .pages_branch import BRANCH, plan_update, push_update
    from .setup import build_as_published, github_url

    url = github_url(root, base_url)
    if code := _check(clocks, root):
        return code
    with temporary_folder() as folder:
        report = build_as_published(root, url, clocks.now(), folder / "public")
        print_report(report, clocks.seconds() - clocks.started, write=False)
        if not report.ok:
            terminal.warn(_NOT_PUBLISHED)
            return STALE if report.has_only_stale else 1
        update = plan_update(root, folder / "public", url, folder, remote or "origin", branch or BRANCH)
        if not update.commit:
            terminal.print_line(f'nothing to publish: the branch "{update.branch}" has these pages')
            return 0
        _show(update)
        if dry_run:
            terminal.print_line("nothing was pushed: omit --dry-run to publish")
            return 0
        question = f'Push this to the branch "{update.branch}" of "{update.remote}"?'
        if not yes and not _is_confirmed(question):
            terminal.print_line("nothing was pushed")
            return 1
        push_update(update)
    terminal.print_line(f'published to the branch "{update.branch}" of "{update.remote}"')
    if url:
        terminal.print_line(f"GitHub shows it at {url} after about a minute")
    if update.is_first:
        place = f"Deploy from a branch, {update.branch}, / (root)"
        terminal.print_line(f"next: on GitHub, Settings → Pages → Source: {place}")
    return 0


def _is_confirmed(question: str) -> bool:
    """Return whether the user answers yes. If there is no answer, as without a terminal, return False."""
    try:
        return click.confirm(question)
    except click.Abort:
        terminal.print_line("")
        return False


def _show(update: BranchUpdate) -> None:
    from ..api.publishing import printable

    names = {"A": "new", "M": "changed", "D": "deleted", "T": "changed"}
    for change in update.changes[:_MAX_LISTED]:
        letter, _, path = change.partition("\t")
        terminal.print_line(printable(f"  {names.get(letter, letter):8} {path}"))
    if len(update.changes) > _MAX_LISTED:
        terminal.print_line(f"  and {plural(len(update.changes) - _MAX_LISTED, 'more file')}")
    if update.source.endswith("+"):
        terminal.print_line("the pages include changes that are not committed")
