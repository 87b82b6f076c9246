"""Row 1: however a build ends, visitors see the complete old or the complete new site.

`tests/test_output.py` kills the writer alone before each of its steps, for each way to replace a folder.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.children import at_step, in_child, kill_self, litter, public, steps_of
from tests.faults.small_site import before, edit
from tests.serve_process import PROGRAM
from tests.site_files import build

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of Linux and macOS")
CALLS = (
    *(
        "mkdir",
        "link",
        "linkat",
        "chmod",
        "fchmodat",
        "syncfs",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
    ),
    *("unlinkat", "rmdir", "ftruncate", "write", "openat", "close", "flock"),
)


def whole(root: Path) -> dict[str, bytes]:
    """Return the output of a clean build of the site."""
    fresh = root.parent / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(root, fresh, ignore=shutil.ignore_patterns("public", ".blogsmith"))
    assert build(fresh).ok
    return public(fresh)


@pytest.fixture
def site(tmp_path: Path) -> tuple[Path, dict[str, bytes], dict[str, bytes]]:
    """Return a site that was built and then edited, with its old and its new pages."""
    root = before(tmp_path / "s")
    assert build(root).ok
    old = public(root)
    edit(root)
    return root, old, whole(root)


def test_row_01_a_build_that_is_killed(site: tuple[Path, dict[str, bytes], dict[str, bytes]]) -> None:
    root, old, new = site
    kept = root.parent / "kept"
    shutil.copytree(root, kept)
    last = steps_of(root)
    seen = []
    shutil.rmtree(root)
    # Steps all over the build, and the last steps, which exchange the folders.
    for step in sorted({*range(0, last, last // 6), last - 12, last - 6, last - 3, last - 1}):
        shutil.copytree(kept, root)
        assert in_child(at_step(step, root, kill_self)) == -signal.SIGKILL
        left = public(root)
        assert left in (old, new), step
        seen.append(left == new)
        assert build(root).ok
        assert public(root) == new, step
        assert litter(root) == set(), step
        shutil.rmtree(root)
    assert False in seen


@pytest.mark.long
def test_row_01_a_hundred_kills_at_random_moments(
    site: tuple[Path, dict[str, bytes], dict[str, bytes]],
) -> None:
    """Switch between two sites, so that every build has something to write."""
    root, old, new = site
    chance = random.Random(14)
    environ = {**os.environ, "XDG_STATE_HOME": str(root.parent / "state")}
    sources = {True: root.parent / "first", False: root.parent / "second"}
    before(sources[True])
    shutil.copytree(root, sources[False], ignore=shutil.ignore_patterns("public", ".blogsmith"))
    pages = {True: old, False: new}
    build(root)
    start = time.monotonic()
    subprocess.run([PROGRAM, "build", "--future"], cwd=root, env=environ, check=True, stdout=-3, stderr=-3)
    # a machine with much other work needs several seconds
    took, outcomes, is_first = time.monotonic() - start, [0, 0], True
    for number in range(100):
        for name in ("content", "static"):
            shutil.rmtree(root / name, ignore_errors=True)
            shutil.copytree(sources[is_first] / name, root / name)
        standing = public(root)
        assert standing in pages.values()
        with subprocess.Popen(
            [PROGRAM, "build", "--future"], cwd=root, env=environ, stdout=-3, stderr=-3
        ) as run:
            try:
                run.wait(chance.uniform(0, 1.2) * took)
            except subprocess.TimeoutExpired:
                run.send_signal((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[number % 3])
        left = public(root)
        assert left in (standing, pages[is_first]), number
        outcomes[left == pages[is_first]] += 1
        assert build(root).ok
        assert public(root) == pages[is_first] and litter(root) == set(), number
        is_first = not is_first
    assert min(outcomes) > 5, outcomes


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("call", CALLS)
def test_row_01_killed_at_a_system_call(
    call: str, site: tuple[Path, dict[str, bytes], dict[str, bytes]]
) -> None:
    root, old, new = site
    kept = root.parent / "kept"
    shutil.copytree(root, kept)
    for when in (1, 2, 5, 12, 40):
        shutil.rmtree(root)
        shutil.copytree(kept, root)
        trace = ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}"]
        inject = ["-e", f"inject={call}:signal=KILL:when={when}"]
        subprocess.run([*trace, *inject, PROGRAM, "build"], cwd=root, capture_output=True)
        assert public(root) in (old, new), when
        assert build(root).ok
        assert public(root) == new and litter(root) == set(), when
