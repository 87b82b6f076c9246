"""One connection to a host: which hosts may be asked, http and https with time limits, downloads.

No cookies, no names and passwords, no proxy: a proxy would look names up itself, and could not be judged.
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
from ..model.remote_images import remote_address

# Which machine a name stands for, and whether a site may make this one speak to it.
#
# A site may come from a stranger, and its posts may name what only this machine can reach: services on it, a
# router, the metadata of a cloud. So the address is looked up here, judged, and connected to as judged: a
# name that stands for another machine a moment later (DNS rebinding) gains nothing.


Lookup = Callable[[str, int], list[str]]
"""(host, port) → IP addresses, in the order in which they are to be tried; OSError if there are none."""


class HostRefused(Exception):
    """Why a host is not spoken to, in the author's words."""


def look_up(host: str, port: int) -> list[str]:
    """As the system has it."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def public_addresses(host: str, port: int, lookup: Lookup, *, may_be_private: bool) -> list[str]:
    """The addresses of a host; HostRefused if one is of a private network, OSError if there are none."""
    addresses = lookup(host, port)
    private = [] if may_be_private else [one for one in addresses if not is_public(one)]
    if private:
        message = f"{host} is {private[0]}, a machine of a private network, and this site is not trusted"
        raise HostRefused(message)
    return addresses


def is_public(address: str) -> bool:
    """Whether an IP address is of the open Internet, also the one that it holds to be reached through it."""
    try:
        every = list(_inner_addresses(ipaddress.ip_address(address.partition("%")[0])))
    except ValueError:
        return False
    return all(one.is_global and not one.is_multicast and not one.is_reserved for one in every)


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def _inner_addresses(address: _Address) -> Iterator[_Address]:
    """The address and, of IPv6, the IPv4 address within it (RFC 4291, 3056, 4380, 6052)."""
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


# One file of another host, read whole: http and https, with limits on size, time and redirects.


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
