"""A minimal Pyodide distribution: a stub of its core, wheels of a few bytes, and their lock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from blogsmith.cli import pyodide_vendor
from blogsmith.pyodide import distribution, source
from blogsmith.pyodide.release import CORE, LOCK, CoreFile

STUB_CORE = {name: f"stub of {name}".encode() * (number + 1) for number, name in enumerate(CORE)}
"""Name of a core file → its bytes."""
PACKAGES: Mapping[str, tuple[list[str], list[str]]] = {
    "numpy": (["numpy"], []),
    "scipy": (["scipy"], ["numpy", "libopenblas"]),
    "libopenblas": ([], []),
    "pandas": (["pandas"], ["numpy"]),
}
"""Name → (modules, depends)."""


def sha256(data: bytes) -> str:
    """Return the digest as hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def wheel(name: str) -> bytes:
    """Return the stub of the file of package `name`."""
    return f"wheel of {name}".encode() * 50


def file_name(name: str) -> str:
    """Return the file name of package `name`."""
    return f"{name}-1.0-stub.{'zip' if name.startswith('lib') else 'whl'}"


def stub_lock(**changes: Mapping[str, object]) -> dict[str, Any]:
    """Return the lock of all packages. changes: package → fields that differ."""
    packages: dict[str, Mapping[str, object]] = {
        name: {
            "name": name,
            "version": "1.0",
            "file_name": file_name(name),
            "sha256": sha256(wheel(name)),
            "imports": modules,
            "depends": depends,
            "install_dir": "site",
        }
        for name, (modules, depends) in PACKAGES.items()
    }
    for name, fields in changes.items():
        packages[name] = {**packages.get(name, packages["numpy"]), **fields}
    return {"info": {"arch": "wasm32", "python": "3.14.2"}, "packages": packages, "tool": {"kept": 1}}


def write_stub(folder: Path, lock: Mapping[str, Any] | None = None) -> Path:
    """Write the distribution to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in STUB_CORE.items():
        (folder / name).write_bytes(data)
    for name in PACKAGES:
        (folder / file_name(name)).write_bytes(wheel(name))
    (folder / LOCK).write_text(json.dumps(lock or stub_lock()), encoding="utf-8")
    return folder


def pin_stub(patch: pytest.MonkeyPatch) -> None:
    """Pin the core of the stub."""
    core = {name: CoreFile(len(data), sha256(data)) for name, data in STUB_CORE.items()}
    for module in (distribution, source, pyodide_vendor):
        patch.setattr(module, "CORE", core)


@dataclass
class Web:
    """A file server with configurable faults."""

    files: dict[str, bytes]
    url: str = ""
    asked: list[str] = field(default_factory=list)
    cut: str = ""
    """File whose response is cut off in the middle."""
    redirects: dict[str, str] = field(default_factory=dict)


@contextmanager
def served(folder: Path) -> Iterator[Web]:
    """Serve the files of `folder` on a port of this machine until the end of the block."""
    web = Web({path.name: path.read_bytes() for path in folder.iterdir()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.removeprefix("/full/")
            web.asked.append(name)
            if name in web.redirects:
                self.send_response(302)
                self.send_header("Location", web.redirects[name])
                self.end_headers()
                return
            data = web.files.get(name)
            self.send_response(200 if data is not None else 404)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write((data or b"")[: len(data or b"") // 2 if name == web.cut else None])

        def log_message(self, *arguments: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.url = f"http://127.0.0.1:{server.server_port}/full/"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
