"""Machine and folder must not influence results."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from blogsmith.execute.session.machine_paths import MachinePaths
from blogsmith.model.results import CellRun, Display, SessionRun, Stream
from blogsmith.project.report import ExecutionOptions
from tests.rows import each_row
from tests.run_sites import STALE, command, page, records, site
from tests.site_files import build

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")


# -- what a machine tells about itself --

TALK = """\
import json, logging, os, sys, tempfile, traceback, warnings
warnings.warn("see " + os.getcwd() + "/x.txt")
try: json.loads("x")
except ValueError: traceback.print_exc(); logging.exception("no")

traceback.print_stack()
print(os.getcwd(), tempfile.gettempdir(), os.path.expanduser("~/x"), sys.executable)
json

import subprocess
subprocess.run([sys.executable, "-c", "import json; json.loads('x')"]).returncode

#| error: true
try: os.rmdir(os.path.abspath("../.."))
except OSError as error: raise RuntimeError(os.getcwd()) from error

#| error: true
open(tempfile.gettempdir() + "/nothing")

#| error: true
compile("x = (", os.path.abspath("f.py"), "exec")

#| error: true
import lib.broken
"""


def talkative(root: Path) -> Path:
    site(root, a=TALK)
    (root / "lib").mkdir()
    (root / "lib" / "broken.py").write_text("import json\njson.loads('x')\n")
    return root


def test_a_record_says_nothing_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "s3cr3t")
    monkeypatch.setenv("BLOGSMITH_X", "s3cr3t")
    root = talkative(tmp_path / "mein Blog ü")
    assert build(root, execution=STALE).ok
    text = (root / "_freeze/posts/a/outputs.json").read_text("utf-8") + page(root)
    own = str(Path(__file__).parent.parent / "blogsmith")
    for word in ("s3cr3t", str(tmp_path), own, f"{sys.base_prefix}/lib", f"{Path.home()}/", "blogsmith-"):
        assert word not in text
    assert '"  File \\"json/decoder.py\\", line' in text
    assert 'File \\"lib/broken.py\\", line 2' in text
    assert "<cell 1>:2: UserWarning: see content/posts/x.txt" in text


def test_the_folder_of_a_site_changes_no_record(tmp_path: Path) -> None:
    sites = [talkative(tmp_path / "one"), talkative(tmp_path / "another one" / "ü")]
    for root in sites:
        assert build(root, execution=STALE).ok
    assert records(sites[0]) == records(sites[1])


@each_row(
    ("written", "told"),
    [
        ("/home/ada/blog/content/a.md", "content/a.md"),
        ("'/home/ada/blog'", "'.'"),
        ("/home/ada/blog2 and x/home/ada/y and /home/ada2", "~/blog2 and x/home/ada/y and /home/ada2"),
        ("/home/ada/blog/.venv/lib/python3.11/site-packages/numpy/a.py", "numpy/a.py"),
        ("\x1b[1;31m/home/ada/z\x1b[0m", "\x1b[1;31m~/z\x1b[0m"),
        ("\x1b[1m/usr/lib/python3.11/os.py", "\x1b[1mos.py"),
        ("<p>/tmp/x/q</p></home/ada>", "<p>/tmp/q</p></home/ada>"),
        ('File "/opt/a b/lib/python3.11/os.py", line 3', 'File "os.py", line 3'),
        ("/opt/a b/c.py:3: UserWarning: no", "c.py:3: UserWarning: no"),
        ("/opt/data.csv, 1/2", "/opt/data.csv, 1/2"),
    ],
)
def test_paths_that_mean_nothing_elsewhere(written: str, told: str) -> None:
    here = MachinePaths(Path("/home/ada/blog"), Path("/tmp/x"), "/home/ada")
    run = SessionRun(
        "main", (CellRun("ok", (Stream("stdout", written), Display("value", {"text/plain": written}))),)
    )
    (stream, display) = here.clean_run(run).cells[0].outputs
    assert isinstance(stream, Stream) and isinstance(display, Display)
    assert (stream.text, display.data["text/plain"]) == (told, told)


def test_a_python_that_only_says_its_versions_sees_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "s3cr3t")
    root = site(tmp_path / "s", "execute: {python: py.sh}\n", a="import numpy\nprint(1)")
    (root / "py.sh").write_text(f'#!/bin/sh\nenv >> {tmp_path}/seen\nexec {sys.executable} "$@"\n')
    (root / "py.sh").chmod(0o755)
    for _ in range(2):
        assert build(root, execution=ExecutionOptions(execute="stale", strict_versions=True)).ok
    seen = (tmp_path / "seen").read_text()
    assert seen.count("PYTHONHASHSEED=0") == 2  # the worker, then the probe alone
    assert "s3cr3t" not in seen


# -- the same everywhere --


@pytest.mark.parametrize(
    ("arguments", "config", "environment"),
    [
        pytest.param(
            ["--jobs", "1"],
            "",
            {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "COLUMNS": "33"},
            marks=pytest.mark.long,
        ),
        (
            ["--jobs", "2"],
            "execute: {preload: [numpy, random]}\n",
            {"LC_ALL": "tr_TR.UTF-8", "FORCE_COLOR": "1", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
        ),
    ],
    ids=["one", "two-preloaded"],
)
def test_how_a_site_is_built_changes_no_record(
    tmp_path: Path, arguments: list[str], config: str, environment: dict[str, str]
) -> None:
    code = """\
import numpy as np, os, random, time
a = np.random.default_rng(1).standard_normal((300, 300))
print((a @ a).sum(), {"a", "b", "c"}, time.tzname, hash("x"), os.environ["OMP_NUM_THREADS"])

#| seed: 3
print(random.random(), np.random.rand())"""
    roots = [site(tmp_path / name, more, a=code, b=code) for name, more in (("x", ""), ("y", config))]
    for root, args, more in zip(roots, ([], arguments), ({}, environment), strict=True):
        env = {**os.environ, "SOURCE_DATE_EPOCH": "1780000000", **more}
        assert command(root, *args, env=env).wait(240) == 0
    assert records(roots[0]) == records(roots[1])


def test_addresses_of_objects_are_no_part_of_a_result(tmp_path: Path) -> None:
    code = "class A: pass\nprint(A(), [A().__init__], 'at 0x7f001122')\nA()"
    site(tmp_path, a=code)
    build(tmp_path, execution=STALE)
    shown = page(tmp_path, "a")
    assert "&lt;__main__.A object at 0x…&gt; [&lt;method-wrapper" in shown
    assert shown.count("at 0x…&gt;") == 3 and "at 0x7f001122" in shown
