"""Which notifier a system has: the kernel's on Linux, watchdog's observer elsewhere."""

from __future__ import annotations

import sys

from .hints import HintQueue
from .notifier import Notifier


def open_notifier(notices: HintQueue) -> Notifier:
    """The best that this system has; raises CannotWatch."""
    # each imports what only its system has
    if sys.platform == "linux":
        from .inotify import InotifyNotifier

        return InotifyNotifier(notices)
    else:
        from .observer import ObserverNotifier

        return ObserverNotifier(notices)
