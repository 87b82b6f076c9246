"""Under which names a machine can be reached: who may ask the preview, when it listens to more than itself.

No name is looked up on the way: a name server that does not answer would hold up the start.
"""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress

WILDCARDS = frozenset({"", "0.0.0.0", "::"})
"""Every address of the machine."""
# Addresses for documentation (RFC 5737, RFC 3849): asked only which of ours would be used; nothing is sent.
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def bare(host: str) -> str:
    """The host as names are compared: lower case, an IPv6 address without brackets and zone."""
    host = host.strip().lower()
    return host.removeprefix("[").removesuffix("]").partition("%")[0]


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    host = bare(host)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def allowed_hosts(host: str) -> tuple[str, ...]:
    """Names under which a preview that listens at `host` is asked for, besides localhost.

    An address or a name: itself. Every address of the machine: its name, that name with `.local`, as
    multicast DNS has it, and the addresses from which it talks to others.
    """
    host = bare(host)
    if host not in WILDCARDS:
        return (host,)
    name = bare(socket.gethostname())
    named = [] if not name else [name] if "." in name else [name, f"{name}.local"]
    return tuple(dict.fromkeys([*named, *_own_addresses()]))


def _own_addresses() -> list[str]:
    found = []
    for family, elsewhere in _ELSEWHERE:
        # no route, or no such family: not reachable that way
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            found.append(bare(str(probe.getsockname()[0])))
    return found
