"""Command line options of one preview."""

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
    """Options as for a build that starts now. `build.execution` specifies the cells that may run."""
    now: Callable[[], dt.datetime]
    """Returns the current time with its time zone, for a preview that runs for more than a day."""
    host: str = HOST
    """IP address or host name to listen on."""
    port: int = PORT
    """First port to try; 0: any free port."""
    is_port_fixed: bool = False
    """Try no port other than `port`."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names, without a port, that requests may use in addition to those of this machine alone. IPv6
    addresses have no brackets."""
    poll_s: float | None = None
    """Interval for scanning the files, in seconds; None: the system reports changes."""
    verbose: bool = False
    """Print the output of cells while they run."""
    quiet: bool = False
    """Print only errors, and when they are fixed."""
    color: bool = False
    """Print diagnostics in colour."""
