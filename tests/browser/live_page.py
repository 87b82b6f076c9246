"""A tab of the live preview, with a stand-in for the server behind it."""

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
    """A page; nothing is asked for but what `head` and `body` name."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>A post</title>\n'
        f'<link rel="icon" href="data:,">\n{head}\n</head>\n<body>\n<header><h1>A post</h1></header>\n'
        f'<main id="content" tabindex="-1">\n{body}\n</main>\n<footer><p>End</p></footer>\n</body>\n</html>\n'
    )


def lined(blocks: Iterable[str]) -> str:
    """Blocks with the lines they stand on, two lines each."""
    numbered = enumerate(blocks, start=1)
    return "\n".join(block.replace(">", f' data-line="{2 * number}">', 1) for number, block in numbered)


def paragraphs(count: int) -> list[str]:
    """That many, each of which says which it is."""
    return [f"<p>Paragraph {number} has a few words to say.</p>" for number in range(count)]


def problem(**other: Any) -> dict[str, Any]:
    """One error, new, on this page."""
    item = {
        "severity": "error",
        "code": "math-command",
        "where": "content/a.md:41:7",
        "path": "content/a.md",
        "line": 41,
        "column": 7,
        "message": "unknown TeX command \\sofmax",
        "text": "content/a.md:41:7: error: unknown TeX command \\sofmax [math-command]\n"
        "   41 | $$A = \\sofmax(x)$$\n      |       ^^^^^^^\nhint: did you mean \\softmax?",
        "pages": [PATH],
        "new": True,
    }
    return {**item, **other}


def problems(*items: dict[str, Any]) -> dict[str, Any]:
    """The event that says so."""
    counts = {f"{kind}s": sum(item["severity"] == kind for item in items) for kind in ("error", "warning")}
    return {"kind": "problems", **counts, "items": list(items)}


@dataclass(frozen=True, slots=True)
class Tab:
    """A reader's tab, and the site that it shows."""

    site: LiveSite
    server: LiveServer
    reader: Reader

    def open(self, body: str, head: str = "", look: Look = DESKTOP) -> None:
        """Show a page, and wait until it can be updated. `window.kept` dies with a reload."""
        self.site.page(PATH, document(body, head))
        self.reader.open(self.server.origin + PATH, look)
        self.wait_until_ready()
        self.ask("window.kept = true")

    def wait_until_ready(self) -> None:
        """Until the page knows what it was made from and hears the server."""
        self.wait(READY)
        self.site.wait_for_streams(1)
        self.wait("return performance.getEntriesByType('resource').some(e => e.name.includes('/version?'))")

    def edit(self, body: str, head: str = "", line: int | None = None) -> None:
        """Change the page, and wait until it is shown."""
        done = self.ask(UPDATED)
        self.site.edit(PATH, document(body, head), line)
        self.wait(f"{UPDATED} > {done}")

    def ask(self, script: str, *arguments: Any) -> Any:
        """What a function body returns in the page."""
        return self.reader.ask(script, *arguments)

    def wait(self, script: str, *arguments: Any) -> Any:
        """The same, once it is true."""
        return self.reader.wait_for(lambda: self.ask(script, *arguments))

    @property
    def is_same(self) -> bool:
        """Whether the page has not been loaded again."""
        return bool(self.ask("return window.kept === true"))

    def top(self, selector: str) -> float:
        """How far an element is from the top of the window, in pixels."""
        return float(
            self.ask(f"return document.querySelector({json.dumps(selector)}).getBoundingClientRect().top")
        )

    def own(self, script: str) -> Any:
        """What a function body returns that knows the preview's `shadow` root."""
        return self.ask(f"{SHADOW} {script}")

    def wait_own(self, script: str) -> Any:
        """The same, once it is true."""
        return self.wait(f"{SHADOW} {script}")
