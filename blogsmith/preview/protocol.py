"""Interface between the HTTP server of the preview and the site that it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PREFIX = "/_blogsmith/"
"""Start of the URL paths of the preview's own files and events. All other paths belong to the site."""


@dataclass(frozen=True, slots=True)
class Response:
    """Response to a GET request."""

    status: int
    """200, 301, 404, 500 or 503."""
    type: str = "text/html; charset=utf-8"
    """Media type."""
    body: bytes = b""
    file: Path | None = None
    """File to send instead of `body`, with links resolved. The path is checked again when the file is
    opened."""
    make: Callable[[], bytes] | None = None
    """Function that makes the body, used if that takes long. The thread that sends the body calls it."""
    location: str = ""
    """Path on this host that a redirect (status 301) points to; otherwise empty."""


class SiteHandler(Protocol):
    """Interface of the site for the server; many threads call it."""

    def answer(self, path: str) -> Response:
        """Return the response for a decoded absolute path. Wait until the response is available."""

    def version(self, path: str) -> str:
        """Return a version that identifies the current content of a page; empty if there is none."""


class ActionHandler(Protocol):
    """Interface for actions that pages of the preview request; many threads call it."""

    def act(self, name: str, data: Mapping[str, object]) -> Mapping[str, object]:
        """Run an action and return its result. Raise LookupError for an unknown name, ValueError for invalid
        data."""


Event = Mapping[str, object]
"""Event for pages: JSON data with a `kind`."""
Publish = Callable[[Event], None]
"""Function that sends an event to all pages. Any thread may call it."""
