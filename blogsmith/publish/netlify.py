"""Netlify: its settings, and files of the site with headers and redirects.

Source: Netlify's documentation of `netlify.toml`, `_headers` and `_redirects`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .hosted_site import TRUST, HostedSite, build_commands, install_commands
from .quoting import quote_toml

SETTINGS = "netlify.toml"
_SETTINGS = """\
# Publishes the site on Netlify. Written by `blogsmith publish setup netlify`; change it as you like.
# Every build writes the headers and redirects into the site, by `publish:` in blogsmith.yaml.
[build]
{base}command = {command}
publish = {output}

[build.environment]
PYTHON_VERSION = {python}

# preview of a pull request, at its own URL{note}
[context.deploy-preview]
command = {preview}
"""

_NO_TRUST = f"""
# It fails without `{TRUST}`, which would run the plugins of anybody who opens a pull request."""


def netlify_files(site: HostedSite) -> Mapping[str, str]:
    """Return the files by path in the repository."""
    install, builds = " && ".join(install_commands(site)), build_commands(site, "URL")
    # Netlify has no variable that distinguishes pull requests from forks
    previews = [line.replace('"$URL"', '"$DEPLOY_PRIME_URL"') for line in builds if line != TRUST]
    return {
        SETTINGS: _SETTINGS.format(
            base=f"base = {quote_toml(site.folder)}\n" if site.folder else "",
            command=quote_toml(" && ".join((install, *builds))),
            note=_NO_TRUST if site.needs_trust else "",
            preview=quote_toml(" && ".join((install, *previews))),
            output=quote_toml(site.output),
            python=quote_toml(site.python),
        )
    }


def netlify_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the remaining steps for the user, one per line."""
    return (
        "commit these files and _freeze/, and push",
        "on Netlify, Add new project → Import an existing project: its settings are those of netlify.toml",
    )
