"""Python's search for cycles of dead objects, made rare while a site is built.

A build makes millions of objects that live until its end, and each search looks at them again: a fifteenth of
the time. Cycles that are dead wait a little longer; what no cycle holds is freed at once, as ever.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 50_000
"""Between two searches; Python has 700. They take some 10 MB."""


@contextmanager
def no_collections() -> Iterator[None]:
    """Never search inside, where modules are imported: what they hold stays."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search rarely inside, and never among what is there already: modules, tables, compiled patterns."""
    before = gc.get_threshold()
    # who called may have done so for itself; what it froze could not be told from the rest afterwards
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
