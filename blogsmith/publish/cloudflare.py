"""Cloudflare: a Worker with static files only, and files of the site with headers and redirects.

Source: Cloudflare's documentation of Workers static assets; the schema of `wrangler.toml` in wrangler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .hosted_site import HostedSite, build_commands, install_commands
from .quoting import quote_toml

SETTINGS = "wrangler.toml"
_SETTINGS = """\
# Publishes the site on Cloudflare. Written by `blogsmith publish setup cloudflare`; change it as you like.
# Every build writes the headers and redirects into the site, by `publish:` in blogsmith.yaml.
name = {name}
compatibility_date = {date}

[build]
command = {command}

[assets]
directory = {output}
html_handling = "auto-trailing-slash"
not_found_handling = "404-page"
"""


def cloudflare_files(site: HostedSite) -> Mapping[str, str]:
    """Return the files by path in the repository."""
    return {
        site.repository_path(SETTINGS): _SETTINGS.format(
            name=quote_toml(_worker_name(site)),
            date=quote_toml(site.date),
            command=quote_toml(" && ".join((*install_commands(site), *build_commands(site)))),
            output=quote_toml(f"./{site.output}"),
        )
    }


def cloudflare_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the remaining steps for the user, one per line."""
    root = f", root directory {site.folder}" if site.folder else ""
    return (
        "commit these files and _freeze/, and push",
        f"on Cloudflare, Compute → Workers: Create, Import a repository{root}; no build command, "
        "deploy command npx wrangler deploy",
        f"build variable PYTHON_VERSION: {site.python}",
        f"Settings → Domains & Routes: {site.host}",
    )


def _worker_name(site: HostedSite) -> str:
    """Return a valid Worker name: letters, digits and hyphens, at most 54, as it becomes part of a URL."""
    wanted = site.host if site.host else site.repository.name
    return re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:54].strip("-") or "site"
