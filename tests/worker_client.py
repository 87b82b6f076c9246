"""A minimal builder for tests of the worker: it uses a real socket and keeps output in order."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import blogsmith.execute

START = Path(blogsmith.execute.__file__).parent / "worker" / "start.py"
Frame = dict[str, Any]
# Any Python from 3.9 on can be tested.
PYTHON = os.environ.get("BLOGSMITH_WORKER_PYTHON", sys.executable)


class Client:
    """One worker, started and ready."""

    def __init__(self, root: Path, environ: Mapping[str, str], **start: Any) -> None:
        self.control, far = socket.socketpair()
        self.control.settimeout(60)
        self.process = subprocess.Popen(
            [PYTHON, str(START), "main", str(far.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[far.fileno()],
            env={"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0", **environ},
        )
        far.close()
        self.below = {"stdout": "", "stderr": ""}
        self.pipes = {"stdout": self.process.stdout, "stderr": self.process.stderr}
        for pipe in self.pipes.values():
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        self.number = 0
        limits = {"data_bytes": None, "text_bytes": 1024 * 1024}
        settings: Frame = {"folder": str(root), "root": str(root), "sys_path": [str(root)], "exclude": []}
        settings |= {"limits": limits, "sandbox": "off", "writable": []} | start
        self.send(op="start", **settings)
        self.ready = self.receive()
        self.version = tuple(map(int, self.ready["python"].split(".")))

    def send(self, **message: Any) -> None:
        """Send one message to the worker."""
        data = json.dumps(message).encode()
        self.control.sendall(struct.pack(">I", len(data)) + data)

    def receive(self) -> Frame:
        """Return the next message of the worker; EOFError if it is gone."""
        (length,) = struct.unpack(">I", self.read(4))
        frame: Frame = json.loads(self.read(length))
        return frame

    def read(self, count: int) -> bytes:
        """Return exactly this many bytes."""
        data = b""
        while len(data) < count:
            piece = self.control.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def drain(self, frames: list[Frame]) -> None:
        """Add text from the pipes, in the order of the builder."""
        for name, pipe in self.pipes.items():
            assert pipe is not None
            if data := pipe.read():
                frames.append({"event": "stream", "name": name, "text": data.decode(), "below": True})

    def until(self, event: str) -> list[Frame]:
        """Return all messages up to the event."""
        frames: list[Frame] = []
        while True:
            frame = self.receive()
            self.drain(frames)
            frames.append(frame)
            if frame["event"] == "sync":
                self.send(op="go")
            if frame["event"] == event:
                return frames

    def begin(self, code: str, **options: Any) -> None:
        """Send a cell."""
        self.number += 1
        options = {"seed": None, "claim": False, "shapes": False, **options}
        figures = {"format": "svg", "dark": False}
        self.send(op="cell", number=self.number, code=textwrap.dedent(code), figures=figures, **options)

    def run(self, code: str, **options: Any) -> Ended:
        """Run a cell to its end."""
        self.begin(code, **options)
        return Ended(self.until("done"))

    def need(self, module: str) -> None:
        """Skip the test if the worker's Python lacks a module."""
        if self.run(f"import {module}").status != "ok":
            pytest.skip(f"{module} is not installed")

    def value(self, expression: str, conversion: str = "", spec: str = "") -> Frame:
        """Compute a value of the text."""
        self.send(op="value", number=7, expression=expression, conversion=conversion, spec=spec)
        return self.until("value")[-1]

    def end(self) -> int:
        """End the worker. Return its exit code."""
        self.send(op="end")
        return self.process.wait(60)

    def close(self) -> None:
        """Clean up everything."""
        self.control.close()
        self.process.kill()
        self.process.wait(60)
        for pipe in self.pipes.values():
            assert pipe is not None
            pipe.close()


class Ended:
    """The result of one cell."""

    def __init__(self, frames: list[Frame]) -> None:
        self.frames = frames
        self.done = frames[-1]
        self.status: str = self.done["status"]
        self.failure: Frame = self.done["failure"]

    def text(self, name: str = "stdout") -> str:
        """Return all output of one stream."""
        return "".join(f["text"] for f in self.frames if f["event"] == "stream" and f["name"] == name)

    def order(self) -> list[tuple[str, str]]:
        """Return streams and output in order, with neighbours joined."""
        pieces: list[tuple[str, str]] = []
        for frame in self.frames:
            if frame["event"] == "stream":
                name, text = frame["name"], frame["text"]
            elif frame["event"] == "display":
                name, text = frame["kind"], frame["text"].get("text/plain", "")
            else:
                continue
            if pieces and pieces[-1][0] == name and name.startswith("std"):
                text = pieces.pop()[1] + text
            pieces.append((name, text))
        return pieces

    @property
    def values(self) -> list[Frame]:
        """Return the displays."""
        return [frame for frame in self.frames if frame["event"] == "display"]


Start = Callable[..., Client]


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[Start]:
    """Yield a function that starts workers in the test's folder; end them afterwards."""
    clients: list[Client] = []

    def begin(root: Path = tmp_path, environ: Mapping[str, str] | None = None, **settings: Any) -> Client:
        clients.append(Client(root, environ or {}, **settings))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()


@pytest.fixture
def worker(start_worker: Start) -> Client:
    """Return a worker with default settings."""
    return start_worker()
