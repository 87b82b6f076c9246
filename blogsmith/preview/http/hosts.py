"""Host names of this machine, which requests may use if the preview listens on more than localhost.

No name is resolved, because a name server that does not answer would delay the start.
"""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress

WILDCARDS = frozenset({"", "0.0.0.0", "::"})
"""Values of `--host` that mean all addresses of the machine."""
# Addresses for documentation (RFC 5737, RFC 3849). They only make the system choose our own address; nothing
# is sent.
_PROBE_ADDRESSES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def normalize_host(host: str) -> str:
    """Normalize a host for comparison: lower case, an IPv6 address without brackets and zone."""
    host = host.strip().lower()
    return host.removeprefix("[").removesuffix("]").partition("%")[0]


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the host."""
    host = normalize_host(host)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def allowed_hosts(host: str) -> tuple[str, ...]:
    """Return the names that requests may use, in addition to localhost, if the preview listens on `host`. For
    an address or a name, it is that. For all addresses of the machine, they are its name, the name with
    `.local`, as in multicast DNS, and its outgoing addresses."""
    host = normalize_host(host)
    if host not in WILDCARDS:
        return (host,)
    name = normalize_host(socket.gethostname())
    named = [] if not name else [name] if "." in name else [name, f"{name}.local"]
    return tuple(dict.fromkeys([*named, *_own_addresses()]))


def _own_addresses() -> list[str]:
    found = []
    for family, elsewhere in _PROBE_ADDRESSES:
        # without a route or this kind of address, the machine cannot be reached in this way
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            found.append(normalize_host(str(probe.getsockname()[0])))
    return found
