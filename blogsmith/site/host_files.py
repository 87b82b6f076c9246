"""HTTP headers and redirects for the pages and files of a site, the same for all hosts.

Pages contain their own Content-Security-Policy (`render/policy`). A policy in a header would apply in
addition, so the header only sets what a page cannot: which sites may show the page in a frame. No other
header restricts pages, so that players, embeds and code in the browser work as in the preview.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import quote

from msgspec import Struct

from ..base.patterns import lazy_pattern
from ..base.storage.file_names import MANIFEST

SECURITY: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "frame-ancestors 'self'",
        "Referrer-Policy": "strict-origin-when-cross-origin",
        "X-Content-Type-Options": "nosniff",
    }
)
REVALIDATE = "no-cache"
"""Value of Cache-Control: browsers ask the server before they use their copy. For an unchanged copy, the
response is empty."""
IMMUTABLE = "public, max-age=31536000, immutable"
"""Value of Cache-Control for files whose URL changes with their content."""
DIGEST_URL_PATTERN = (
    r"/assets/(?:pictures/[^/]+-[0-9a-f]{12}-[0-9]+\.[a-z]+|cards/[0-9a-f]{16}\.png"
    r"|[^/]+/(?:fonts/)?[^/]+-[0-9a-f]{10}\.(?:css|js|woff2))"
)
"""Regular expression of URLs, relative to the site, of files with a content digest in their name."""
VERSIONED_URL_START = "/assets/"
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
"""File extension → media type, for types that a server may not know."""
FEED_TYPE = "application/atom+xml; charset=utf-8"
_HASHED_FOLDERS = ("pictures", "cards")
_COMMON: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "/*": SECURITY,
        **{f"/assets/{folder}/*": {"Cache-Control": IMMUTABLE} for folder in _HASHED_FOLDERS},
    }
)
MOST_RULES = 100
"""Maximum number of rules in Cloudflare's `_headers`."""
_HASHED = lazy_pattern(DIGEST_URL_PATTERN[1:])


def is_hashed(path: PurePosixPath) -> bool:
    """Return whether the file name contains a content digest."""
    return _HASHED.fullmatch(str(path)) is not None


def cloudflare_headers(paths: Iterable[PurePosixPath]) -> str:
    """Return the `_headers` file for Cloudflare. Cloudflare allows 100 rules, each with one `*`, which
    matches anything.

    Other files keep Cloudflare's default header, so browsers revalidate them. paths: all files of the site.
    """
    types = {f"/*.{ending}": {"Content-Type": kind} for ending, kind in CONTENT_TYPES.items()}
    rules = {**_COMMON, **types, "/*atom.xml": {"Content-Type": FEED_TYPE}}
    return _headers_file({**rules, **dict(list(_digest_rules(paths).items())[: MOST_RULES - len(rules)])})


def netlify_headers(paths: Iterable[PurePosixPath]) -> str:
    """Return a `_headers` file for Netlify, where `*` is allowed only at the end of a path. Each file with a
    type in `CONTENT_TYPES` therefore gets a rule of its own. paths: all files of the site."""
    named = sorted(paths)
    types = {
        f"/{path}": {"Content-Type": FEED_TYPE if path.name == "atom.xml" else CONTENT_TYPES[path.suffix[1:]]}
        for path in named
        if (path.name == "atom.xml" or path.suffix[1:] in CONTENT_TYPES) and _PLAIN.fullmatch(str(path))
    }
    return _headers_file({**_COMMON, **types, **_digest_rules(named)})


def _digest_rules(paths: Iterable[PurePosixPath]) -> Mapping[str, Mapping[str, str]]:
    """Return a rule for each file with a digest in its name, except in folders for which one rule covers all
    files."""
    return {
        f"/{path}": {"Cache-Control": IMMUTABLE}
        for path in sorted(paths)
        if is_hashed(path) and path.parts[1] not in _HASHED_FOLDERS
    }


_PLAIN = lazy_pattern(r"[\w./~-]+")
"""Regular expression of paths without characters that are special in `_headers`, such as `*` and `:name`."""


def _headers_file(rules: Mapping[str, Mapping[str, str]]) -> str:
    return "".join(
        f"{path}\n" + "".join(f"  {name}: {value}\n" for name, value in headers.items())
        for path, headers in rules.items()
    )


# Old URLs of pages as redirects by the server, with status 301, which search engines prefer. A page at each
# old URL redirects too, for hosts that have no rules or allow too few of them.


SAFE_CHARACTERS = "/-_.~"
"""Characters that stay unescaped in the path of a URL, in addition to letters and digits."""

_UNENCODED_CHARACTERS = f"{SAFE_CHARACTERS}!$'()+,;=@"
"""Characters of aliases that browsers send unescaped. Hosts compare rules with the request as it was sent."""


class RedirectRule(Struct, frozen=True, order=True):
    """An old URL and the page that replaces it."""

    old: str
    """Path with base path, not encoded: `/blog/alt/é/`."""
    new: str
    """Path with base path, percent-encoded: `/blog/new/`."""


def make_rules(pages: Iterable[tuple[str, Sequence[str]]], base_path: str) -> tuple[RedirectRule, ...]:
    """Return the redirect rules of pages, sorted, each old URL once.

    pages: site path without base path, and aliases. An alias that is a folder gets two rules, with and
    without a slash at its end.
    """
    found: dict[str, str] = {}
    for url, aliases in pages:
        new = quote(base_path + url, safe=SAFE_CHARACTERS)
        for alias in aliases:
            path = "/" + "/".join(part for part in alias.split("/") if part not in ("", "."))
            forms = (path,) if path.endswith(".html") else (f"{path}/", path)
            for form in forms:
                found.setdefault(base_path + form, new)
    return tuple(RedirectRule(old, new) for old, new in sorted(found.items()))


def redirects_file(rules: Sequence[RedirectRule], *, is_forced: bool, most: int) -> str:
    """Return a `_redirects` file with at most `most` lines. is_forced: whether to mark each rule so that it
    applies even if there is a page at the old URL. Cloudflare always does this and does not support the
    marker. Sources: the documentation of Netlify and of Cloudflare."""
    status = "301!" if is_forced else "301"
    return "".join(
        f"{quote(rule.old, safe=_UNENCODED_CHARACTERS)} {rule.new} {status}\n" for rule in rules[:most]
    )


# Files of the site itself that a host reads. Every build writes them again.


MOST_REDIRECTS = 2000
"""Maximum number of rules for Cloudflare. For further old URLs, the redirecting pages remain."""
_MOST_NETLIFY = 10_000
"""Maximum number of rules for Netlify, which documents no limit."""


def host_outputs(
    target: str, rules: tuple[RedirectRule, ...], paths: Iterable[PurePosixPath]
) -> Mapping[PurePosixPath, bytes]:
    """Return the configuration files for the host `target` by path in the site. The mapping is empty for
    hosts without configuration files. paths: all other files of the site."""
    if target == "cloudflare":
        found = cloudflare_outputs(rules, paths)
    elif target == "netlify":
        found = _netlify_outputs(rules, paths)
    else:
        return {}
    return {PurePosixPath(path): text.encode() for path, text in found.items()}


def cloudflare_outputs(rules: Sequence[RedirectRule], paths: Iterable[PurePosixPath]) -> Mapping[str, str]:
    """Return the files for Cloudflare: path in the site → content. paths: all other files of the site."""
    files = {
        "_headers": cloudflare_headers(paths),
        "_redirects": redirects_file(rules, is_forced=False, most=MOST_REDIRECTS),
        # Cloudflare does not upload files with these names
        ".assetsignore": f"{MANIFEST}\n",
    }
    return {path: text for path, text in files.items() if text}


def _netlify_outputs(rules: Sequence[RedirectRule], paths: Iterable[PurePosixPath]) -> Mapping[str, str]:
    """Return the files for Netlify: path in the site → content. paths: all other files of the site."""
    hidden = f"/{MANIFEST} /404.html 404!\n"
    return {
        "_headers": netlify_headers(paths),
        "_redirects": hidden + redirects_file(rules, is_forced=True, most=_MOST_NETLIFY),
    }
