"""What passes between the preview and the running of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...base.diagnostics.model import Diagnostic
from ...cells.status import PageStatus
from ...project.context import SiteContext
from ...project.report import ExecutionOptions

SHOWN = 0
"""Priority of a page that is open in a browser or was edited; such a page does not wait for others."""
BEHIND = 1
"""Priority of every other page."""


class WantedPage(NamedTuple):
    """A page with cells, as the site has it now."""

    page: PageStatus
    url: str
    """As in events."""
    priority: int = BEHIND
    """A page with a lower number takes the place of one that runs with a higher one."""


@dataclass(frozen=True, slots=True)
class Work:
    """The present state of the site, as far as it runs."""

    context: SiteContext
    asked: ExecutionOptions
    """As on the command line."""
    may_run: bool
    """Whether code of the site may run; False ends what runs."""
    pages: tuple[WantedPage, ...] = ()
    """In the order in which they are to run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a page whose cells ran."""

    post: str
    """Path of its source."""
    url: str
    diagnostics: tuple[Diagnostic, ...] = ()
    """What went wrong; they hold until the next outcome of the page."""
    ran: int = 0
    """Cells that ran."""
    stopped: bool = False
    """The author stopped it."""
    goes_on: bool = False
    """Cells of it are still to run; another outcome follows."""
    record_changed: bool = False
    """Something new is recorded: the page is to be judged and shown anew."""
