"""Old addresses of pages as rules of a server: answered with status 301, as search engines like it best.

The site holds a page at each of them anyway; it leads on where a host has no rules, or too few of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from msgspec import Struct

SAFE = "/-_.~"
"""What stays as it is in the path of an address besides letters and digits: these signs mean nothing else."""

_SENT = f"{SAFE}!$'()+,;=@"
"""What browsers send as it is, of the signs that an alias may hold; hosts compare what is sent."""


class RedirectRule(Struct, frozen=True, order=True):
    """An old address and the page that stands for it."""

    old: str
    """Path with that of the site, as people write it: `/blog/alt/é/`."""
    new: str
    """Path, percent-encoded: `/blog/new/`."""


def make_rules(pages: Iterable[tuple[str, Sequence[str]]], base_path: str) -> tuple[RedirectRule, ...]:
    """The rules of pages, each as its site path without base path and its aliases; sorted, each address once.

    An address that is a folder has two forms, with and without its last slash.
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
    """A file `_redirects`, of at most `most` lines.

    is_forced: the rule is to hold although there is a page at the old address; Cloudflare does that anyway
    and does not know the sign for it. Sources: the documentation of Netlify and of Cloudflare.
    """
    status = "301!" if is_forced else "301"
    return "".join(f"{quote(rule.old, safe=_SENT)} {rule.new} {status}\n" for rule in rules[:most])
