"""Redirect rules of a server for old URLs of pages: status 301, which search engines prefer.

The site also has a page at each old URL. It redirects if a host supports no rules, or too few.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from msgspec import Struct

SAFE = "/-_.~"
"""Characters that stay unescaped in the path of a URL, in addition to letters and digits."""

_SENT = f"{SAFE}!$'()+,;=@"
"""Characters allowed in aliases that browsers send unescaped. Hosts compare the request as sent."""


class RedirectRule(Struct, frozen=True, order=True):
    """An old URL and the page that replaces it."""

    old: str
    """Path with base path, not encoded: `/blog/alt/é/`."""
    new: str
    """Path with base path, percent-encoded: `/blog/new/`."""


def make_rules(pages: Iterable[tuple[str, Sequence[str]]], base_path: str) -> tuple[RedirectRule, ...]:
    """Return the redirect rules of pages, sorted, each old URL once.

    pages: site path without base path, and aliases. The URL of a folder has two forms, with and without its
    last slash.
    """
    found: dict[str, str] = {}
    for url, aliases in pages:
        new = quote(base_path + url, safe=SAFE)
        for alias in aliases:
            path = "/" + "/".join(part for part in alias.split("/") if part not in ("", "."))
            forms = (path,) if path.endswith(".html") else (f"{path}/", path)
            for form in forms:
                found.setdefault(base_path + form, new)
    return tuple(RedirectRule(old, new) for old, new in sorted(found.items()))


def redirects_file(rules: Sequence[RedirectRule], *, is_forced: bool, most: int) -> str:
    """Return a `_redirects` file with at most `most` lines.

    is_forced: the rule applies even if there is a page at the old URL. Cloudflare always does this and does
    not support the marker for it. Sources: the documentation of Netlify and of Cloudflare.
    """
    status = "301!" if is_forced else "301"
    return "".join(f"{quote(rule.old, safe=_SENT)} {rule.new} {status}\n" for rule in rules[:most])
