"""Connections to allowed hosts, HTTP and HTTPS with time limits, and downloads.

Requests send neither cookies nor credentials. They use no proxy, because a proxy would resolve names itself,
and then the IP address could not be checked.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from ..base.version import __version__
from ..model.remote_images import normalize_remote_url

# Resolves host names and decides whether a site may make this machine connect to them. A site may come from a
# stranger, and its posts may name addresses that only this machine can reach: its services, a router, the
# metadata service of a cloud. We therefore resolve the name ourselves, check the IP address, and connect to
# exactly this address. If the name resolves to another address a moment later (DNS rebinding), that has no
# effect.


Lookup = Callable[[str, int], list[str]]
"""Function that returns the IP addresses of a host and port, in the order to try them. It raises OSError if
there are none."""


class HostRejectedError(Exception):
    """A host that we do not connect to. The message gives the reason."""


def resolve_host(host: str, port: int) -> list[str]:
    """Return the IP addresses of a host, as resolved by the system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def public_addresses(host: str, port: int, lookup: Lookup, *, may_be_private: bool) -> list[str]:
    """Return the IP addresses of a host. Raise OSError if there are none. Raise HostRejectedError if one of
    them is in a private network, unless `may_be_private`."""
    addresses = lookup(host, port)
    private = [] if may_be_private else [one for one in addresses if not is_public(one)]
    if private:
        message = f'host "{host}" is in a private network ({private[0]}), and this site is not trusted'
        raise HostRejectedError(message)
    return addresses


def is_public(address: str) -> bool:
    """Return whether an IP address is public. If an IPv6 address contains an IPv4 address, both must be
    public."""
    try:
        every = list(_inner_addresses(ipaddress.ip_address(address.partition("%")[0])))
    except ValueError:
        return False
    return all(one.is_global and not one.is_multicast and not one.is_reserved for one in every)


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def _inner_addresses(address: _Address) -> Iterator[_Address]:
    """Yield the address and, for IPv6, the IPv4 address inside it (RFC 4291, 3056, 4380, 6052)."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            yield address.ipv4_mapped
            return
        if address.sixtofour:
            yield address.sixtofour
        if address.teredo:
            yield from address.teredo
        if address in _NAT64:
            yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
            return
    yield address


REDIRECT_STATUSES = (301, 302, 303, 307, 308)
USER_AGENT = f"blogsmith/{__version__}"
_PORTS = {"http": 80, "https": 443}


class Limits(Struct, frozen=True):
    """Limits of a download, and the hosts that it may connect to."""

    allow_private: bool = False
    """Allow hosts in a private network."""
    size: int = 50_000_000
    """Maximum size in bytes."""
    total_timeout_s: float = 120.0
    """Time limit for one file, including redirects."""
    read_timeout_s: float = 20.0
    """Maximum time in seconds without data from the server."""
    lookup: Lookup = resolve_host
    watch: Callable[[int], None] = lambda done: None
    """Function that is called often with the number of bytes received so far."""


@contextmanager
def request(
    method: str, address: str, accept: str, limits: Limits, ends: float, **headers: str
) -> Iterator[http.client.HTTPResponse]:
    """Send a request and yield the open response. ends: deadline by `time.monotonic`. headers: header names
    with `_` instead of `-`. Raises OSError, HTTPException, ValueError or HostRejectedError."""
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    addresses = public_addresses(host, port, limits.lookup, may_be_private=limits.allow_private)
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
    """Yield a connection to one of the addresses. At the deadline `ends`, the connection is shut down."""
    held = [_open_socket(addresses, port, limits, ends)]
    timer = Timer(max(0.0, ends - time.monotonic()), _shut_down, (held,))
    timer.daemon = True
    timer.start()
    connection = http.client.HTTPConnection(host, port, timeout=limits.read_timeout_s)
    connection.default_port = _PORTS[scheme]
    try:
        if scheme == "https":
            context = ssl.create_default_context()
            secure = context.wrap_socket(held[0], server_hostname=host, do_handshake_on_connect=False)
            # the plain socket now belongs to the TLS socket
            held[0] = secure
            secure.do_handshake()
        connection.sock = held[0]
        yield connection
    finally:
        timer.cancel()
        connection.close()
        held[0].close()


def _open_socket(addresses: list[str], port: int, limits: Limits, ends: float) -> socket.socket:
    problem = OSError("the host has no IP address")
    for one in addresses:
        left = min(limits.read_timeout_s, ends - time.monotonic())
        try:
            return socket.create_connection((one, port), timeout=max(0.001, left))
        except OSError as error:
            problem = error
    raise problem


def _shut_down(held: list[socket.socket]) -> None:
    """Shut down the connection in `held`. This works even if the server keeps sending single bytes."""
    # It may be closed already.
    with suppress(OSError):
        held[0].shutdown(socket.SHUT_RDWR)


def failure_reason(error: Exception, limits: Limits, ends: float) -> str:
    """Return the reason why a request failed, as a message for the author.

    ends: deadline of the request, by `time.monotonic`.
    """
    if time.monotonic() >= ends:
        return f"no complete response after {limits.total_timeout_s:g} seconds"
    if isinstance(error, TimeoutError):
        return f"no data from the server for {limits.read_timeout_s:g} seconds"
    if isinstance(error, ssl.SSLError):
        return f"the TLS certificate is not accepted ({error.reason or error})"
    if isinstance(error, socket.gaierror):
        return "host not found, or no network connection"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


# Download of one complete file by HTTP or HTTPS, with limits for size, time and redirects.


MAX_REDIRECTS = 5
_CHUNK_SIZE = 1 << 16


class DownloadError(Exception):
    """A file that cannot be downloaded; the message is the reason."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Downloaded(Struct, frozen=True):
    """Content of a downloaded file."""

    data: bytes
    media_type: str
    """Media type in lower case, without parameters; empty if the server sends none."""


def download(address: str, limits: Limits) -> Downloaded:
    """Download the file at an http(s) URL. Raise DownloadError with the reason if that fails."""
    ends = time.monotonic() + limits.total_timeout_s
    for _ in range(MAX_REDIRECTS + 1):
        try:
            found = _fetch(address, limits, ends)
        except HostRejectedError as refused:
            raise DownloadError(str(refused), "run `blogsmith trust` if you know the site") from refused
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DownloadError(failure_reason(error, limits, ends)) from error
        if isinstance(found, Downloaded):
            return found
        address = _next_address(address, found)
    raise DownloadError(f"more than {MAX_REDIRECTS} redirects")


def _next_address(address: str, location: str) -> str:
    target = normalize_remote_url(urljoin(address, location))
    if not target or (address.startswith("https:") and not target.startswith("https:")):
        raise DownloadError(f'redirect to "{location[:200]}", which is not an https URL')
    return target


def _fetch(address: str, limits: Limits, ends: float) -> Downloaded | str:
    """Return the file. If the server redirects the request, return the new URL instead."""
    with request("GET", address, "image/*", limits, ends) as answer:
        return _read_answer(answer, limits, ends)


def _read_answer(answer: http.client.HTTPResponse, limits: Limits, ends: float) -> Downloaded | str:
    if answer.status in REDIRECT_STATUSES:
        return answer.headers.get("Location", "")
    if answer.status != http.client.OK:
        raise DownloadError(f"the server answers {answer.status} {answer.reason[:80]}".rstrip())
    if answer.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise DownloadError("the server sends compressed data")
    media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return Downloaded(_read(answer, limits, ends), media_type)


def _read(answer: http.client.HTTPResponse, limits: Limits, ends: float) -> bytes:
    length = answer.headers.get("Content-Length", "")
    if length.isdecimal() and int(length) > limits.size:
        raise DownloadError(f"more than {limits.size // 1_000_000} MB")
    data = bytearray()
    while piece := answer.read1(_CHUNK_SIZE):
        data += piece
        if len(data) > limits.size:
            raise DownloadError(f"more than {limits.size // 1_000_000} MB")
        limits.watch(len(data))
    if time.monotonic() >= ends:
        raise TimeoutError
    if length.isdecimal() and len(data) != int(length):
        raise DownloadError(f"the connection ended after {len(data)} of {length} bytes")
    return bytes(data)
