"""A tab of the live preview with the real server, and saves of its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.serve_process import Serving, write

from .live_page import READY, SHADOW
from .reader import DESKTOP, Look, Reader

_STATE = """
const names = ["blogsmith:ready", "blogsmith:updated"];
const [{type, transferSize}] = performance.getEntriesByType("navigation");
return {
  path: location.pathname, shown: document.querySelector("script[data-blogsmith]")?.dataset.version,
  type, transferSize, history: history.length, age_ms: performance.now(),
  marks: names.map(name => performance.getEntriesByName(name).map(mark => mark.startTime)),
  asked: performance.getEntriesByType("resource").map(({name, startTime}) => [name, startTime]).slice(-12),
};
"""


@dataclass(frozen=True, slots=True)
class Tab:
    """A reader's tab and the preview that it shows."""

    serving: Serving
    reader: Reader

    def open(self, path: str, look: Look = DESKTOP) -> None:
        """Open a page, and wait until it can be updated. A reload loses `window.kept`."""
        self.reader.open(f"http://127.0.0.1:{self.serving.port}{path}", look)
        self.is_ready()

    def is_ready(self) -> None:
        """Wait until the page is connected to the server."""
        self.wait(READY)
        self.wait("return performance.getEntriesByType('resource').some(e => e.name.includes('/version?'))")
        self.ask("window.kept = true")

    def save(self, files: Mapping[str, str]) -> None:
        """Save files like an editor that replaces the old file by a new one.

        With a save in place, a busy machine might pause this test while the file is empty, for longer than
        the preview waits.
        """
        aside = self.serving.root.parent / "saved"
        write(aside, files)
        for name in files:
            file = self.serving.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            (aside / name).replace(file)

    def serves(self, path: str, text: str) -> None:
        """Wait until the server has this text at a path. A number is a status."""
        self.reader.wait_for(lambda: text in self.serving.page(path))

    def begin_with(self, files: Mapping[str, str], path: str, text: str) -> None:
        """Change a page before it is opened, so that the tab receives no more events about it."""
        with self.serving.listen() as listener:
            # The server sends no events about a page that nobody has requested.
            self.serving.page(path)
            self.save(files)
            self.serves(path, text)
            version = self.serving.version(path)
            listener.wait_until(lambda: listener.version(path) == version)

    def ask(self, script: str, *arguments: Any) -> Any:
        """Return the result of a function body in the page."""
        return self.reader.ask(script, *arguments)

    def wait(self, script: str, *arguments: Any) -> Any:
        """Wait until the result of a function body is true, and return it."""
        try:
            return self.reader.wait_for(lambda: self.ask(script, *arguments))
        except AssertionError as error:
            raise AssertionError(f"{error}: {self._state()}") from error

    def _state(self) -> Any:
        """Return the state of the tab and the server, for the message of a failed wait."""
        state = self.ask(_STATE)
        return state | {"served": self.serving.version(state["path"]), "said": self.serving.said()[-2000:]}

    def own(self, script: str) -> Any:
        """Return the result of a function body that can use the preview's `shadow` root."""
        return self.ask(f"{SHADOW} {script}")

    def wait_own(self, script: str) -> Any:
        """Wait until the result of this function body is true, and return it."""
        return self.wait(f"{SHADOW} {script}")

    def reads(self, text: str, selector: str = "main") -> None:
        """Wait until the reader sees this text."""
        self.wait(
            "return document.querySelector(arguments[0])?.innerText.includes(arguments[1])", selector, text
        )

    @property
    def is_same(self) -> bool:
        """Whether the page has not been reloaded."""
        return bool(self.ask("return window.kept === true"))
