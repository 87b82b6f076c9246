"""Work in parts that others may do: who they are is not decided where files are written."""

from __future__ import annotations

from collections.abc import Callable, Collection

DivideWork = Callable[[int, Callable[[int], None]], Collection[int]]
"""(how many parts, what does one of them by its number) → those that failed and are to be done again here."""


def do_here(parts: int, work: Callable[[int], None]) -> Collection[int]:
    """A `DivideWork` that does all itself; what is raised by a part is raised here."""
    for part in range(parts):
        work(part)
    return ()
