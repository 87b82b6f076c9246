"""A tab of the live preview with the real server behind it, and the files that are saved."""

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
        """Look at a page, and wait until it can be updated. `window.kept` dies with a reload."""
        self.reader.open(f"http://127.0.0.1:{self.serving.port}{path}", look)
        self.is_ready()

    def is_ready(self) -> None:
        """Wait until the page hears the server."""
        self.wait(READY)
        self.wait("return performance.getEntriesByType('resource').some(e => e.name.includes('/version?'))")
        self.ask("window.kept = true")

    def save(self, files: Mapping[str, str]) -> None:
        """As an editor does that puts a new file in the place of the old one.

        In place, a busy machine might stop this test while the file is empty, and for longer than the preview
        waits.
        """
        aside = self.serving.root.parent / "saved"
        write(aside, files)
        for name in files:
            file = self.serving.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            (aside / name).replace(file)

    def serves(self, path: str, text: str) -> None:
        """Wait until the server has that at a path; a number is a status."""
        self.reader.wait_for(lambda: text in self.serving.page(path))

    def begin_with(self, files: Mapping[str, str], path: str, text: str) -> None:
        """Change a page before it is opened: the tab hears nothing more of it and stays where it is."""
        with self.serving.listen() as listener:
            # nothing is told of a page that nobody has asked for
            self.serving.page(path)
            self.save(files)
            self.serves(path, text)
            version = self.serving.version(path)
            listener.wait_until(lambda: listener.version(path) == version)

    def ask(self, script: str, *arguments: Any) -> Any:
        """What a function body returns in the page."""
        return self.reader.ask(script, *arguments)

    def wait(self, script: str, *arguments: Any) -> Any:
        """The same, once it is true."""
        try:
            return self.reader.wait_for(lambda: self.ask(script, *arguments))
        except AssertionError as error:
            raise AssertionError(f"{error}: {self._state()}") from error

    def _state(self) -> Any:
        """Where the tab is and what the server has there, for when this waits in vain."""
        state = self.ask(_STATE)
        return state | {"served": self.serving.version(state["path"]), "said": self.serving.said()[-2000:]}

    def own(self, script: str) -> Any:
        """What a function body returns that knows the preview's `shadow` root."""
        return self.ask(f"{SHADOW} {script}")

    def wait_own(self, script: str) -> Any:
        """The same, once it is true."""
        return self.wait(f"{SHADOW} {script}")

    def reads(self, text: str, selector: str = "main") -> None:
        """Wait until the reader sees that."""
        self.wait(
            "return document.querySelector(arguments[0])?.innerText.includes(arguments[1])", selector, text
        )

    @property
    def is_same(self) -> bool:
        """Whether the page has not been loaded again."""
        return bool(self.ask("return window.kept === true"))
