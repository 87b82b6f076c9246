"""The notifier of a system: watchdog's inotify layer on Linux, watchdog's observer elsewhere."""

from __future__ import annotations

import sys

from .hints import HintQueue
from .notifier import Notifier


def open_notifier(notices: HintQueue) -> Notifier:
    """Return the best one that this system has. Raises CannotWatch."""
    # each imports what only its system has
    if sys.platform == "linux":
        from .inotify import InotifyNotifier

        return InotifyNotifier(notices)
    else:
        from .observer import ObserverNotifier

        return ObserverNotifier(notices)
