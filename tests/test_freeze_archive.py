"""Recorded results in one file: reproducible, verified before any is placed; and pruning."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from msgspec.structs import replace

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.freeze.archive import UnpackResult, pack, prune, unpack
from blogsmith.freeze.record import PageRecord
from blogsmith.freeze.record_form import Origin
from blogsmith.freeze.store import image_digests, read_page, write_page
from tests.recorded import POST, cell, page, pictured, record

OTHER = PurePosixPath("content/posts/v1.2.md")
FOLDER = "_freeze/posts/attention"


@pytest.fixture
def gpu_box(tmp_path: Path) -> Path:
    root = tmp_path / "box"
    root.mkdir()
    write_page(root, POST, pictured(b"1", b"2"))
    write_page(root, OTHER, record(page(cell("x\n"))))
    return root


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = tmp_path / "home"
    root.mkdir()
    return root


def packed(box: Path) -> Path:
    target = box.parent / "results.tar.gz"
    assert pack(box, [POST, OTHER, PurePosixPath("content/none.md")], target) == (
        FOLDER,
        "_freeze/posts/v1.2",
    )
    return target


def files_in(root: Path) -> dict[str, bytes]:
    return {
        file.relative_to(root).as_posix(): file.read_bytes() for file in (root / "_freeze").rglob("*.*g*")
    }


def test_results_travel(gpu_box: Path, home: Path) -> None:
    file = packed(gpu_box)
    assert unpack(home, file) == UnpackResult(placed=(FOLDER, "_freeze/posts/v1.2"))
    for post in (POST, OTHER):
        assert read_page(home, post) == read_page(gpu_box, post)
    assert files_in(home) == files_in(gpu_box)
    assert unpack(home, file) == UnpackResult(same=(FOLDER, "_freeze/posts/v1.2"))


def test_the_same_results_give_the_same_bytes(gpu_box: Path) -> None:
    first = packed(gpu_box).read_bytes()
    (gpu_box / FOLDER / "outputs.json").touch()
    assert packed(gpu_box).read_bytes() == first


def test_only_the_posts_asked_for_are_packed(gpu_box: Path, home: Path) -> None:
    file = gpu_box / "one.tgz"
    assert pack(gpu_box, [OTHER], file) == ("_freeze/posts/v1.2",)
    unpack(home, file)
    assert read_page(home, POST).record is None


def test_the_archive_wins_unless_told_to_keep(gpu_box: Path, home: Path) -> None:
    mine = write_page(home, POST, pictured(b"mine"))
    assert unpack(home, packed(gpu_box), keep_existing=True) == UnpackResult(
        ("_freeze/posts/v1.2",), (), (FOLDER,)
    )
    assert read_page(home, POST).record == mine
    assert unpack(home, packed(gpu_box)) == UnpackResult((FOLDER,), ("_freeze/posts/v1.2",))
    assert read_page(home, POST) == read_page(gpu_box, POST)
    names = {file.name for file in (home / FOLDER).iterdir()}
    assert names == {*image_digests(pictured_record(gpu_box)), "outputs.json"}


def pictured_record(root: Path) -> PageRecord:
    found = read_page(root, POST).record
    assert found is not None
    return found


def test_the_same_result_of_another_day_stays(gpu_box: Path, home: Path) -> None:
    session = pictured(b"1", b"2").sessions["main"]
    later = PageRecord({"main": replace(session, origin=Origin(session.origin.machine, "2027-01-01"))})
    mine = write_page(home, POST, later)
    assert FOLDER in unpack(home, packed(gpu_box)).same
    assert read_page(home, POST).record == mine


def test_an_archive_that_cannot_be_written_is_said(gpu_box: Path) -> None:
    with pytest.raises(SiteError) as caught:
        pack(gpu_box, [POST], gpu_box / "none" / "results.tar.gz")
    assert caught.value.diagnostics[0].code == "freeze-archive"


# -- pruning --


def test_what_no_page_uses_is_removed_and_said(gpu_box: Path) -> None:
    (gpu_box / FOLDER / f"old-1-{'0' * 8}.svg").write_text("old")
    (gpu_box / FOLDER / ".new-outputs.json").write_text("half")
    (gpu_box / FOLDER / "notes.txt").write_text("mine")
    said = (
        f"{FOLDER}/.new-outputs.json: not used by any record",
        f"{FOLDER}/old-1-00000000.svg: not used by any record",
        "_freeze/posts/v1.2: no page with this path runs code",
    )
    before = sorted((gpu_box / "_freeze").rglob("*"))
    assert prune(gpu_box, [POST], dry=True) == said
    assert sorted((gpu_box / "_freeze").rglob("*")) == before
    assert prune(gpu_box, [POST]) == said
    assert prune(gpu_box, [POST]) == ()
    assert not (gpu_box / "_freeze/posts/v1.2").exists()
    assert (gpu_box / FOLDER / "notes.txt").read_text() == "mine"
    assert read_page(gpu_box, POST).diagnostics == ()
    assert read_page(gpu_box, POST).record is not None


def test_pruning_everything_leaves_files_of_others(gpu_box: Path) -> None:
    (gpu_box / FOLDER / "notes.txt").write_text("mine")
    prune(gpu_box, [])
    left = [file for file in (gpu_box / "_freeze").rglob("*") if file.is_file()]
    assert sorted(file.name for file in left) == [".gitattributes", "notes.txt"]


def test_pruning_leaves_the_pictures_of_a_damaged_record(gpu_box: Path) -> None:
    (gpu_box / FOLDER / "outputs.json").write_text("<<<<<<< HEAD\n")
    assert prune(gpu_box, [POST, OTHER]) == ()


def test_pruning_follows_no_links(gpu_box: Path) -> None:
    outside = gpu_box.parent / "outside"
    write_page(outside_site(outside), POST, pictured(b"1"))
    (gpu_box / "_freeze" / "link").symlink_to(outside / "_freeze")
    prune(gpu_box, [POST, OTHER])
    assert read_page(outside, POST).record is not None


def outside_site(root: Path) -> Path:
    root.mkdir()
    return root


def test_nothing_recorded_is_nothing_to_prune(home: Path) -> None:
    assert prune(home, [POST]) == ()
