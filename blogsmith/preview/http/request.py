"""The head of a request, read strictly, and the limits of clients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...base.patterns import lazy_pattern
from .reply import RequestRefused

_REQUEST_LINE = lazy_pattern(rb"([A-Z]{1,20}) ([!-~]+) HTTP/(\d)\.(\d)")
# RFC 9110 5.6.2: no white space before the colon; RFC 9112 5.2: no line that continues another
_HEADER = lazy_pattern(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_ONCE = frozenset({"host", "origin", "content-length", "x-blogsmith-token"})


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks for, before anybody has judged it."""

    method: str
    """In capitals."""
    target: str
    """As sent, visible ASCII."""
    headers: Mapping[str, str]
    """Names in small letters; values of repeated ones joined by commas."""
    length: int | None
    """Bytes of the body, None if that is not said."""
    keep_alive: bool
    """The client may ask again on this connection."""


def parse_head(head: bytes) -> Request:
    """The request in `head`, without the empty line at its end; `RequestRefused` if it is none."""
    first, *lines = head.split(b"\r\n")
    match = _REQUEST_LINE.fullmatch(first)
    if match is None:
        raise RequestRefused(400, "This is no HTTP request.")
    method, target, major, minor = match.groups()
    if major != b"1":
        raise RequestRefused(505, "The preview speaks HTTP/1.1.")
    if len(target) > MAX_TARGET:
        raise RequestRefused(400, "The address is too long.")
    headers = _headers(lines)
    if "expect" in headers:
        raise RequestRefused(417, "Send the body with the request.")
    if "transfer-encoding" in headers:
        raise RequestRefused(411, "Bodies come with a Content-Length here.")
    return Request(
        method.decode("ascii"),
        target.decode("ascii"),
        headers,
        _length(headers.get("content-length")),
        # HTTP/1.0 would want to be told; nobody needs it
        minor != b"0" and "close" not in headers.get("connection", "").lower(),
    )


def _headers(lines: list[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise RequestRefused(400, "A header of the request is malformed.")
        name = match[1].decode("ascii").lower()
        value = match[2].decode("latin-1").rstrip(" \t")
        if name in headers and name in _ONCE:
            raise RequestRefused(400, f"The request says {name} twice.")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _length(value: str | None) -> int | None:
    if value is None:
        return None
    if re.fullmatch("[0-9]{1,15}", value) is None:
        raise RequestRefused(400, "Content-Length is no number.")
    return int(value)


# How much of time, memory and threads clients may take.


MAX_TARGET = 8 * 1024
"""Bytes of the address in a request line."""
MAX_HEAD = 64 * 1024
"""Bytes of a whole head. Cookies of everything else on localhost are in it, so it is not small."""
MAX_BODY = 4096
"""Bytes of the body of an action."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Those that a test sets lower."""

    head_s: float = 10.0
    """A head, and a body, is there this long after its first byte."""
    idle_s: float = 15.0
    """So long a connection stays open between requests."""
    send_s: float = 30.0
    """A client takes a piece of an answer within this time."""
    ping_s: float = 15.0
    """Between two signs of life on a stream of events."""
    connections: int = 256
    """Connections with a thread; for one more another has to go, see `admission.py`."""
    admission_s: float = 1.0
    """So long a connection waits until one of them has gone; then it is refused."""
    eviction_s: float = 0.05
    """Who has to go may have become busy just now: after this time another one has to go as well."""
    stall_s: float = 1.0
    """Who takes nothing of an answer for this long may have to go."""
    streams: int = 512
    """Streams of events; more are refused."""
    unread: int = 1_000_000
    """Bytes that wait for a stream; a client that leaves more unread is dropped."""
