"""Access control, which depends only on the content of a request.

Any web page that the author visits can send requests to this machine, but it cannot forge `Host` and
`Origin`. If the preview listens on more than localhost, `Host` may be any name of this machine. These names
are not resolved, because a name server that does not answer would delay the start. The check of `Host`
rejects a page whose own host name resolves to this machine (DNS rebinding). The checks of `Origin` and
`Sec-Fetch-Site` reject all other pages.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from ...base.patterns import lazy_pattern
from ..protocol import PREFIX
from .reply import RequestRejectedError
from .request import Request

WILDCARDS = frozenset({"", "0.0.0.0", "::"})
"""Values of `--host` that mean all addresses of the machine."""
# Addresses for documentation (RFC 5737, RFC 3849). They only make the system choose our own address; nothing
# is sent.
_PROBE_ADDRESSES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def normalize_host(host: str) -> str:
    """Return a host in the form for comparisons, which is lower case, an IPv6 address without brackets and
    zone."""
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
    """Return the names that requests may use, in addition to localhost, if the preview listens on `host`. If
    `host` is one address or name, return only that. If it means all addresses of the machine, return the
    machine's name, the name with `.local` (multicast DNS), and its outgoing addresses."""
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


LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
METHODS = frozenset({"GET", "HEAD", "POST"})
_BAD_ESCAPE = lazy_pattern(r"%(?![0-9A-Fa-f]{2})")
# an escaped separator makes a URL ambiguous, and no name of ours contains control characters
_FORBIDDEN_ESCAPE = lazy_pattern(r"%(?:2f|5c|[01][0-9a-f]|7f)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """Target of a request."""

    path: str
    """Path, decoded once. It starts with one slash and has no segment `.` or `..`."""
    query: str
    """Text after the question mark, as sent."""


def host_headers(names: Collection[str], port: int) -> frozenset[str]:
    """Return the allowed values of `Host`: localhost and `names`, with our port. names: host names and
    addresses; IPv6 addresses need no brackets."""
    hosts = {f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else name for name in names}
    hosts = {host.lower() for host in (*LOOPBACK_NAMES, *hosts)}
    with_port = {f"{host}:{port}" for host in hosts}
    return frozenset(with_port | hosts if port == 80 else with_port)


def check_host(request: Request, hosts: frozenset[str]) -> None:
    """Raise `RequestRejectedError` unless the request names this server as its host."""
    host = request.headers.get("host")
    if not host:
        raise RequestRejectedError(400, "The request has no Host header.")
    if host.lower() not in hosts:
        raise RequestRejectedError(
            403,
            f"This host name is not allowed. Allowed: {', '.join(sorted(hosts))}.\n"
            "To use another name or IP address of this machine, run: blogsmith serve --host NAME",
        )


def check_origin(request: Request, path: str) -> None:
    """Raise `RequestRejectedError` if a page of another site sent the request. Call it after `check_host`.
    path: decoded path."""
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() != f"http://{request.headers['host']}".lower():
        raise RequestRejectedError(403, "Requests from pages of other sites are not allowed.")
    # Links on other sites may point to a page, but only our own pages may use our internal URLs. "same-site"
    # is another port of localhost.
    is_ours = request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    is_link = request.headers.get("sec-fetch-mode", "navigate") == "navigate"
    if not is_ours and (path.startswith(PREFIX) or not is_link):
        raise RequestRejectedError(403, "Requests from pages of other sites are not allowed.")


def check_method(request: Request, path: str) -> None:
    """Raise `RequestRejectedError` if the method of the request, its upgrade or its body is not allowed for
    its path. path: decoded path."""
    is_action = path.startswith(f"{PREFIX}do/")
    allowed = "POST" if is_action else "GET, HEAD"
    if request.method not in allowed.split(", "):
        raise RequestRejectedError(405, f"Method not allowed. Allowed: {allowed}.", Allow=allowed)
    if "websocket" in request.headers.get("upgrade", "").lower():
        raise RequestRejectedError(405, "WebSocket connections are not supported.", Allow=allowed)
    if request.length and not is_action:
        raise RequestRejectedError(400, "A GET or HEAD request must not have a body.")


def check_action(request: Request, token: str) -> None:
    """Raise `RequestRejectedError` unless the action is requested by a page that this server has sent. token:
    secret of these pages."""
    sent = request.headers.get("x-blogsmith-token", "").encode("latin-1")
    if not hmac.compare_digest(sent, token.encode()):
        raise RequestRejectedError(403, "The token of this preview is missing or old; reload the page.")
    if "origin" not in request.headers:
        raise RequestRejectedError(403, "The request has no Origin header.")


def parse_target(target: str) -> RequestTarget:
    """Return the path and the query in the target of a request line. Raise `RequestRejectedError` if it
    cannot be the URL of a page."""
    path, _, query = target.partition("?")
    # RFC 9112 3.2.1 has other forms, which are rejected; two slashes would name a host
    if not path.startswith("/") or path.startswith("//"):
        raise RequestRejectedError(400, "The request target must be a path.")
    if re.search(r"[^!-~]|[#\\]", target):
        raise RequestRejectedError(400, "The URL contains invalid characters.")
    return RequestTarget(decode_path(path), query)


def decode_path(path: str) -> str:
    """Decode the path of a URL once. Raises `RequestRejectedError` if the path is invalid."""
    if _BAD_ESCAPE.search(path) or _FORBIDDEN_ESCAPE.search(path):
        raise RequestRejectedError(400, "The URL contains an invalid escape.")
    try:
        decoded = unquote_to_bytes(path).decode("utf-8")
    except UnicodeError:
        raise RequestRejectedError(400, "The URL is not valid UTF-8.") from None
    if any(segment in (".", "..") for segment in decoded.split("/")):
        raise RequestRejectedError(404, "Page not found.")
    return decoded
