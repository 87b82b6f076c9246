"""What a machine that publishes types: the commands of all hosts, as lines of a POSIX shell.

Nothing of the site runs there but its plugins: `--frozen` shows what is recorded in `_freeze/`, whatever
versions and devices it was recorded with, and fails if a result is missing or stale.
"""

from __future__ import annotations

from ..base.diagnostics.extras import DISTRIBUTION
from ..base.storage.file_names import MANIFEST
from .hosted_site import HostedSite
from .quoting import quote_shell


def install_command(site: HostedSite) -> str:
    """Install the version that the requirements name."""
    return f"python -m pip install --requirement {quote_shell(site.requirements)}"


def build_commands(site: HostedSite, variable: str = "") -> tuple[str, ...]:
    """Build the site. variable: of the environment, with the address that the host gives the site."""
    trust = ("blogsmith trust",) if site.needs_trust else ()
    if site.has_own_base_url:
        address = ""
    elif site.base_url:
        address = f" --base-url {quote_shell(site.base_url)}"
    else:
        address = f' --base-url "${variable}"'
    return (*trust, f"blogsmith build --frozen --strict{address}")


def list_removal(site: HostedSite) -> str:
    """Remove the list of our own files, which no reader asks for; only where the folder is not kept."""
    return f"rm -f {quote_shell(f'{site.output}/{MANIFEST}')}"


def pinned_requirement(version: str, extras: tuple[str, ...]) -> str:
    """Our package in this version, as a line of a file of requirements (PEP 508)."""
    wanted = f"[{','.join(sorted(extras))}]" if extras else ""
    return f"{DISTRIBUTION}{wanted}=={version}"
