"""Recorded results in one file: the same bytes again, checked whole before any is placed; and pruning."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.errors import SiteError
from blogsmith.freeze import archive
from blogsmith.freeze.archive import Unpacked, pack, prune, unpack
from blogsmith.freeze.record import PageRecord
from blogsmith.freeze.record_json import to_json
from blogsmith.freeze.store import pictures_of, read_page, write_page
from tests.recorded import POST, cell, digest, page, pictured, record

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
    assert unpack(home, file) == Unpacked(placed=(FOLDER, "_freeze/posts/v1.2"))
    for post in (POST, OTHER):
        assert read_page(home, post) == read_page(gpu_box, post)
    assert files_in(home) == files_in(gpu_box)
    assert unpack(home, file) == Unpacked(same=(FOLDER, "_freeze/posts/v1.2"))


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
    assert unpack(home, packed(gpu_box), keep=True) == Unpacked(("_freeze/posts/v1.2",), (), (FOLDER,))
    assert read_page(home, POST).record == mine
    assert unpack(home, packed(gpu_box)) == Unpacked((FOLDER,), ("_freeze/posts/v1.2",))
    assert read_page(home, POST) == read_page(gpu_box, POST)
    names = {file.name for file in (home / FOLDER).iterdir()}
    assert names == {*pictures_of(pictured_record(gpu_box)), "outputs.json"}


def pictured_record(root: Path) -> PageRecord:
    found = read_page(root, POST).record
    assert found is not None
    return found


def test_the_same_result_of_another_day_stays(gpu_box: Path, home: Path) -> None:
    session = pictured(b"1", b"2").sessions["main"]
    later = PageRecord({"main": replace(session, origin=replace(session.origin, date="2027-01-01"))})
    mine = write_page(home, POST, later)
    assert FOLDER in unpack(home, packed(gpu_box)).same
    assert read_page(home, POST).record == mine


# -- hostile archives --

VALID = to_json(record(page(cell("x\n"))))
Member = tuple[str, bytes, bytes]


def archive_of(*members: Member) -> bytes:
    """members: name, contents, type."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data, kind in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = "/etc/passwd" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(plain.getvalue())


def plain_file(name: str, data: bytes = VALID) -> Member:
    return (name, data, tarfile.REGTYPE)


GOOD = plain_file("_freeze/a/outputs.json")
SVG = f"fig-1-{digest('<svg/>')[:8]}.svg"


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([plain_file("_freeze/../../x/outputs.json")], "is not a file that blogsmith writes"),
        ([plain_file("/_freeze/a/outputs.json")], "is not a file that blogsmith writes"),
        ([plain_file("content/posts/outputs.json")], "is not a file that blogsmith writes"),
        ([plain_file("_freeze/outputs.json")], "is not a file that blogsmith writes"),
        ([plain_file("_freeze/a/./outputs.json")], "is not a file that blogsmith writes"),
        ([plain_file("_freeze/a\\..\\b/outputs.json")], "is not a file that blogsmith writes"),
        ([plain_file("_freeze/c:/outputs.json")], "is not a file that blogsmith writes"),
        ([GOOD, plain_file("_freeze/a/run.sh")], "is not a file that blogsmith writes"),
        ([GOOD, plain_file("_freeze/a/.new-outputs.json")], "is not a file that blogsmith writes"),
        ([GOOD, ("_freeze/b", b"", tarfile.DIRTYPE)], "is not a file that blogsmith writes"),
        ([("_freeze/a/outputs.json", b"", tarfile.SYMTYPE)], "is not a file that blogsmith writes"),
        ([("_freeze/a/outputs.json", b"", tarfile.LNKTYPE)], "is not a file that blogsmith writes"),
        ([("_freeze/a/outputs.json", b"", tarfile.CHRTYPE)], "is not a file that blogsmith writes"),
        ([GOOD, GOOD], "_freeze/a/outputs.json is in it twice"),
        ([plain_file("_freeze/a/outputs.json", b"{")], "the recorded results are no JSON"),
        ([GOOD, plain_file(f"_freeze/a/{SVG}", b"<svg/>")], "are not those that its outputs.json names"),
        ([plain_file(f"_freeze/a/{SVG}", b"<svg/>")], "_freeze/a/outputs.json is missing"),
    ],
)
def test_an_archive_with_anything_else_in_it_is_refused_whole(
    tmp_path: Path, members: list[Member], said: str
) -> None:
    file = tmp_path / "results.tar.gz"
    file.write_bytes(archive_of(plain_file("_freeze/good/outputs.json"), *members))
    with pytest.raises(SiteError) as caught:
        unpack(tmp_path, file)
    (told,) = caught.value.diagnostics
    assert told.code == "freeze-archive"
    assert said in told.message
    assert not (tmp_path / "_freeze").exists()


@pytest.mark.parametrize("picture", ["another", "none"])
def test_pictures_must_be_those_recorded(gpu_box: Path, home: Path, picture: str) -> None:
    found = read_page(gpu_box, POST).record
    assert found is not None
    names = list(pictures_of(found)) if picture == "another" else []
    members = [plain_file(f"{FOLDER}/{name}", b"<svg>other</svg>") for name in names]
    file = home / "results.tar.gz"
    file.write_bytes(archive_of(plain_file(f"{FOLDER}/outputs.json", to_json(found)), *members))
    with pytest.raises(SiteError):
        unpack(home, file)


CUTS: list[Callable[[bytes], bytes]] = [
    lambda data: b"",
    lambda data: b"PK\x03\x04",
    lambda data: data[: len(data) // 2],
    lambda data: data[:20] + b"\xff" * 20 + data[40:],
    lambda data: gzip.compress(b"not a tar" * 1000),
]


@pytest.mark.parametrize("cut", CUTS)
def test_a_file_that_is_no_archive_is_refused(
    gpu_box: Path, home: Path, cut: Callable[[bytes], bytes]
) -> None:
    file = home / "results.tar.gz"
    file.write_bytes(cut(packed(gpu_box).read_bytes()))
    with pytest.raises(SiteError) as caught:
        unpack(home, file)
    assert caught.value.diagnostics[0].message.startswith(
        "results.tar.gz is no archive of recorded results: "
    )


def test_an_archive_that_is_not_there_is_said(home: Path) -> None:
    with pytest.raises(SiteError, match="No such file"):
        unpack(home, home / "none.tar.gz")


def test_a_bomb_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 100_000)
    file = home / "results.tar.gz"
    file.write_bytes(archive_of(plain_file("_freeze/a/outputs.json", b" " * 1_000_000)))
    with pytest.raises(SiteError, match="it holds more than"):
        unpack(home, file)


@given(st.binary(max_size=600))
def test_any_bytes_are_refused_in_words(data: bytes) -> None:
    for zipped in (data, gzip.compress(data)):
        with pytest.raises(archive.BROKEN):
            archive.checked(io.BytesIO(zipped))


@given(st.integers(0, 1535), st.binary(min_size=1, max_size=12))
def test_damaged_headers_are_refused_or_harmless(at: int, damage: bytes) -> None:
    plain = bytearray(gzip.decompress(archive_of(GOOD)))
    plain[at : at + len(damage)] = damage
    # with the right checksum again, so that what the header says counts
    plain[148:156] = b" " * 8
    plain[148:156] = b"%06o\0 " % sum(plain[:512])
    with suppress(*archive.BROKEN):
        assert all(name.startswith("_freeze/") for name in archive.checked(io.BytesIO(gzip.compress(plain))))


def test_an_empty_archive_is_refused(home: Path) -> None:
    file = home / "results.tar.gz"
    file.write_bytes(archive_of())
    with pytest.raises(SiteError, match="nothing is in it"):
        unpack(home, file)


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
        f"{FOLDER}/.new-outputs.json: no record names it",
        f"{FOLDER}/old-1-00000000.svg: no record names it",
        "_freeze/posts/v1.2: no page with this path runs anything",
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
