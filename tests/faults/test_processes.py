"""Row 17: after signals or output errors the old or the new site is complete, without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from blogsmith.cli.main import main
from tests.faults.children import at_step, in_child, litter, public, steps_of
from tests.faults.small_site import before, edit
from tests.serve_process import PROGRAM
from tests.site_files import build, put

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of Linux and macOS")


def command(root: Path) -> int:
    """Build the site through the command line."""
    return main(["build", "--site", str(root)])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a site that was built once and edited after that."""
    root = before(tmp_path / "s")
    assert build(root).ok
    edit(root)
    return root


@pytest.mark.parametrize(("number", "codes"), [(signal.SIGINT, (130, 0)), (signal.SIGTERM, (-15, 143))])
def test_row_17_a_signal_at_any_step(number: int, codes: tuple[int, ...], tmp_path: Path) -> None:
    copy = before(tmp_path / "copy")
    assert build(copy).ok
    edit(copy)
    old = public(copy)
    last = steps_of(copy)
    new = public(copy)
    for step in range(0, last, last // 5):
        root = before(tmp_path / str(step))
        assert build(root).ok
        edit(root)
        assert in_child(at_step(step, root, lambda: os.kill(os.getpid(), number), command)) in codes
        assert public(root) in (old, new)
        assert build(root).ok and public(root) == new and litter(root) == set()


def test_row_17_nobody_reads_what_it_says(site: Path) -> None:
    put(site, {f"content/broken{n}.md": "[x](gone.md)\n" for n in range(60)})
    for stream in ("stdout", "stderr"):
        reader, writer = os.pipe()
        os.close(reader)
        other = "stderr" if stream == "stdout" else "stdout"
        streams: dict[str, Any] = {stream: writer, other: subprocess.PIPE}
        done = subprocess.run([PROGRAM, "check"], cwd=site, **streams, text=True)
        os.close(writer)
        assert "Traceback" not in (done.stdout or "") + (done.stderr or "")
        assert done.returncode in (1, 141, -signal.SIGPIPE)


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_row_17_closed_streams(site: Path, closed: str) -> None:
    script = f"exec '{PROGRAM}' build --future {closed}"
    done = subprocess.run(["sh", "-c", script], cwd=site, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert b"About us" in public(site)["about/index.html"]


def test_row_17_a_terminal_of_ascii(tmp_path: Path) -> None:
    root = put(tmp_path, {"blogsmith.yaml": "title: Ümläut\n", "content/α.md": "[ß](gone→.md)\n"})
    environ = {**os.environ, "LC_ALL": "C", "LANG": "C"}
    done = subprocess.run([PROGRAM, "check"], cwd=root, env=environ, capture_output=True)
    assert done.returncode == 1 and b"Traceback" not in done.stderr
    assert b"link-missing" in done.stderr
