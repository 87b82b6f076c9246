"""Data about a site, used to compute the files for hosts.

The commands that a host runs are lines for a POSIX shell, the same on every host. They run no code of the
site except its plugins. `--frozen` shows the results recorded in `_freeze/`, whatever versions and devices
they were recorded with, and fails if a result is missing or stale.
"""

from __future__ import annotations

from msgspec import Struct

from ..api.publishing import MANIFEST, RedirectRule
from .dependency_lock import LOCK, InstallSource
from .quoting import quote_shell
from .repository import Repository

TRUST = "blogsmith trust"


def install_lock_command(lock: str) -> str:
    """Return the command that installs the packages of a lock, and no others."""
    return f"python -m pip install --require-hashes --requirement {quote_shell(lock)}"


def install_commands(site: HostedSite) -> tuple[str, ...]:
    """Return the commands that install blogsmith and its dependencies."""
    commands = [install_lock_command(LOCK)]
    if site.source.kind == "git":
        # pip cannot check a digest of a repository, but the lock contains the build tool and all dependencies
        requirement = quote_shell(site.source.requirement)
        commands.append(f"python -m pip install --no-deps --no-build-isolation {requirement}")
    return tuple(commands)


def build_commands(site: HostedSite, variable: str = "") -> tuple[str, ...]:
    """Return the commands that build the site. variable: environment variable that contains the URL of the
    site."""
    trust = (TRUST,) if site.needs_trust else ()
    if site.has_own_base_url:
        address = ""
    elif site.base_url:
        address = f" --base-url {quote_shell(site.base_url)}"
    else:
        address = f' --base-url "${variable}"'
    return (*trust, f"blogsmith build --frozen --strict{address}")


def list_removal(site: HostedSite) -> str:
    """Return the command that removes the manifest of built files, which readers do not need. Do not use it
    for a host that keeps the output folder for the next build, because that build needs the manifest."""
    return f"rm -f {quote_shell(f'{site.output}/{MANIFEST}')}"


class HostedSite(Struct, frozen=True, kw_only=True):
    """A site to be published."""

    base_url: str
    """URL of the published site; empty if only the host knows it, when it builds the site."""
    has_own_base_url: bool = True
    """Whether the settings contain `base_url`. If not, the build commands set it."""
    output: str = "public"
    """Output folder, relative to the site root."""
    repository: Repository
    folder: str = ""
    """Path of the site below the repository root, without outer slashes; empty if the site is at the root."""
    source: InstallSource = InstallSource()
    """Source of blogsmith for the host's installation."""
    python: str = "3.13"
    """Python version on the host."""
    needs_trust: bool = False
    """Whether commands must trust the site, because it has its own plugins or reads dates from Git."""
    needs_history: bool = False
    """Whether dates of pages come from git."""
    has_large_files: bool = False
    """Whether some files are stored with Git LFS."""
    redirects: tuple[RedirectRule, ...] = ()
    destination: str = ""
    """Folder for the copy of the site. For rsync, it may be on another machine; for a web server, it is a
    folder on the server."""
    date: str = "2026-01-01"
    """Date of the setup, for hosts whose settings contain a date."""

    @property
    def base_path(self) -> str:
        """The path of `base_url` without a trailing slash, such as `/blog`; empty at the root of a host."""
        rest = self.base_url.partition("://")[2]
        return ("/" + rest.partition("/")[2]).rstrip("/") if "/" in rest else ""

    @property
    def host(self) -> str:
        """Host of `base_url` without port, in lower case; empty if it is not known."""
        name = self.base_url.partition("://")[2].partition("/")[0].lower()
        return name if name.endswith("]") else name.partition(":")[0]

    def repository_path(self, path: str) -> str:
        """Return a path of the site relative to the root of the repository."""
        return f"{self.folder}/{path}" if self.folder else path
