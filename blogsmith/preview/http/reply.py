"""Responses with their headers, and the files that the preview sends."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from io import FileIO
from pathlib import Path
from typing import cast

from ...base.patterns import lazy_pattern
from ...base.storage.folder import open_real_file

_RANGE = lazy_pattern(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True, slots=True)
class FilePart:
    """Part of an open file."""

    file: FileIO
    start: int
    """Offset of the first byte."""
    length: int
    """Length in bytes."""


class RangeError(Exception):
    """The requested range contains no byte of the file."""


def open_part(path: Path) -> FilePart | None:
    """Open the regular file at `path`, an absolute path without links. Return None if there is no such
    file."""
    try:
        file = cast("FileIO", open_real_file(path).detach())
    except (OSError, ValueError):
        return None
    return FilePart(file, 0, os.fstat(file.fileno()).st_size)


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """Return (first byte, length) of the range that a Range header requests in a file of `size` bytes. Return
    None to send the whole file: RFC 9110 14.2 lets a server ignore headers that it does not understand, such
    as several ranges. Raises `RangeError` if the range contains no byte."""
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
        raise RangeError
    return start, length


SECURITY_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "same-origin"),
    ("X-Frame-Options", "SAMEORIGIN"),
    ("Server", "blogsmith"),
)
"""Headers of every response, even of rejections. There is no Access-Control header, because no other site may
read anything."""
ACTIVE_CONTENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox"
)
"""Content-Security-Policy for files that may contain scripts. It blocks these scripts, because they would run
with the same origin as pages that contain the token."""
PLAIN = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response, ready to be sent."""

    status: int
    type: str = PLAIN
    """Media type."""
    body: bytes = b""
    part: FilePart | None = None
    """Part of an open file to send instead of `body`. The sender closes the file."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers in addition to those of every response."""
    stream: bool = False
    """Whether an endless stream of events follows, so that the hub becomes the owner of the connection."""

    def __post_init__(self) -> None:
        """Raise ValueError if the status is unknown, or if a header value contains characters that would end
        its line."""
        HTTPStatus(self.status)
        for name, value in (("Content-Type", self.type), *self.headers.items()):
            if re.search(r"[^ -~]", value):
                raise ValueError(f"the header {name} cannot be {value!r}")

    @property
    def size(self) -> int:
        """Size of the body in bytes."""
        return len(self.body) if self.part is None else self.part.length


class RequestRejectedError(Exception):
    """A rejected request, with the response for its client."""

    def __init__(self, status: int, why: str, **headers: str) -> None:
        super().__init__(why)
        self.reply = plain_reply(status, why, **headers)


def plain_reply(status: int, text: str, **headers: str) -> HttpResponse:
    """Return a plain text response. headers: names with `_` instead of `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(status, body=f"{text}\n".encode("utf-8", "backslashreplace"), headers=named)


def is_active(media_type: str) -> bool:
    """Return whether a file of this type may contain scripts, which is true for SVG and all other XML."""
    name = media_type.partition(";")[0].strip().lower()
    return name.endswith(("+xml", "/xml", "/xsl", "/rdf"))


def encode_header(reply: HttpResponse, *, keep_alive: bool) -> bytes:
    """Return the status line and the headers, including the empty line after them."""
    media_type = reply.type
    if media_type.startswith("text/") and "charset" not in media_type and not reply.stream:
        media_type += "; charset=utf-8"
    named = [*SECURITY_HEADERS, ("Content-Type", media_type)]
    if is_active(media_type):
        named.append(("Content-Security-Policy", ACTIVE_CONTENT_POLICY))
    if not reply.stream:
        named.append(("Content-Length", str(reply.size)))
    named += reply.headers.items()
    named.append(("Connection", "keep-alive" if keep_alive else "close"))
    status = HTTPStatus(reply.status)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in named)]
    return "\r\n".join([*lines, "", ""]).encode("ascii")
