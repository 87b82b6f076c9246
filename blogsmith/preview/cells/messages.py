"""Messages between the preview and the runner of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...base.diagnostics.model import Diagnostic
from ...cells.status import PageStatus
from ...project.context import SiteContext
from ...project.report import ExecutionOptions

FOREGROUND = 0
"""Priority of a page that is open in a browser or was edited. Its cells do not wait for those of other
pages."""
BACKGROUND = 1
"""Priority of every other page."""


class RequestedPage(NamedTuple):
    """A page with cells, in its current state."""

    page: PageStatus
    url: str
    """URL of the page in events."""
    priority: int = BACKGROUND
    """Priority of the page. A page with a lower number may cancel the run of a page with a higher number."""


@dataclass(frozen=True, slots=True)
class CellWork:
    """State of the site, as the runner of cells needs it."""

    context: SiteContext
    asked: ExecutionOptions
    """Options from the command line."""
    may_run: bool
    """Whether code of the site may run. False ends running sessions."""
    pages: tuple[RequestedPage, ...] = ()
    """Pages in the order to run them."""


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """Result of running the cells of a page."""

    post: str
    """Source path of the post."""
    url: str
    diagnostics: tuple[Diagnostic, ...] = ()
    """Diagnostics about the cells of the page, valid until its next outcome."""
    ran: int = 0
    """Number of cells that ran."""
    stopped: bool = False
    """Whether the author stopped the run."""
    has_more: bool = False
    """Whether more cells of the page will run, so that another outcome follows."""
    record_changed: bool = False
    """Whether the recorded results have changed, so that the page must be rendered again."""
