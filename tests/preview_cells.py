"""A site with cells that run as in the preview, with the part of the engine that requests runs."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from blogsmith.features.site_cells import survey_site
from blogsmith.preview.cells.messages import BACKGROUND, FOREGROUND, CellWork, PageOutcome, RequestedPage
from blogsmith.preview.cells.runner import CellRunner
from blogsmith.project.context import open_site
from blogsmith.project.report import ExecutionOptions
from tests.site_files import NOW

WAIT_S = 90.0
"""Seconds; nothing needs a tenth of it, unless the machine is overloaded."""
CLOSE_S = 9.0
"""Seconds until closed. Cells are killed immediately, but a busy machine may be slow."""


class Previewed:
    """A site and the runner of its cells."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events: list[Mapping[str, Any]] = []
        self.outcomes: queue.Queue[PageOutcome] = queue.Queue()
        self.heard = threading.Condition()
        self.runner = CellRunner(root, self._publish, self.outcomes.put, lambda: NOW)

    def _publish(self, event: Mapping[str, object]) -> None:
        with self.heard:
            self.events.append(event)
            self.heard.notify_all()

    def changed(self, *shown: str, may_run: bool = True, **asked: Any) -> None:
        """Request runs for the site as it is on disk. The posts in `shown_results` are open in tabs."""
        surveyed = survey_site(self.root, (), NOW)
        pages = [
            RequestedPage(
                page, url(page.cells.path.stem), FOREGROUND if page.cells.path.stem in shown else BACKGROUND
            )
            for page in surveyed.pages
        ]
        pages.sort(key=lambda wanted: wanted.priority)
        options = ExecutionOptions(**asked)
        self.runner.update(CellWork(open_site(self.root), options, may_run, tuple(pages)))

    def outcome(self, wait_s: float = WAIT_S) -> PageOutcome:
        """Return the next outcome."""
        return self.outcomes.get(timeout=wait_s)

    def quiet(self, wait_s: float = 0.3) -> bool:
        """Return whether no event comes for a while, and nothing runs."""
        before = len(self.events)
        try:
            self.outcomes.get(timeout=wait_s)
        except queue.Empty:
            return not self.runner.current() and len(self.events) == before
        return False

    def wait_for(self, is_meant: Callable[[Mapping[str, Any]], bool], after: int = 0) -> Mapping[str, Any]:
        """Return the first matching event from number `after` on, even if it has come already."""
        end = time.monotonic() + WAIT_S
        with self.heard:
            while True:
                found = [event for event in self.events[after:] if is_meant(event)]
                if found:
                    return found[0]
                assert self.heard.wait(end - time.monotonic()), self.events

    def state(self, state: str, after: int = 0, **more: Any) -> Mapping[str, Any]:
        """Return the first event with this state."""
        return self.wait_for(
            lambda event: event["state"] == state and all(event.get(k) == v for k, v in more.items()), after
        )

    def states(self) -> list[str]:
        """Return the states of all events so far, in order."""
        return [str(event["state"]) for event in self.events]

    def write(self, name: str, *cells: str) -> None:
        """Write a post with these cells."""
        body = "\n\n".join(f"```{{python}}\n{cell}\n```" for cell in cells)
        self.text(f"content/posts/{name}.md", f"---\ntitle: {name}\n---\n{body}\n")

    def text(self, path: str, text: str) -> None:
        """Write a file of the site."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")

    def recorded(self, name: str) -> str:
        """Return the record of a post; empty if there is none."""
        file = self.root / "_freeze" / "posts" / name / "outputs.json"
        return file.read_text("utf-8") if file.exists() else ""


def url(name: str) -> str:
    """Return the URL of a post."""
    return f"/posts/{name}/"


@contextmanager
def previewed(root: Path) -> Iterator[Previewed]:
    """Yield a preview, and close it at the end."""
    site = Previewed(root)
    try:
        yield site
    finally:
        began = time.monotonic()
        # it does not wait for long for a thread that a busy machine lets wait
        with patch("blogsmith.preview.cells.scheduler._JOIN_S", CLOSE_S):
            site.runner.close()
        assert time.monotonic() - began < CLOSE_S
