"""One connection to a host whose address has been judged: http and https, with limits on time.

No cookies, no names and passwords, no proxy: a proxy would look names up itself, and could not be judged.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from urllib.parse import urlsplit

from msgspec import Struct

from ..base.version import __version__
from .hosts import Lookup, look_up, public_addresses

MOVED = (301, 302, 303, 307, 308)
USER_AGENT = f"blogsmith/{__version__}"
_PORTS = {"http": 80, "https": 443}


class Limits(Struct, frozen=True):
    """What a download may cost, and whom it may speak to."""

    may_be_private: bool = False
    """Hosts of a private network may be asked."""
    size: int = 50_000_000
    """Bytes."""
    whole_s: float = 120.0
    """Seconds for one file, redirects included."""
    silent_s: float = 20.0
    """Seconds without a byte after which a server counts as gone."""
    lookup: Lookup = look_up
    watch: Callable[[int], None] = lambda done: None
    """Told how many bytes have come, often."""


@contextmanager
def request(
    method: str, address: str, accept: str, limits: Limits, ends: float, **headers: str
) -> Iterator[http.client.HTTPResponse]:
    """Ask a host, and read its answer while it is open; OSError, HTTPException, ValueError or HostRefused.

    ends: when all must be over, by `time.monotonic`. headers: with `_` for `-`.
    """
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    addresses = public_addresses(host, port, limits.lookup, may_be_private=limits.may_be_private)
    sent = {
        "User-Agent": USER_AGENT,
        "Accept": accept,
        "Accept-Encoding": "identity",
        "Connection": "close",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    with _connect(parts.scheme, host, port, addresses, limits, ends) as connection:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, path, headers=sent)
        with connection.getresponse() as answer:
            yield answer


@contextmanager
def _connect(
    scheme: str, host: str, port: int, addresses: list[str], limits: Limits, ends: float
) -> Iterator[http.client.HTTPConnection]:
    """A connection to one of the addresses, which is cut when the time is over."""
    held = [_open_socket(addresses, port, limits, ends)]
    timer = Timer(max(0.0, ends - time.monotonic()), _cut, (held,))
    timer.daemon = True
    timer.start()
    connection = http.client.HTTPConnection(host, port, timeout=limits.silent_s)
    connection.default_port = _PORTS[scheme]
    try:
        if scheme == "https":
            context = ssl.create_default_context()
            secure = context.wrap_socket(held[0], server_hostname=host, do_handshake_on_connect=False)
            # the plain socket is empty now
            held[0] = secure
            secure.do_handshake()
        connection.sock = held[0]
        yield connection
    finally:
        timer.cancel()
        connection.close()
        held[0].close()


def _open_socket(addresses: list[str], port: int, limits: Limits, ends: float) -> socket.socket:
    problem = OSError("it has no address")
    for one in addresses:
        left = min(limits.silent_s, ends - time.monotonic())
        try:
            return socket.create_connection((one, port), timeout=max(0.001, left))
        except OSError as error:
            problem = error
    raise problem


def _cut(held: list[socket.socket]) -> None:
    """End what a server draws out byte by byte."""
    # one that is closed already
    with suppress(OSError):
        held[0].shutdown(socket.SHUT_RDWR)


def failure_reason(error: Exception, limits: Limits, ends: float) -> str:
    """Why a host could not be asked, in the author's words. ends: as in `request`."""
    if time.monotonic() >= ends:
        return f"it is not there after {limits.whole_s:g} seconds"
    if isinstance(error, TimeoutError):
        return f"the server is silent for {limits.silent_s:g} seconds"
    if isinstance(error, ssl.SSLError):
        return f"its certificate is not accepted ({error.reason or error})"
    if isinstance(error, socket.gaierror):
        return "there is no such host, or no network"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
