"""HTML as the Nu checker of the W3C validator reads it: our own site and the sites of `tests/sites/`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.test_sites import SITES

from . import tools
from .conftest import Served


def errors(folder: Path) -> list[str]:
    """Every error in the HTML files below `folder`, with its file and line."""
    java, checker = tools.program("java"), tools.file(tools.NU)
    # deep formulas need a deeper stack than Java gives
    command = [java, "-Xss4m", "-jar", str(checker), "--format", "json", "--exit-zero-always"]
    done = subprocess.run(
        [*command, "--errors-only", "--skip-non-html", "--stdout", str(folder)], capture_output=True, check=True
    )
    messages = json.loads(done.stdout)["messages"]
    return [f"{_place(message, folder)}: {message['message']}" for message in messages]


def _place(message: dict[str, str], folder: Path) -> str:
    return f"{message['url'].removeprefix(folder.as_uri().replace('///', '/'))}:{message.get('lastLine', '-')}"


def test_own_site(own_site: Served) -> None:
    found = errors(own_site.folder)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_snapshots(site: Path) -> None:
    found = errors(site / "expected")
    assert not found, "\n".join(found)


def test_an_error_would_be_found(tmp_path: Path) -> None:
    page = '<!DOCTYPE html><html lang="en"><title>x</title><p><div id="a"></div><h1 id="a">x</h1>'
    (tmp_path / "x.html").write_text(page)
    assert errors(tmp_path) == [
        "/x.html:1: Duplicate ID “a”.",
    ]
