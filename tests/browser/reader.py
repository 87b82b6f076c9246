"""A driver for Chromium: shows a page at a width, in a colour scheme, with or without scripts.

Names of other hosts are not resolved, so nothing leaves the machine. Requests to them are recorded.
"""

from __future__ import annotations

import base64
import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from .tools import program

PATIENCE_S = 60
"""Timeout in seconds for any action of a browser on a busy machine."""
SHELL = Path(__file__).with_name("headless_shell")
"""Script that starts `chromium-headless-shell` as chromedriver needs it."""
FLAGS = (
    "--headless=new",
    # Chromium does not start as root with the sandbox, and only our own pages are loaded.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    # A proxy named in the environment would resolve host names that we do not.
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


@dataclass(frozen=True, slots=True)
class Look:
    """Viewport and settings of the browser."""

    width_px: int = 1280
    scheme: str = "light"
    """Colour scheme, `light` or `dark`."""
    scripts: bool = True
    medium: str = "screen"
    """Medium, `screen` or `print`."""


DESKTOP = Look()
DARK = replace(DESKTOP, scheme="dark")
PHONE = replace(DESKTOP, width_px=360)
WITHOUT_SCRIPTS = replace(DESKTOP, scripts=False)
PAPER = replace(DESKTOP, medium="print")
SHEET = replace(PAPER, width_px=574)
"""Width of the text on an A4 page: 210 mm without the margins of print.css."""


_LEAVE = """
if (location.href === "about:blank") return false;
location.replace("about:blank");
return true;
"""


class PageError(AssertionError):
    """A script in a page threw an error."""


def wait_for(condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """Wait until `condition` is true and return its value; errors while a page loads are ignored."""
    began = time.monotonic()
    while True:
        trouble: Exception | None = None
        try:
            if found := condition():
                return found
        except (PageError, WebDriverException) as error:
            trouble = error
        waited = time.monotonic() - began
        if waited > patience_s:
            raise AssertionError(f"not so within {patience_s} s") from trouble
        # One query costs the browser as much as the load of many pages.
        time.sleep(min(max(0.02, waited / 10), 0.2))


class Reader:
    """One browser with one tab; every page is opened without state of earlier ones."""

    def __init__(self, driver: Chrome) -> None:
        self._driver = driver
        self._origin = ""
        self._look: Look | None = None

    def open(self, url: str, look: Look = DESKTOP) -> None:
        """Load `url` without stored state, and clear recorded requests and problems."""
        address = urlsplit(url)
        # The page before may still send requests and log errors, also about the steps below. It is left from
        # within, because the browser then keeps its process, which takes a third of a second to start.
        if self.ask(_LEAVE):
            self.wait_for(lambda: self.ask("return location.href") == "about:blank")
        # Tabs opened by it may be in front of it. Without the focus there is no clipboard.
        self.tell("Page.bringToFront")
        # An element below the pointer would react to it.
        self.tell("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
        self._origin = f"{address.scheme}://{address.netloc}"
        self.take_on(look)
        self.tell("Storage.clearDataForOrigin", origin=self._origin, storageTypes="all")
        self.problems()
        self.requests()
        self._driver.get(url)

    def go_to(self, url: str) -> None:
        """Load another page in the same look, keeping stored state and records."""
        self._driver.get(url)

    def open_again(self) -> None:
        """Reload the page, keeping stored state."""
        self._driver.refresh()

    def take_on(self, look: Look) -> None:
        """Change the look of the open page without reloading it."""
        if look == self._look:
            return
        size = {"width": look.width_px, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.tell("Emulation.setDeviceMetricsOverride", **size)
        wishes = {"prefers-color-scheme": look.scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.tell("Emulation.setEmulatedMedia", media=look.medium, features=features)
        self.tell("Emulation.setScriptExecutionDisabled", value=not look.scripts)
        self._look = look

    def tell(self, command: str, **arguments: Any) -> Any:
        # Each command costs a twentieth of the time of a page, so an unchanged look is not set again.
        if command.startswith("Emulation."):
            self._look = None
        return self._driver.execute_cdp_cmd(command, arguments)

    def ask(self, script: str, *arguments: Any) -> Any:
        """Return the result of a function body in the page, even without scripts; wait for promises."""
        code = f"(function () {{ {script} }}).apply(null, {json.dumps(arguments)})"
        answer = self.tell("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise PageError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def find(self, selector: str) -> WebElement:
        """Return the first element that matches, to click or to type into."""
        return self._driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, in the focused element."""
        for key in keys:
            self._driver.switch_to.active_element.send_keys(key)

    def wait_for(self, condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
        return wait_for(condition, patience_s)

    def wait_for_fonts(self) -> None:
        """Wait until the fonts of the page are loaded, which change the layout."""
        # Only a layout requests fonts, and a layout with some of them may request others.
        are_there = """
        const layout = () => document.body.getBoundingClientRect();
        layout();
        return document.fonts.ready.then(() => (layout(), document.fonts.status === "loaded"));
        """
        self.wait_for(lambda: self.ask(are_there))

    def empty_clipboard(self) -> None:
        """Allow the page to write to an empty clipboard, and this test to read it."""
        self.tell("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.ask("return navigator.clipboard.writeText('')")

    def pasted(self) -> str:
        """Wait until the clipboard has text and return it."""
        return str(self.wait_for(lambda: self.ask("return navigator.clipboard.readText()")))

    def problems(self) -> list[str]:
        """Return console errors since the last call: exceptions, failed loads, policy violations."""
        return [entry["message"] for entry in self._log("browser") if entry["level"] == "SEVERE"]

    def requests(self) -> list[str]:
        """Return URLs requested since the last call."""
        logged = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        sent = [event["params"] for event in logged if event["method"] == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        """Return entries of one of the browser's logs since the last call."""
        entries: list[dict[str, Any]] = self._driver.get_log(kind)  # type: ignore[no-untyped-call]
        return entries

    def foreign_requests(self) -> list[str]:
        """Return the URLs of `requests` on other hosts."""
        own = (f"{self._origin}/", "data:", "blob:", "about:")
        return [url for url in self.requests() if not url.startswith(own)]

    def printed(self) -> bytes:
        answer = self.tell("Page.printToPDF", preferCSSPageSize=True)
        return base64.b64decode(answer["data"])


def _browser() -> str:
    """Return the path of Chromium, if possible without user interface, a third of a page's time."""
    if shutil.which("chromium-headless-shell"):
        return str(SHELL)
    return program("chromium", "chromium-browser", "google-chrome")


@contextmanager
def reading(profile: Path) -> Iterator[Reader]:
    """Start a browser with its profile in `profile`, and end it."""
    options = ChromeOptions()
    options.binary_location = _browser()
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(program("chromedriver")))
    try:
        yield Reader(driver)
    finally:
        driver.quit()
