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
    """Options of a preview: how the site is built and shown, and which clients may access it."""

    build: BuildOptions
    """Options of a build that starts now. `build.execution` decides which cells may run."""
    now: Callable[[], dt.datetime]
    """Function that returns the current time with its time zone, because a preview may run for days."""
    host: str = HOST
    """IP address or host name to listen on."""
    port: int = PORT
    """First port to try; 0: any free port."""
    is_port_fixed: bool = False
    """Whether to try no port other than `port`."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names that requests may use, without a port, in addition to those of this machine. IPv6 addresses
    have no brackets."""
    poll_s: float | None = None
    """Time in seconds between two comparisons of all files; None: use events of the system."""
    verbose: bool = False
    """Whether to print the output of cells while they run."""
    quiet: bool = False
    """Whether to print only errors, and when they are fixed."""
    color: bool = False
    """Whether to print diagnostics in colour."""
