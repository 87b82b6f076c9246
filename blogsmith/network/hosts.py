"""Which machine a name stands for, and whether a site may make this one speak to it.

A site may come from a stranger, and its posts may name what only this machine can reach: services on it,
a router, the metadata of a cloud. So the address is looked up here, judged, and connected to as judged: a
name that stands for another machine a moment later (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator

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
