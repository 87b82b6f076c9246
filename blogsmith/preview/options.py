"""What the command line decides about one preview."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from ..project.report import BuildOptions

PORT = 8000
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a site is shown, and to whom."""

    build: BuildOptions
    """As for a build that starts now; `build.execution` says which cells may run."""
    now: Callable[[], dt.datetime]
    """The present moment with its time zone, for a preview that outlives the day."""
    host: str = HOST
    """Address or name to listen at."""
    port: int = PORT
    """The first that is tried; 0: any free one."""
    is_port_fixed: bool = False
    """Try no other port than `port`."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which the preview may be asked for beside those of this machine alone, without a port;
    IPv6 addresses without brackets."""
    poll_s: float | None = None
    """Look at the files every so many seconds; None: the system tells what has changed."""
    verbose: bool = False
    """Say what cells print while they run."""
    quiet: bool = False
    """Say nothing but errors and that they are gone."""
    color: bool = False
    """Colour diagnostics."""
