"""The files that a host needs of a site, from its settings, its posts and the files of its repository."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.patterns import lazy_pattern
from ..base.version import __version__
from ..build.load import load_site
from ..build.render import PageCache
from ..build.site import build_site
from ..project.context import open_site
from ..project.report import BuildLog, BuildOptions, BuildReport, ExecutionOptions, Progress, no_progress
from ..publish.base_urls import address_problems, expected_address, site_address
from ..publish.dependency_lock import InstallSource, LockInputs, source_of
from ..publish.hosted_site import HostedSite
from ..publish.ignored_results import ignored_results
from ..publish.install_plan import needed_extras, read_lock
from ..publish.old_requirements import old_requirement_problems
from ..publish.redirect_rules import make_rules
from ..publish.repository import Repository, find_repository, has_large_files
from ..publish.settings_edit import with_target
from ..publish.targets import TARGETS

_FOLDER = lazy_pattern(r"[\w. -]+(?:/[\w. -]+)*")


class Setup(Struct, frozen=True):
    """The files that a host needs of a site."""

    site: HostedSite
    files: Mapping[str, str]
    """Path relative to `root` → text; the lock and the wheel are not among them."""
    inputs: LockInputs
    """Everything the lock depends on."""
    root: Path
    """The folder that files are written below: that of the site, or of its repository."""
    shown_at: str = ""
    """URL of the published site; empty if neither settings nor repository name it."""
    problems: tuple[Diagnostic, ...] = ()
    """Warnings."""


class SetupRequest(Struct, frozen=True, kw_only=True):
    """Options of the command line about a host."""

    target: str
    now: dt.datetime
    base_url: str = ""
    """Replaces the setting; empty: the setting applies."""
    destination: str = ""
    source: InstallSource | None = None
    """The place from which hosts install blogsmith; None: as the lock has it, at first the wheel."""
    repository: Path | None = None
    """Folder of the repository, a whole path, if files may be written there; None: below the site only."""


def plan_setup(root: Path, request: SetupRequest) -> Setup:
    """Return the files of a host and write nothing. SiteError if the site or an option has an error."""
    target, site = TARGETS[request.target], root.resolve()
    context, memory = open_site(root), PageCache(None)
    log = BuildLog(no_progress)
    loaded = load_site(context, memory, BuildOptions(now=request.now), log)
    errors = tuple(found for found in log.report() if found.severity == "error")
    if errors:
        raise SiteError(*errors)
    config, repository = context.config, find_repository(site)
    base = request.repository.resolve() if request.repository else site
    address = site_address(config.base_url, request.base_url, bool(target.address_variable), request.target)
    source = request.source or source_of(read_lock(root) if target.builds else None)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    base_path = address.partition("://")[2].partition("/")[2].rstrip("/")
    pages = [(loaded.urls.urls[str(one.path)], one.front.aliases) for one in loaded.documents]
    needs_history = any(one.front.is_dated_by_git for one in loaded.documents)
    hosted = HostedSite(
        base_url=address,
        has_own_base_url=bool(config.base_url) and not request.base_url,
        output=config.output,
        repository=repository,
        folder=_folder_in(base, site, repository, request.target),
        source=source,
        python=python,
        needs_trust=needs_history or context.plugins.code is not None,
        needs_history=needs_history,
        has_large_files=repository.root is not None and has_large_files(repository.root),
        redirects=make_rules(pages, f"/{base_path}" if base_path else ""),
        destination=_destination(request, address),
        date=request.now.date().isoformat(),
    )
    own: Mapping[str, str] = {}
    if target.has_outputs and config.publish != request.target:
        settings = with_target(root, request.target)
        own = {hosted.at(path): text for path, text in settings.items()}
    problems = (
        *address_problems(hosted, request.target),
        *ignored_results(site, repository.root),
        *(old_requirement_problems(root) if target.builds else ()),
    )
    return Setup(
        site=hosted,
        files={**own, **target.files(hosted)},
        inputs=LockInputs(__version__, needed_extras(config), python, source),
        root=base,
        shown_at=expected_address(hosted, request.target),
        problems=problems,
    )


def github_url(root: Path, base_url: str) -> str:
    """Return the URL at which GitHub Pages shows the site; empty if nothing names it.

    base_url: replaces the setting. Raises SiteError for errors in the settings.
    """
    config = open_site(root).config
    address = site_address(config.base_url, base_url, host_knows=True, target="github-pages")
    site = HostedSite(base_url=address, repository=find_repository(root.resolve()))
    return expected_address(site, "github-pages")


def build_as_published(
    root: Path, base_url: str, now: dt.datetime, output: Path, progress: Progress = no_progress
) -> BuildReport:
    """Build the site with the options of hosts into the folder `output`. base_url: empty: the setting."""
    options = BuildOptions(
        now=now,
        strict=True,
        base_url=base_url or None,
        output=output,
        remembers=True,
        execution=ExecutionOptions(frozen=True),
    )
    return build_site(root, options, progress)


def _destination(request: SetupRequest, address: str) -> str:
    """Where files are copied to; rsync has to be told, servers have a usual place."""
    if request.destination or not TARGETS[request.target].has_destination:
        return request.destination
    if request.target == "rsync":
        message = "rsync has to be told where the files go"
        hint = "add --destination user@example.org:/srv/www/site/"
        raise SiteError(Diagnostic("publish-target", message, hint=hint))
    return f"/srv/www/{address.partition('://')[2].partition('/')[0].partition(':')[0]}/"


def _folder_in(base: Path, site: Path, repository: Repository, target: str) -> str:
    """The folder of the site below `base`; SiteError if that is not where the host looks for its settings."""
    if not site.is_relative_to(base):
        message = f"the site does not lie in {base}"
        raise SiteError(Diagnostic("publish-repository", message, hint="name a folder above the site"))
    if target in ("github-pages", "gitlab") and repository.root not in (None, base):
        message = f"{target} reads settings at the root of the repository, which is {repository.root}"
        hint = f"add --repository {repository.root} to write them there"
        raise SiteError(Diagnostic("publish-repository", message, hint=hint))
    folder = site.relative_to(base).as_posix().removeprefix(".")
    if folder and not _FOLDER.fullmatch(folder):
        message = f"the folder {folder!r} has signs that mean something in settings of hosts"
        raise SiteError(Diagnostic("publish-repository", message, hint="letters, digits, blanks, - _ and ."))
    return folder
