"""Who may ask, and for what: functions of the words of a request alone.

Any web page an author visits can send requests to this machine. It cannot forge `Host` and `Origin`: the name
in `Host` is what keeps out a page whose own name was made to point here (DNS rebinding), `Origin` and
`Sec-Fetch-Site` keep out the others.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from ...base.patterns import lazy_pattern
from ..protocol import PREFIX
from .reply import RequestRefused
from .request import Request

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
METHODS = frozenset({"GET", "HEAD", "POST"})
_BAD_ESCAPE = lazy_pattern(r"%(?![0-9A-Fa-f]{2})")
# An escaped separator makes two readings of one address; control characters are in no name of ours.
_REFUSED_ESCAPE = lazy_pattern(r"%(?:2f|5c|[01][0-9a-f]|7f)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """Where a request goes."""

    path: str
    """Decoded once; starts with one slash; no segment of it is `.` or `..`."""
    query: str
    """Behind the question mark, as sent."""


def host_headers(names: Collection[str], port: int) -> frozenset[str]:
    """What `Host` may be: localhost and `names`, with our port. IPv6 addresses need no brackets."""
    hosts = {f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else name for name in names}
    hosts = {host.lower() for host in (*LOOPBACK_NAMES, *hosts)}
    with_port = {f"{host}:{port}" for host in hosts}
    return frozenset(with_port | hosts if port == 80 else with_port)


def check_host(request: Request, hosts: frozenset[str]) -> None:
    """`RequestRefused` unless the request names this server as its host."""
    host = request.headers.get("host")
    if not host:
        raise RequestRefused(400, "The request says no Host.")
    if host.lower() not in hosts:
        raise RequestRefused(
            403,
            f"The preview does not answer under this name. It answers to {', '.join(sorted(hosts))}.\n"
            "To use another name or address of this machine, start it with: blogsmith serve --host NAME",
        )


def check_origin(request: Request, path: str) -> None:
    """`RequestRefused` if a page of another site asks. path: decoded. To be called after `check_host`."""
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() != f"http://{request.headers['host']}".lower():
        raise RequestRefused(403, "The preview does not answer to pages of other sites.")
    # A link on another site may lead to a page, but only our own pages have business with these. "same-site"
    # is another port of localhost.
    is_ours = request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    is_link = request.headers.get("sec-fetch-mode", "navigate") == "navigate"
    if not is_ours and (path.startswith(PREFIX) or not is_link):
        raise RequestRefused(403, "The preview does not answer to pages of other sites.")


def check_method(request: Request, path: str) -> None:
    """`RequestRefused` for what is neither reading nor an action. path: decoded."""
    is_action = path.startswith(f"{PREFIX}do/")
    allowed = "POST" if is_action else "GET, HEAD"
    if request.method not in allowed.split(", "):
        raise RequestRefused(405, f"Only {allowed} here.", Allow=allowed)
    if "websocket" in request.headers.get("upgrade", "").lower():
        raise RequestRefused(405, "There are no web sockets here.", Allow=allowed)
    if request.length and not is_action:
        raise RequestRefused(400, "A request to read something has no body.")


def check_action(request: Request, token: str) -> None:
    """`RequestRefused` unless the request comes from a page that this server has served."""
    sent = request.headers.get("x-blogsmith-token", "").encode("latin-1")
    if not hmac.compare_digest(sent, token.encode()):
        raise RequestRefused(403, "The token of this preview is missing or old; reload the page.")
    if "origin" not in request.headers:
        raise RequestRefused(403, "The request does not say which page it comes from (Origin).")


def parse_target(target: str) -> RequestTarget:
    """The path and the query of a request target; `RequestRefused` for what no address of a page can be."""
    path, _, query = target.partition("?")
    # RFC 9112 3.2.1: only this form is for us. Two slashes would name a host.
    if not path.startswith("/") or path.startswith("//"):
        raise RequestRefused(400, "The address must be a path.")
    if re.search(r"[^!-~]|[#\\]", target):
        raise RequestRefused(400, "The address has characters that belong into no address.")
    return RequestTarget(decode_path(path), query)


def decode_path(path: str) -> str:
    """A path of a URL with its escapes resolved, once; `RequestRefused` if it cannot be one."""
    if _BAD_ESCAPE.search(path) or _REFUSED_ESCAPE.search(path):
        raise RequestRefused(400, "The address has an escape that belongs into no address.")
    try:
        decoded = unquote_to_bytes(path).decode("utf-8")
    except UnicodeError:
        raise RequestRefused(400, "The address is not UTF-8.") from None
    if any(segment in (".", "..") for segment in decoded.split("/")):
        raise RequestRefused(404, "There is no such page.")
    return decoded
