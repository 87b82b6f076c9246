"""`blogsmith serve` as a separate process, observed by HTTP and events."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from blogsmith.project.trust.consent import trust
from tests.bench.preview_processes import is_running, processes
from tests.preview_client import Client, Got, soon

PATIENCE_S = 90.0
"""Seconds; nothing needs a twentieth of it, unless the machine is overloaded."""
PROMPT_S = 30.0
"""Seconds after which an immediate end has happened, even on an overloaded machine."""
_LOOK_S = 0.1
# With `python -m`, Python itself ends by the signal if Ctrl-C comes while a dataclass is made:
# https://github.com/python/cpython/blob/3.11/Modules/main.c, Py_RunMain.
PROGRAM = Path(sys.executable).with_name("blogsmith")
"""The command as authors use it."""
INTERRUPTED = 130
"""Exit code of a program that Ctrl-C ended."""
_SERVES = re.compile(r"blogsmith serves http://127\.0\.0\.1:(\d+)/ ")
WHOLE = re.compile(r"^[\d,]+ pages?, .* in [\d.,]+ m?s", re.MULTILINE)


class Listener:
    """A tab's event stream, and all its events."""

    def __init__(self, port: int, said: Callable[[], str] = lambda: "") -> None:
        """Connect. said: returns the terminal output of the server, shown if this waits in vain."""
        self.events: list[Mapping[str, Any]] = []
        self._said = said
        self._came = threading.Condition()
        self._client = Client(port)
        # there may be no events between two saves
        self._client.socket.settimeout(None)
        self._client.listen().head()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Listener:
        self._thread.start()
        self.wait_for("hello")
        return self

    def __exit__(self, *_: object) -> None:
        # the server may have closed it before
        with suppress(OSError):
            self._client.socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._client.socket.close()

    def _run(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                event = self._client.event()
                with self._came:
                    self.events.append(event)
                    self._came.notify_all()

    def of(self, kind: str, after: int = 0, **fields: Any) -> list[Mapping[str, Any]]:
        """Return all events of a kind, from number `after` on."""
        return [
            event
            for event in self.events[after:]
            if event["kind"] == kind and all(event.get(name) == value for name, value in fields.items())
        ]

    def wait_for(self, kind: str, after: int = 0, **fields: Any) -> Mapping[str, Any]:
        """Return the first matching event, even if it came before."""
        with self._came:
            assert self._came.wait_for(lambda: self.of(kind, after, **fields), PATIENCE_S), self._heard()
            return self.of(kind, after, **fields)[0]

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Wait until it is true, after an event or by asking the server."""
        deadline = time.monotonic() + PATIENCE_S
        with self._came:
            while not is_so():
                assert time.monotonic() < deadline, self._heard()
                # the server's answers may change without an event
                self._came.wait(_LOOK_S)

    def _heard(self) -> str:
        """Return the last events, and the terminal output of the server."""
        last = [str(event)[:2000] for event in self.events[-10:]]
        return "\n".join((f"{len(self.events)} events", *last, "on the terminal:", self._said()[-4000:]))

    def version(self, path: str) -> str:
        """Return the last announced version of a page; empty if there is none."""
        told = [event["pages"][path]["version"] for event in self.of("pages") if path in event["pages"]]
        return str(told[-1]) if told else ""


@dataclass(frozen=True, slots=True)
class Serving:
    """A running preview."""

    root: Path
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def said(self) -> str:
        """Return the terminal output."""
        # a character may be half written
        return self.log.read_text("utf-8", errors="replace")

    def ask(self, path: str, method: str = "GET", **more: Any) -> Got:
        """Send one request on a separate connection."""
        with Client(self.port) as client:
            return client.ask(path, method, **more)

    def page(self, path: str) -> str:
        """Return the content at a path, preceded by the status."""
        got = self.ask(path)
        return f"{got.status} {got.body.decode('utf-8')}"

    def wait_for(self, path: str, *texts: str) -> str:
        """Return the page at a path once it contains all of these strings; a number is a status."""
        found: list[str] = [""]

        def is_there() -> bool:
            found[0] = self.page(path)
            return all(text in found[0] for text in texts)

        assert soon(is_there, PATIENCE_S), (
            path,
            texts,
            found[0][found[0].find("<main") :][:2000],
            self.said()[-2000:],
        )
        return found[0]

    def wait_for_words(self, *texts: str) -> None:
        """Wait until all of these strings are in the terminal output."""
        assert soon(lambda: all(text in self.said() for text in texts), PATIENCE_S), (texts, self.said())

    def wait_until_whole(self) -> None:
        """Wait until the whole site is loaded."""
        assert soon(lambda: bool(WHOLE.search(self.said())), PATIENCE_S), self.said()

    def version(self, path: str) -> str:
        """Return the version of the current bytes of a page."""
        return str(self.ask(f"/_blogsmith/version?path={path}").json()["version"])

    def act(self, name: str, token: str | None, body: bytes = b"{}") -> Got:
        """Send a request that pages of the preview may send."""
        return self.ask(
            f"/_blogsmith/do/{name}",
            "POST",
            body=body,
            X_Blogsmith_Token=token,
            Origin=f"http://127.0.0.1:{self.port}",
            Content_Type="application/json",
        )

    def token(self) -> str:
        """Return the token that proves that this server made the page."""
        found = re.search(r'data-token="([^"]+)"', self.page("/"))
        assert found
        return found[1]

    def listen(self) -> Listener:
        """Return a tab."""
        return Listener(self.port, self.said)

    def trust(self) -> None:
        """Trust the site, like `blogsmith trust` by the same user."""
        with patch.dict(os.environ, state(self.root)):
            trust(self.root)


@contextmanager
def running(
    root: Path, *options: str, trusted: bool = False, environ: Mapping[str, str] | None = None
) -> Iterator[Serving]:
    """Serve a site while the block runs; then Ctrl-C must end it without leftovers.

    A block that ends it itself must check that itself.
    """
    if trusted:
        with patch.dict(os.environ, state(root)):
            trust(root)
    log = root.parent / "serve.log"
    port = () if any(option.startswith("--port") for option in options) else ("--port=0",)
    command = (str(PROGRAM), "serve", *port, *options)
    with log.open("wb") as said:
        process = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, "PYTHONFAULTHANDLER": "1", **state(root), **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Serving(root, process, _port(process, log), log)
    finally:
        had_ended = process.poll() is not None
        left = _end(process)
    said_last = log.read_text("utf-8")
    assert process.returncode != -signal.SIGABRT, said_last
    assert left == [], "processes are left"
    assert "Traceback" not in said_last, said_last
    assert had_ended or process.returncode == INTERRUPTED, said_last


def _end(process: subprocess.Popen[bytes]) -> list[int]:
    """Send Ctrl-C. Kill the remaining processes and return them."""
    family = processes(process.pid)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        # the log then shows the position of each thread
        process.send_signal(signal.SIGABRT)
        process.wait()
    # Python's own helper process of `multiprocessing`, which Dask starts, ends after all others
    soon(lambda: not any(map(is_running, family)), PATIENCE_S)
    left = [pid for pid in family if is_running(pid)]
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return left


def state(root: Path) -> dict[str, str]:
    """Return the variable for the folder of the user's consent."""
    return {"XDG_STATE_HOME": str(root.parent / "state")}


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """Return the port as soon as the process prints it."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = _SERVES.search(log.read_text("utf-8"))
        if found:
            return int(found[1])
        assert process.poll() is None, log.read_text("utf-8")
        time.sleep(0.005)
    raise AssertionError(f"it does not serve: {log.read_text('utf-8')}")


def interrupt(serving: Serving, number: signal.Signals = signal.SIGINT) -> int:
    """Send Ctrl-C as a terminal does, or another signal to the server alone. Return its exit code."""
    if number == signal.SIGINT:
        os.killpg(serving.process.pid, number)
    else:
        serving.process.send_signal(number)
    return serving.process.wait(PATIENCE_S)


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files under `root`, each in one step.

    A file written in place is empty at first; on a busy machine this may last until it is reported.
    """
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(".new")
        new.write_bytes(text if isinstance(text, bytes) else text.encode())
        new.replace(file)


def post(title: str, body: str = "", **front: str) -> str:
    """Return a post. front: more front matter."""
    more = "".join(f"{name}: {value}\n" for name, value in {"date": "2020-01-01", **front}.items())
    return f"---\ntitle: {title}\n{more}---\n\n{body}\n"


def cell(code: str, *options: str) -> str:
    """Return a cell of a post."""
    return "\n".join(["```{python}", *(f"#| {option}" for option in options), code, "```\n"])
