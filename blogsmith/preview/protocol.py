"""What passes between the HTTP server of the preview and the site it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PREFIX = "/_blogsmith/"
"""Where the preview's own files and its events are, beside the site."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a GET comes to."""

    status: int
    """200, 301, 404, 500 or 503."""
    type: str = "text/html; charset=utf-8"
    """Media type."""
    body: bytes = b""
    file: Path | None = None
    """A file to send in place of `body`, links resolved; checked again when it is opened."""
    make: Callable[[], bytes] | None = None
    """What makes the body, where that takes long: called by the thread that sends it."""
    location: str = ""
    """With 301: where to, a path of this host."""


class SiteHandler(Protocol):
    """The site as the server sees it; called from many threads."""

    def answer(self, path: str) -> Response:
        """What is at a decoded absolute path, as soon as it is made."""

    def version(self, path: str) -> str:
        """Names the present bytes of a page; empty if there is none."""


class ActionHandler(Protocol):
    """What a page of the preview may ask for; called from many threads."""

    def act(self, name: str, data: Mapping[str, object]) -> Mapping[str, object]:
        """Do it and tell what came of it; LookupError for an unknown name, ValueError for wrong data."""


Event = Mapping[str, object]
"""What pages are told: JSON data with a `kind`."""
Publish = Callable[[Event], None]
"""Tells all pages; from any thread."""
