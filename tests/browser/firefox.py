"""A driver for Firefox: shows a page at a width and pixel ratio, and takes screenshots.

Debian has no geckodriver, so Firefox is driven by its own protocol, Marionette: lines of JSON on loopback.
Requests to other hosts go to a proxy that never answers, so nothing leaves the machine.
"""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from .reader import PATIENCE_S, PageError, wait_for
from .tools import program

PREFERENCES: dict[str, bool | int | str] = {
    # The system chooses the port; the profile contains its number.
    "marionette.port": 0,
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.cache.disk.enable": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.tabs.remote.autostart": True,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.ipc.processCount": 1,
    "dom.ipc.processPrelaunch.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "fission.autostart": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.enabled": False,
}
TIMEOUTS = {"script": 3_000 * PATIENCE_S, "pageLoad": 3_000 * PATIENCE_S}
"""Timeouts in milliseconds."""
FLAGS = ("--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "about:blank")
# The browser window has a minimum width; the page in it has none.
RESIZE = """
const [ratio, width, height] = arguments;
Services.prefs.setStringPref("layout.css.devPixelsPerPx", ratio);
const browser = gBrowser.selectedBrowser;
for (const [name, size] of [["width", width], ["height", height]]) {
  for (const property of [name, `min-${name}`, `max-${name}`]) {
    browser.style.setProperty(property, `${size}px`);
  }
}
"""
SCHEME = """
Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", arguments[0] ? 1 : 0);
"""
LOOK = "return [innerWidth, innerHeight, devicePixelRatio]"
# The page as painted on the screen, in device pixels.
SNAPSHOT = """
const [x, y, width, height, done] = arguments;
const browser = gBrowser.selectedBrowser;
const ratio = browser.browsingContext.overrideDPPX || window.devicePixelRatio;
browser.browsingContext.currentWindowGlobal
  .drawSnapshot(new DOMRect(x, y, width, height), ratio, "rgb(255, 255, 255)")
  .then(bitmap => {
    const canvas = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas");
    [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    done(canvas.toDataURL("image/png").split(",")[1]);
  });
"""


class Firefox:
    """A browser with one tab."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stream = connection.makefile("rb")
        self._number = 0
        self._receive()

    def open(self, url: str) -> None:
        """Load a page with its fonts."""
        self.tell("WebDriver:Navigate", url=url)
        self.ask("document.body.getBoundingClientRect(); return document.fonts.ready.then(() => true)")

    def resize(self, width_px: int, height_px: int, ratio: float) -> None:
        """Give the page a size in CSS pixels, each of them `ratio` device pixels wide."""
        self._in_window("WebDriver:ExecuteScript", RESIZE, str(ratio), width_px, height_px)
        # Firefox has 60 units per CSS pixel, and a device pixel has a whole number of them.
        wanted = [width_px, height_px, pytest.approx(ratio, rel=0.01)]
        wait_for(lambda: self.ask(LOOK) == wanted)

    def choose_scheme(self, scheme: str) -> None:
        """Make pages see `light` or `dark` as the reader's preferred scheme."""
        self._in_window("WebDriver:ExecuteScript", SCHEME, scheme == "light")

    def ask(self, script: str, *arguments: Any) -> Any:
        """Return the result of a function body in the page, after waiting for promises."""
        answer = self.tell("WebDriver:ExecuteScript", script=script, args=list(arguments))
        return answer["value"]

    def picture(self, x: float, y: float, width: float, height: float) -> bytes:
        """Return a part of the page as PNG in device pixels; the position is in CSS pixels."""
        answer = self._in_window("WebDriver:ExecuteAsyncScript", SNAPSHOT, x, y, width, height)
        return base64.b64decode(answer["value"])

    def point(self, x: float, y: float, kind: str = "mouse", presses: bool = False) -> None:
        """Move a pointer in two steps, as a hand does, and optionally press.

        kind: `mouse` or `touch`.
        """
        moves = [{"type": "pointerMove", "x": int(x) + step, "y": int(y)} for step in (1, 0)]
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        steps = moves + (press if presses else [])
        hand = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": steps}
        self.tell("WebDriver:PerformActions", actions=[hand])

    def tell(self, command: str, **arguments: Any) -> Any:
        self._number += 1
        data = json.dumps([0, self._number, command, arguments]).encode()
        self._connection.sendall(b"%d:%s" % (len(data), data))
        _, number, error, answer = self._receive()
        assert number == self._number, "an answer to something else"
        if error:
            raise PageError(error)
        return answer

    def _in_window(self, command: str, script: str, *arguments: Any) -> Any:
        """Run a script in the browser window, not in the page."""
        self.tell("Marionette:SetContext", value="chrome")
        try:
            return self.tell(command, script=script, args=list(arguments))
        finally:
            self.tell("Marionette:SetContext", value="content")

    def _receive(self) -> Any:
        """Read one message: its length, a colon, JSON."""
        length = b""
        while (byte := self._stream.read(1)) != b":":
            if not byte:
                raise AssertionError("Firefox hung up")
            length += byte
        return json.loads(self._stream.read(int(length)))


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """Start a browser with its profile in `profile`, and end it."""
    path = program("firefox-esr", "firefox")
    profile.mkdir(parents=True, exist_ok=True)
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("".join(lines), "utf-8")
    with (profile / "log.txt").open("wb") as log:
        process = subprocess.Popen([path, *FLAGS, "--profile", profile], stdout=log, stderr=log)
    try:
        with socket.create_connection(("127.0.0.1", _port(profile, process)), PATIENCE_S) as connection:
            connection.settimeout(3 * PATIENCE_S)
            browser = Firefox(connection)
            browser.tell("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": TIMEOUTS}})
            yield browser
            browser.tell("Marionette:Quit", flags=["eForceQuit"])
            process.wait(PATIENCE_S)
    finally:
        process.kill()
        process.wait()


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    """Wait until the browser listens and return the port."""
    file = profile / "MarionetteActivePort"
    until = time.monotonic() + 3 * PATIENCE_S
    while not (file.is_file() and (text := file.read_text("utf-8").strip())):
        if process.poll() is not None or time.monotonic() > until:
            raise AssertionError(
                f"Firefox does not start: {(profile / 'log.txt').read_text('utf-8', 'replace')}"
            )
        time.sleep(0.05)
    return int(text)
