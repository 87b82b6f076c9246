"""Copies of dead links in the Internet Archive: the URL of a search for copies, or the copy that the archive
returns.

Source: the Wayback Availability API, archive.org/help/wayback_api.php.
"""

from __future__ import annotations

import http.client
import time
from urllib.parse import quote

import msgspec

from ...model.remote_images import normalize_remote_url
from ..connection import HostRejectedError, Limits, request
from .host_gates import HostGates

API = "https://archive.org/wayback/available"
_MAX_BYTES = 100_000


class _Closest(msgspec.Struct, frozen=True):
    url: str = ""


class _Snapshots(msgspec.Struct, frozen=True):
    closest: _Closest = _Closest()


class _Reply(msgspec.Struct, frozen=True):
    archived_snapshots: _Snapshots = _Snapshots()


def archive_url(address: str, date: str) -> str:
    """Return the archive's URL for the copies of `address` near a date. date: date of the page with the link,
    as `20260301`."""
    return f"https://web.archive.org/web/{date or '2*'}/{address}"


def find_copy(address: str, date: str, limits: Limits, gates: HostGates, api: str = API) -> str:
    """Return the URL of the copy closest to a date; empty if there is none, or if the archive does not
    answer."""
    question = f"{api}?url={quote(address, safe='')}" + (f"&timestamp={date}" if date else "")
    host = question.split("/")[2]
    try:
        with gates.turn(host):
            ends = time.monotonic() + limits.total_timeout_s
            with request("GET", question, "application/json", limits, ends) as answer:
                data = answer.read(_MAX_BYTES) if answer.status == http.client.OK else b"{}"
        reply = msgspec.json.decode(data, type=_Reply)
    except (OSError, http.client.HTTPException, ValueError, HostRejectedError, RecursionError):
        return ""
    return normalize_remote_url(reply.archived_snapshots.closest.url)
