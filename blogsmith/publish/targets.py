"""The hosts that a site can be set up for, by the name that they have in commands and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

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
    """Whether the host, or a machine of it, builds the site: then it needs our version."""
    is_at_root: bool = False
    """Whether a site can live at the root of a host only."""
    knows_address: bool = False
    """Whether builds there are told where the site will live."""
    has_outputs: bool = False
    """Whether it reads files of the site, which builds write where the settings name it."""
    has_destination: bool = False
    """Whether the files of the site are copied to a folder that somebody has to name."""


TARGETS: Mapping[str, HostTarget] = MappingProxyType(
    {
        "github-pages": HostTarget(files=github_files, steps=github_steps, knows_address=True),
        "gitlab": HostTarget(files=gitlab_files, steps=gitlab_steps, knows_address=True),
        "cloudflare": HostTarget(
            files=cloudflare_files, steps=cloudflare_steps, is_at_root=True, has_outputs=True
        ),
        "netlify": HostTarget(
            files=netlify_files, steps=netlify_steps, is_at_root=True, knows_address=True, has_outputs=True
        ),
        "rsync": HostTarget(files=rsync_files, steps=rsync_steps, builds=False, has_destination=True),
        "nginx": HostTarget(files=nginx_files, steps=nginx_steps, builds=False, has_destination=True),
        "caddy": HostTarget(files=caddy_files, steps=caddy_steps, builds=False, has_destination=True),
    }
)
