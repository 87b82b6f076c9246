"""Shared parts of tests of the watcher: a watched site, and a receiver that waits with a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from blogsmith.base.storage.changed_files import ChangedFiles
from blogsmith.watch.hints import OpenNotifier
from blogsmith.watch.watcher import Watcher, open_notifier

DEADLINE_S = 40.0
"""Seconds; nothing needs a twentieth of it unless the machine is overloaded."""

LAST = "last.txt"
"""A file of the site that is saved when a test must know that everything before was reported."""


class Receiver:
    """Collects reports."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.reports: list[ChangedFiles] = []
        self.lines: list[str] = []
        self.times: list[float] = []
        self._settled = 0
        self._came = threading.Condition()

    def changed(self, changes: ChangedFiles) -> None:
        """Record a report. Called by the watcher."""
        now = time.perf_counter()
        with self._came:
            self.reports.append(changes)
            self.times.append(now)
            self._came.notify_all()

    def say(self, line: str) -> None:
        """Record a line. Called by the watcher."""
        with self._came:
            self.lines.append(line)
            self._came.notify_all()

    def wait(self, done: Callable[[], bool]) -> None:
        """Wait until `done` returns True."""
        with self._came:
            assert self._came.wait_for(done, DEADLINE_S), (self.names(), self.lines)

    def wait_for(self, *names: str) -> None:
        """Wait until all of these were reported."""
        self.wait(lambda: self.names() >= set(names))

    def names(self) -> set[str]:
        """Return every path reported so far, relative to the root."""
        return {name for report in self.reports for name in self.names_of(report)}

    def names_of(self, report: ChangedFiles) -> set[str]:
        """Return the paths of one report."""
        return {
            (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()
            for path in report.paths
        }

    def settle(self) -> list[set[str]]:
        """Return everything reported so far. A last file is saved for this, as events come in order."""
        self._settled += 1
        # in one step: otherwise it may be reported twice, the second time too late
        write(self.root, LAST, text=f"{self._settled}\n")
        self.wait_for(LAST)
        with self._came:
            names = [self.names_of(report) - {LAST} for report in self.reports]
            self.reports.clear()
            self.times.clear()
        return [found for found in names if found]


def write(root: Path, *names: str, text: str = "first\n") -> None:
    """Create files or replace them, each in one step."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(".new")
        new.write_text(text)
        new.replace(path)


@contextmanager
def watching(
    root: Path,
    output: Collection[Path] = (Path("public"),),
    poll_s: float | None = None,
    notifier: OpenNotifier = open_notifier,
) -> Iterator[tuple[Receiver, Watcher]]:
    """Yield a watcher of a site, stopped at the end."""
    write(root, LAST)
    receiver = Receiver(root)
    watcher = Watcher(
        root, output=output, changed=receiver.changed, poll_s=poll_s, say=receiver.say, notifier=notifier
    )
    watcher.start()
    try:
        yield receiver, watcher
    finally:
        watcher.stop()
