"""One file of another host, read whole: http and https, with limits on size, time and redirects."""

from __future__ import annotations

import http.client
import time
from urllib.parse import urljoin

from msgspec import Struct

from ..model.remote_images import remote_address
from .connection import MOVED, Limits, failure_reason, request
from .hosts import HostRefused

MAX_REDIRECTS = 5
_PIECE = 1 << 16


class DownloadRefused(Exception):
    """Why a file cannot be had, in the author's words."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Downloaded(Struct, frozen=True):
    """What a server gave."""

    data: bytes
    media_type: str
    """Lower case, without parameters; empty if it says none."""


def download(address: str, limits: Limits) -> Downloaded:
    """The file at an http(s) address; DownloadRefused says why not."""
    ends = time.monotonic() + limits.whole_s
    for _ in range(MAX_REDIRECTS + 1):
        try:
            found = _fetch(address, limits, ends)
        except HostRefused as refused:
            raise DownloadRefused(str(refused), "if you know the site, run blogsmith trust") from refused
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DownloadRefused(failure_reason(error, limits, ends)) from error
        if isinstance(found, Downloaded):
            return found
        address = _next_address(address, found)
    raise DownloadRefused(f"it leads on more than {MAX_REDIRECTS} times")


def _next_address(address: str, location: str) -> str:
    target = remote_address(urljoin(address, location))
    if not target or (address.startswith("https:") and not target.startswith("https:")):
        raise DownloadRefused(f"it leads to {location[:200]}, which is not https")
    return target


def _fetch(address: str, limits: Limits, ends: float) -> Downloaded | str:
    """The file, or where it has moved to."""
    with request("GET", address, "image/*", limits, ends) as answer:
        return _read_answer(answer, limits, ends)


def _read_answer(answer: http.client.HTTPResponse, limits: Limits, ends: float) -> Downloaded | str:
    if answer.status in MOVED:
        return answer.headers.get("Location", "")
    if answer.status != http.client.OK:
        raise DownloadRefused(f"the server answers {answer.status} {answer.reason[:80]}".rstrip())
    if answer.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise DownloadRefused("the server packs what it sends")
    media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return Downloaded(_read(answer, limits, ends), media_type)


def _read(answer: http.client.HTTPResponse, limits: Limits, ends: float) -> bytes:
    length = answer.headers.get("Content-Length", "")
    if length.isdecimal() and int(length) > limits.size:
        raise DownloadRefused(f"it is larger than {limits.size // 1_000_000} MB")
    data = bytearray()
    while piece := answer.read1(_PIECE):
        data += piece
        if len(data) > limits.size:
            raise DownloadRefused(f"it is larger than {limits.size // 1_000_000} MB")
        limits.watch(len(data))
    if time.monotonic() >= ends:
        raise TimeoutError
    if length.isdecimal() and len(data) != int(length):
        raise DownloadRefused(f"it broke off after {len(data)} of {length} bytes")
    return bytes(data)
