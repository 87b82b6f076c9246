"""Caddy: a site block, with an automatic certificate. Source: Caddy's documentation of the Caddyfile.

Regular expressions are RE2. They must not contain backslashes and braces, which have a meaning in a
Caddyfile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..api.publishing import (
    CONTENT_TYPES,
    DIGEST_URL_PATTERN,
    FEED_TYPE,
    IMMUTABLE,
    REVALIDATE,
    SECURITY,
    VERSIONED_URL_START,
    RedirectRule,
)
from .hosted_site import HostedSite
from .quoting import one_line, quote_caddy, quote_pattern

SETTINGS = "publish/Caddyfile"
_SETTINGS = """\
# {base_url} with Caddy. Written by `blogsmith publish setup caddy`; change it as you like.
# Name it in /etc/caddy/Caddyfile, `import /srv/sites/*`, then: systemctl reload caddy
# Run the setup again after you add aliases to pages. Until then, pages at the old URLs redirect.
{host} {{
	encode zstd gzip
	# in this order: later directives override earlier ones
	route {{
		header {{
			Cache-Control {fresh}
{headers}		}}
		# files that never change under their URL are cached for a year; all others are revalidated
		@versioned {{
			path_regexp ^{path}{versioned}
			query v=*
		}}
		header @versioned Cache-Control {immutable}
		@hashed path_regexp ^{path}{hashed}$
		header @hashed Cache-Control {immutable}
{types}		# hidden files, except those that prove ownership of the site
		@hidden {{
			path_regexp /[.]
			not path */.well-known/*
		}}
		error @hidden 404
{redirects}{site}	}}
	handle_errors {{
		header Cache-Control {fresh}
		root * {folder}
		rewrite * /404.html
		file_server
	}}
}}
"""
_AT_ROOT = """\
		root * {folder}
		file_server
"""
_IN_FOLDER = """\
		redir {path} {path_slash} permanent
		handle_path {path_all} {{
			root * {folder}
			file_server
		}}
		error 404
"""


def caddy_files(site: HostedSite) -> Mapping[str, str]:
    """Return the files by path in the repository. SiteError for a name that a Caddyfile cannot contain."""
    folder, path = quote_caddy(site.destination.rstrip("/")), site.base_path
    names = {
        "path": quote_caddy(path),
        "path_slash": quote_caddy(f"{path}/"),
        "path_all": quote_caddy(f"{path}/*"),
    }
    pattern = quote_pattern(path)
    quote_caddy(pattern)
    return {
        site.repository_path(SETTINGS): _SETTINGS.format(
            base_url=one_line(site.base_url),
            host=quote_caddy(f"http://{site.host}" if site.base_url.startswith("http://") else site.host),
            fresh=quote_caddy(REVALIDATE),
            immutable=quote_caddy(IMMUTABLE),
            versioned=VERSIONED_URL_START,
            path=pattern,
            hashed=_without_repeats(DIGEST_URL_PATTERN),
            headers="".join(f"\t\t\t{name} {quote_caddy(value)}\n" for name, value in SECURITY.items()),
            types=_types(),
            redirects=_redirects(site.redirects),
            site=(_IN_FOLDER if path else _AT_ROOT).format(folder=folder, **names),
            folder=folder,
        )
    }


def caddy_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the remaining steps for the user, one per line."""
    return (
        f"to copy the site to {site.destination}, run `blogsmith publish setup rsync`",
        f"name {SETTINGS} in /etc/caddy/Caddyfile by `import`, then: systemctl reload caddy",
    )


def _types() -> str:
    found = {f"*.{ending}": kind for ending, kind in CONTENT_TYPES.items()} | {"*/atom.xml": FEED_TYPE}
    return "".join(
        f"\t\t@type{number} path {path}\n\t\theader @type{number} Content-Type {quote_caddy(kind)}\n"
        for number, (path, kind) in enumerate(found.items(), 1)
    )


def _redirects(rules: Sequence[RedirectRule]) -> str:
    return "".join(f"\t\tredir {quote_caddy(rule.old)} {quote_caddy(rule.new)} permanent\n" for rule in rules)


def _without_repeats(pattern: str) -> str:
    r"""Return the pattern with `[…]{8}` written out and without `\.`, because a Caddyfile must not contain
    these characters."""
    spelled = re.sub(r"(\[[^\]]*\])\{(\d+)\}", lambda found: found[1] * int(found[2]), pattern)
    return spelled.replace("\\.", "[.]")
