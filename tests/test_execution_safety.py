"""Attacks on running code: sites that nobody trusts, hostile records, killed builders, talkative machines."""

from __future__ import annotations

import copy
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from blogsmith.cli import main
from blogsmith.execute.conversation import run_session
from blogsmith.execute.machine_paths import MachinePaths
from blogsmith.execute.working_folder import working_folder
from blogsmith.ledger import ExecutionOptions
from blogsmith.runs import CellRun, Display, SessionRun, Stream
from tests.sessions import LINUX, job, value
from tests.site_files import build, printed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")
X = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b]0;x\x07\u202e"
STALE = ExecutionOptions(execute="stale")


@pytest.fixture(autouse=True)
def nobody_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def site(root: Path, config: str = "", **posts: str) -> Path:
    """A site whose posts are code: cells with an empty line between them, or Markdown that begins so."""
    (root / "content" / "posts").mkdir(parents=True)
    (root / "blogsmith.yaml").write_text(f"title: T\n{config}")
    for name, text in posts.items():
        body = text if "```" in text else "\n\n".join(f"```{{python}}\n{c}\n```" for c in text.split("\n\n"))
        (root / "content" / "posts" / f"{name}.md").write_text(f"---\ntitle: {name}\n---\n{body}\n")
    return root


def page(root: Path, name: str = "a") -> str:
    return (root / "public" / "posts" / name / "index.html").read_text("utf-8")


def records(root: Path) -> dict[str, bytes]:
    """Everything recorded, without the seconds of the run."""
    files = (file for file in sorted((root / "_freeze").rglob("*")) if file.is_file())
    return {
        str(file.relative_to(root)): re.sub(rb'"seconds": [^,\n]+', b"", file.read_bytes()) for file in files
    }


# -- trust --


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
def test_nothing_of_a_site_that_is_not_trusted_runs(tmp_path: Path, command: list[str], python: str) -> None:
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


# -- hostile records --

POST = """\
```{python}
#| label: one
#| freeze: true
import json
print("hi")
class A:
    def _repr_html_(self): return "<b>1</b>"
    def _repr_svg_(self): return "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>"
A()
```

```{python}
#| error: true
1 / 0
```

{= 6 * 7 =}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = site(tmp_path_factory.mktemp("hostile") / "s", a=POST)
    assert build(root, execution=STALE).ok
    return root, json.loads((root / "_freeze/posts/a/outputs.json").read_bytes())


def leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(part, dict | list):
        for key in part if isinstance(part, dict) else range(len(part)):
            yield from leaves(part[key], (*path, key))
    else:
        yield path


def changed(data: dict[str, Any], path: tuple[Any, ...], new: object) -> dict[str, Any]:
    data = copy.deepcopy(data)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return data


class Harm(HTMLParser):
    """What in a page could run or load something, but for what every page has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        own = tag in ("script", "iframe", "object", "embed", "base")
        addresses = (given.get(name, "") for name in ("src", "href", "srcset", "action", "xlink:href"))
        bad = any(name.startswith("on") for name in given) or any("javascript" in text for text in addresses)
        if (own and "alert" in str(self.rawdata)) or bad or given.get("src") == "x":
            self.found.append(f"<{tag} {given}>")


def shown(root: Path, data: dict[str, Any]) -> str:
    """The page of a record that nobody of us wrote; that there is one says that nothing failed."""
    (root / "_freeze/posts/a/outputs.json").write_text(json.dumps(data))
    report = build(root)
    assert "\x1b" not in printed(report)
    html = page(root)
    reader = Harm()
    reader.feed(html)
    assert reader.found == []
    assert "\x1b" not in html
    return html


def test_the_words_of_a_record_may_be_hostile(recorded: tuple[Path, dict[str, Any]]) -> None:
    root, data = recorded
    for path in leaves(data):
        shown(root, changed(data, path, X))


@pytest.mark.parametrize("new", [-1, 10**400, -1e308])
def test_the_numbers_of_a_record_may_be_hostile(recorded: tuple[Path, dict[str, Any]], new: float) -> None:
    root, data = recorded
    for path in leaves(data):
        at: Any = data
        for key in path:
            at = at[key]
        if isinstance(at, int | float):
            shown(root, changed(data, path, new))


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("machine", "packages"), {"": "1"}),
        (("machine", "packages"), {X: "1"}),
        (("machine", "threads"), 10**400),
        (("date",), X),
        (("cells", 0, "packages"), [""]),
        (("cells", 0, "seconds"), 1e308),
        (
            ("cells", 0, "outputs"),
            [{"output_type": "stream", "name": "stdout", "text": [], "dropped": 10**400}],
        ),
    ],
    ids=str,
)
def test_a_record_that_no_run_gives_counts_as_damaged(
    recorded: tuple[Path, dict[str, Any]], path: tuple[Any, ...], new: object
) -> None:
    root, data = recorded
    shown(root, changed(data, ("sessions", "main", *path), new))
    assert [d.code for d in build(root).diagnostics][:1] == ["freeze-damaged"]


@pytest.mark.parametrize("mime", ["text/html", "text/latex", "application/javascript", "image/svg+xml", X])
def test_what_a_record_shows_is_data(recorded: tuple[Path, dict[str, Any]], mime: str) -> None:
    root, data = recorded
    for text in (
        X,
        "<svg onload=alert(1)>",
        "<a href=javascript:alert(1)>x</a>",
        "$\\href{javascript:1}{x}$",
    ):
        outputs = [{"output_type": "display_data", "data": {mime: [text]}}]
        html = shown(root, changed(data, ("sessions", "main", "cells", 0, "outputs"), outputs))
        assert "cell-output" in html or mime == "text/html"


def test_links_out_of_the_site_lead_nowhere(tmp_path: Path, recorded: tuple[Path, dict[str, Any]]) -> None:
    outside = tmp_path / "outside"
    (outside / "a").mkdir(parents=True)
    (outside / "a" / "outputs.json").write_text(json.dumps(recorded[1]))
    before = records(tmp_path), sorted(outside.rglob("*"))
    root = site(tmp_path / "s", a=POST)
    (root / "_freeze").mkdir()
    (root / "_freeze" / "posts").symlink_to(outside)
    report = build(root, execution=STALE)
    assert {d.code for d in report.diagnostics} == {"freeze-damaged", "freeze-write"}
    assert main(["freeze", "prune", "--site", str(root)]) == 0
    (root / "_freeze" / "posts").unlink()
    (root / "_freeze").rmdir()
    (root / "_freeze").symlink_to(outside)
    assert main(["freeze", "prune", "--site", str(root)]) == 1
    assert (records(tmp_path), sorted(outside.rglob("*"))) == before


def test_a_picture_that_is_a_link_is_not_copied(tmp_path: Path) -> None:
    root = site(tmp_path / "s", a=POST)
    assert build(root, execution=STALE).ok
    (picture,) = (root / "_freeze/posts/a").glob("*.svg")
    picture.replace(tmp_path / "elsewhere.svg")
    picture.symlink_to(tmp_path / "elsewhere.svg")
    assert [d.code for d in build(root).diagnostics] == ["freeze-damaged", "cell-pending"]
    assert not list((root / "public").rglob(picture.name))


@pytest.mark.parametrize(
    "inside",
    [
        "<script>1</script>",
        "<x:script xmlns:x='http://www.w3.org/2000/svg'>1</x:script>",
        "<rect onload = '1'/>",
        "<a href='&#106;avascript:1'/>",
        "<foreignObject/>",
    ],
)
def test_a_picture_with_a_script_in_it_is_not_shown(tmp_path: Path, inside: str) -> None:
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>{inside}</svg>"
    root = site(tmp_path / "s", a=f"class S:\n    def _repr_svg_(self): return {svg!r}\nS()")
    assert [d.code for d in build(root, execution=STALE).diagnostics if d.severity == "error"] == [
        "cell-picture"
    ]


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


@pytest.mark.parametrize(
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
    (stream, display) = here.removed(run).cells[0].outputs
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
    assert seen.count("PYTHONHASHSEED=0") == 2  # the worker; then the probe alone
    assert "s3cr3t" not in seen


# -- the same everywhere --


@pytest.mark.parametrize(
    ("arguments", "config", "environment"),
    [
        (["--jobs", "1"], "", {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "COLUMNS": "33"}),
        (
            ["--jobs", "2"],
            "execute: {preload: [numpy, random]}\n",
            {"LC_ALL": "tr_TR.UTF-8", "FORCE_COLOR": "1"},
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
        assert command(root, *args, env=env).wait(60) == 0
    assert records(roots[0]) == records(roots[1])


def command(root: Path, *arguments: str, env: dict[str, str]) -> subprocess.Popen[bytes]:
    call = [sys.executable, "-m", "blogsmith", "build", "--execute", *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(call, cwd=root, env=env, start_new_session=True, **quiet)  # type: ignore[call-overload, no-any-return]


# -- builders that are broken off --

ESCAPES = """\
import os, subprocess, tempfile, time, pathlib
(pathlib.Path(tempfile.gettempdir()) / "x").write_text("x")
subprocess.Popen(["sleep", "600"])
subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path("started").touch()
time.sleep(60)"""


def started(root: Path, temporary: Path, config: str = "") -> subprocess.Popen[bytes]:
    """A builder in the middle of its second post."""
    temporary.mkdir()
    site(root, config, a="print(1)", b=ESCAPES)
    env = {**os.environ, "TMPDIR": str(temporary), "USER": str(root)}
    process = command(root, "--jobs", "1", env=env)
    wait_for((root / "content/posts/started").exists)
    return process


def wait_for(met: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end
        time.sleep(0.01)


def processes(root: Path) -> list[int]:
    """Those that stem from a builder that `started`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"USER={root}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.skipif(not LINUX, reason="processes are found under /proc")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["int", "term", "hup"],
)
@pytest.mark.parametrize("config", ["", "execute: {preload: [json]}\n"], ids=["spawned", "forked"])
def test_a_builder_that_is_told_to_end_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int, config: str
) -> None:
    root = tmp_path / "s"
    process = started(root, tmp_path / "tmp", config)
    process.send_signal(number)
    assert process.wait(20) == code
    assert processes(root) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    # the post that was done is recorded, the other is not
    assert [str(p.relative_to(root)) for p in root.rglob("outputs.json")] == ["_freeze/posts/a/outputs.json"]


@pytest.mark.skipif(not LINUX, reason="processes are found under /proc")
def test_the_next_run_clears_up_behind_a_killed_builder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, temporary = tmp_path / "s", tmp_path / "tmp"
    process = started(root, temporary)
    process.kill()
    process.wait(20)
    assert processes(root)  # the one that left its group
    (temporary / "blogsmith-file").touch()
    (temporary / "blogsmith-link").symlink_to(tmp_path / "s")
    (left,) = (entry for entry in temporary.iterdir() if entry.is_dir() and not entry.is_symlink())
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with working_folder() as young:
        assert left.exists(), "it may be new, and not locked yet"
        for folder in (left, young):
            os.utime(folder, (1, 1))
        with working_folder():
            assert young.exists(), "somebody works in it"
    wait_for(lambda: not processes(root))
    assert sorted(entry.name for entry in temporary.iterdir()) == ["blogsmith-file", "blogsmith-link"]
    assert (root / "blogsmith.yaml").exists()


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    def descriptors() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    codes = (
        "print(1)",
        "import os; os._exit(3)",
        "import os; os.kill(os.getpid(), 11)",
        "import sys; sys.exit(1)",
    )
    run_session(job(tmp_path, codes[0]))
    before = descriptors()
    for code in codes:
        run_session(job(tmp_path, code))
    run_session(job(tmp_path, "1", python="/nowhere/python"))
    assert descriptors() == before


# -- large and broken --


def test_a_value_in_the_text_is_cut(tmp_path: Path) -> None:
    run = run_session(job(tmp_path, "x = 1", value(1, "'v' * 10**7")))
    assert run.values[1].text == "v" * 65536 + "…"


@pytest.mark.parametrize("data", ["%%%", "A", "AAAAAAAAA"])
def test_a_form_that_is_no_base64_is_left_out(tmp_path: Path, data: str) -> None:
    code = f"""\
class P:
    def _repr_mimebundle_(self, include, exclude): return {{"image/png": {data!r}, 3: 4, "text/html": 5}}
    def __repr__(self): return "P"
P()"""
    (found,) = run_session(job(tmp_path, code)).cells[0].outputs
    assert isinstance(found, Display)
    assert found.data == {"text/plain": "P"}
