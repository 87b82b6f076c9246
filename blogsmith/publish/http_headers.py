"""Headers that pages and files of a site are served with, whatever the host.

Pages carry their Content-Security-Policy themselves (`render/policy`). A header with another one would hold
besides, so ours says only what a page cannot say of itself: who may frame it. Nothing else here restricts
what pages do: players, embeds and code that runs in the browser work as they do in the preview.
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
"""Browsers keep a copy and ask whether it is still the same, which takes an answer without content."""
IMMUTABLE = "public, max-age=31536000, immutable"
"""For what gets another address when it changes."""
HASHED = (
    r"/assets/(?:pictures/[^/]+-[0-9a-f]{12}-[0-9]+\.[a-z]+|cards/[0-9a-f]{16}\.png"
    r"|[^/]+/(?:fonts/)?[^/]+-[0-9a-f]{10}\.(?:css|js|woff2))"
)
"""Addresses of files that are named after what they hold, below that of the site."""
VERSIONED = "/assets/"
"""Where files lie that pages ask for with a digest of what they hold, `?v=0123abcd`."""
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
"""Ending → type, of files that servers are not sure to know."""
FEED_TYPE = "application/atom+xml; charset=utf-8"
_HASHED_FOLDERS = ("pictures", "cards")
_COMMON: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "/*": SECURITY,
        **{f"/assets/{folder}/*": {"Cache-Control": IMMUTABLE} for folder in _HASHED_FOLDERS},
    }
)
MOST_RULES = 100
"""Of Cloudflare."""
_HASHED = lazy_pattern(HASHED[1:])


def is_hashed(path: PurePosixPath) -> bool:
    """Whether a file of the site is named after what it holds."""
    return _HASHED.fullmatch(str(path)) is not None


def cloudflare_headers(paths: Iterable[PurePosixPath]) -> str:
    """A file `_headers` for Cloudflare, which takes 100 rules, each with one `*` that matches anything.

    What is not named keeps the header that Cloudflare gives: browsers ask whether it has changed. paths: all
    files of the site.
    """
    types = {f"/*.{ending}": {"Content-Type": kind} for ending, kind in CONTENT_TYPES.items()}
    rules = {**_COMMON, **types, "/*atom.xml": {"Content-Type": FEED_TYPE}}
    return _headers_file({**rules, **dict(list(_hashed(paths).items())[: MOST_RULES - len(rules)])})


def netlify_headers(paths: Iterable[PurePosixPath]) -> str:
    """A file `_headers` for Netlify, where `*` ends a path: each file has its type. paths: as above."""
    named = sorted(paths)
    types = {
        f"/{path}": {"Content-Type": FEED_TYPE if path.name == "atom.xml" else CONTENT_TYPES[path.suffix[1:]]}
        for path in named
        if (path.name == "atom.xml" or path.suffix[1:] in CONTENT_TYPES) and _PLAIN.fullmatch(str(path))
    }
    return _headers_file({**_COMMON, **types, **_hashed(named)})


def _hashed(paths: Iterable[PurePosixPath]) -> Mapping[str, Mapping[str, str]]:
    """Rules for files that are named after what they hold, beside those of whole folders of them."""
    return {
        f"/{path}": {"Cache-Control": IMMUTABLE}
        for path in sorted(paths)
        if is_hashed(path) and path.parts[1] not in _HASHED_FOLDERS
    }


_PLAIN = lazy_pattern(r"[\w./~-]+")
"""A path that means nothing but itself in `_headers`, which knows `*` and `:name`."""


def _headers_file(rules: Mapping[str, Mapping[str, str]]) -> str:
    return "".join(
        f"{path}\n" + "".join(f"  {name}: {value}\n" for name, value in headers.items())
        for path, headers in rules.items()
    )
