"""What tests of the watcher share: a site that is watched, and a receiver that waits with a deadline."""

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
"""Nothing takes a twentieth of it unless the machine is overloaded."""

LAST = "last.txt"
"""A file of the site that is saved when a test wants to know that everything before was told."""


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
        """Called by the watcher."""
        now = time.perf_counter()
        with self._came:
            self.reports.append(changes)
            self.times.append(now)
            self._came.notify_all()

    def say(self, line: str) -> None:
        """Called by the watcher."""
        with self._came:
            self.lines.append(line)
            self._came.notify_all()

    def wait(self, done: Callable[[], bool]) -> None:
        """Until it is so."""
        with self._came:
            assert self._came.wait_for(done, DEADLINE_S), (self.names(), self.lines)

    def wait_for(self, *names: str) -> None:
        """Until all of these were reported."""
        self.wait(lambda: self.names() >= set(names))

    def names(self) -> set[str]:
        """Every path reported so far, relative to the root."""
        return {name for report in self.reports for name in self.names_of(report)}

    def names_of(self, report: ChangedFiles) -> set[str]:
        """Of one report."""
        return {
            (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()
            for path in report.paths
        }

    def settle(self) -> list[set[str]]:
        """Everything reported so far; a last file is saved for it, and events come in their order."""
        self._settled += 1
        # in one step: else it may be told twice, once for the next time
        write(self.root, LAST, text=f"{self._settled}\n")
        self.wait_for(LAST)
        with self._came:
            names = [self.names_of(report) - {LAST} for report in self.reports]
            self.reports.clear()
            self.times.clear()
        return [found for found in names if found]


def write(root: Path, *names: str, text: str = "first\n") -> None:
    """Make files or replace them, each in one step."""
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
    """A watcher of a site, stopped at the end."""
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
