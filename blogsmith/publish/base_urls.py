"""Where a site will live, as its author or its host knows it, and what does not fit together."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from ..base.diagnostics.model import Diagnostic, SiteError
from ..config.load import CONFIG_NAME
from ..config.urls import base_url_problem
from .github_pages import github_address
from .hosted_site import HostedSite
from .targets import TARGETS

_EXAMPLE = "https://example.org/blog"


def site_address(setting: str, option: str, host_knows: bool, target: str) -> str:
    """The address of the site: the option's, else the setting's; empty where the host tells it to builds.

    SiteError for one that is none, and where nobody knows it.
    """
    problem = base_url_problem(option)
    if problem:
        raise SiteError(_problem(f"base URL {option!r} {problem}", f"write it as {_EXAMPLE}", "error"))
    address = (option or setting).rstrip("/")
    if not address and not host_knows:
        message = f"{target} has to be told where the site will live, and there is no base_url"
        example = "https://example.org" if TARGETS[target].is_at_root else _EXAMPLE
        raise SiteError(_problem(message, f"write base_url: {example} in {CONFIG_NAME}", "error"))
    return address


def expected_address(site: HostedSite, target: str) -> str:
    """Where the site will be, with a slash at its end; empty if neither settings nor repository tell."""
    repository = site.repository
    if not site.base_url and target == "github-pages" and repository.host == "github.com":
        return f"{github_address(repository.owner, repository.name)}/"
    return f"{site.base_url}/" if site.base_url else ""


def address_problems(site: HostedSite, target: str) -> tuple[Diagnostic, ...]:
    """Warnings where the address is not one at which the host shows this site."""
    return tuple(_problem(message, hint) for message, hint in _problems(site, target))


def _problems(site: HostedSite, target: str) -> Iterator[tuple[str, str]]:
    url, repository = site.base_url, site.repository
    if not url:
        return
    if TARGETS[target].is_at_root and site.base_path:
        yield (
            f"{target} shows a site at the root of a host, not at {site.base_path}/",
            "take the path out of base_url",
        )
    if target == "github-pages" and repository.host == "github.com":
        shown = github_address(repository.owner, repository.name)
        is_theirs = site.host.endswith(".github.io")
        allowed = {shown.lower()} if is_theirs else {f"https://{site.host}{urlsplit(shown).path}".lower()}
        allowed |= set() if is_theirs else {f"https://{site.host}"}
        if url.lower().replace("http://", "https://") not in allowed:
            hint = f"write base_url: {shown}, or no base_url: then GitHub says it"
            yield f"GitHub shows {repository.path} at {shown}/, not at {url}/", hint


def _problem(message: str, hint: str, severity: str = "warning") -> Diagnostic:
    is_error = severity == "error"
    return Diagnostic(
        "publish-base-url", message, CONFIG_NAME, hint=hint, severity="error" if is_error else "warning"
    )
