"""What a host is told about a site: a plain record, so that files for hosts are functions of it."""

from __future__ import annotations

from msgspec import Struct

from ..api.publishing import RedirectRule
from .dependency_lock import InstallSource
from .repository import Repository


class HostedSite(Struct, frozen=True, kw_only=True):
    """A site that is to be published."""

    base_url: str
    """Where it will live; empty: the host says so when it builds."""
    has_own_base_url: bool = True
    """Whether the settings name `base_url`, so that no command has to."""
    output: str = "public"
    """Folder it is written to, relative to its root."""
    repository: Repository
    folder: str = ""
    """Folder of the site below that of the repository, without slashes at its ends; empty: the same."""
    source: InstallSource = InstallSource()
    """The place from which the host installs blogsmith."""
    python: str = "3.13"
    """Version of Python that builds it."""
    needs_trust: bool = False
    """It has plugins of its own, or dates that come from git."""
    needs_history: bool = False
    """Dates of its pages come from git."""
    has_large_files: bool = False
    """Some of its files are kept by Git LFS."""
    redirects: tuple[RedirectRule, ...] = ()
    destination: str = ""
    """Where its files go: of rsync a folder, perhaps on another machine; of a server a folder there."""
    date: str = "2026-01-01"
    """Day of the setup, for hosts whose settings have one."""

    @property
    def base_path(self) -> str:
        """The path of `base_url` without a trailing slash: `/blog`, or empty at a host's root."""
        rest = self.base_url.partition("://")[2]
        return ("/" + rest.partition("/")[2]).rstrip("/") if "/" in rest else ""

    @property
    def host(self) -> str:
        """Host of `base_url` without port, in lower case; empty if it is not known."""
        name = self.base_url.partition("://")[2].partition("/")[0].lower()
        return name if name.endswith("]") else name.partition(":")[0]

    def at(self, path: str) -> str:
        """A path of the site as seen from the root of the repository."""
        return f"{self.folder}/{path}" if self.folder else path
