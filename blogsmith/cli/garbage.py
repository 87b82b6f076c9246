"""Less frequent garbage collection of reference cycles during builds.

A build creates millions of objects that live until it ends. Scanning them repeatedly costs a fifteenth of
the time. Without these scans, unreachable cycles are freed later; all other objects are freed immediately, as
usual.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 50_000
"""Allocations between two collections (Python's default is 700). They take about 10 MB."""


@contextmanager
def no_collections() -> Iterator[None]:
    """Disable garbage collection in the `with` block. Meant for imports, whose objects stay alive."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect rarely in the `with` block, and never scan objects that already exist, such as modules, tables
    and compiled patterns."""
    before = gc.get_threshold()
    # If the caller has frozen objects, do not unfreeze: that would also unfreeze the caller's.
    was_frozen = gc.get_freeze_count() > 0
    if not was_frozen:
        gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not was_frozen:
            gc.unfreeze()
