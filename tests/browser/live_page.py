"""A tab of the live preview with a stand-in for the server."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .live_stand_in import LiveServer, LiveSite
from .reader import DESKTOP, Look, Reader

THEME = Path(__file__).parents[2] / "themes" / "paper" / "static"
PATH = "/posts/a/"
READY = "return performance.getEntriesByName('blogsmith:ready').length"
UPDATED = "return performance.getEntriesByName('blogsmith:updated').length"
SHADOW = "const shadow = document.querySelector('blogsmith-live').shadowRoot;"


def document(body: str, head: str = "") -> str:
    """Return a page that loads nothing except the URLs in `head` and `body`."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>A post</title>\n'
        f'<link rel="icon" href="data:,">\n{head}\n</head>\n<body>\n<header><h1>A post</h1></header>\n'
        f'<main id="content" tabindex="-1">\n{body}\n</main>\n<footer><p>End</p></footer>\n</body>\n</html>\n'
    )


def lined(blocks: Iterable[str]) -> str:
    """Return blocks with `data-line`, two lines each."""
    numbered = enumerate(blocks, start=1)
    return "\n".join(block.replace(">", f' data-line="{2 * number}">', 1) for number, block in numbered)


def paragraphs(count: int) -> list[str]:
    """Return `count` numbered paragraphs."""
    return [f"<p>Paragraph {number} has a few words to say.</p>" for number in range(count)]


def problem(**other: Any) -> dict[str, Any]:
    """Return one new error on this page."""
    item = {
        "severity": "error",
        "code": "math-command",
        "where": "content/a.md:41:7",
        "path": "content/a.md",
        "line": 41,
        "column": 7,
        "message": r'unknown TeX command "\sofmax"',
        "text": 'content/a.md:41:7: error: unknown TeX command "\\sofmax" [math-command]\n'
        "   41 | $$A = \\sofmax(x)$$\n      |       ^^^^^^^\nhint: did you mean `\\softmax`?",
        "pages": [PATH],
        "new": True,
    }
    return {**item, **other}


def problems(*items: dict[str, Any]) -> dict[str, Any]:
    """Return the event with these problems."""
    counts = {f"{kind}s": sum(item["severity"] == kind for item in items) for kind in ("error", "warning")}
    return {"kind": "problems", **counts, "items": list(items)}


@dataclass(frozen=True, slots=True)
class Tab:
    """A reader's tab and the site that it shows."""

    site: LiveSite
    server: LiveServer
    reader: Reader

    def open(self, body: str, head: str = "", look: Look = DESKTOP) -> None:
        """Show a page, and wait until it can be updated. A reload loses `window.kept`."""
        self.site.page(PATH, document(body, head))
        self.reader.open(self.server.origin + PATH, look)
        self.wait_until_ready()
        self.ask("window.kept = true")

    def wait_until_ready(self) -> None:
        """Wait until the page knows its version and is connected to the server."""
        self.wait(READY)
        self.site.wait_for_streams(1)
        self.wait("return performance.getEntriesByType('resource').some(e => e.name.includes('/version?'))")

    def edit(self, body: str, head: str = "", line: int | None = None) -> None:
        """Change the page, and wait until the change is shown."""
        done = self.ask(UPDATED)
        self.site.edit(PATH, document(body, head), line)
        self.wait(f"{UPDATED} > {done}")

    def ask(self, script: str, *arguments: Any) -> Any:
        """Return the result of a function body in the page."""
        return self.reader.ask(script, *arguments)

    def wait(self, script: str, *arguments: Any) -> Any:
        """Wait until the result of a function body is true, and return it."""
        return self.reader.wait_for(lambda: self.ask(script, *arguments))

    @property
    def is_same(self) -> bool:
        """Whether the page has not been reloaded."""
        return bool(self.ask("return window.kept === true"))

    def top(self, selector: str) -> float:
        """Return the distance of an element from the top of the window, in pixels."""
        return float(
            self.ask(f"return document.querySelector({json.dumps(selector)}).getBoundingClientRect().top")
        )

    def own(self, script: str) -> Any:
        """Return the result of a function body that can use the preview's `shadow` root."""
        return self.ask(f"{SHADOW} {script}")

    def wait_own(self, script: str) -> Any:
        """Wait until the result of this function body is true, and return it."""
        return self.wait(f"{SHADOW} {script}")
