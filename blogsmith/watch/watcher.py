"""The watcher. Its thread waits for hints, determines which files have changed, and reports these files.

A save has several steps. Between them a file may be missing (vim, "delete and create") or empty (written in
place), or a temporary file may exist. The author must not see an incomplete page, so these files are pending
for a moment before they are reported.

The watcher also tests whether the system reports changes at all. In containers, on network drives and in
virtual machines it may not.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ..base.storage.changed_files import ChangedFiles
from ..base.storage.own_folder import OWN_FOLDER, open_own_folder
from .hints import EventBatch, HintQueue, Notifier, OpenNotifier, WatchError
from .tree import Fingerprint, WatchedTree, is_same

PROBE_S = 3.0
"""Time in seconds that `EventProbe` waits for an event in each attempt. An event takes less than a
millisecond, but on a busy machine the thread that reads events may wait long, while a large site is read.
Meanwhile changes are found by comparing files."""
PAUSE_S = 5.0
"""Time in seconds between a failed attempt of `EventProbe` and the next one. It doubles after each
attempt."""
MAX_PAUSE_S = 300.0
"""Maximum time in seconds between two attempts. It is long, so that a folder without events costs nothing."""


@dataclass(slots=True)
class EventProbe:
    """A file that is written to test whether events arrive, repeatedly until an event arrives. Even a late
    event is accepted, including one between two attempts."""

    root: Path
    """Site root. The file is in its folder for local data, which is created if it is missing."""
    folder: str = field(init=False)
    """The folder of the file."""
    place: str = field(init=False)
    attempt_s: float = field(init=False)
    """Duration of an attempt in seconds."""
    is_waiting: bool = False
    """Whether the file exists and its event has not arrived yet."""
    next_s: float = 0.0
    """End of this attempt, or start of the next one, in seconds by `time.monotonic`."""
    _name: str = field(init=False)
    _pause_s: float = field(init=False)

    def __post_init__(self) -> None:
        place = self.root / OWN_FOLDER / f"watch-{os.getpid()}"
        self.folder, self.place, self._name = str(place.parent), str(place), place.name
        self.attempt_s, self._pause_s = PROBE_S, PAUSE_S

    def write(self, notifier: Notifier, now_s: float) -> bool:
        """Write the file. Return whether an event can be expected, which is False if the site is
        read-only."""
        self.remove()
        try:
            with open_own_folder(self.root) as folder:
                notifier.watch(self.folder, folder.own_status().st_ino, alone=True)
                folder.create(self._name).close()
        except (OSError, WatchError):
            return False
        self.is_waiting, self.next_s = True, now_s + self.attempt_s
        return True

    def pause(self, now_s: float) -> None:
        """End an attempt without an event. Each pause before the next attempt is longer."""
        self.remove()
        self.is_waiting, self.next_s = False, now_s + self._pause_s
        self._pause_s = min(2 * self._pause_s, MAX_PAUSE_S)

    def remove(self) -> None:
        with suppress(OSError), open_own_folder(self.root, make=False) as folder:
            folder.remove(self._name)


INCOMPLETE_S = 0.050
"""Time in seconds that a file may be missing or empty during a save. Also the minimum age of a new file
before it is reported."""
CLOSE_S = 0.100
"""Time in seconds that a new file may stay open. Many editors sync a temporary file to disk before they close
it."""


@dataclass(slots=True)
class ChangeDetector:
    """Collects the changes of one report."""

    tree: WatchedTree
    _before: dict[str, Fingerprint | None] = field(default_factory=dict)
    """Path of each changed file → its fingerprint at the last report; None if it did not exist."""
    _pending: dict[str, float] = field(default_factory=dict)
    """Path of each pending file → end of the waiting time, by the clock that `scan` gets."""
    _writing: dict[str, bool] = field(default_factory=dict)

    @property
    def has_changes(self) -> bool:
        """Whether there are changed or pending files."""
        return bool(self._before or self._pending)

    def scan(self, places: Iterable[str], writing: Mapping[str, bool], now_s: float) -> None:
        """Check the files at `places` and all pending files. writing: path → whether the file is still open;
        contains only paths for which this is known."""
        self._writing |= writing
        for place in {*places, *self._pending}:
            old, new = self.tree.fingerprints.get(place), self.tree.read_fingerprint(place)
            patience_s = _waiting_time_s(old, new, self._writing.get(place, False))
            if patience_s and now_s < self._pending.setdefault(place, now_s + patience_s):
                continue
            self._pending.pop(place, None)
            self._note(place, old, new)

    def wait_s(self, now_s: float) -> float:
        """Return how long to wait for pending files, in seconds."""
        return max((until_s - now_s for until_s in self._pending.values()), default=0.0)

    def changes(self, everything: bool) -> ChangedFiles | None:
        """Return the changes to report, or None if nothing has changed. everything: whether events were lost,
        so that the receiver must check all files."""
        now = {place: self.tree.fingerprints.get(place) for place in self._before}
        changed = {place for place, old in self._before.items() if not is_same(old, now[place])}
        if not changed and not everything:
            return None
        return ChangedFiles(frozenset(map(Path, changed)), everything)

    def undo(self) -> None:
        """Restore the previous fingerprints, so that unreported changes are found again."""
        for place, old in self._before.items():
            if old is None:
                self.tree.fingerprints.pop(place, None)
            else:
                self.tree.fingerprints[place] = old

    def _note(self, place: str, old: Fingerprint | None, new: Fingerprint | None) -> None:
        if not is_same(old, new):
            self._before.setdefault(place, old)
        if new is None:
            self.tree.fingerprints.pop(place, None)
        else:
            self.tree.fingerprints[place] = new


def _waiting_time_s(old: Fingerprint | None, new: Fingerprint | None, writing: bool) -> float:
    if old is None:
        return 0.0 if new is None else CLOSE_S if writing else INCOMPLETE_S
    return INCOMPLETE_S if old.size and (new is None or not new.size) else 0.0


POLL_S = 1.0
"""Seconds between two comparisons of all files if there are no events."""
FALLBACK_SCAN_S = 2.0
"""Seconds between two comparisons of all files if there are events, because events can get lost."""
MAX_PENDING_S = 0.100
"""Maximum number of seconds between the first burst and the report of its changes."""

_ABSENT_S = 0.5
"""Seconds between two checks whether a missing root exists again."""
_EVENT_S = 0.250
"""Seconds that an event may be late on a busy machine, after a comparison has found the change."""
_MAX_MISSED = 3
"""Number of changes without an event after which the system is assumed to send none."""
_LEARN_S = 0.005
_LEARN_PAUSE_S = 0.025
_STOP_S = 2.0

T = TypeVar("T")


def open_notifier(notices: HintQueue) -> Notifier:
    """Return watchdog's inotify layer on Linux, watchdog's observer elsewhere. Raises `WatchError`."""
    # each module imports packages that exist on its system only
    if sys.platform == "linux":
        from .inotify import InotifyNotifier

        return InotifyNotifier(notices)
    else:
        from .observer import ObserverNotifier

        return ObserverNotifier(notices)


class Watcher:
    """Reporter of changed files of a site. `changed` is called in the watcher's own thread, and never twice
    at the same time. Changes during a call are reported together in the next call. `changed` may call `stop`
    and `watch_also`; it must not raise an exception."""

    def __init__(
        self,
        root: Path,
        *,
        output: Collection[Path] = (),
        changed: Callable[[ChangedFiles], None],
        poll_s: float | None = None,
        say: Callable[[str], None] = lambda line: None,
        notifier: OpenNotifier = open_notifier,
    ) -> None:
        """Prepare the watcher without starting it. output: folders that are not watched, absolute or relative
        to the root. changed: function that is called with changes. poll_s: interval for comparing all files
        instead of using events; None: use events. say: function that is called with a line for the author if
        events are missing, and again if they arrive after all."""
        outputs = (str(Path(root, folder).resolve()) for folder in output)
        self._tree = WatchedTree(str(root.absolute()), frozenset(outputs))
        self._lock = threading.RLock()
        """Protects `_tree`."""
        self._hints = HintQueue()
        self._changed = changed
        self._print = say
        self._open_notifier = notifier if poll_s is None else None
        self._poll_s = poll_s
        """Polling interval in seconds; None if there are events."""
        self._probe: EventProbe | None = None
        """Test for events; None after the first event."""
        self._next_scan_s = 0.0
        self._changes_without_event: list[Set[str]] = []
        """Sets of changes that comparisons found and that were not followed by an event."""
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        """Start the thread. Record the current state of the site, and report every change from now on."""
        with self._lock:
            if self._open_notifier is not None:
                self._open(self._open_notifier)
            self._compare(self._tree.reset)
            self._probe = EventProbe(Path(self._tree.root))
            # its event may be read only after all folders have been scanned again
            self._tree.extra_folders = frozenset({self._probe.folder})
            self._write_probe(self._probe)
        self._thread.start()

    def stop(self) -> None:
        """Stop. Wait at most 2 s for a running call of `changed`, which is not called again."""
        self._hints.close()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(_STOP_S)
        with self._lock:
            self._end_probe()
            self._close()

    def watch_also(self, places: Iterable[Path]) -> None:
        """Watch further files and folders, beginning with their current state. Paths that are already watched
        are not affected. Changes are reported with the paths given here, made absolute."""
        wanted = [str(place.absolute()) for place in places]
        with self._lock:
            if not self._hints.is_closed:
                self._with_polling_fallback(lambda: self._tree.watch_also(wanted))

    def _run(self) -> None:
        while not self._hints.is_closed:
            try:
                burst = self._hints.next_batch(self._idle_s())
                if burst is not None:
                    self._report(burst)
                elif not self._hints.is_closed:
                    self._idle()
            except Exception as error:
                # an internal error: comparing all files finds the changes that it missed
                self._print(f"blogsmith has a bug: {type(error).__name__}: {error}; watching continues")
                self._next_scan_s = time.monotonic() + _ABSENT_S

    def _idle_s(self) -> float:
        """Return the number of seconds until something must be done."""
        until_s = self._next_scan_s
        if self._probe is not None:
            until_s = min(until_s, self._probe.next_s)
        wait_s = until_s - time.monotonic()
        if not self._tree.exists:
            return min(wait_s, _ABSENT_S)
        return wait_s if self._tree.is_fully_read else min(wait_s, _LEARN_PAUSE_S)

    def _idle(self) -> None:
        now_s = time.monotonic()
        if self._probe is not None and now_s >= self._probe.next_s:
            self._continue_probe(self._probe)
        elif now_s >= self._next_scan_s or not self._tree.exists:
            self._report(EventBatch(rescan=True))
        elif not self._tree.is_fully_read:
            end_s = now_s + _LEARN_S
            with self._lock:
                changed = self._tree.read_unread_files(lambda: time.monotonic() >= end_s)
            if changed:
                self._report(EventBatch(), changed)

    def _report(self, burst: EventBatch, places: Set[str] = frozenset()) -> None:
        """Check `places` and the files of a burst. Report the changes when no file is pending any more."""
        findings = ChangeDetector(self._tree)
        try:
            self._detect_and_report(findings, burst, places)
        except BaseException:
            findings.undo()
            raise

    def _detect_and_report(self, findings: ChangeDetector, burst: EventBatch, places: Set[str]) -> None:
        everything = burst.overflow
        told = self._scan(findings, burst, places)
        wait_s = findings.wait_s(time.monotonic())
        if burst.rescan and not told and findings.has_changes and self._poll_s is None:
            wait_s = max(wait_s, _EVENT_S)
        end_s = time.monotonic() + MAX_PENDING_S
        while wait_s > 0 and not self._hints.is_closed:
            more = self._hints.next_batch(wait_s) or EventBatch()
            everything |= more.overflow
            told |= self._scan(findings, more, final=time.monotonic() >= end_s)
            wait_s = findings.wait_s(time.monotonic())
        changes = findings.changes(everything)
        if changes is not None and not self._hints.is_closed:
            if burst.rescan and not told and self._poll_s is None:
                self._count_missed(changes)
            self._changed(changes)

    def _scan(
        self,
        findings: ChangeDetector,
        burst: EventBatch,
        places: Set[str] = frozenset(),
        *,
        final: bool = False,
    ) -> bool:
        """Check the files that a burst affects. Return whether there were events."""
        probe = self._probe.place if self._probe else ""
        reals = {place: writing for place, writing in burst.places.items() if place != probe}
        with self._lock:
            if burst.rescan or burst.overflow:
                places = places | self._compare(self._tree.scan).keys()
            told = self._with_polling_fallback(lambda: self._tree.affected_files(reals))
            places = places | told
            self._changes_without_event = [
                missed for missed in self._changes_without_event if missed.isdisjoint(told)
            ]
            writing = {place: is_open for real, is_open in reals.items() for place in self._tree.places(real)}
            findings.scan(places, writing, math.inf if final else time.monotonic())
            if burst.overflow:
                # events were lost, but all files have been compared
                self._changes_without_event.clear()
            if burst.places or burst.overflow:
                self._trust_events()
        return bool(reals)

    def _compare(self, scan: Callable[[], T]) -> T:
        """Compare all files by calling `scan`, and return its result. Set the time of the next comparison
        according to the duration."""
        began_s = time.thread_time()
        found = self._with_polling_fallback(scan)
        cost_s = time.thread_time() - began_s
        # a hundredth of a core if comparing is only a fallback, a fifth if there are no events
        often_s = (
            max(FALLBACK_SCAN_S, 100 * cost_s) if self._poll_s is None else max(self._poll_s, 5 * cost_s)
        )
        self._next_scan_s = time.monotonic() + often_s
        return found

    def _with_polling_fallback(self, work: Callable[[], T]) -> T:
        """Call `work`. If the system cannot watch that many folders, stop using events and call it again."""
        try:
            return work()
        except WatchError as error:
            self._close()
            self._poll(str(error))
            return work()

    def _open(self, open_events: OpenNotifier) -> None:
        try:
            self._tree.notifier = open_events(self._hints)
        except WatchError as error:
            self._poll(str(error))

    def _close(self) -> None:
        notifier, self._tree.notifier = self._tree.notifier, None
        if notifier is not None:
            notifier.stop()

    def _poll(self, reason: str, until: str = "") -> None:
        if self._poll_s is None:
            self._poll_s = POLL_S
            self._next_scan_s = time.monotonic()
            self._print(f"no events for changed files ({reason}): polling every {POLL_S:g} s{until}")

    def _count_missed(self, changes: ChangedFiles) -> None:
        self._changes_without_event.append(frozenset(map(str, changes.paths)))
        if len(self._changes_without_event) == _MAX_MISSED:
            self._poll("some changes had none")

    def _trust_events(self) -> None:
        """After an event, stop frequent polling, unless other events are still missing."""
        self._end_probe()
        if self._poll_s is not None and self._tree.notifier is not None and not self._changes_without_event:
            self._poll_s = None
            self._print("events for changed files arrive again: polling stopped")

    def _continue_probe(self, probe: EventProbe) -> None:
        """End an attempt that got no event, or start the next attempt."""
        if not probe.is_waiting:
            self._write_probe(probe)
            return
        probe.pause(time.monotonic())
        self._changes_without_event.clear()
        self._poll(f"none arrived within {probe.attempt_s:g} s", " until one arrives")

    def _write_probe(self, probe: EventProbe) -> None:
        with self._lock:
            if self._tree.notifier is None or not probe.write(self._tree.notifier, time.monotonic()):
                self._end_probe()

    def _end_probe(self) -> None:
        if self._probe is not None:
            self._probe.remove()
            self._probe = None
            self._tree.extra_folders = frozenset()
