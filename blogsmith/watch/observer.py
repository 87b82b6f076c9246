"""Hints from systems other than Linux, added by the observer of watchdog."""

from __future__ import annotations

import os
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import (
    EVENT_TYPE_CLOSED,
    EVENT_TYPE_CREATED,
    EVENT_TYPE_DELETED,
    EVENT_TYPE_MODIFIED,
    EVENT_TYPE_MOVED,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

from .hints import HintQueue, WatchError
from .tree import is_below, is_ignored_name

# without events for files that were opened, or closed after reading: our own reads would cause events without
# end
_KINDS = {EVENT_TYPE_CREATED, EVENT_TYPE_MODIFIED, EVENT_TYPE_MOVED, EVENT_TYPE_DELETED, EVENT_TYPE_CLOSED}


class _Handler(FileSystemEventHandler):
    """Adds hints for the events of one tree."""

    def __init__(self, top: str, notices: HintQueue) -> None:
        self.lost = False
        """Whether the top folder was deleted. Some observers do not notice a new folder of the same name."""
        self._top = top
        self._notices = notices

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Add hints for an event. The observer's thread calls this."""
        # every event in a folder is followed by a modified event of the folder
        if event.event_type not in _KINDS or (event.is_directory and event.event_type == EVENT_TYPE_MODIFIED):
            return
        if event.event_type == EVENT_TYPE_DELETED and os.fsdecode(event.src_path) == self._top:
            self.lost = True
        for end in (event.src_path, event.dest_path):
            place = os.fsdecode(end)
            if place and not is_ignored_name(Path(place).name):
                # most systems do not report that a file was closed, so no file counts as open
                self._notices.add(place)


@dataclass(frozen=True, slots=True)
class _ScheduledWatch:
    """A watch requested from the observer."""

    watch: ObservedWatch
    handler: _Handler
    inode: int
    alone: bool


class ObserverNotifier:
    """watchdog's observer for this system. It watches whole trees, so only top folders are requested."""

    def __init__(self, notices: HintQueue) -> None:
        self._notices = notices
        self._scheduled: dict[str, _ScheduledWatch] = {}
        self._observer = Observer()
        try:
            self._observer.start()
        except OSError as error:
            raise WatchError(_reason(error)) from error

    def watch(self, folder: str, inode: int, *, alone: bool) -> None:
        """Watch a folder, see `Notifier`. A folder that was deleted or is unreadable is skipped."""
        known = self._scheduled.get(folder)
        if known is not None and not known.handler.lost and known.inode == inode and known.alone <= alone:
            return
        if known is None and self._is_covered(folder):
            return
        if known is not None:
            self._drop(folder)
        handler = _Handler(folder, self._notices)
        try:
            watch = self._observer.schedule(handler, folder, recursive=not alone)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return
        except OSError as error:
            raise WatchError(_reason(error)) from error
        self._scheduled[folder] = _ScheduledWatch(watch, handler, inode, alone)

    def keep_only(self, folders: Set[str]) -> None:
        """Stop watching all folders except these; see `Notifier`."""
        for folder in self._scheduled.keys() - folders:
            self._drop(folder)

    def stop(self) -> None:
        """Release all resources, see `Notifier`."""
        self._observer.stop()
        self._observer.join()

    def _is_covered(self, folder: str) -> bool:
        return any(is_below(folder, top) for top, asked in self._scheduled.items() if not asked.alone)

    def _drop(self, folder: str) -> None:
        self._observer.unschedule(self._scheduled.pop(folder).watch)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
