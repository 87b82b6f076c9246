"""Settings for nginx and Caddy. For nginx, they are a `server` block or, if the site is in a folder of its
host, a part of one. For Caddy, they are a site block.

Source: the documentation of ngx_http_core_module, _headers_module, _map_module, _rewrite_module,
_gzip_module, _charset_module. `add_header` is used in the server block only: a location with its own
`add_header` does not inherit the headers of the server block.

Source for Caddy: the documentation of the Caddyfile. Regular expressions are RE2. They must not contain
backslashes and braces, which have a meaning in a Caddyfile.
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
from .quoting import one_line, quote_caddy, quote_nginx, quote_pattern

CADDY_SETTINGS = "publish/Caddyfile"
_CADDY_SETTINGS = """\
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
_CADDY_AT_ROOT = """\
		root * {folder}
		file_server
"""
_CADDY_IN_FOLDER = """\
		redir {path} {path_slash} permanent
		handle_path {path_all} {{
			root * {folder}
			file_server
		}}
		error 404
"""


def caddy_files(site: HostedSite) -> Mapping[str, str]:
    """Return path in the repository → content of each file for Caddy. Raise SiteError for a name that a
    Caddyfile cannot contain."""
    folder, path = quote_caddy(site.destination.rstrip("/")), site.base_path
    names = {
        "path": quote_caddy(path),
        "path_slash": quote_caddy(f"{path}/"),
        "path_all": quote_caddy(f"{path}/*"),
    }
    pattern = quote_pattern(path)
    quote_caddy(pattern)
    return {
        site.repository_path(CADDY_SETTINGS): _CADDY_SETTINGS.format(
            base_url=one_line(site.base_url),
            host=quote_caddy(f"http://{site.host}" if site.base_url.startswith("http://") else site.host),
            fresh=quote_caddy(REVALIDATE),
            immutable=quote_caddy(IMMUTABLE),
            versioned=VERSIONED_URL_START,
            path=pattern,
            hashed=_without_repeats(DIGEST_URL_PATTERN),
            headers="".join(f"\t\t\t{name} {quote_caddy(value)}\n" for name, value in SECURITY.items()),
            types=_types(),
            redirects=_caddy_redirects(site.redirects),
            site=(_CADDY_IN_FOLDER if path else _CADDY_AT_ROOT).format(folder=folder, **names),
            folder=folder,
        )
    }


def caddy_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the steps that the user has to take next, one per line."""
    return (
        f"to copy the site to {site.destination}, run `blogsmith publish setup rsync`",
        f"name {CADDY_SETTINGS} in /etc/caddy/Caddyfile by `import`, then: systemctl reload caddy",
    )


def _types() -> str:
    found = {f"*.{ending}": kind for ending, kind in CONTENT_TYPES.items()} | {"*/atom.xml": FEED_TYPE}
    return "".join(
        f"\t\t@type{number} path {path}\n\t\theader @type{number} Content-Type {quote_caddy(kind)}\n"
        for number, (path, kind) in enumerate(found.items(), 1)
    )


def _caddy_redirects(rules: Sequence[RedirectRule]) -> str:
    return "".join(f"\t\tredir {quote_caddy(rule.old)} {quote_caddy(rule.new)} permanent\n" for rule in rules)


def _without_repeats(pattern: str) -> str:
    r"""Return the pattern with `[…]{8}` written out and without `\.`, because a Caddyfile must not contain
    these characters."""
    spelled = re.sub(r"(\[[^\]]*\])\{(\d+)\}", lambda found: found[1] * int(found[2]), pattern)
    return spelled.replace("\\.", "[.]")


SETTINGS = "publish/nginx.conf"
_TEXT_TYPES = (
    *(
        "text/css",
        "text/javascript",
        "application/javascript",
        "application/json",
        "text/markdown",
        "text/plain",
    ),
    *("text/vtt", "text/xml", "application/xml", "application/atom+xml", "application/feed+json"),
)
_COMPRESSIBLE_TYPES = (
    *_TEXT_TYPES,
    "image/svg+xml",
    "application/manifest+json",
    "application/wasm",
    "font/ttf",
)
_SETTINGS = """\
# {base_url} with nginx. Written by `blogsmith publish setup nginx`; change it as you like.
# Copy it to /etc/nginx/conf.d/, then: nginx -t && systemctl reload nginx. For https: certbot --nginx
# Run the setup again after you add aliases to pages. Until then, pages at the old URLs redirect.

# files that never change under their URL are cached for a year; all others are revalidated
map "$status$request_uri" ${cache} {{
    default {fresh};
    "~^[23]\\d\\d{path}{versioned}[^?]*\\?v=[0-9a-f]{{8}}$" {immutable};
    "~^[23]\\d\\d{path}{hashed}(?:\\?|$)" {immutable};
}}

server {{
    listen 80;
    listen [::]:80;
    server_name {host};
    # redirects keep the port and scheme that readers use
    absolute_redirect off;
    server_tokens off;

    add_header Cache-Control ${cache} always;
{headers}
    charset utf-8;
    charset_types {texts};
    include mime.types;
    types {{
{types}
    }}
    gzip on;
    gzip_vary on;
    gzip_proxied any;
    gzip_min_length 512;
    gzip_types {compressed};

    # hidden files, except those that prove ownership of the site
    location ~ /\\.(?!well-known/) {{
        return 404;
    }}
{site}
{redirects}}}
"""
_AT_ROOT = """
    root {root};
    index index.html;
    error_page 404 /404.html;
    # no directory listings
    error_page 403 =404 /404.html;
    location / {{
    }}
    location ~ /atom\\.xml$ {{
        types {{ }}
        default_type {feed};
    }}
"""
_IN_FOLDER = """
    # If there is already a server with this name, copy everything from here to the end, and the headers.
    error_page 404 {error};
    error_page 403 =404 {error};
    location = {path} {{
        return 301 {new};
    }}
    location {folder} {{
        alias {root};
        index index.html;
        location ~ /atom\\.xml$ {{
            types {{ }}
            default_type {feed};
        }}
    }}
"""


def nginx_files(site: HostedSite) -> Mapping[str, str]:
    """Return path in the repository → content of each file for nginx. Raise SiteError for a name that nginx
    settings cannot contain."""
    cache = "site_cache_" + re.sub(r"[^a-z0-9]+", "_", f"{site.host}{site.base_path}".lower()).strip("_")
    return {
        site.repository_path(SETTINGS): _SETTINGS.format(
            base_url=one_line(site.base_url),
            cache=cache,
            fresh=quote_nginx(REVALIDATE),
            immutable=quote_nginx(IMMUTABLE),
            versioned=VERSIONED_URL_START,
            hashed=DIGEST_URL_PATTERN,
            path=quote_pattern(site.base_path),
            host=quote_nginx(site.host),
            headers="".join(
                f"    add_header {name} {quote_nginx(value)} always;\n" for name, value in SECURITY.items()
            ),
            texts=" ".join(_TEXT_TYPES),
            types="\n".join(
                f"        {kind.partition(';')[0]} {ending};" for ending, kind in CONTENT_TYPES.items()
            ),
            compressed=" ".join(_COMPRESSIBLE_TYPES),
            site=_location(site),
            redirects=_redirects(site.redirects),
        )
    }


def nginx_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the steps that the user has to take next, one per line."""
    return (
        f"to copy the site to {site.destination}, run `blogsmith publish setup rsync`",
        f"copy {SETTINGS} to /etc/nginx/conf.d/, then: nginx -t && systemctl reload nginx",
        "for https: certbot --nginx",
    )


def _location(site: HostedSite) -> str:
    folder = site.destination.rstrip("/") + "/"
    feed = FEED_TYPE.partition(";")[0]
    if not site.base_path:
        return _AT_ROOT.format(root=quote_nginx(folder), feed=feed)
    return _IN_FOLDER.format(
        error=quote_nginx(f"{site.base_path}/404.html"),
        path=quote_nginx(site.base_path),
        new=quote_nginx(f"{site.base_path}/"),
        folder=quote_nginx(f"{site.base_path}/"),
        root=quote_nginx(folder),
        feed=feed,
    )


def _redirects(rules: Sequence[RedirectRule]) -> str:
    return "".join(
        f"    location = {quote_nginx(rule.old)} {{ return 301 {quote_nginx(rule.new)}; }}\n"
        for rule in rules
        # nginx cannot escape `$` there; the page at the old URL redirects instead
        if "$" not in rule.old
    )
