"""Sources of Pyodide files. A source is a folder, a URL, or the two URLs of the Pyodide project.

The caller verifies the returned bytes by their SHA-256. Network access uses https only, even after redirects,
except that plain http is allowed to this machine.
"""

from __future__ import annotations

import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import quote, urljoin, urlsplit

from .release import CDN_URL, CORE, CORE_URL, LOCK

TIMEOUT_S = 30.0
"""Seconds without data after which a connection is aborted."""
_PIECE = 1 << 18
_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})
ReportProgress = Callable[[int], None]
"""Function called often with the number of bytes received so far."""


class SourceError(Exception):
    """A file is not available. The message gives the reason for the author."""


class PyodideSource(Protocol):
    """Interface of sources of a distribution."""

    name: str
    """Name for messages."""

    def read(self, file: str, limit: int, watch: ReportProgress) -> bytes:
        """Return the content of `file`, a name without folder. Raises SourceError if the file is missing or
        larger than `limit` bytes. watch: function that is called with the number of bytes received so far."""


class FolderSource:
    """A folder on this machine, such as an unpacked release, npm's package, or a site's own copy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.name = str(folder)

    def read(self, file: str, limit: int, watch: ReportProgress) -> bytes:
        """Return the content of a file, see `PyodideSource`. A link that points outside the folder is treated
        as missing."""
        path = (self._folder / file).resolve()
        if path.parent != self._folder or not path.is_file():
            raise SourceError(f'file not found in "{self.name}": "{file}"')
        try:
            with path.open("rb") as stream:
                return _read_limited(stream, file, limit, watch)
        except OSError as error:
            raise SourceError(f'cannot read "{path}": {error.strerror}') from error


class WebSource:
    """A folder on a server."""

    def __init__(self, url: str) -> None:
        """Open the source. Raises SourceError if `url` is neither https nor http to this machine."""
        self.name = url if url.endswith("/") else f"{url}/"
        if not _is_safe(self.name):
            raise SourceError(f'invalid URL "{url}": expected https://…')
        self._open = urllib.request.build_opener(SafeRedirects).open

    def read(self, file: str, limit: int, watch: ReportProgress) -> bytes:
        """Return the content of a file, see `PyodideSource`."""
        url = urljoin(self.name, quote(file))
        request = urllib.request.Request(url, headers={"User-Agent": "blogsmith"})
        try:
            with self._open(request, timeout=TIMEOUT_S) as answer:
                data = _read_limited(answer, file, limit, watch)
                whole = int(answer.headers.get("Content-Length") or len(data))
        except urllib.error.HTTPError as error:
            raise SourceError(f'cannot load "{url}": {error.code} {error.reason}') from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise SourceError(f'cannot load "{url}": {_reason(error)}') from error
        if len(data) != whole:
            raise SourceError(f'cannot load "{url}": connection closed after {len(data)} of {whole} bytes')
        return data


class ReleaseSource:
    """The pinned release, with core and lock from npm, and packages from the CDN that browsers use."""

    name = CDN_URL

    def __init__(self) -> None:
        self._core, self._packages = WebSource(CORE_URL), WebSource(CDN_URL)

    def read(self, file: str, limit: int, watch: ReportProgress) -> bytes:
        """Return the content of a file, see `PyodideSource`."""
        source = self._core if file in CORE or file == LOCK else self._packages
        return source.read(file, limit, watch)


def open_source(given: str) -> PyodideSource:
    """Return the source for `--from`, which is a URL, a folder or empty for the release. May raise
    SourceError."""
    if not given:
        return ReleaseSource()
    if "://" in given:
        return WebSource(given)
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise SourceError(f'folder not found: "{given}"')
    return FolderSource(folder)


def _read_limited(stream: IO[bytes], file: str, limit: int, watch: ReportProgress) -> bytes:
    data = bytearray()
    while piece := stream.read(_PIECE):
        data += piece
        if len(data) > limit:
            raise SourceError(f'"{file}" is larger than {limit} bytes')
        watch(len(data))
    return bytes(data)


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in _THIS_MACHINE))


class SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to safe URLs only."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Follow a redirect if the new URL is safe. Raises SourceError otherwise."""
        left_https = req.type == "https" and not newurl.startswith("https:")
        if left_https or not _is_safe(newurl):
            raise SourceError(f'"{req.full_url}" redirects to "{newurl}", which is not https')
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLError):
        return f"invalid certificate ({reason.reason or reason})"
    if isinstance(reason, TimeoutError):
        return f"no response for {TIMEOUT_S:.0f} seconds"
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return str(reason) or type(error).__name__
