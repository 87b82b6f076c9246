"""Hints from Linux, through watchdog's reader of inotify.

watchdog's observer stands above the same reader and is left out here. When a file is moved away it holds
back all events for half a second to find the other end of the move (we look at both ends on their own), it
keeps the loss of events to itself, and it watches all folders below the watched ones, wanted or not.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Set

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from .hints import HintQueue
from .notifier import CannotWatch
from .walk import is_passed_over

_WRITING = InotifyConstants.IN_CREATE | InotifyConstants.IN_MODIFY
# No event for what is opened, read, or only given other times or rights.
_MASK = Mask(
    _WRITING
    | InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_MOVE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
    | InotifyConstants.IN_ONLYDIR
    | InotifyConstants.IN_DONT_FOLLOW
    | InotifyConstants.IN_EXCL_UNLINK
)
_LIMITS = {
    errno.ENOSPC: "the limit fs.inotify.max_user_watches is reached",
    errno.EMFILE: "the limit fs.inotify.max_user_instances is reached",
    errno.ENFILE: "too many files are open",
    errno.ENOMEM: "the kernel has no memory for it",
}


class _Folder:
    """One watched folder. It knows its own path, so two names of a moved folder cannot be mixed up."""

    def __init__(self, path: str, inode: int, notices: HintQueue) -> None:
        self.path = path
        self.inode = inode
        self.watched = True
        self.descriptor = WatchDescriptor(-1)
        self._notices = notices

    def on_event(self, event: InotifyEvent) -> None:
        """Called in the reader's thread."""
        if not event.name:
            self._notices.add(self.path)
            return
        name = os.fsdecode(event.name)
        if not is_passed_over(name):
            writing = bool(event.mask & _WRITING) and not event.mask & InotifyConstants.IN_ISDIR
            self._notices.add(f"{self.path}/{name}", writing=writing)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """The folder is gone; there may be a new one of its name."""
        self.watched = False
        self._notices.add(self.path)

    def on_queue_overflow(self) -> None:
        """Events were lost."""
        self._notices.overflow()


class InotifyNotifier:
    """One inotify instance and the thread that reads it; each folder is watched on its own."""

    def __init__(self, notices: HintQueue) -> None:
        self._notices = notices
        self._folders: dict[str, _Folder] = {}
        try:
            self._reader = InotifyFD()
        except OSError as error:
            raise CannotWatch(_reason(error)) from error
        # that events were lost is dealt with; it would be printed if nobody listened
        logger = logging.getLogger("watchdog")
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        self._reader.start()

    def watch(self, folder: str, inode: int, *, alone: bool) -> None:
        """See `Notifier`. A folder that is gone again, or may not be read, is passed over."""
        known = self._folders.get(folder)
        if known is not None and known.watched and known.inode == inode:
            return
        new = _Folder(folder, inode, self._notices)
        try:
            wanted = (os.fsencode(folder), _MASK, new, CallbackId(id(new)))
            new.descriptor = self._reader.add_callback(*wanted)
        except OSError as error:
            if error.errno in _LIMITS:
                raise CannotWatch(_reason(error)) from error
            return
        self._drop(known)
        self._folders[folder] = new

    def keep(self, folders: Set[str]) -> None:
        """See `Notifier`."""
        for folder in self._folders.keys() - folders:
            self._drop(self._folders.pop(folder))

    def stop(self) -> None:
        """See `Notifier`."""
        self._reader.stop()
        self._reader.join()

    def _drop(self, folder: _Folder | None) -> None:
        if folder is not None and folder.watched:
            self._reader.remove_callbacks([(folder.descriptor, CallbackId(id(folder)))])


def _reason(error: OSError) -> str:
    return _LIMITS.get(error.errno or 0, error.strerror or type(error).__name__)
