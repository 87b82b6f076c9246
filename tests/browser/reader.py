"""A reader with Chromium: looks at a page at some width, in some colours, with scripts or without.

Names of other hosts are not resolved, so nothing leaves the machine; what a page asks of them is recorded.
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
"""How long a browser on a busy machine may take to do what it was asked."""
SHELL = Path(__file__).with_name("headless_shell")
"""Starts `chromium-headless-shell` as chromedriver needs it."""
FLAGS = (
    "--headless=new",
    # as root Chromium refuses to start with it, and only our own pages are loaded
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    # a proxy that the environment names would resolve what we do not
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is looked at."""

    width_px: int = 1280
    scheme: str = "light"
    """`light` or `dark`."""
    scripts: bool = True
    medium: str = "screen"
    """`screen` or `print`."""


DESKTOP = Look()
DARK = replace(DESKTOP, scheme="dark")
PHONE = replace(DESKTOP, width_px=360)
WITHOUT_SCRIPTS = replace(DESKTOP, scripts=False)
PAPER = replace(DESKTOP, medium="print")
SHEET = replace(PAPER, width_px=574)
"""The text of an A4 sheet: 210 mm without the margins of print.css."""


_LEAVE = """
if (location.href === "about:blank") return false;
location.replace("about:blank");
return true;
"""


class PageError(AssertionError):
    """What was asked in a page threw an error there."""


def wait_for(condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """What `condition` gives once it is true; while a page loads there may be nothing to ask."""
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
        # to be asked costs the browser as much as many pages take to load
        time.sleep(min(max(0.02, waited / 10), 0.2))


class Reader:
    """One browser with one tab; every page is opened as if for the first time."""

    def __init__(self, driver: Chrome) -> None:
        self._driver = driver
        self._origin = ""
        self._look: Look | None = None

    def open(self, url: str, look: Look = DESKTOP) -> None:
        """Load `url` with nothing remembered and nothing recorded yet."""
        address = urlsplit(url)
        # the page before may still ask and complain, also of what is done to it here
        # from within: the browser keeps its process, which takes a third of a second to start
        if self.ask(_LEAVE):
            self.wait_for(lambda: self.ask("return location.href") == "about:blank")
        # tabs that it opened may have been in front of it; without the focus there is no clipboard
        self.tell("Page.bringToFront")
        # what happens to lie below the pointer would act
        self.tell("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
        self._origin = f"{address.scheme}://{address.netloc}"
        self.take_on(look)
        self.tell("Storage.clearDataForOrigin", origin=self._origin, storageTypes="all")
        self.problems()
        self.requests()
        self._driver.get(url)

    def go_to(self, url: str) -> None:
        """Load another page in the same look; what is remembered and recorded stays."""
        self._driver.get(url)

    def open_again(self) -> None:
        """Load the page again; what it remembers stays."""
        self._driver.refresh()

    def take_on(self, look: Look) -> None:
        """Look at the page that is open in another way; scripts that ran stay."""
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
        """Send a command of the DevTools protocol."""
        # each takes as much as a twentieth of a page, so that no look is taken on twice
        if command.startswith("Emulation."):
            self._look = None
        return self._driver.execute_cdp_cmd(command, arguments)

    def ask(self, script: str, *arguments: Any) -> Any:
        """What a function body returns in the page, also where scripts are off; promises are waited for."""
        code = f"(function () {{ {script} }}).apply(null, {json.dumps(arguments)})"
        answer = self.tell("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise PageError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def find(self, selector: str) -> WebElement:
        """The first element that matches, to click or to type into."""
        return self._driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, where the focus is."""
        for key in keys:
            self._driver.switch_to.active_element.send_keys(key)

    def wait_for(self, condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
        """What `condition` gives once it is true."""
        return wait_for(condition, patience_s)

    def wait_for_fonts(self) -> None:
        """Until the fonts that the page asks for have come: with them everything moves."""
        # only a layout asks for them, and one with some of them may ask for others
        are_there = """
        const layout = () => document.body.getBoundingClientRect();
        layout();
        return document.fonts.ready.then(() => (layout(), document.fonts.status === "loaded"));
        """
        self.wait_for(lambda: self.ask(are_there))

    def empty_clipboard(self) -> None:
        """Let the page write to an empty clipboard, and this test read it."""
        self.tell("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.ask("return navigator.clipboard.writeText('')")

    def pasted(self) -> str:
        """What a reader would paste, once there is something."""
        return str(self.wait_for(lambda: self.ask("return navigator.clipboard.readText()")))

    def problems(self) -> list[str]:
        """Errors in the console since the last call: exceptions, files that did not load, broken rules."""
        return [entry["message"] for entry in self._log("browser") if entry["level"] == "SEVERE"]

    def requests(self) -> list[str]:
        """Addresses asked for since the last call."""
        logged = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        sent = [event["params"] for event in logged if event["method"] == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        """Entries of one of the browser's logs since the last call."""
        entries: list[dict[str, Any]] = self._driver.get_log(kind)  # type: ignore[no-untyped-call]
        return entries

    def foreign_requests(self) -> list[str]:
        """Those of `requests` that another host would have answered."""
        own = (f"{self._origin}/", "data:", "blob:", "about:")
        return [url for url in self.requests() if not url.startswith(own)]

    def printed(self) -> bytes:
        """The page as a PDF file."""
        answer = self.tell("Page.printToPDF", preferCSSPageSize=True)
        return base64.b64decode(answer["data"])


def _browser() -> str:
    """Chromium, where it is there without the interface around it, which takes a third of a page's time."""
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
