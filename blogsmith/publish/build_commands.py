"""The commands that a host runs, as lines of a POSIX shell. They are the same on every host.

No code of the site runs there, except its plugins. `--frozen` shows the results recorded in `_freeze/`,
whatever versions and devices they were recorded with, and fails if a result is missing or stale.
"""

from __future__ import annotations

from ..api.publishing import MANIFEST
from .dependency_lock import LOCK
from .hosted_site import HostedSite
from .quoting import quote_shell

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
    """Return the command that removes the manifest, which readers do not need. Not for hosts that keep the
    output folder for the next build."""
    return f"rm -f {quote_shell(f'{site.output}/{MANIFEST}')}"
