"""Results of link checks, and their storage between checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ...base.storage.site_cache import Row, open_site_cache

State = Literal["good", "dead", "moved", "unreachable", "unknown"]
_NAME = "addresses"
DAY_S = 86_400
_MAX_AGE_S = 60 * DAY_S
_VERSION = "1"


class LinkVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Result of checking a URL."""

    state: State
    """State of the link. `unknown`: the host rejects automated requests, or too many of them."""
    reason: str = ""
    """Reason as a message for the author."""
    is_silent: bool = False
    """Whether the host did not answer at all."""
    target: str = ""
    """URL of a permanent redirect."""
    copy: str = ""
    """URL of a copy in the Internet Archive, if the archive was queried."""
    asked_s: int = 0
    """Time of the check, in seconds since 1970."""
    sought: tuple[str, ...] = ()
    """Fragments that were searched for in the page."""
    lacking: tuple[str, ...] = ()
    """Fragments that the page lacks."""


def is_due(verdict: LinkVerdict | None, fragments: Collection[str], now_s: int, days: int) -> bool:
    """Return whether a URL must be checked again.

    days: days that a good result remains valid.
    """
    if verdict is None or verdict.asked_s > now_s or not {*fragments} <= {*verdict.sought, ""}:
        return True
    is_good = verdict.state in ("good", "moved") and not verdict.lacking
    return now_s - verdict.asked_s >= (days if is_good else min(days, 1)) * DAY_S


def read_verdicts(root: Path) -> dict[str, LinkVerdict]:
    """Return the results of earlier checks of the site. Empty if they cannot be read."""
    with open_site_cache(root) as rows:
        row = rows.get("links", _NAME)
    if row is None or row.key != _VERSION:
        return {}
    try:
        return msgspec.msgpack.decode(row.data, type=dict[str, LinkVerdict])
    except msgspec.MsgspecError:
        return {}


def write_verdicts(root: Path, verdicts: Mapping[str, LinkVerdict], now_s: int) -> None:
    """Store the results, if possible. Drop URLs that were not checked for 60 days."""
    kept = {
        address: verdict
        for address, verdict in sorted(verdicts.items())
        if now_s - verdict.asked_s < _MAX_AGE_S
    }
    with open_site_cache(root) as rows:
        rows.put("links", _NAME, Row(_VERSION, msgspec.msgpack.encode(kept)))
