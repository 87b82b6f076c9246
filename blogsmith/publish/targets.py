"""The hosts that a site can be set up for, by the name that they have in commands and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from .build_commands import build_commands, install_commands
from .caddy import caddy_files, caddy_steps
from .cloudflare import cloudflare_files, cloudflare_steps
from .github_pages import github_files, github_steps
from .gitlab import gitlab_files, gitlab_steps
from .hosted_site import HostedSite
from .netlify import netlify_files, netlify_steps
from .nginx import nginx_files, nginx_steps
from .rsync import rsync_files, rsync_steps


class HostTarget(Struct, frozen=True, kw_only=True):
    """A host."""

    files: Callable[[HostedSite], Mapping[str, str]]
    """Path relative to the repository → text."""
    steps: Callable[[HostedSite], tuple[str, ...]]
    """What is left to do by hand, a line each."""
    builds: bool = True
    """Whether the host builds the site; then it installs blogsmith."""
    is_at_root: bool = False
    """Whether a site can live at the root of a host only."""
    address_variable: str = ""
    """Environment variable in which the host gives builds the URL of the site; empty: it gives none."""
    has_outputs: bool = False
    """Whether it reads files of the site, which builds write where the settings name it."""
    has_destination: bool = False
    """Whether the files of the site are copied to a folder that somebody has to name."""

    def commands(self, site: HostedSite) -> tuple[str, ...]:
        """Return the commands with which the host installs blogsmith and builds the site."""
        return (*install_commands(site), *build_commands(site, self.address_variable))


TARGETS: Mapping[str, HostTarget] = MappingProxyType(
    {
        "github-pages": HostTarget(files=github_files, steps=github_steps, address_variable="BASE_URL"),
        "gitlab": HostTarget(files=gitlab_files, steps=gitlab_steps, address_variable="CI_PAGES_URL"),
        "cloudflare": HostTarget(
            files=cloudflare_files, steps=cloudflare_steps, is_at_root=True, has_outputs=True
        ),
        "netlify": HostTarget(
            files=netlify_files,
            steps=netlify_steps,
            is_at_root=True,
            address_variable="URL",
            has_outputs=True,
        ),
        "rsync": HostTarget(files=rsync_files, steps=rsync_steps, builds=False, has_destination=True),
        "nginx": HostTarget(files=nginx_files, steps=nginx_steps, builds=False, has_destination=True),
        "caddy": HostTarget(files=caddy_files, steps=caddy_steps, builds=False, has_destination=True),
    }
)
