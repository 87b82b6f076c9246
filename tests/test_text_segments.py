"""Texts of pages beside the rows: written once, gathered from time to time, never believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blogsmith.base.storage.cache import CACHE
from blogsmith.pipeline.rows.row_store import FILE, TEXT, Row, open_rows, remove_rows
from tests.preview_sites import built
from tests.site_files import build, put_bare
from tests.test_preview_line import POSTS, write

A = "content/posts/a.md"


def segments(root: Path) -> list[Path]:
    return sorted((root / CACHE).glob("texts-*.bin"))


def put_text(root: Path, name: str, data: bytes) -> None:
    with open_rows(root) as rows:
        assert rows.put(TEXT, name, Row("key", data))
        assert rows.get(TEXT, name) == Row("key", data)


def get_text(root: Path, name: str) -> Row | None:
    with open_rows(root) as rows:
        return rows.get(TEXT, name)


def test_each_run_writes_its_own(tmp_path: Path) -> None:
    put_text(tmp_path, "a", b"one")
    put_text(tmp_path, "b", b"two")
    assert len(segments(tmp_path)) == 2
    assert get_text(tmp_path, "a") == Row("key", b"one")
    assert get_text(tmp_path, "b") == Row("key", b"two")


def test_what_nobody_names_goes(tmp_path: Path) -> None:
    put_text(tmp_path, "a", b"one")
    old = segments(tmp_path)
    put_text(tmp_path, "a", b"another")
    assert len(segments(tmp_path)) == 1
    assert segments(tmp_path) != old
    stranger = tmp_path / CACHE / "texts-0123.bin"
    stranger.write_bytes(b"of a build that was killed")
    put_text(tmp_path, "b", b"two")
    # it may be running
    assert stranger.exists()
    os.utime(stranger, (0, 0))
    put_text(tmp_path, "c", b"three")
    assert not stranger.exists()
    remove_rows(tmp_path)
    assert segments(tmp_path) == []


def test_many_are_gathered(tmp_path: Path) -> None:
    for number in range(30):
        put_text(tmp_path, str(number), str(number).encode())
    assert len(segments(tmp_path)) < 22
    for number in range(30):
        assert get_text(tmp_path, str(number)) == Row("key", str(number).encode())


def test_what_is_mostly_unused_is_gathered(tmp_path: Path) -> None:
    with open_rows(tmp_path) as rows:
        for name in range(4):
            rows.put(TEXT, str(name), Row("key", os.urandom(1 << 20)))
    with open_rows(tmp_path) as rows:
        rows.keep_only(TEXT, {"0"})
    assert sum(file.stat().st_size for file in segments(tmp_path)) == 1 << 20
    assert get_text(tmp_path, "0") is not None


def test_a_run_that_keeps_nothing_leaves_nothing(tmp_path: Path) -> None:
    put_text(tmp_path, "a", b"one")
    with open_rows(tmp_path) as rows:
        rows.put(TEXT, "a", Row("key", b"another"))
        rows.discard()
    assert len(segments(tmp_path)) == 1
    assert get_text(tmp_path, "a") == Row("key", b"one")


@pytest.mark.parametrize("damage", ["gone", "short", "longer", "saved again"])
def test_damaged_ones_cost_time_only(damage: str, tmp_path: Path) -> None:
    root = put_bare(tmp_path / "site", {path: text for path, text in POSTS.items() if "partials" not in path})
    build(root, remembers=True)
    (file,) = segments(root)
    if damage == "gone":
        file.unlink()
    elif damage == "short":
        file.write_bytes(file.read_bytes()[:-1])
    elif damage == "longer":
        file.write_bytes(file.read_bytes() + b"\0")
    else:
        os.utime(file, (0, 0))
    write(root / "layouts/post.html", "<title>{{ page.title }}</title>{{ page.content }}\n")
    report = build(root, remembers=True, output=root / "public")
    assert report.ok
    build(root, output=root.with_name("fresh"))
    assert built(root / "public") == built(root.with_name("fresh"))


def test_forged_texts_do_not_reach_pages(tmp_path: Path) -> None:
    """Whoever can write there can stop the author's builds, and no more."""
    root = put_bare(tmp_path / "site", {path: text for path, text in POSTS.items() if "partials" not in path})
    build(root, remembers=True)
    (file,) = segments(root)
    status = file.stat()
    file.write_bytes(bytes(byte ^ 1 for byte in file.read_bytes()))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    write(root / "layouts/post.html", "<title>{{ page.title }}</title>{{ page.content }}\n")
    report = build(root, remembers=True, output=root / "public")
    assert {found.code for found in report.diagnostics} == {"unreadable"}
    remove_rows(root)
    assert build(root, remembers=True, output=root / "public").ok


def test_rows_stay_small(tmp_path: Path) -> None:
    put_text(tmp_path, "a", os.urandom(1 << 20))
    assert (tmp_path / CACHE / FILE).stat().st_size < 1 << 17
