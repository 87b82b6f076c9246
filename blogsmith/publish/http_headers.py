"""HTTP headers for pages and files of a site, the same for all hosts.

Pages contain their own Content-Security-Policy (`render/policy`). A header with another policy would apply
in addition, so ours only sets what a page cannot: which sites may frame it. No other header restricts pages:
players, embeds and code that runs in the browser work as in the preview.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

from ..base.patterns import lazy_pattern

SECURITY: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "frame-ancestors 'self'",
        "Referrer-Policy": "strict-origin-when-cross-origin",
        "X-Content-Type-Options": "nosniff",
    }
)
FRESH = "no-cache"
"""Browsers keep a copy and revalidate it. If it is unchanged, the response has no content."""
IMMUTABLE = "public, max-age=31536000, immutable"
"""For files whose URL changes with their content."""
HASHED = (
    r"/assets/(?:pictures/[^/]+-[0-9a-f]{12}-[0-9]+\.[a-z]+|cards/[0-9a-f]{16}\.png"
    r"|[^/]+/(?:fonts/)?[^/]+-[0-9a-f]{10}\.(?:css|js|woff2))"
)
"""Matches URLs of files with a content digest in their name, relative to the site."""
VERSIONED = "/assets/"
"""URL prefix of files that pages request with a content digest, such as `?v=0123abcd`."""
CONTENT_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "md": "text/markdown; charset=utf-8",
        "vtt": "text/vtt; charset=utf-8",
        "bib": "text/plain; charset=utf-8",
        "jsonl": "text/plain; charset=utf-8",
        "py": "text/plain; charset=utf-8",
        "webmanifest": "application/manifest+json",
    }
)
"""File extension → type, for files that servers may not know."""
FEED_TYPE = "application/atom+xml; charset=utf-8"
_HASHED_FOLDERS = ("pictures", "cards")
_COMMON: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "/*": SECURITY,
        **{f"/assets/{folder}/*": {"Cache-Control": IMMUTABLE} for folder in _HASHED_FOLDERS},
    }
)
MOST_RULES = 100
"""Limit of Cloudflare."""
_HASHED = lazy_pattern(HASHED[1:])


def is_hashed(path: PurePosixPath) -> bool:
    """Return whether the file name contains a content digest."""
    return _HASHED.fullmatch(str(path)) is not None


def cloudflare_headers(paths: Iterable[PurePosixPath]) -> str:
    """Return a `_headers` file for Cloudflare, which allows 100 rules, each with one `*` that matches
    anything.

    Other files keep Cloudflare's default header, so browsers revalidate them. paths: all files of the
    site.
    """
    types = {f"/*.{ending}": {"Content-Type": kind} for ending, kind in CONTENT_TYPES.items()}
    rules = {**_COMMON, **types, "/*atom.xml": {"Content-Type": FEED_TYPE}}
    return _headers_file({**rules, **dict(list(_hashed(paths).items())[: MOST_RULES - len(rules)])})


def netlify_headers(paths: Iterable[PurePosixPath]) -> str:
    """Return a `_headers` file for Netlify. There `*` must end a path, so each file gets a rule for its type.

    paths: all files of the site.
    """
    named = sorted(paths)
    types = {
        f"/{path}": {"Content-Type": FEED_TYPE if path.name == "atom.xml" else CONTENT_TYPES[path.suffix[1:]]}
        for path in named
        if (path.name == "atom.xml" or path.suffix[1:] in CONTENT_TYPES) and _PLAIN.fullmatch(str(path))
    }
    return _headers_file({**_COMMON, **types, **_hashed(named)})


def _hashed(paths: Iterable[PurePosixPath]) -> Mapping[str, Mapping[str, str]]:
    """Return rules for files with a digest in their name, except for folders that have a common rule."""
    return {
        f"/{path}": {"Cache-Control": IMMUTABLE}
        for path in sorted(paths)
        if is_hashed(path) and path.parts[1] not in _HASHED_FOLDERS
    }


_PLAIN = lazy_pattern(r"[\w./~-]+")
"""Matches paths without special meaning in `_headers`, which supports `*` and `:name`."""


def _headers_file(rules: Mapping[str, Mapping[str, str]]) -> str:
    return "".join(
        f"{path}\n" + "".join(f"  {name}: {value}\n" for name, value in headers.items())
        for path, headers in rules.items()
    )
