"""Images at other hosts that posts refer to: the setting for them, their copies in the site, and the file
that lists the copies."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import quote, urlsplit, urlunsplit

from msgspec import Struct, field

from ..base.diagnostics.fixes import make_replacement
from ..base.diagnostics.model import Diagnostic, Place, Reporter, SiteError
from ..base.patterns import lazy_pattern
from ..base.storage.folder import open_folder
from .decode import decode
from .pictures import video_type

RemoteRuleName = Literal["error", "warn", "allow", "fetch"]
RECORD = "remote-images.txt"
"""File that maps URLs to copies. It is in the site root, so it is not published."""
COPIES = "static/remote"
"""Folder of the copies, relative to the site root. As part of `static/` it is published."""
FETCH_COMMAND = "blogsmith images fetch"
REMOTE_HINT = (
    f"write `images: {{remote: fetch}}` in blogsmith.yaml and run `{FETCH_COMMAND}`, or put a copy next to "
    "the post"
)
_UNESCAPED = "/%:;=@!$&'()*+,-._~"
"""Characters of paths and queries that are not escaped, in addition to letters and digits."""


class ImageCopy(Struct, frozen=True):
    """A copy of a remote image in the site."""

    path: str
    """Path relative to the site root."""
    sha256: str
    """SHA-256 of the file, in hex."""


class RemoteImages(Struct, frozen=True):
    """Setting for images at other hosts, and the copies that the site has."""

    rule: RemoteRuleName = "error"
    copies: Mapping[str, ImageCopy] = field(default_factory=dict)
    """Normalised URL (`normalize_remote_url`) → copy. Filled only if the setting is `fetch`."""


def format_remote_message(written: str) -> str:
    """Return the message about an image or video at another host."""
    return f'{"video" if video_type(written.partition("?")[0]) else "image"} "{written}" is on another host'


def is_remote(written: str) -> bool:
    """Return whether a URL in a post points to another host: it has any scheme followed by `://`, or starts
    with `//`."""
    path = written.strip().partition("?")[0].partition("#")[0]
    return "://" in path or path.startswith("//")


def normalize_remote_url(written: str) -> str:
    """Return a URL in the normal form used in the record: ASCII, with a scheme, without a fragment.

    Return "" if it is not an http(s) URL, or contains a user name or a password.
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
    query = quote(parts.query, safe=f"{_UNESCAPED}?")
    return urlunsplit((parts.scheme, place, quote(parts.path, safe=_UNESCAPED) or "/", query, ""))


# `remote-images.txt`, the record of copied images, has one line for each copy: SHA-256, file, URL. It is
# plain text that people can read, compare and commit. A line may come from a stranger, so it can name only
# files in the folder of the copies, and files are compared with the digest before they are published.


_LINE = lazy_pattern(r"([0-9a-f]{64})\s+(\S+)\s+(\S+)")
_MAX_BYTES = 10_000_000
_HEAD = """\
# Copies of images at other hosts, made by `blogsmith images fetch`: SHA-256, file, URL.
# Commit this file together with them.
"""
_HINT = f"remove the line and run `{FETCH_COMMAND}`"


def read_record(root: Path) -> tuple[Mapping[str, ImageCopy], tuple[Diagnostic, ...]]:
    """Return the copies in the record by URL, and the errors in the record; both empty if the file is
    missing."""
    try:
        with open_folder(root) as site:
            data = site.read(RECORD, _MAX_BYTES + 1)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return {}, ()
        message = f"cannot read this file: {error.strerror or error}"
        return {}, (Diagnostic("unreadable", message, RECORD, hint="check its permissions"),)
    if len(data) > _MAX_BYTES:
        message = f"more than {_MAX_BYTES // 1_000_000} MB"
        hint = "remove lines of images that no page shows"
        return {}, (Diagnostic("file-too-large", message, RECORD, hint=hint),)
    try:
        text = decode(data, RECORD)
    except SiteError as error:
        return {}, tuple(error.diagnostics)
    return _parse(text)


def _parse(text: str) -> tuple[Mapping[str, ImageCopy], tuple[Diagnostic, ...]]:
    lines = text.split("\n")
    reporter = Reporter(RECORD, lines)
    copies: dict[str, ImageCopy] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        problem = "invalid line: expected SHA-256, file and URL"
        if found:
            problem = _problem(found[2], found[3], copies)
        if found is None or problem:
            fix = make_replacement(number, 1, f"{line}\n", "", title="remove the line")
            reporter.error("image-record", problem, Place(number, 1, max(1, len(line))), _HINT, fix)
        else:
            copies[found[3]] = ImageCopy(found[2], found[1])
    return copies, tuple(reporter.diagnostics)


def _problem(path: str, address: str, copies: Mapping[str, ImageCopy]) -> str:
    name = PurePosixPath(path)
    if not path.startswith(f"{COPIES}/") or ".." in name.parts or str(name) != path:
        return f'"{path}" is not a file in {COPIES}/'
    if normalize_remote_url(address) != address:
        return f'"{address}" is not a URL of another host'
    return f'duplicate URL "{address}"' if address in copies else ""


def format_record(copies: Mapping[str, ImageCopy]) -> bytes:
    """Return the record of these copies, sorted by URL."""
    rows = sorted(copies.items(), key=lambda row: row[0])
    return (_HEAD + "".join(f"{copy.sha256}  {copy.path}  {address}\n" for address, copy in rows)).encode()
