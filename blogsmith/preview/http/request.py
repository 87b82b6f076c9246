"""Strict parser for the header of a request, and the limits of clients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...base.patterns import lazy_pattern
from .reply import RequestRejectedError

_REQUEST_LINE = lazy_pattern(rb"([A-Z]{1,20}) ([!-~]+) HTTP/(\d)\.(\d)")
# RFC 9110 5.6.2: no white space before the colon; RFC 9112 5.2: no continuation lines
_HEADER = lazy_pattern(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_UNIQUE_HEADERS = frozenset({"host", "origin", "content-length", "x-blogsmith-token"})


@dataclass(frozen=True, slots=True)
class Request:
    """The header of a request, before the checks in `guard.py`."""

    method: str
    """Method in capital letters."""
    target: str
    """Target as sent, in visible ASCII characters."""
    headers: Mapping[str, str]
    """Header name in lower case → value. Values of repeated headers are joined by commas."""
    length: int | None
    """Length of the body in bytes; None if the header does not contain it."""
    keep_alive: bool
    """Whether the client may send another request on this connection."""


def parse_head(head: bytes) -> Request:
    """Parse the header of a request, without the empty line after it. Raise `RequestRejectedError` if it is
    invalid."""
    first, *lines = head.split(b"\r\n")
    match = _REQUEST_LINE.fullmatch(first)
    if match is None:
        raise RequestRejectedError(400, "This is not an HTTP request.")
    method, target, major, minor = match.groups()
    if major != b"1":
        raise RequestRejectedError(505, "Only HTTP/1.1 is supported.")
    if len(target) > MAX_TARGET:
        raise RequestRejectedError(400, "The URL is too long.")
    headers = _headers(lines)
    if "expect" in headers:
        raise RequestRejectedError(417, "The Expect header is not supported: send the body with the request.")
    if "transfer-encoding" in headers:
        raise RequestRejectedError(411, "Transfer-Encoding is not supported: send a Content-Length header.")
    return Request(
        method.decode("ascii"),
        target.decode("ascii"),
        headers,
        _length(headers.get("content-length")),
        # to keep the connection, HTTP/1.0 needs an explicit answer, which no client needs
        minor != b"0" and "close" not in headers.get("connection", "").lower(),
    )


def _headers(lines: list[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise RequestRejectedError(400, "A header of the request is malformed.")
        name = match[1].decode("ascii").lower()
        value = match[2].decode("latin-1").rstrip(" \t")
        if name in headers and name in _UNIQUE_HEADERS:
            raise RequestRejectedError(400, f"Duplicate header {name}.")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _length(value: str | None) -> int | None:
    if value is None:
        return None
    if re.fullmatch("[0-9]{1,15}", value) is None:
        raise RequestRejectedError(400, "Invalid Content-Length: expected a number.")
    return int(value)


# Limits of time, memory and threads that one client may use.


MAX_TARGET = 8 * 1024
"""Maximum length of the URL in a request line, in bytes."""
MAX_HEAD = 64 * 1024
"""Maximum size of a request header, in bytes. It is large because a header contains all cookies of
localhost."""
MAX_BODY = 4096
"""Maximum size of the body of an action, in bytes."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Limits that tests may lower. Times are in seconds."""

    head_s: float = 10.0
    """Time limit for a header, and for a body, after its first byte."""
    idle_s: float = 15.0
    """Time that a connection stays open between requests."""
    send_s: float = 30.0
    """Time limit for sending one piece of a response."""
    ping_s: float = 15.0
    """Interval between keep-alive messages on a stream of events."""
    connections: int = 256
    """Maximum number of connections with a thread. A further connection may replace one of them; see
    `Admission`."""
    admission_s: float = 1.0
    """Time that a new connection waits for another connection to end. After that, the new connection is
    rejected."""
    eviction_s: float = 0.05
    """Delay before an old connection is ended to make room for a new one, because a request may be arriving
    on the old one."""
    stall_s: float = 1.0
    """Time without receiving data after which a client's connection may be ended for a new one."""
    streams: int = 512
    """Maximum number of event streams. Further ones are rejected."""
    unread: int = 1_000_000
    """Maximum number of unread bytes of a stream. A client that exceeds it is disconnected."""
