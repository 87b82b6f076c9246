"""A site with content that matters to hosts: old URLs, feeds, Markdown versions, images, a folder without
page.
"""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from tests.site_files import put, put_bare

ALIASES = ("/alt/ort/", "/2019/x.html", "/it's,(old)/", "/früher/", "/a=b;c/", "/two words/and more.html")
"""Old URLs, some with characters that have a meaning in settings of servers."""
_POST = f"""\
---
title: A post
date: 2026-05-01
aliases: {list(ALIASES)!r}
tags: [one]
---

A formula, $x^2$, and a picture: ![Squares](squares.svg)

```python
print("long enough to be worth compressing")
```
"""
_SQUARES = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="20" height="20"/></svg>\n'
)


def publish_site(root: Path, settings: str = "", *, is_bare: bool = False, **files: str) -> Path:
    """Create a small site. settings: added to its `blogsmith.yaml`. is_bare: with an empty theme."""
    config = f"title: Notes\nllms_txt: true\nsearch: {str(not is_bare).lower()}\n{settings}"
    return (put_bare if is_bare else put)(
        root,
        {
            "blogsmith.yaml": config,
            "content/posts/first/index.md": _POST,
            "content/posts/first/squares.svg": _SQUARES,
            "static/.well-known/security.txt": "Contact: mailto:ada@example.org\n",
            "static/data/numbers.csv": "1,2\n",
            **files,
        },
    )


def run(*arguments: str) -> int:
    """Run a command as typed."""
    return main(list(arguments))


def needs_program(name: str, *places: str) -> str:
    """Return the path of a program; skip if there is none, which is an error in `.ci/run`."""
    found = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *places)))
    if found is None:
        reason = f"{name} is missing; .ci/run installs it"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    assert found is not None, "both of them raise"
    return found


def free_port() -> int:
    """Return an unused port of this machine."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Answer:
    """A response of a server."""

    status: int
    headers: Mapping[str, str]
    """Name in lower case → value."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    port: int

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Send one request; underscores in names of headers become hyphens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(
                method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
            )
            found = connection.getresponse()
            named = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, named, found.read())
        finally:
            connection.close()


@contextmanager
def serving(
    command: list[str], port: int, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Yield a server once it listens. log: file for its output."""
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, env=environment)
    try:
        deadline = time.monotonic() + 20
        while True:
            if process.poll() is not None:
                raise AssertionError(log.read_text("utf-8"))
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        yield Served(port)
    finally:
        process.terminate()
        process.wait(60)
