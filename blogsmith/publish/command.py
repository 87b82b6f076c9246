"""`blogsmith publish`. It sets up a host, rehearses the host's build, or publishes the site: it then checks
and builds the site, shows the changes and asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..api.commands import (
    STALE,
    CommandClock,
    format_path,
    plural,
    print_report,
    site_option,
    site_root,
    terminal,
    verbosity_options,
)
from .rehearsal_command import require_trust

if TYPE_CHECKING:
    from .author_files import AuthorFile
    from .dependency_lock import InstallSource
    from .install_plan import InstallPlan
    from .pages_branch import BranchUpdate
    from .setup import Setup, SetupRequest


_DEPLOY_OPTIONS = (
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
    for option in reversed(_DEPLOY_OPTIONS):
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
    """Publish a site. Return the exit code: 0 if the site is published or was already up to date."""
    from .rsync import SCRIPT

    root = site_root(site)
    if dry_run and yes:
        raise click.UsageError("--dry-run and --yes cannot be combined")
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
        _show_update(update)
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
    """Return whether the user answers yes. Return False if there is no answer, for example without a
    terminal."""
    try:
        return click.confirm(question)
    except click.Abort:
        terminal.print_line("")
        return False


def _show_update(update: BranchUpdate) -> None:
    from ..api.publishing import printable

    names = {"A": "new", "M": "changed", "D": "deleted", "T": "changed"}
    for change in update.changes[:_MAX_LISTED]:
        letter, _, path = change.partition("\t")
        terminal.print_line(printable(f"  {names.get(letter, letter):8} {path}"))
    if len(update.changes) > _MAX_LISTED:
        terminal.print_line(f"  and {plural(len(update.changes) - _MAX_LISTED, 'more file')}")
    if update.source.endswith("+"):
        terminal.print_line("the pages include changes that are not committed")


_NAMES = ("github-pages", "gitlab", "cloudflare", "netlify", "rsync", "nginx", "caddy")
_OPTIONS = (
    click.argument("target", type=click.Choice(_NAMES)),
    site_option,
    click.option(
        "--base-url", metavar="URL", help="URL of the published site.  [default: base_url in blogsmith.yaml]"
    ),
    click.option(
        "--destination",
        metavar="PATH",
        help="Folder for the pages: for rsync user@host:/folder/, for nginx and caddy one on the server.  "
        "[default: for nginx and caddy, /srv/www/ and the host of the URL]",
    ),
    click.option(
        "--repository",
        type=click.Path(file_okay=False, exists=True, path_type=Path),
        metavar="PATH",
        help="Root of the repository, if the site is a folder in it.  [default: the site]",
    ),
)
_SOURCES = (
    click.option(
        "--from-git",
        metavar="URL@COMMIT",
        help="Install blogsmith on the host from a commit of a git repository, named by its full hash.  "
        "[default: the choice of the last setup]",
    ),
    click.option("--from-index", is_flag=True, help="Install blogsmith on the host from the package index."),
    click.option(
        "--from-wheel",
        is_flag=True,
        help="Install blogsmith on the host from a wheel in the site, made of the running version.  "
        "[default, unless set up otherwise]",
    ),
)


def host_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that describe the host to a command. The command is called with the files that the host
    needs."""

    @wraps(command)
    def run(
        target: str,
        site: Path | None,
        base_url: str | None,
        destination: str | None,
        repository: Path | None,
        from_git: str | None = None,
        from_index: bool = False,
        from_wheel: bool = False,
        **others: bool,
    ) -> int:
        from .setup import SetupRequest, plan_setup

        clocks: CommandClock = click.get_current_context().obj
        request = SetupRequest(
            target=target,
            now=clocks.now(),
            base_url=base_url or "",
            destination=destination or "",
            source=_source(from_git, from_index=from_index, from_wheel=from_wheel),
            repository=repository,
        )
        root = site_root(site)
        return command(clocks, root, request, plan_setup(root, request), **others)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def _source(git: str | None, *, from_index: bool, from_wheel: bool) -> InstallSource | None:
    from .dependency_lock import InstallSource, parse_git_source

    if (git is not None) + from_index + from_wheel > 1:
        raise click.UsageError("--from-git, --from-index and --from-wheel cannot be combined")
    if git is not None:
        source = parse_git_source(git)
        if source is None:
            message = f'invalid --from-git "{git}": expected URL@COMMIT, such as '
            message += (
                "https://github.com/NAME/blogsmith.git@ and the 40 digits of the commit, without a password"
            )
            raise click.UsageError(message)
        return source
    if from_index:
        return InstallSource("index")
    return InstallSource() if from_wheel else None


@click.group(invoke_without_command=True)
@deploy_options
@verbosity_options
@click.pass_context
def publish(context: click.Context, /, **options: Any) -> int:
    """Publish the site, or set up a host that publishes it.

    Without a command: checks the site, builds it from its records, shows the changes at the host, asks, and
    publishes. For GitHub Pages, it pushes a branch with git. For your own server, it runs publish/rsync.sh.
    Other hosts build the site after a push of its sources.
    """
    if context.invoked_subcommand is None:
        return deploy(context.obj, **options)
    given = [name for name, value in options.items() if value]
    if given:
        names = ", ".join("--" + name.replace("_", "-") for name in given)
        raise click.UsageError(f"{names} has no effect because a command follows: write it after the command")
    return 0


@publish.command("setup")
@host_options
@click.option("--diff", "only_shows", is_flag=True, help="Show what would change; write nothing.")
@click.option("--force", is_flag=True, help="Also overwrite files that you have changed.")
@verbosity_options
def setup_command(
    clocks: CommandClock, root: Path, request: SetupRequest, setup: Setup, *, only_shows: bool, force: bool
) -> int:
    """Write the files that TARGET needs to publish the site.

    Hosts that build the site install blogsmith from a wheel in the folder publish/ (3 MB). They install its
    dependencies from the lock file next to it, which contains the SHA-256 of each file. The first run needs
    the network and about 10 seconds. If a file of yours differs, the difference is shown and nothing is
    written.
    """
    from .author_files import compare_files, write_files
    from .dependency_lock import LOCK
    from .install_plan import plan_install, write_install
    from .targets import TARGETS

    plan = plan_install(root, setup.inputs) if TARGETS[request.target].builds else None
    lock = {setup.site.repository_path(LOCK): plan.lock} if plan else {}
    files = compare_files(setup.root, {**setup.files, **lock})
    _warn(setup, plan)
    # `plan_install` has checked that the lock is ours
    changed = [
        file for file in files if file.state == "changed" and not _only_adds(file) and file.path not in lock
    ]
    if only_shows or (changed and not force):
        return _show(files if only_shows else tuple(changed), plan, is_refusal=not only_shows)
    if plan:
        write_install(root, plan)
    write_files(setup.root, files)
    _print_outcome(root, setup, files, plan, request)
    return 0


for _option in reversed(_SOURCES):
    setup_command = _option(setup_command)


@publish.command("check")
@host_options
@verbosity_options
def check_command(clocks: CommandClock, root: Path, request: SetupRequest, setup: Setup) -> int:
    """Rehearse locally how TARGET builds the site.

    Builds the site from its records with --frozen and --strict. Then installs the lock in a new Python
    environment, runs the commands of the host on a copy of the files in git, and compares the pages. This
    takes half a minute. The first run needs the network and downloads 20 MB, which are cached in
    ~/.cache/blogsmith/wheels. The site must be trusted.
    """
    from ..api.publishing import temporary_folder
    from .author_files import compare_files
    from .dependency_lock import LOCK
    from .install_plan import lock_problems, read_lock
    from .rehearsal_command import rehearse_host, require_trust
    from .setup import build_as_published
    from .targets import TARGETS

    builds = TARGETS[request.target].builds
    if builds:
        require_trust(root)
    problems = lock_problems(root, setup.inputs) if builds else ()
    _warn(setup)
    _print_problems(problems)
    has_lock = not builds or read_lock(root) is not None
    with temporary_folder() as folder:
        url = setup.published_url
        report = build_as_published(root, url, clocks.now(), folder / "public")
        print_report(report, clocks.seconds() - clocks.started, write=False)
        missing = [file for file in compare_files(setup.root, setup.files) if file.state != "same"]
        for file in missing:
            _report_file(file, request)
        if not has_lock:
            command = f"blogsmith publish setup {request.target}"
            terminal.warn(f"{setup.site.repository_path(LOCK)} is missing: run `{command}`")
        if not report.ok:
            return STALE if report.has_only_stale else 1
        is_set_up = has_lock and not any(file.state == "new" or _only_adds(file) for file in missing)
        if problems or not is_set_up:
            return 1
        return rehearse_host(clocks, root, request.target, setup, folder) if builds else 0


def _report_file(file: AuthorFile, request: SetupRequest) -> None:
    from ..api.publishing import printable

    command = f"blogsmith publish setup {request.target}"
    if file.state == "new" or _only_adds(file):
        terminal.warn(printable(f"{file.path} is not set up: run `{command}`"))
    else:
        terminal.print_line(printable(f"{file.path} differs from what setup writes: run `{command} --diff`"))


def _warn(setup: Setup, plan: InstallPlan | None = None) -> None:
    _print_problems((*setup.problems, *(plan.problems if plan else ())))


def _print_problems(problems: tuple[Any, ...]) -> None:
    from ..api.publishing import print_diagnostics, wants_color

    print_diagnostics(problems, sys.stderr, wants_color(sys.stderr))


def _only_adds(file: AuthorFile) -> bool:
    """Return whether the plan only appends lines to an existing file, for example to blogsmith.yaml."""
    return bool(file.before.strip()) and file.text.startswith(file.before)


def _show(files: tuple[AuthorFile, ...], plan: InstallPlan | None, *, is_refusal: bool) -> int:
    from ..api.publishing import printable

    for file in files:
        for line in file.difference():
            terminal.print_line(printable(line, keep="\t"))
    names = ", ".join(file.path for file in files)
    if is_refusal:
        terminal.warn(f"nothing was written: add --force to overwrite {printable(names)}")
        return 1
    if plan and plan.data is not None:
        terminal.print_line(f"{plan.wheel} would be written ({len(plan.data) / 1e6:.1f} MB)")
    elif all(file.state == "same" for file in files):
        terminal.print_line(f"nothing would change: {printable(names)}")
    return 0


def _print_outcome(
    root: Path, setup: Setup, files: tuple[AuthorFile, ...], plan: InstallPlan | None, request: SetupRequest
) -> None:
    from ..api.publishing import printable
    from .targets import TARGETS

    if plan and plan.wheel:
        state = f"written ({len(plan.data) / 1e6:.1f} MB)" if plan.data is not None else "unchanged"
        terminal.print_line(printable(f"{format_path(root / plan.wheel)}  {state}"))
        if plan.old_wheel:
            terminal.print_line(printable(f"{format_path(root / plan.old_wheel)}  removed"))
    for file in files:
        path = printable(format_path(setup.root / file.path))
        terminal.print_line(f"{path}  {'unchanged' if file.state == 'same' else 'written'}")
    where = setup.published_url or "the URL that the host gives to builds"
    terminal.print_line(printable(f"base URL: {where}"))
    terminal.print_line("next:")
    for step in TARGETS[request.target].steps(setup.site):
        terminal.print_line(printable(f"- {step}"))
    terminal.print_line(f"- to test it first: blogsmith publish check {request.target}")
