"""Conversion of the results of a link check to diagnostics, one for each location of a link.

Hints contain the URLs of copies of dead links in the Internet Archive. Source: the Wayback Availability API,
archive.org/help/wayback_api.php.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, urlsplit

import msgspec

from ...base.diagnostics.fixes import Fix, make_replacement
from ...base.diagnostics.model import Diagnostic
from ...model.remote_images import normalize_remote_url
from ..connection import HostRejectedError, Limits, request
from .check import HostGates, LinkVerdict
from .link_uses import LinkUse

API = "https://archive.org/wayback/available"
_MAX_BYTES = 100_000


class _Closest(msgspec.Struct, frozen=True):
    url: str = ""


class _Snapshots(msgspec.Struct, frozen=True):
    closest: _Closest = _Closest()


class _Reply(msgspec.Struct, frozen=True):
    archived_snapshots: _Snapshots = _Snapshots()


def archive_url(address: str, date: str) -> str:
    """Return the URL of the copies of `address` in the Internet Archive. date: date near which to search,
    such as `20260301`; the date of the page with the link."""
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


def link_diagnostics(
    uses: Iterable[tuple[str, LinkUse]], verdicts: Mapping[str, LinkVerdict]
) -> Iterator[Diagnostic]:
    """Yield warnings for links that are dead, unreachable or moved."""
    for address, use in uses:
        verdict = verdicts.get(address)
        if verdict:
            yield from _use_diagnostics(address, use, verdict)


def _use_diagnostics(address: str, use: LinkUse, verdict: LinkVerdict) -> Iterator[Diagnostic]:
    shown = address if len(address) <= 200 else f"{address[:199]}…"
    if verdict.state == "dead":
        copy = verdict.copy or archive_url(address, use.date)
        hint = (
            f"link to the archived copy: {copy}" if verdict.copy else f"search for an archived copy: {copy}"
        )
        yield _warning("link-dead", f'"{shown}" is gone: {verdict.reason}', use, hint)
    elif verdict.state == "unreachable":
        yield _warning("link-unreachable", f'"{shown}" cannot be reached: {verdict.reason}', use, _RETRY_HINT)
    elif verdict.state == "moved" and verdict.target:
        yield _moved_warning(address, shown, use, verdict.target)
    if use.fragment and use.fragment in verdict.lacking:
        message = f'id not found: "{use.fragment}" in "{shown}"'
        yield _warning("link-fragment", message, use, "write an id of that page, or remove the fragment")


def _moved_warning(address: str, shown: str, use: LinkUse, target: str) -> Diagnostic:
    new, old = urlsplit(target), urlsplit(address)
    if new.path == "/" and not new.query and (old.path != "/" or old.query):
        hint = f"search for an archived copy: {archive_url(address, use.date)}"
        return _warning("link-moved", f'"{shown}" now redirects to the home page "{target}"', use, hint)
    fragment = f"#{use.fragment}" if use.fragment and not new.fragment else ""
    fix = _substitution(use, f"{target}{fragment}", is_safe=new._replace(scheme=old.scheme) == old)
    return _warning("link-moved", f'"{shown}" has moved permanently', use, f"write `{target}{fragment}`", fix)


def _substitution(use: LinkUse, target: str, *, is_safe: bool) -> Fix | None:
    """Return a fix that replaces the old URL by `target`. Return None if the line does not contain the old
    URL. is_safe: whether the new URL differs only in the scheme."""
    if use.place is None:
        return None
    start = use.place.column - 1
    written = use.line[start : start + use.place.length]
    # without the URL in the text, as for a DOI, there is nothing to replace
    if not written.lower().startswith(("http:", "https:")):
        return None
    return make_replacement(use.place.line, use.place.column, written, target, is_safe=is_safe)


_RETRY_HINT = "check the URL in a browser, or run the check again later"


def _warning(code: str, message: str, use: LinkUse, hint: str = "", fix: Fix | None = None) -> Diagnostic:
    return Diagnostic(code, message, use.path, use.place, use.line, hint, "warning", fix=fix)
