"""Row 13: after any edits, a build with a cache and the preview give the same output as a clean build.

A script depends only on its seed, which a failing test reports. `tests/test_preview_line.py` tests the
preview's incremental build alone.
"""

from __future__ import annotations

import random
import shutil
import signal
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.build.incremental import UpdateRequest
from tests.faults.children import at_step, in_child, kill_self, litter, public
from tests.faults.scripts import changed, edit, mend, snapshot
from tests.faults.small_site import before
from tests.preview_sites import built, new_line, outputs, settled
from tests.site_files import build, put

SHORT, LONG = 6, 20
MOST_STEPS = 300
"""Slightly more steps than a build of the site has. A kill after the last step has no effect."""


def start(root: Path) -> Path:
    """Write a site with two themes."""
    before(root)
    return put(root, {"themes/mine/theme.yaml": "extends: bare\n", "static/two.svg": "<svg/>"})


def clean_build(root: Path, fresh: Path) -> tuple[bool, dict[str, bytes]]:
    """Build a copy of the sources without a cache; return whether it succeeded, and its output."""
    shutil.rmtree(fresh, ignore_errors=True)
    put(fresh, snapshot(root))
    return build(fresh).ok, public(fresh)


def run_build_script(root: Path, seed: int, edits: int) -> int:
    """Edit and build repeatedly, sometimes kill the build, compare; return the number of builds compared."""
    chance = random.Random(seed)
    start(root)
    build(root, use_cache=True)
    compared, done = 0, []
    for _ in range(edits):
        done.append(edit(root, chance))
        if chance.random() < 0.3:
            continue
        if chance.random() < 0.2:
            step = chance.randrange(MOST_STEPS)
            assert in_child(at_step(step, root, kill_self, _remember)) in (0, 1, -signal.SIGKILL)
            done.append(f"killed at {step}")
        old = public(root)
        report = build(root, use_cache=True)
        is_fine, right = clean_build(root, root.with_name("fresh"))
        assert report.ok is is_fine, (seed, done)
        assert public(root) == (right if is_fine else old), (seed, done)
        assert litter(root) <= {"shortcodes", "partials"}, (seed, done)
        compared += is_fine
        if not is_fine and chance.random() < 0.7:
            mend(root)
            done.append("mend")
    return compared


def _remember(root: Path) -> int:
    return 0 if build(root, use_cache=True).ok else 1


def run_preview_script(root: Path, seed: int, edits: int) -> int:
    """Do the same with the incremental build of the preview."""
    chance = random.Random(seed)
    start(root)
    line, present, compared, done = new_line(root), None, 0, []
    known = snapshot(root)
    for _ in range(edits):
        done.append(edit(root, chance))
        now = snapshot(root)
        paths = changed(known, now)
        try:
            present = settled(line, present, UpdateRequest(paths, everything=present is None))
            known = now
        except SiteError:
            # The preview does the same: it does not know what was restored.
            present, line = None, new_line(root)
            mend(root)
            known = snapshot(root)
            continue
        if clean_build(root, root.with_name("fresh"))[0]:
            assert outputs(present) == built(root.with_name("fresh") / "public"), (seed, done)
            compared += 1
        elif chance.random() < 0.7:
            mend(root)
            done.append("mend")
    return compared


def test_row_13_a_build_after_edits_is_a_clean_build(tmp_path: Path) -> None:
    assert sum(run_build_script(tmp_path / f"s{seed}" / "s", seed, SHORT) for seed in range(SHORT)) > SHORT


def test_row_13_so_is_the_preview(tmp_path: Path) -> None:
    assert sum(run_preview_script(tmp_path / str(seed) / "s", seed, SHORT) for seed in range(SHORT // 2)) > 2


@pytest.mark.long
@pytest.mark.parametrize("part", range(50))
def test_row_13_five_hundred_scripts_of_twenty_edits(part: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(10 * part, 10 * part + 10):
        compared += run_build_script(tmp_path / f"b{seed}" / "s", seed, LONG)
        compared += run_preview_script(tmp_path / f"p{seed}" / "s", seed, LONG)
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
    assert compared > 20
