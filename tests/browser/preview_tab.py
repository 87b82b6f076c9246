"""A tab of the live preview with the real server behind it, and the files that are saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.serve_process import Serving, write

from .live_page import READY, SHADOW
from .reader import DESKTOP, Look, Reader


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
        """As an editor does."""
        write(self.serving.root, files)

    def ask(self, script: str, *arguments: Any) -> Any:
        """What a function body returns in the page."""
        return self.reader.ask(script, *arguments)

    def wait(self, script: str, *arguments: Any) -> Any:
        """The same, once it is true."""
        return self.reader.wait_for(lambda: self.ask(script, *arguments))

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
