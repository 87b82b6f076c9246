"""The hosts for which a site can be set up, by their names in commands and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from .github_pages import github_files, github_steps
from .hosted_site import HostedSite, build_commands, install_commands
from .rsync import rsync_files, rsync_steps
from .static_hosts import (
    cloudflare_files,
    cloudflare_steps,
    gitlab_files,
    gitlab_steps,
    netlify_files,
    netlify_steps,
)
from .web_servers import caddy_files, caddy_steps, nginx_files, nginx_steps


class HostTarget(Struct, frozen=True, kw_only=True):
    """A host that a site can be published on."""

    files: Callable[[HostedSite], Mapping[str, str]]
    """Function that returns path in the repository → content of each file that the host needs."""
    steps: Callable[[HostedSite], tuple[str, ...]]
    """Function that returns the steps that the user has to take next, one per line."""
    builds: bool = True
    """Whether the host builds the site. If so, it installs blogsmith."""
    is_at_root: bool = False
    """Whether the site must be at the root of a host, instead of in a folder."""
    address_variable: str = ""
    """Environment variable that the host sets to the URL of the site during builds; empty if the host sets
    none."""
    has_outputs: bool = False
    """Whether the host reads files in the built site, such as `_headers`. Builds write them if the settings
    select this host."""
    has_destination: bool = False
    """Whether the user must name a destination folder for the site."""

    def commands(self, site: HostedSite) -> tuple[str, ...]:
        """Return the commands that install blogsmith and build the site on the host."""
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
