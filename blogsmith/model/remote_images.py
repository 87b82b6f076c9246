"""Images that posts name at other hosts: the site's rule for them, and the copies that it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote, urlsplit, urlunsplit

from msgspec import Struct, field

RemoteRuleName = Literal["error", "warn", "allow", "fetch"]
RECORD = "remote-images.txt"
"""The file of a site that says which copy is of which address; at its root, so it is not published."""
COPIES = "static/remote"
"""The folder of a site for the copies."""
FETCH_COMMAND = "blogsmith images fetch"
REMOTE_HINT = f"write images: {{remote: fetch}} and run {FETCH_COMMAND}, or put a copy beside the post"
_KEPT = "/%:;=@!$&'()*+,-._~"
"""Besides letters and digits, what stays as it is in a path or a query."""


class ImageCopy(Struct, frozen=True):
    """A picture of another host that lies in the site."""

    path: str
    """Relative to the site root."""
    sha256: str
    """Of the file, in hex."""


class RemoteImages(Struct, frozen=True):
    """What becomes of pictures at other hosts."""

    rule: RemoteRuleName = "error"
    copies: Mapping[str, ImageCopy] = field(default_factory=dict)
    """Address as `remote_address` has it → copy; read where the rule is `fetch`."""


def remote_message(written: str) -> str:
    """What is said of an image at another host."""
    return f"image {written} is on another host"


def is_remote(written: str) -> bool:
    """Whether an address in a post leads to another host, or names a scheme as if it did."""
    path = written.strip().partition("?")[0].partition("#")[0]
    return "://" in path or path.startswith("//")


def remote_address(written: str) -> str:
    """The address in the one form under which its copy is recorded: ASCII, with a scheme, without fragment.

    Empty if it is no http(s) address, or holds a name or a password.
    """
    text = "".join(sign for sign in written.strip() if sign not in "\t\r\n")
    try:
        parts = urlsplit(f"https:{text}" if text.startswith("//") else text)
        host, port = (parts.hostname or "").encode("idna").decode().lower(), parts.port
    except (UnicodeError, ValueError):
        return ""
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return ""
    host = f"[{host}]" if ":" in host else host
    place = f"{host}:{port}" if port is not None else host
    query = quote(parts.query, safe=f"{_KEPT}?")
    return urlunsplit((parts.scheme, place, quote(parts.path, safe=_KEPT) or "/", query, ""))
