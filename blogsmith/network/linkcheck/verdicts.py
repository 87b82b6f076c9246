"""What is known of an address at another host, and what is kept of that from one check to the next."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ...base.storage.site_cache import Row, open_site_cache

State = Literal["good", "dead", "moved", "unreachable", "unknown"]
_NAME = "addresses"
DAY_S = 86_400
_FORGOTTEN_S = 60 * DAY_S
_VERSION = "1"


class LinkVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a host has said of an address."""

    state: State
    """`unknown`: the host does not answer programs, or asks them to stay away."""
    reason: str = ""
    """In the author's words."""
    is_silent: bool = False
    """The host has not answered at all."""
    target: str = ""
    """Where it has moved to for good."""
    copy: str = ""
    """Address of a copy in the Internet Archive, if that was asked."""
    asked_s: int = 0
    """When, in seconds since 1970."""
    sought: tuple[str, ...] = ()
    """Fragments that were looked for in the page."""
    lacking: tuple[str, ...] = ()
    """Those of them that it does not have."""


def is_due(verdict: LinkVerdict | None, fragments: Collection[str], now_s: int, days: int) -> bool:
    """Whether an address is to be asked for again. days: for which a good answer counts."""
    if verdict is None or verdict.asked_s > now_s or not {*fragments} <= {*verdict.sought, ""}:
        return True
    is_good = verdict.state in ("good", "moved") and not verdict.lacking
    return now_s - verdict.asked_s >= (days if is_good else min(days, 1)) * DAY_S


def read_verdicts(root: Path) -> dict[str, LinkVerdict]:
    """What earlier checks of the site have found; nothing if that cannot be read."""
    with open_site_cache(root) as rows:
        row = rows.get("links", _NAME)
    if row is None or row.key != _VERSION:
        return {}
    try:
        return msgspec.msgpack.decode(row.data, type=dict[str, LinkVerdict])
    except msgspec.MsgspecError:
        return {}


def write_verdicts(root: Path, verdicts: Mapping[str, LinkVerdict], now_s: int) -> None:
    """Keep what is known, if that can be written; what nobody has asked for in months is forgotten."""
    kept = {
        address: verdict
        for address, verdict in sorted(verdicts.items())
        if now_s - verdict.asked_s < _FORGOTTEN_S
    }
    with open_site_cache(root) as rows:
        rows.put("links", _NAME, Row(_VERSION, msgspec.msgpack.encode(kept)))
