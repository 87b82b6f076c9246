"""Faults of fresh processes that make pages; here, because those processes must import it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from blogsmith.build import body_processes
from blogsmith.build.body_processes import make_body_worker
from blogsmith.model.documents import Body
from blogsmith.render import html
from blogsmith.render.html import render_body

LETHAL = "os.kill(os.getpid(), signal.SIGKILL)"
ENDLESS = "time.sleep(600)"


def break_workers(monkeypatch: pytest.MonkeyPatch, act: str, number: int = 13) -> None:
    """Let fresh processes execute a statement when they render page `p<number>`."""
    monkeypatch.setattr(body_processes, "make_body_worker", partial(make_broken_worker, act, number))


def make_broken_worker(act: str, number: int, data: bytes) -> Callable[[Any], Any]:
    """Create a worker like `make_body_worker`."""
    break_pages(act, number)
    return make_body_worker(data)


def break_pages(act: str, number: int = 13) -> None:
    """Execute a statement in this process, and those forked from it, when page `p<number>` is rendered."""

    def render(parsed: Any, tools: Any) -> Body:
        if parsed.document.path.stem == f"p{number}":
            exec(f"import os, signal, time\n{act}")
        return render_body(parsed, tools)

    html.render_body = render
