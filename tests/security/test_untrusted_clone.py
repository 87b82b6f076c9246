"""Row 35: no command runs code of a site before its user trusts it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.project.trust.consent import trust
from tests.run_sites import site
from tests.serve_process import running
from tests.site_files import put
from tests.test_sites import tree

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")


@pytest.fixture(autouse=True)
def nobody_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize(
    "command",
    [
        ["build"],
        ["build", "--frozen"],
        ["build", "--strict-env"],
        ["build", "--frozen", "--strict-env"],
        ["check", "--strict"],
        ["freeze", "status"],
        ["freeze", "explain"],
        ["freeze", "prune"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("python", ["python: evil.sh, ", ""], ids=["own-python", "our-python"])
def test_row_35_nothing_of_a_site_that_is_not_trusted_runs(
    tmp_path: Path, command: list[str], python: str
) -> None:
    touch = f"open({str(tmp_path / 'ran')!r}, 'w')"
    post = f"```{{python}}\n#| needs: [mine, numpy]\n#| fallback: skip\n{touch}\n```\n\n{{= {touch} =}}"
    root = site(tmp_path / "s", f"execute: {{{python}preload: [mine, json], env: [HOME]}}\n", a=post)
    (root / "evil.sh").write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    (root / "evil.sh").chmod(0o755)
    for module in ("mine.py", "sitecustomize.py", "numpy.py", "content/posts/mine.py"):
        (root / module).write_text(touch)
    key, folder = "0" * 32, root / "_freeze" / "posts" / "a"
    folder.mkdir(parents=True)
    machine = {"python": "3.0.0", "packages": {"mine": "1", "numpy": "1"}}
    cells = [{"key": key, "code": key, "packages": ["mine", "numpy"]}]
    sessions = {"main": {"start": key, "machine": machine, "cells": cells}}
    (folder / "outputs.json").write_text(json.dumps({"schema": 1, "sessions": sessions}))
    assert main([*command, "--site", str(root)]) in (0, 1, 3)
    assert not (tmp_path / "ran").exists()


COMMANDS = (
    ("build",),
    ("build", "--frozen"),
    ("build", "--strict", "--drafts", "--future"),
    ("check",),
    ("check", "--strict"),
    ("freeze", "status"),
    ("freeze", "explain"),
    ("freeze", "prune"),
    ("freeze", "pack", "results.tar.gz"),
    ("tokens", "content/posts/a.md"),
    ("pyodide",),
    ("new", "post", "Another"),
    ("math", "x^2"),
    ("publish", "setup", "github-pages"),
    ("publish", "check", "netlify"),
    ("clean",),
)
NAMES = ("sitecustomize", "usercustomize", "click", "json", "evil", "yaml", "blogsmith", "conftest")


def hostile(root: Path, mark: Path) -> Path:
    """Write a clone that tries to create the file `mark`.

    It uses every setting and file that can make a site run code.
    """
    touch = f"__import__('pathlib').Path({str(mark)!r}).touch()\n"
    config = (
        "title: T\nplugins: [evil]\neditor: './evil.sh {file}'\n"
        "execute: {python: ./evil.sh, preload: [evil], env: [PATH], engine: worker}\n"
    )
    cell = f"```{{python}}\n#| needs: [evil]\n{touch}```\n\n{{= {touch.strip()} =}}\n"
    modules = {f"{folder}{name}.py": touch for folder in ("", "content/posts/", "lib/") for name in NAMES}
    files = {
        "blogsmith.yaml": config,
        "plugins/evil.py": f"{touch}\ndef register(hooks):\n    {touch}",
        "plugins/__init__.py": touch,
        "evil.sh": f"#!/bin/sh\ntouch {mark}\n",
        "content/posts/a.md": f"---\ntitle: A\ndate: 2026-01-01\n---\n{cell}",
        ".git/hooks/pre-commit": f"#!/bin/sh\ntouch {mark}\n",
        **modules,
    }
    put(root, files)
    for program in ("evil.sh", ".git/hooks/pre-commit"):
        (root / program).chmod(0o755)
    return root


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_row_35_no_command_runs_a_clone(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "ran"
    monkeypatch.chdir(hostile(tmp_path / "s", mark))
    assert main(list(command)) in (0, 1, 2, 3)
    assert not mark.exists()


def test_row_35_nor_does_the_preview(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    root = hostile(tmp_path / "s", mark)
    put(root, {"blogsmith.yaml": "title: T\neditor: './evil.sh {file}'\nexecute: {python: ./evil.sh}\n"})
    with running(root) as serving:
        serving.wait_until_whole()
        serving.act("run", serving.token(), b'{"path": "/posts/a/"}')
        serving.act("edit", serving.token(), b'{"path": "/posts/a/", "line": 1}')
        serving.wait_for("/posts/a/", "200")
    assert not mark.exists()


def test_row_35_the_mark_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After consent the same site does run its code."""
    mark = tmp_path / "ran"
    root = hostile(tmp_path / "s", mark)
    monkeypatch.setattr(sys, "path", list(sys.path))
    trust(root)
    main(["build", "--site", str(root)])
    assert mark.exists()


def test_row_35_a_clone_cannot_bring_its_own_consent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "ran"
    root = hostile(tmp_path / "s", mark)
    mine = site(tmp_path / "mine", a="x = 1")
    trust(mine)
    before = tree(tmp_path / "state")
    (record,) = before.values()
    for place in (".blogsmith/trusted.json", "trusted.json", ".local/state/blogsmith/trusted.json"):
        put(root, {place: record.replace(str(mine).encode(), str(root).encode())})
    monkeypatch.chdir(root)
    main(["build"])
    assert not mark.exists()
    assert tree(tmp_path / "state") == before
