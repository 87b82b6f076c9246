"""Builds that are interrupted during a run leave nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from blogsmith.execute.session.session import run_session
from blogsmith.execute.session.working_folder import working_folder
from tests.run_sites import command, site
from tests.sessions import LINUX, descriptors, job, wait_for

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")


# -- interrupted builds --

RECORDED = "_freeze/posts/a/outputs.json"
ESCAPES = """\
import os, subprocess, tempfile, time, pathlib
(pathlib.Path(tempfile.gettempdir()) / "x").write_text("x")
subprocess.Popen(["sleep", "600"])
subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path("started").touch()
time.sleep(60)"""


def started(root: Path, temporary: Path, config: str = "") -> subprocess.Popen[bytes]:
    """Start a build and wait until it runs its second post."""
    temporary.mkdir()
    site(root, config, a="print(1)", b=ESCAPES)
    env = {**os.environ, "TMPDIR": str(temporary), "USER": str(root)}
    process = command(root, "--jobs", "1", env=env)
    # the second post may start before the first one is recorded, as another thread does that
    wait_for(lambda: all((root / name).exists() for name in ("content/posts/started", RECORDED)))
    return process


def processes(root: Path) -> list[int]:
    """Return the processes started by a build of `started`."""
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
    assert process.wait(60) == code
    assert processes(root) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    # the finished post is recorded, the other is not
    assert [str(p.relative_to(root)) for p in root.rglob("outputs.json")] == [RECORDED]


@pytest.mark.skipif(not LINUX, reason="processes are found under /proc")
def test_the_next_run_clears_up_behind_a_killed_builder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, temporary = tmp_path / "s", tmp_path / "tmp"
    process = started(root, temporary)
    process.kill()
    process.wait(60)
    assert processes(root)  # the process that left its group
    (temporary / "blogsmith-file").touch()
    (temporary / "blogsmith-link").symlink_to(tmp_path / "s")
    folders = [entry for entry in temporary.iterdir() if entry.is_dir() and not entry.is_symlink()]
    (left,) = folders
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    for folder in folders:
        os.utime(folder)  # as if this had taken no time
    with working_folder() as young:
        assert left.exists(), "it may be new, and not locked yet"
        for folder in (*folders, young):
            os.utime(folder, (1, 1))
        with working_folder():
            assert young.exists(), "somebody works in it"
    wait_for(lambda: not processes(root))
    assert sorted(entry.name for entry in temporary.iterdir()) == ["blogsmith-file", "blogsmith-link"]
    assert (root / "blogsmith.yaml").exists()


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
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
    assert descriptors() - before == set()
