"""Sockets to listen on: this machine only unless asked otherwise, all on one port."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable

from .hosts import WILDCARDS

PORTS_TRIED = 101
_BACKLOG = 512
_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)

Address = tuple[socket.AddressFamily, str]


def host_in_url(host: str) -> str:
    """What stands in an address that a browser on this machine opens."""
    if host in ("::", "::1"):
        return "[::1]"
    if host in (*WILDCARDS, "localhost"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int, *, is_fixed: bool = False) -> list[socket.socket]:
    """Return listening sockets for `host`, on `port` or one of the hundred after it; 0: any port.

    is_fixed: no other port than `port` will do. OSError: no port is free, or this machine does not have the
    address.
    """
    addresses = _addresses(host)
    last = OSError(errno.EADDRINUSE, "no port is free")
    tried: Iterable[int] = (
        [0] * 20 if port == 0 else range(port, min(port + (1 if is_fixed else PORTS_TRIED), 65536))
    )
    for candidate in tried:
        try:
            return _bind_all(addresses, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            last = error
    raise last


def _addresses(host: str) -> list[Address]:
    if host in ("localhost", "127.0.0.1"):
        # `localhost` is either of them, depending on the browser: both must be us, and nobody else
        return [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
    found = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _bind_all(addresses: list[Address], port: int) -> list[socket.socket]:
    """One socket for each address; those after the first may be missing on this machine."""
    listeners: list[socket.socket] = []
    try:
        for address in addresses:
            try:
                listeners.append(_bind(address, port))
            except OSError as error:
                if not listeners or error.errno not in _ABSENT:
                    raise
            port = listeners[0].getsockname()[1]
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _bind(address: Address, port: int) -> socket.socket:
    family, host = address
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # connections that ended a moment ago hold the port otherwise; one that is listened on stays taken
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(host != "::"))
        listener.bind((host, port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
