"""One Chromium with one tab that reports when new content has been painted.

The page itself takes the time (`preview_probe.js`), so it does not include the driver: an observer notices a
change of the document, and the time is taken after the frame that paints it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from selenium.common.exceptions import JavascriptException, WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from tests.browser.reader import FLAGS
from tests.browser.tools import program

from .preview_servers import MeasureError

PROBE = Path(__file__).with_name("preview_probe.js")
WIDTH_PX, HEIGHT_PX = 1280, 800
# Poll again after this time, because a reload of the page discards a pending request.
_ASK_MS = 1000
_CLOCK_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """Content or style that the page is expected to show."""

    kind: str
    """The kind of content: `text`, `style`, `overlay`, `error` or `fixed`.

    `text` is in the page, `style` is of an element, `overlay` is a message in our overlay, `error` is an
    error message anywhere, `fixed` is text in a page without overlay.
    """
    value: str
    selector: str = ""
    """Selector of the element; only for `style`."""
    property: str = ""
    """Property of its computed style; only for `style`."""


@dataclass(frozen=True, slots=True)
class State:
    """State of the page that an update may lose."""

    loads: int
    """Number of pages that the tab has loaded."""
    scroll_px: float
    open: bool
    """Whether the reader's `<details>` is open."""


class Tab:
    """The only tab of a browser."""

    def __init__(self, driver: Chrome) -> None:
        self._driver = driver
        self._offset_s = 0.0
        self._tell("Page.enable")
        self._tell("Page.addScriptToEvaluateOnNewDocument", source=PROBE.read_text("utf-8"))

    def version(self) -> str:
        return str(self._tell("Browser.getVersion")["product"])

    def open(self, url: str) -> None:
        """Load a page, and compare its clock with ours."""
        self._driver.get(url)
        self._offset_s = self._clock_offset()

    def want(self, wanted: Wanted) -> None:
        """Start to observe content before it can appear."""
        self._ask(f"bench.want({json.dumps(asdict(wanted))})")

    def seen_at(self, patience_s: float) -> float:
        """Return the `time.time()` when the content was painted. Raises MeasureError after the timeout."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            try:
                seen = self._ask(f"window.bench?.seen({_ASK_MS})")
            except WebDriverException:
                # The page is being replaced.
                time.sleep(0.02)
                continue
            if seen is not None:
                return float(seen) / 1000 - self._offset_s
        raise MeasureError(f"nothing in the page {patience_s:g} s after the save")

    def prepare(self) -> None:
        """Scroll and open an element, which updates have to preserve."""
        self._ask(
            "(() => { const more = document.querySelector('details.more'); more.open = true;"
            "more.scrollIntoView({block: 'center', behavior: 'instant'}); })()"
        )
        # The scrolling ends a frame later for event listeners.
        time.sleep(0.1)

    def state(self) -> State:
        """Return the current state of the page."""
        found = self._ask(
            "({loads: bench.loads(), scroll_px: scrollY,"
            "open: document.querySelector('details.more')?.open ?? false})"
        )
        return State(**found)

    def _clock_offset(self) -> float:
        """Return the seconds that the page's clock is ahead of ours, from the fastest of several requests."""
        found: list[tuple[float, float]] = []
        for _ in range(_CLOCK_ROUNDS):
            asked = time.time()
            theirs = self._ask("performance.timeOrigin + performance.now()") / 1000
            answered = time.time()
            found.append((answered - asked, theirs - (asked + answered) / 2))
        return min(found)[1]

    def _ask(self, expression: str) -> Any:
        """Return the value of an expression in the page, after waiting for a promise."""
        answer = self._tell("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise JavascriptException(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def _tell(self, command: str, **arguments: Any) -> Any:
        return self._driver.execute_cdp_cmd(command, arguments)


@contextmanager
def browsing(profile: Path) -> Iterator[Tab]:
    """Start a browser with its profile in `profile`, and end it."""
    options = ChromeOptions()
    options.binary_location = program("chromium", "chromium-browser", "google-chrome")
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={WIDTH_PX},{HEIGHT_PX}"):
        options.add_argument(flag)
    driver = Chrome(options=options, service=Service(program("chromedriver")))
    try:
        yield Tab(driver)
    finally:
        driver.quit()
