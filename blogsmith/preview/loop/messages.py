"""Messages from other threads to the event loop, which handles one at a time."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from ...base.storage.changed_files import ChangedFiles
from ..cells.messages import PageOutcome
from ..protocol import Response


@dataclass(frozen=True, slots=True)
class PreviewPageRequest:
    """Request of a browser for a page."""

    path: str
    answer: Future[Response] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class VersionRequest:
    """Request of a browser for the current version of a page."""

    path: str
    answer: Future[str] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class PageSent:
    """Notification that a page of the previous preview was sent to a browser. The page may have changed since
    then."""

    path: str
    version: str


@dataclass(frozen=True, slots=True)
class FilesSaved:
    """Notification that files have changed."""

    changes: ChangedFiles
    at_s: float
    """Time when the change was detected, by the clock of the loop."""


@dataclass(frozen=True, slots=True)
class CellsEnded:
    """Notification that the cells of a page have run or were stopped."""

    outcome: PageOutcome


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Request to end the event loop."""


Message = PreviewPageRequest | VersionRequest | PageSent | FilesSaved | CellsEnded | StopRequest
