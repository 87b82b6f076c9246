"""Files of the site that a host reads: headers and redirects, written by every build."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from .cloudflare import cloudflare_outputs
from .netlify import netlify_outputs
from .redirect_rules import RedirectRule


def host_outputs(
    target: str, rules: tuple[RedirectRule, ...], paths: Iterable[PurePosixPath]
) -> Mapping[PurePosixPath, bytes]:
    """Return the files by path in the site; none for hosts that read none. paths: all other files of the
    site.
    """
    if target == "cloudflare":
        found = cloudflare_outputs(rules, paths)
    elif target == "netlify":
        found = netlify_outputs(rules, paths)
    else:
        return {}
    return {PurePosixPath(path): text.encode() for path, text in found.items()}
