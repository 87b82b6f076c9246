"""How much of time, memory and threads clients may take."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TARGET = 8 * 1024
"""Bytes of the address in a request line."""
MAX_HEAD = 64 * 1024
"""Bytes of a whole head. Cookies of everything else on localhost are in it, so it is not small."""
MAX_BODY = 4096
"""Bytes of the body of an action."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Those that a test sets lower."""

    head_s: float = 10.0
    """A head, and a body, is there this long after its first byte."""
    idle_s: float = 15.0
    """So long a connection stays open between requests."""
    send_s: float = 30.0
    """A client takes a piece of an answer within this time."""
    ping_s: float = 15.0
    """Between two signs of life on a stream of events."""
    connections: int = 256
    """Connections with a thread; for one more another has to go, see `admission.py`."""
    admission_s: float = 1.0
    """So long a connection waits until one of them has gone; then it is refused."""
    eviction_s: float = 0.05
    """Who has to go may have become busy just now: after this time another one has to go as well."""
    stall_s: float = 1.0
    """Who takes nothing of an answer for this long may have to go."""
    streams: int = 512
    """Streams of events; more are refused."""
    unread: int = 1_000_000
    """Bytes that wait for a stream; a client that leaves more unread is dropped."""
