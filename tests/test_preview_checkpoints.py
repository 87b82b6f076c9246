"""Cells in the preview that continue from the state after the previous cell: when, and how it is reported."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.execute.session.checkpoint_store import CheckpointStore
from tests.preview_cells import Previewed, previewed, url
from tests.run_sites import STALE, records, site
from tests.sessions import LINUX, children, no_process_left, wait_for
from tests.site_files import build
from tests.test_preview_running import LONG

pytestmark = pytest.mark.skipif(not LINUX, reason="checkpoints are made on Linux only")
SLOW = "import random\nrandom.seed(1)\nx = [random.random()]"
SECOND = "x.append(random.random())\nx"


@pytest.fixture
def others() -> set[int]:
    """Return processes that do not belong to the preview, such as browsers of other tests."""
    return children()


@pytest.fixture
def preview(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Previewed]:
    """Yield a site with a post of three cells that have run; each is worth a checkpoint."""
    monkeypatch.setattr(CheckpointStore, "is_worthwhile", lambda *_: True)
    root = site(tmp_path / "s", "execute: {keep: 0}\n", a=f"{SLOW}\n\n{SECOND}\n\nprint(x)")
    with no_process_left(), previewed(root) as running:
        running.changed("a")
        assert running.outcome().ran == 3
        yield running


def edit(preview: Previewed, *cells: str) -> int:
    """Save the post with these cells. Return how many have run at the end."""
    preview.write("a", *cells)
    preview.changed("a")
    while (outcome := preview.outcome()).has_more:
        continue
    assert not outcome.diagnostics
    return outcome.ran


def test_an_edited_cell_runs_alone(preview: Previewed, tmp_path: Path) -> None:
    before = len(preview.events)
    assert edit(preview, SLOW, SECOND, "print('edited', x, random.random())") == 1
    events = preview.events[before:]
    started = [event for event in events if event["state"] == "started"]
    assert [(e["cell"], e["after"], e["of"], e["done"], e["total"]) for e in started] == [(3, 2, 3, 2, 3)]
    assert not [event for event in events if event.get("cell") in (1, 2)]
    # what is recorded is what a build records
    copy = tmp_path / "copy"
    shutil.copytree(preview.root, copy, ignore=shutil.ignore_patterns("_freeze", ".blogsmith"))
    build(copy, execution=STALE)
    assert records(copy) == records(preview.root)
    assert edit(preview, SLOW, SECOND, "print('edited', x, random.random())", "x") == 1


def test_a_save_ends_a_long_cell_and_goes_on_before_it(preview: Previewed) -> None:
    preview.write("a", SLOW, SECOND, LONG)
    preview.changed("a")
    preview.state("output", text="first\n")
    assert edit(preview, SLOW, SECOND, "len(x)") == 1


def test_a_cell_that_failed_is_mended(preview: Previewed) -> None:
    preview.write("a", SLOW, SECOND, "y", "x")
    preview.changed("a")
    assert [found.code for found in preview.outcome().diagnostics] == ["cell-error"]
    assert edit(preview, SLOW, SECOND, "y = x", "x") == 2


def test_a_comment_runs_nothing_and_harms_nothing(preview: Previewed) -> None:
    before = len(preview.events)
    preview.write("a", f"# why\n{SLOW}", SECOND, "print(x)")
    preview.changed("a")
    assert preview.quiet() and len(preview.events) == before
    assert edit(preview, f"# why\n{SLOW}", SECOND, "print(x, x)") == 3


def test_a_data_file_that_changes(preview: Previewed) -> None:
    preview.text("content/posts/data.txt", "1")
    read = "y = open('data.txt').read()\nprint(y)"
    assert edit(preview, SLOW, read, "y") == 2
    preview.text("content/posts/data.txt", "another")
    assert edit(preview, SLOW, read, "y") == 2
    assert "another" in preview.recorded("a")
    assert edit(preview, SLOW, read, "y, y") == 1


def test_all_of_it_runs_where_the_author_says_so(preview: Previewed) -> None:
    before = len(preview.events)
    preview.runner.run_again(url("a"))
    assert preview.outcome().ran == 3
    started = [event["cell"] for event in preview.events[before:] if event["state"] == "started"]
    assert started == [1, 2, 3]
    assert edit(preview, SLOW, SECOND, "x, 1") == 1


def test_what_may_not_run_any_more_is_gone(others: set[int], preview: Previewed) -> None:
    assert len(children() - others) >= 3
    preview.changed("a", may_run=False)
    # one may be a server of warm workers
    wait_for(lambda: len(children() - others) <= 1)


def test_pages_that_nobody_looks_at_have_no_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CheckpointStore, "is_worthwhile", lambda *_: True)
    root = site(tmp_path / "s", a=f"{SLOW}\n\nx")
    with no_process_left(), previewed(root) as running:
        running.changed()
        assert running.outcome().ran == 2
        running.write("a", SLOW, "x, 1")
        running.changed("a")
        assert running.outcome().ran == 2
