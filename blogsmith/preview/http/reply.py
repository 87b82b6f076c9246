"""Responses with the headers that each carries, and files that the preview sends."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from io import FileIO
from pathlib import Path

from ...base.patterns import lazy_pattern

# Files that are sent as they are: opened only where they are said to lie, whole or a piece of them.


# Not every system has all of them. Without O_NONBLOCK the opening of a pipe would wait for a writer.
_READ_ONLY = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_BINARY", "O_NOFOLLOW", "O_CLOEXEC")
)
_RANGE = lazy_pattern(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True, slots=True)
class FilePart:
    """A piece of an open file."""

    file: FileIO
    start: int
    """First byte of it, from 0."""
    length: int
    """In bytes."""


class NoSuchRange(Exception):
    """Nothing of the file is in the range that was asked for."""


def open_regular(path: Path) -> FilePart | None:
    """All of the regular file at `path`, an absolute path without links; None if that is not what is there.

    Links may have been put into the path since it was resolved, also in the middle: what is open must be what
    the path leads to, and the path must still lead to itself.
    """
    try:
        descriptor = os.open(path, _READ_ONLY)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        as_said = path.resolve(strict=True) == path and os.path.samestat(status, path.lstat())
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        as_said = False
    if not as_said or not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return None
    return FilePart(os.fdopen(descriptor, "rb", buffering=0), 0, status.st_size)


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """(first byte, length) of what a Range header asks for of `size` bytes; `NoSuchRange` if there are none.

    None: the whole. RFC 9110 14.2 lets a server ignore what it does not understand, also several ranges.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = min(int(match[2]), size)
        start = size - length
    else:
        start = int(match[1])
        last = int(match[2]) if match[2] else size - 1
        if match[2] and last < start:
            return None
        length = min(last, size - 1) - start + 1
    if length <= 0:
        raise NoSuchRange
    return start, length


SECURITY = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "same-origin"),
    ("X-Frame-Options", "SAMEORIGIN"),
    ("Server", "blogsmith"),
)
"""Of every answer, refusals too. There is no Access-Control header: no other site may read anything."""
ACTIVE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox"
"""The policy of files in which scripts may stand: they share their origin with pages that hold the token."""
PLAIN = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An answer, ready to be sent."""

    status: int
    type: str = PLAIN
    """Media type."""
    body: bytes = b""
    part: FilePart | None = None
    """A piece of an open file to send in place of `body`; the sender closes it."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Beyond those of every answer."""
    stream: bool = False
    """Events follow, without an end: the connection goes to the hub."""

    def __post_init__(self) -> None:
        """ValueError if there is no such status, or a value would break out of its line."""
        HTTPStatus(self.status)
        for name, value in (("Content-Type", self.type), *self.headers.items()):
            if re.search(r"[^ -~]", value):
                raise ValueError(f"the header {name} cannot be {value!r}")

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return len(self.body) if self.part is None else self.part.length


class RequestRefused(Exception):
    """A request that is not answered, with what its client is told instead."""

    def __init__(self, status: int, why: str, **headers: str) -> None:
        super().__init__(why)
        self.reply = plain(status, why, **headers)


def plain(status: int, text: str, **headers: str) -> HttpReply:
    """A few words. headers: names with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpReply(status, body=f"{text}\n".encode("utf-8", "backslashreplace"), headers=named)


def is_active(media_type: str) -> bool:
    """Whether scripts may stand in such a file: in SVG and all other XML."""
    name = media_type.partition(";")[0].strip().lower()
    return name.endswith(("+xml", "/xml", "/xsl", "/rdf"))


def head_of(reply: HttpReply, *, keep_alive: bool) -> bytes:
    """Status line and headers, with the empty line behind them."""
    media_type = reply.type
    if media_type.startswith("text/") and "charset" not in media_type and not reply.stream:
        media_type += "; charset=utf-8"
    named = [*SECURITY, ("Content-Type", media_type)]
    if is_active(media_type):
        named.append(("Content-Security-Policy", ACTIVE))
    if not reply.stream:
        named.append(("Content-Length", str(reply.size)))
    named += reply.headers.items()
    named.append(("Connection", "keep-alive" if keep_alive else "close"))
    status = HTTPStatus(reply.status)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in named)]
    return "\r\n".join([*lines, "", ""]).encode("ascii")
