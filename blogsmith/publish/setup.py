"""The files that a host needs, and problems in settings, records and URLs that prevent publishing."""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from ..api.publishing import (
    CONFIG_NAME,
    DISTRIBUTION,
    BuildLog,
    BuildOptions,
    BuildReport,
    Diagnostic,
    ExecutionOptions,
    PageCache,
    Place,
    SiteError,
    __version__,
    base_url_problem,
    build_site,
    lazy_pattern,
    load_config,
    load_site,
    make_rules,
    no_progress,
    open_site,
)
from .author_files import read_text
from .dependency_lock import LOCK, InstallSource, LockInputs, lock_source
from .github_pages import github_address
from .hosted_site import HostedSite
from .install_plan import needed_extras, read_lock
from .repository import Repository, find_repository, has_large_files
from .targets import TARGETS

_FOLDER = lazy_pattern(r"[\w. -]+(?:/[\w. -]+)*")


class Setup(Struct, frozen=True):
    """Files that a host needs to publish a site."""

    site: HostedSite
    files: Mapping[str, str]
    """Path relative to `root` → content of each file to write, without the lock and the wheel."""
    inputs: LockInputs
    """Values that the lock depends on."""
    root: Path
    """Folder for the written files, which is the root of the site or of its repository."""
    published_url: str = ""
    """URL of the published site; empty if neither the settings nor the repository give it."""
    problems: tuple[Diagnostic, ...] = ()
    """Problems that do not prevent publishing."""


class SetupRequest(Struct, frozen=True, kw_only=True):
    """Options of the command line about a host."""

    target: str
    now: dt.datetime
    base_url: str = ""
    """URL that replaces `base_url` of the settings; empty to use the setting."""
    destination: str = ""
    source: InstallSource | None = None
    """Source of blogsmith for the host's installation. If None, use the source in the lock or, without a
    lock, a wheel."""
    repository: Path | None = None
    """Absolute path of the repository, if files may be written there. If None, they are written only below
    the site."""


def plan_setup(root: Path, request: SetupRequest) -> Setup:
    """Return the files that a host needs, without writing them. Raise SiteError if the site or an option has
    an error."""
    target, site = TARGETS[request.target], root.resolve()
    context, memory = open_site(root), PageCache(None)
    log = BuildLog(no_progress)
    loaded = load_site(context, memory, BuildOptions(now=request.now), log)
    errors = tuple(found for found in log.report() if found.severity == "error")
    if errors:
        raise SiteError(*errors)
    config, repository = context.config, find_repository(site)
    base = request.repository.resolve() if request.repository else site
    address = choose_site_url(
        config.base_url, request.base_url, bool(target.address_variable), request.target
    )
    source = request.source or lock_source(read_lock(root) if target.builds else None)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    base_path = address.partition("://")[2].partition("/")[2].rstrip("/")
    pages = [(loaded.urls.urls[str(one.path)], one.front.aliases) for one in loaded.documents]
    needs_history = any(one.front.is_dated_by_git for one in loaded.documents)
    hosted = HostedSite(
        base_url=address,
        has_own_base_url=bool(config.base_url) and not request.base_url,
        output=config.output,
        repository=repository,
        folder=_find_site_folder(base, site, repository, request.target),
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
        settings = add_target_setting(root, request.target)
        own = {hosted.repository_path(path): text for path, text in settings.items()}
    problems = (
        *url_problems(hosted, request.target),
        *find_ignored_results(site, repository.root),
        *(old_requirement_problems(root) if target.builds else ()),
    )
    return Setup(
        site=hosted,
        files={**own, **target.files(hosted)},
        inputs=LockInputs(__version__, needed_extras(config), python, source),
        root=base,
        published_url=expected_url(hosted, request.target),
        problems=problems,
    )


def github_url(root: Path, base_url: str) -> str:
    """Return the URL of the site on GitHub Pages. It comes from the settings or the repository; empty if
    neither gives it.

    base_url: overrides the setting.

    Raise SiteError for errors in the settings.
    """
    config = open_site(root).config
    address = choose_site_url(config.base_url, base_url, host_knows=True, target="github-pages")
    site = HostedSite(base_url=address, repository=find_repository(root.resolve()))
    return expected_url(site, "github-pages")


def build_as_published(root: Path, base_url: str, now: dt.datetime, output: Path) -> BuildReport:
    """Build the site into the folder `output`, with the options that hosts use. base_url: replaces the
    setting; empty to use the setting."""
    options = BuildOptions(
        now=now,
        strict=True,
        base_url=base_url or None,
        output=output,
        use_cache=True,
        execution=ExecutionOptions(frozen=True),
    )
    return build_site(root, options)


def _destination(request: SetupRequest, address: str) -> str:
    """Return the folder for the copied files. The option is required for rsync, and has a default for web
    servers."""
    if request.destination or not TARGETS[request.target].has_destination:
        return request.destination
    if request.target == "rsync":
        message = "missing --destination: rsync needs the folder on the server"
        hint = "add `--destination user@example.org:/srv/www/site/`"
        raise SiteError(Diagnostic("publish-target", message, hint=hint))
    return f"/srv/www/{address.partition('://')[2].partition('/')[0].partition(':')[0]}/"


def _find_site_folder(base: Path, site: Path, repository: Repository, target: str) -> str:
    """Return the path of the site's folder below `base`. Raise SiteError if the host would not find its
    settings there."""
    if not site.is_relative_to(base):
        message = f'the site is not in "{base}"'
        raise SiteError(
            Diagnostic(
                "publish-repository", message, hint="write a folder above the site after `--repository`"
            )
        )
    if target in ("github-pages", "gitlab") and repository.root not in (None, base):
        message = f'{target} reads settings at the root of the repository, which is "{repository.root}"'
        hint = f"add `--repository {repository.root}` to write them there"
        raise SiteError(Diagnostic("publish-repository", message, hint=hint))
    folder = site.relative_to(base).as_posix().removeprefix(".")
    if folder and not _FOLDER.fullmatch(folder):
        message = f'invalid folder "{folder}": hosts allow letters, digits, spaces, ".", "-" and "_"'
        raise SiteError(Diagnostic("publish-repository", message, hint="rename the folder"))
    return folder


# The setting `publish:`, appended to the existing settings.


def add_target_setting(root: Path, target: str) -> Mapping[str, str]:
    """Return path → content of the settings file, with the name of a host added. Raise SiteError if the file
    names another host."""
    loaded = load_config(root)
    if ("publish",) in loaded.locations:
        place = loaded.locations[("publish",)]
        line = loaded.lines[place.line - 1] if place.line <= len(loaded.lines) else ""
        message = f'invalid "publish": expected {target}, so that builds write its headers and redirects'
        hint = f"write `publish: {target}`"
        raise SiteError(Diagnostic("publish-target", message, CONFIG_NAME, place, line, hint))
    text = read_text(root, CONFIG_NAME) or ""
    end = "" if text.endswith("\n") or not text else "\n"
    note = "# Where the site is published: builds write its headers and redirects."
    return {CONFIG_NAME: f"{text}{end}\n{note}\npublish: {target}\n"}


# Recorded results that git ignores: the machine that publishes the site would not have them.


_FILE = ".gitignore"
_PATTERN = lazy_pattern(r"/?(?:\*\*/)?_freeze(?:/\*{0,2})?\s*")


def find_ignored_results(site: Path, repository: Path | None) -> tuple[Diagnostic, ...]:
    """Return a warning for each line of a `.gitignore` file that ignores `_freeze/`. The file may be in the
    folder of the site or of its repository."""
    found = []
    for folder in dict.fromkeys((site, repository or site)):
        try:
            lines = (read_text(folder, _FILE) or "").split("\n")
        except SiteError:
            continue
        for number, line in enumerate(lines, 1):
            if _PATTERN.fullmatch(line):
                message = "git ignores the recorded results, so no other machine can show them"
                path = _FILE if folder == site else str(folder / _FILE)
                place = Place(number, 1, len(line.rstrip()))
                hint = "remove the line, and commit _freeze/"
                found.append(Diagnostic("publish-results", message, path, place, line, hint, "warning"))
    return tuple(found)


# A requirement of blogsmith by name, which earlier versions wrote although no package index has that name.
# Some hosts install `requirements.txt` automatically before they run the command of the site. The line then
# stops the build, or installs the package of anyone who registers the name.


_FILES = ("requirements.txt", "requirements-site.txt")
_OURS = lazy_pattern(rf"[ \t]*{DISTRIBUTION.replace('-', '[-_.]')}(?![\w.-])", re.IGNORECASE)


def old_requirement_problems(root: Path) -> tuple[Diagnostic, ...]:
    """Return a warning for each line in requirement files at the site root that requires blogsmith by
    name."""
    found = []
    for name in _FILES:
        for number, line in enumerate((read_text(root, name) or "").split("\n"), 1):
            if match := _OURS.match(line):
                message = f'"{DISTRIBUTION}" is not in the package index, or belongs to someone else'
                hint = f"remove the line: {LOCK} installs blogsmith"
                place = Place(number, 1, len(match[0]))
                found.append(Diagnostic("publish-lock", message, name, place, line, hint, "warning"))
    return tuple(found)


# URL of the published site, as set by the author or by the host, and contradictions between the two.


_EXAMPLE = "https://example.org/blog"


def choose_site_url(setting: str, option: str, host_knows: bool, target: str) -> str:
    """Return the URL of the site, from the option or, if that is empty, from the setting. Empty if only the
    host knows the URL.

    host_knows: whether the host sets the URL at builds. Raise SiteError if the URL is invalid, or if neither
    the user nor the host gives it.
    """
    problem = base_url_problem(option)
    if problem:
        raise SiteError(
            _problem(
                f'invalid base URL "{option}": it {problem}', f"write a URL such as `{_EXAMPLE}`", "error"
            )
        )
    address = (option or setting).rstrip("/")
    if not address and not host_knows:
        message = f'missing "base_url": {target} needs the URL of the site'
        example = "https://example.org" if TARGETS[target].is_at_root else _EXAMPLE
        raise SiteError(_problem(message, f"write `base_url: {example}` in {CONFIG_NAME}", "error"))
    return address


def expected_url(site: HostedSite, target: str) -> str:
    """Return the URL of the site with a trailing slash, or an empty string if it is unknown."""
    repository = site.repository
    if not site.base_url and target == "github-pages" and repository.host == "github.com":
        return f"{github_address(repository.owner, repository.name)}/"
    return f"{site.base_url}/" if site.base_url else ""


def url_problems(site: HostedSite, target: str) -> tuple[Diagnostic, ...]:
    """Return a warning if the host would serve the site at another URL than the one in the settings."""
    return tuple(_problem(message, hint) for message, hint in _problems(site, target))


def _problems(site: HostedSite, target: str) -> Iterator[tuple[str, str]]:
    url, repository = site.base_url, site.repository
    if not url:
        return
    if TARGETS[target].is_at_root and site.base_path:
        yield (
            f'{target} shows a site at the root of a host, not at "{site.base_path}/"',
            "remove the path from `base_url`",
        )
    if target == "github-pages" and repository.host == "github.com":
        shown = github_address(repository.owner, repository.name)
        is_theirs = site.host.endswith(".github.io")
        allowed = {shown.lower()} if is_theirs else {f"https://{site.host}{urlsplit(shown).path}".lower()}
        allowed |= set() if is_theirs else {f"https://{site.host}"}
        if url.lower().replace("http://", "https://") not in allowed:
            hint = f"write `base_url: {shown}`, or remove `base_url` so that GitHub provides it"
            yield f'GitHub shows "{repository.path}" at "{shown}/", not at "{url}/"', hint


def _problem(message: str, hint: str, severity: str = "warning") -> Diagnostic:
    is_error = severity == "error"
    return Diagnostic(
        "publish-base-url", message, CONFIG_NAME, hint=hint, severity="error" if is_error else "warning"
    )
