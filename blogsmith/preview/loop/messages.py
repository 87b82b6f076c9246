"""What other threads tell the event loop; it takes one message at a time."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from ...base.storage.changed_files import ChangedFiles
from ..cells.messages import Outcome
from ..protocol import Response


@dataclass(frozen=True, slots=True)
class AskedPage:
    """A browser asks for an address."""

    path: str
    answer: Future[Response] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class AskedVersion:
    """A browser asks whether its page is the present one."""

    path: str
    answer: Future[str] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class Sent:
    """A page of the last preview was sent; it may be another one now."""

    path: str
    version: str


@dataclass(frozen=True, slots=True)
class Saved:
    """Files have changed."""

    changes: ChangedFiles
    at_s: float
    """When that was seen, on the clock of the loop."""


@dataclass(frozen=True, slots=True)
class CellsEnded:
    """The cells of a page have run, or were stopped."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Over:
    """The preview ends."""


Message = AskedPage | AskedVersion | Sent | Saved | CellsEnded | Over
