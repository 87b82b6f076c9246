"""The cache of a site: stored rows are available despite parallel writers; damage only costs time."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from blogsmith.base.storage import cache_file
from blogsmith.base.storage.cache_file import (
    FORMAT,
    cache_folder,
    cache_path,
    is_shared,
    open_cache_file,
    remove_site_cache,
)
from blogsmith.base.storage.folder import open_folder
from blogsmith.base.storage.lock import hold_lock
from blogsmith.base.storage.site_cache import NullCache, Row, SiteCache, open_site_cache
from blogsmith.cli.main import main
from blogsmith.project.report import BuildReport
from blogsmith.project.trust.consent import trust
from tests.cached_rows import row_names
from tests.faults.children import in_child, kill_self
from tests.lsp_desk import Desk
from tests.preview_sites import built
from tests.rows import each_row
from tests.serve_process import running
from tests.site_files import build, put, put_bare

POST = "---\ntitle: {0}\ndate: 2026-01-0{0}\n---\nText of {0}.\n"
CELL = "---\ntitle: Cell\ndate: 2026-01-01\n---\n```python run\nprint(1)\n```\n"
fork = multiprocessing.get_context("fork")


def put_row(root: Path, name: str, data: bytes = b"data") -> str:
    """Store one row in the cache of a site. Return the error message."""
    with open_site_cache(root) as rows:
        rows.put("page", name, Row("key", data))
    return rows.problem


def get_row(root: Path, name: str) -> Row | None:
    with open_site_cache(root) as rows:
        return rows.get("page", name)


class TestRows:
    def test_what_was_put_is_there(self, tmp_path: Path) -> None:
        with open_site_cache(tmp_path) as rows:
            assert rows.get("page", "a") is None
            assert rows.put("page", "a", Row("key", b"one"))
            assert rows.put("page", "ä字", Row("", b""))
            assert rows.put("head", "a", Row("another", b"\0" * 9))
            assert rows.get("page", "a") == Row("key", b"one")
            assert rows.problem == ""
        with open_site_cache(tmp_path) as rows:
            rows.load("page")
            for _ in range(2):
                assert rows.get("page", "a") == Row("key", b"one")
                assert rows.get("page", "ä字") == Row("", b"")
                assert rows.get("head", "a") == Row("another", b"\0" * 9)
                assert rows.get("facts", "a") is None

    def test_a_row_is_replaced(self, tmp_path: Path) -> None:
        put_row(tmp_path, "a")
        with open_site_cache(tmp_path) as rows:
            rows.load("page")
            rows.put("page", "a", Row("other", b"new"))
            rows.put("page", "b", Row("key", b""))
            assert rows.get("page", "a") == Row("other", b"new")
            assert rows.rows("page") == {"a": Row("other", b"new"), "b": Row("key", b"")}
        assert get_row(tmp_path, "a") == Row("other", b"new")

    def test_rows_that_need_several_transactions(self, tmp_path: Path) -> None:
        big = {str(number): os.urandom(1 << 20) for number in range(6)}
        with open_site_cache(tmp_path) as rows:
            for name, data in big.items():
                rows.put("pictures", name, Row(name, data))
            # most of them are written by now, and all can be read
            assert len(row_names(tmp_path, "pictures")) >= 4
            assert {name: row.data for name, row in rows.rows("pictures").items()} == big
        with open_site_cache(tmp_path) as rows:
            assert {name: row.data for name, row in rows.rows("pictures").items()} == big

    def test_rows_that_are_gone_are_removed(self, tmp_path: Path) -> None:
        for name in "abc":
            put_row(tmp_path, name)
        with open_site_cache(tmp_path) as rows:
            rows.load("page")
            rows.put("page", "d", Row("key", b""))
            rows.put("page", "e", Row("key", b""))
            rows.put("head", "a", Row("key", b""))
            rows.remove_others("page", {"a", "d", "never there"})
            assert rows.get("page", "b") is rows.get("page", "e") is None
            assert rows.get("page", "a") == Row("key", b"data")
        assert row_names(tmp_path, "page") == {"a", "d"}
        assert row_names(tmp_path, "head") == {"a"}

    def test_some_rows_are_spared(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for number, name in enumerate("abcdef"):
            monkeypatch.setattr(time, "time", lambda number=number: float(number))
            put_row(tmp_path, name)
        with open_site_cache(tmp_path) as rows:
            rows.remove_others("page", {"a"}, spare=2)
        assert row_names(tmp_path, "page") == {"a", "e", "f"}

    def test_the_file_does_not_grow_with_edits(self, tmp_path: Path) -> None:
        """Space of removed rows is reused, and no log stays next to the file."""
        for number in range(40):
            with open_site_cache(tmp_path) as rows:
                for name in ("same", str(number)):
                    rows.put("page", name, Row("key", os.urandom(100_000)))
                rows.remove_others("page", {"same", str(number)})
        assert cache_path(tmp_path).stat().st_size < 1_000_000
        assert {file.name for file in cache_path(tmp_path).parent.iterdir()} == {"site.db", "root", "lock"}

    def test_names_that_are_no_text(self, tmp_path: Path) -> None:
        with open_site_cache(tmp_path) as rows:
            assert not rows.put("page", "\udcff", Row("key", b""))
            assert rows.get("page", "\udcff") is None
            assert rows.problem == ""

    def test_several_threads(self, tmp_path: Path) -> None:
        with open_site_cache(tmp_path) as rows:

            def work(number: int) -> None:
                for step in range(50):
                    rows.put("page", f"{number} {step}", Row("key", b"x" * 100))
                    assert rows.get("page", f"{number} {step // 2}")
                    rows.share()

            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert rows.problem == ""
        assert len(row_names(tmp_path, "page")) == 200

    def test_the_program_is_asked_when_it_is_needed(self, tmp_path: Path) -> None:
        asked: list[int] = []

        def program() -> str:
            asked.append(1)
            return "this one"

        with open_site_cache(tmp_path, program) as rows:
            assert asked == []
            assert rows.program == rows.program == "this one"
        assert asked == [1]

    def test_no_rows(self) -> None:
        rows = NullCache("why")
        rows.load("page")
        assert not rows.put("page", "a", Row("key", b""))
        rows.remove_others("page", ())
        rows.share()
        rows.reopen()
        assert (rows.get("page", "a"), rows.rows("page"), rows.program) == (None, {}, "")
        assert (rows.problem, rows.take_note(), rows.take_note()) == ("why", "why", "")


class TestProcesses:
    def test_two_write_at_once(self, tmp_path: Path) -> None:
        """Both have the file open all the time."""
        barrier = fork.Barrier(2)

        def work(own: str) -> None:
            with open_site_cache(tmp_path) as rows:
                barrier.wait(60)
                for step in range(100):
                    rows.put("page", f"{own} {step}", Row(own, b"x" * 10_000))
                    rows.share()
            assert rows.problem == ""

        together([partial(work, own) for own in ("one", "two")])
        assert len(row_names(tmp_path, "page")) == 200

    def test_many_make_the_file_at_once(self, tmp_path: Path) -> None:
        for number in range(5):
            root = tmp_path / str(number)
            barrier = fork.Barrier(6)

            def work(own: str, root: Path, barrier: Barrier) -> None:
                barrier.wait(60)
                assert put_row(root, own) == ""

            together([partial(work, str(own), root, barrier) for own in range(6)])
            assert row_names(root, "page") == {str(own) for own in range(6)}

    def test_many_replace_a_file_at_once(self, tmp_path: Path) -> None:
        """A file of an earlier version: rows that one process writes to the new file are kept by others."""
        put_row(tmp_path, "old")
        cache_path(tmp_path).write_bytes(b"SQLite format 3\0 of another time")
        barrier = fork.Barrier(6)

        def work(own: str) -> None:
            barrier.wait(60)
            assert put_row(tmp_path, own) == ""

        together([partial(work, str(own)) for own in range(6)])
        assert row_names(tmp_path, "page") == {str(own) for own in range(6)}

    def test_a_child_reads_what_was_shared(self, tmp_path: Path) -> None:
        with open_site_cache(tmp_path) as rows:
            rows.put("page", "a", Row("key", b"one"))
            rows.share()

            def read() -> int:
                rows.reopen()
                rows.load("page")
                return int(rows.get("page", "a") != Row("key", b"one") or bool(rows.problem))

            assert in_child(read) == 0
            # the child has inherited nothing from its parent
            rows.put("page", "b", Row("key", b"two"))
            assert rows.get("page", "a") == Row("key", b"one")
            rows.share()
            assert in_child(read) == 0
            assert rows.problem == ""
        assert row_names(tmp_path, "page") == {"a", "b"}

    def test_a_child_cannot_write(self, tmp_path: Path) -> None:
        """Its rows are sent to its parent process; an error there damages nothing."""
        with open_site_cache(tmp_path) as rows:

            def write() -> int:
                rows.reopen()
                rows.put("page", "a", Row("key", b""))
                rows.share()
                return int(not rows.problem)

            assert in_child(write) == 0
        assert row_names(tmp_path, "page") == set()

    def test_a_process_that_is_killed_leaves_whole_rows(self, tmp_path: Path) -> None:
        for number in range(12):
            code = in_child(partial(write_and_die, tmp_path, number))
            assert code == -signal.SIGKILL
            with open_site_cache(tmp_path) as rows:
                found = rows.rows("page")
                assert rows.problem == ""
            assert all(row.data == name.encode() * 50_000 for name, row in found.items())
        assert found


def write_and_die(root: Path, step: int) -> int:
    """Write rows until the statement of this number, and be killed there."""
    count = iter(range(1000))
    opened = open_cache_file(root)
    opened.connection.set_trace_callback(lambda _: kill_self() if next(count) == step else None)
    rows = SiteCache(opened, lambda: "")
    for number in range(1000):
        rows.put("page", str(number), Row("key", str(number).encode() * 50_000))
        rows.share()
    return 0


def together(acts: list[Callable[[], None]]) -> None:
    """Run these functions in parallel in separate processes."""
    running_now = [fork.Process(target=act) for act in acts]
    for process in running_now:
        process.start()
    for process in running_now:
        process.join()
    assert [process.exitcode for process in running_now] == [0] * len(acts)


def noise(file: Path) -> None:
    file.write_bytes(random.Random(1).randbytes(20_000))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def cut_in_the_head(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:50])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "file").write_text("text")


def other_format(file: Path) -> None:
    with closing(sqlite3.connect(file)) as cache:
        cache.execute(f"PRAGMA user_version = {FORMAT + 1}")


def other_root(file: Path) -> None:
    with closing(sqlite3.connect(file)) as cache, cache:
        cache.execute("UPDATE site SET root = '/elsewhere'")


def no_root(file: Path) -> None:
    with closing(sqlite3.connect(file)) as cache, cache:
        cache.execute("DELETE FROM site")


def no_table(file: Path) -> None:
    with closing(sqlite3.connect(file)) as cache, cache:
        cache.execute("DROP TABLE rows")


def other_database(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as cache, cache:
        cache.execute("CREATE TABLE mine (a)")


DAMAGE: dict[Callable[[Path], None], str] = {
    noise: "it was damaged",
    cut_in_the_head: "it was damaged",
    empty: "",
    folder: "it was damaged",
    other_format: "it was written by another version of blogsmith",
    other_root: "it was written for another folder",
    no_root: "it was damaged",
    no_table: "it was damaged",
    other_database: "it was damaged",
}
"""Damage of a file → message for the author."""


@pytest.mark.parametrize(("damage", "reason"), DAMAGE.items(), ids=lambda one: getattr(one, "__name__", "-"))
def test_a_file_that_is_no_good_is_replaced(
    damage: Callable[[Path], None], reason: str, tmp_path: Path
) -> None:
    put_row(tmp_path, "a")
    damage(cache_path(tmp_path))
    expected = f"cache replaced: {reason}; this run reads all sources again" if reason else ""
    # the first process does not print it
    assert put_row(tmp_path, "b") == ""
    with open_site_cache(tmp_path) as rows:
        assert rows.get("page", "a") is None
        assert rows.get("page", "b") == Row("key", b"data")
        assert rows.take_note() == expected
        assert rows.take_note() == ""
    with open_site_cache(tmp_path) as rows:
        assert rows.take_note() == ""


def test_a_row_that_is_damaged(tmp_path: Path) -> None:
    """It counts as missing, and the file is replaced."""
    put_row(tmp_path, "a", b"x" * 100)
    put_row(tmp_path, "b", b"y" * 100)
    data = cache_path(tmp_path).read_bytes()
    assert data.count(b"x" * 100) == 1
    cache_path(tmp_path).write_bytes(data.replace(b"x" * 100, b"x" * 99 + b"z"))
    with open_site_cache(tmp_path) as rows:
        assert rows.get("page", "b")
        assert rows.get("page", "a") is None
        assert not rows.put("page", "c", Row("key", b""))
        place = cache_path(tmp_path)
        assert rows.take_note() == f"cache not used: {place} is damaged; the next run replaces it"
        assert rows.take_note() == ""
    with open_site_cache(tmp_path) as rows:
        assert rows.get("page", "b") is None
        assert rows.take_note() == "cache replaced: it was damaged; this run reads all sources again"


def lock(root: Path, mode: str = "NORMAL") -> sqlite3.Connection:
    """Start a write transaction."""
    other = sqlite3.connect(cache_path(root), isolation_level=None, check_same_thread=False)
    other.execute(f"PRAGMA locking_mode = {mode}")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("INSERT INTO rows VALUES ('page', 'theirs', '', '', 0, 0)")
    return other


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for other processes for a moment only."""
    monkeypatch.setattr(cache_file, "WAIT_S", 0.2)


class TestProblems:
    """Nothing is cached, the run continues, and the author gets a message."""

    def test_another_process_writes_for_long(self, tmp_path: Path, impatient: None) -> None:
        put_row(tmp_path, "a")
        with closing(lock(tmp_path)), open_site_cache(tmp_path) as rows:
            rows.put("page", "b", Row("key", b""))
            started = time.monotonic()
            rows.share()
            assert time.monotonic() - started >= 0.2
            place = cache_path(tmp_path)
            expected = f"cache not used: another command has locked {place}; try again when it has ended"
            assert rows.problem == rows.take_note() == expected
            # existing rows can be read, and new ones are still in memory
            assert rows.get("page", "a") and rows.get("page", "b")
            assert not rows.put("page", "c", Row("key", b""))
            started = time.monotonic()
            rows.remove_others("page", ())
            assert time.monotonic() - started < 0.2, "it waits once"
        assert row_names(tmp_path, "page") == {"a"}

    def test_another_process_has_the_file_for_itself(self, tmp_path: Path, impatient: None) -> None:
        put_row(tmp_path, "a")
        for name in ("-wal", "-shm"):
            assert not Path(f"{cache_path(tmp_path)}{name}").exists()
        with closing(lock(tmp_path, "EXCLUSIVE")):
            assert "another command has locked" in put_row(tmp_path, "b")
        assert put_row(tmp_path, "b") == ""

    def test_another_process_makes_the_file_for_long(self, tmp_path: Path, impatient: None) -> None:
        put_row(tmp_path, "a")
        cache_path(tmp_path).unlink()
        with (
            open_folder(cache_path(tmp_path).parent) as place,
            hold_lock(place, "lock", 0),
        ):
            assert "another command has locked" in put_row(tmp_path, "b")
        assert put_row(tmp_path, "b") == ""

    def test_a_short_wait_is_no_problem(self, tmp_path: Path) -> None:
        put_row(tmp_path, "a")
        with closing(lock(tmp_path)) as other:
            timer = threading.Timer(0.3, other.execute, ("COMMIT",))
            timer.start()
            assert put_row(tmp_path, "b") == ""
            timer.join()
        assert row_names(tmp_path, "page") == {"a", "b", "theirs"}

    def test_no_folder_can_be_made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").write_text("text")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        assert put_row(tmp_path, "a") == (
            f"cache not used: {tmp_path}/file/blogsmith: Not a directory; "
            "check its permissions, or set XDG_CACHE_HOME"
        )

    def test_the_home_folder_is_unknown(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def no_home() -> Path:
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr(Path, "home", no_home)
        assert put_row(tmp_path, "a") == "cache not used: the home folder is unknown; set XDG_CACHE_HOME"
        assert get_row(tmp_path, "a") is None
        remove_site_cache(tmp_path)

    def test_the_cache_of_the_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert put_row(tmp_path, "a") == ""
        assert cache_path(tmp_path).is_relative_to(tmp_path / ".cache/blogsmith/sites")
        assert cache_path(tmp_path).is_file()

    def test_the_disk_is_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        put_row(tmp_path, "a")
        with open_site_cache(tmp_path) as rows:
            assert isinstance(rows, SiteCache)
            (pages,) = rows._connection.execute("PRAGMA page_count").fetchone()
            rows._connection.execute(f"PRAGMA max_page_count = {pages}")
            rows.put("page", "b", Row("key", b"x" * 100_000))
            rows.share()
            assert rows.take_note() == (
                f"cache not used: {cache_path(tmp_path)}: database or disk is full; free some disk space"
            )
            assert rows.get("page", "b") == Row("key", b"x" * 100_000)
        assert row_names(tmp_path, "page") == {"a"}


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put the cache on a file system of 400 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root on Linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(disk))
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site of two posts and a cell."""
    files = {f"content/posts/{name}.md": POST.format(name) for name in (1, 2)}
    root = put_bare(tmp_path / "site", {"blogsmith.yaml": "title: S\n", **files, "content/cell.md": CELL})
    trust(root)
    return root


def remember(root: Path) -> BuildReport:
    return build(root, use_cache=True, request_digest="the same", output=root / "public")


def expect_clean(root: Path) -> None:
    """Check that the site equals that of a clean build."""
    assert build(root, output=root.with_name("fresh")).ok
    assert built(root / "public") == built(root.with_name("fresh"))


def test_a_disk_that_is_full(site: Path, small_disk: Path) -> None:
    chance = random.Random(2)
    text = "\n\n".join(chance.randbytes(300).hex() for _ in range(2000))
    put(site, {"content/posts/long.md": POST.format(3) + text})
    report = remember(site)
    assert report.ok
    assert len(report.notes) == 1
    assert report.notes[0].startswith("cache not used: ")
    assert "free some disk space" in report.notes[0]
    expect_clean(site)


def test_a_disk_that_cannot_be_written(site: Path, small_disk: Path) -> None:
    def remount(mode: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{mode}", str(small_disk)], check=True)

    remount("ro")
    report = remember(site)
    assert (report.ok, len(report.notes)) == (True, 1)
    assert report.notes[0].endswith("Read-only file system; check its permissions, or set XDG_CACHE_HOME")
    expect_clean(site)
    remount("rw")
    assert remember(site).notes == ()
    put(site, {"content/posts/1.md": POST.format(1) + "More.\n"})
    remount("ro")
    report = remember(site)
    assert (report.ok, len(report.notes)) == (True, 1)
    expect_clean(site)


@pytest.mark.parametrize("damage", [*DAMAGE, cut], ids=lambda damage: damage.__name__)
def test_builds_on_a_file_that_is_no_good(damage: Callable[[Path], None], site: Path) -> None:
    remember(site)
    damage(cache_path(site))
    put(site, {"content/posts/1.md": POST.format(1) + "More.\n"})
    report = remember(site)
    assert report.ok
    assert len(report.notes) == (damage is not empty)
    expect_clean(site)
    remember(site)
    report = remember(site)
    assert (report.rebuilt, report.notes) == ({}, ())
    expect_clean(site)


def test_damage_in_any_place(site: Path) -> None:
    """Parts of the file are overwritten: a build continues without damaged rows, with the same messages."""
    chance = random.Random(3)
    remember(site)
    sound = cache_path(site).read_bytes()
    for number in range(25):
        data = bytearray(sound)
        for _ in range(chance.choice((1, 1, 5, 50))):
            at, size = chance.randrange(100, len(data)), chance.choice((1, 30, 4096))
            data[at : at + size] = chance.randbytes(len(data[at : at + size]))
        cache_path(site).write_bytes(data)
        put(site, {"content/posts/1.md": POST.format(1) + f"Number {number}.\n"})
        report = remember(site)
        assert report.ok, report.diagnostics
        assert len(report.notes) <= 1
        expect_clean(site)
        assert remember(site).ok
        expect_clean(site)


COMMANDS = (["build"], ["check"], ["execute"])


def notes_in(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("cache ")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
class TestCommands:
    """Each command reports the problem once."""

    def test_a_file_that_was_damaged(
        self, command: list[str], site: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main([*command, "--site", str(site)]) == 0
        noise(cache_path(site))
        capsys.readouterr()
        assert main([*command, "--site", str(site)]) == 0
        told = capsys.readouterr()
        expected = "cache replaced: it was damaged; this run reads all sources again"
        assert notes_in(told.out + told.err) == [expected]
        assert main([*command, "--site", str(site)]) == 0
        told = capsys.readouterr()
        assert notes_in(told.out + told.err) == []

    def test_no_cache(
        self,
        command: list[str],
        site: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (site.parent / "file").write_text("text")
        monkeypatch.setenv("XDG_CACHE_HOME", str(site.parent / "file"))
        assert main([*command, "--site", str(site)]) == 0
        told = capsys.readouterr()
        assert len(notes_in(told.out + told.err)) == 1
        assert "set XDG_CACHE_HOME" in notes_in(told.out + told.err)[0]

    def test_quiet(
        self,
        command: list[str],
        site: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (site.parent / "file").write_text("text")
        monkeypatch.setenv("XDG_CACHE_HOME", str(site.parent / "file"))
        assert main([*command, "-q", "--site", str(site)]) == 0
        told = capsys.readouterr()
        assert notes_in(told.out + told.err) == []

    def test_output_for_programs_stays_as_it_is(
        self, command: list[str], site: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        if command == ["build"]:
            pytest.skip("it has no such output")
        remember(site)
        noise(cache_path(site))
        assert main([*command, "--format", "json", "--site", str(site)]) == 0
        told = capsys.readouterr()
        json.loads(told.out)
        assert len(notes_in(told.err)) == 1


def test_serve_says_it_once(site: Path) -> None:
    remember(site)
    noise(cache_path(site))
    with running(site) as serving:
        serving.wait_until_whole()
        assert notes_in(serving.said()) == [
            "cache replaced: it was damaged; this run reads all sources again"
        ]
    with running(site) as serving:
        serving.wait_until_whole()
        assert notes_in(serving.said()) == []


def test_an_editor_s_log_says_it_once(site: Path) -> None:
    remember(site)
    for expected in ("cache replaced: it was damaged; this run reads all sources again", ""):
        if expected:
            noise(cache_path(site))
        desk = Desk(site, {})
        desk.open("content/posts/1.md", POST.format(1))
        desk.rest()
        assert desk.said == [expected][: bool(expected)]
        desk.service.close(desk.uri("content/posts/1.md"))


def test_builds_that_are_killed(site: Path) -> None:
    """Killed at any statement to the cache: the next build equals a clean one."""
    for step in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55):
        put(site, {"content/posts/1.md": POST.format(1) + f"Step {step}.\n"})
        code = in_child(partial(build_and_die, site, step))
        assert code in (0, -signal.SIGKILL)
        assert remember(site).ok
        expect_clean(site)
        assert remember(site).rebuilt == {}


def build_and_die(root: Path, step: int) -> int:
    """Run a build that is killed at a statement of its cache."""
    count = iter(range(100_000))
    connect = cache_file._connect

    def traced(name: str, *, uri: bool = False) -> sqlite3.Connection:
        connection = connect(name, uri=uri)
        connection.set_trace_callback(lambda _: kill_self() if next(count) == step else None)
        return connection

    cache_file._connect = traced
    remember(root)
    return 0


@pytest.mark.long
def test_builds_that_are_killed_at_random_moments(site: Path) -> None:
    chance = random.Random(5)
    killed = 0
    for number in range(40):
        put(site, {f"content/posts/{number % 4}.md": POST.format(1 + number % 4) + f"Number {number}.\n"})
        process = fork.Process(target=remember, args=(site,))
        process.start()
        process.join(chance.uniform(0, 0.3))
        process.kill()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        assert remember(site).ok
        expect_clean(site)
        assert remember(site).rebuilt == {}
    assert killed > 5


def test_commands_at_once(site: Path) -> None:
    """A preview, an editor and builds share the file; each sees edits, and none blocks another."""
    desk = Desk(site, {})
    with running(site) as serving:
        serving.wait_until_whole()
        desk.open("content/posts/2.md", POST.format(2))
        desk.rest()
        for number in range(4):
            put(site, {"content/posts/1.md": POST.format(1) + f"Number {number}.\n"})
            together([lambda: expect_ok(site)] * 2)
            desk.rest()
            serving.wait_for("/posts/1/", f"Number {number}.")
            assert remember(site).rebuilt == {}
            expect_clean(site)
        assert notes_in(serving.said()) == []
    desk.service.close(desk.uri("content/posts/2.md"))
    assert desk.said == []


def expect_ok(root: Path) -> None:
    report = remember(root)
    assert report.ok, report.diagnostics
    assert report.notes == ()


class TestPlaces:
    def test_old_caches_of_sites_that_are_gone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        sites = [tmp_path / name for name in ("one", "two", "ä\udcff")]
        for root in sites:
            root.mkdir()
            put_row(root, "a")
        assert all(cache_path(root).is_file() for root in sites)
        foreign = cache_folder() / "sites/foreign"
        foreign.mkdir()
        (cache_folder() / "sites/file").touch()
        for root in sites[1:]:
            root.rmdir()
        # old caches are searched only if there is a new site
        put_row(sites[0], "b")
        assert cache_path(sites[1]).is_file()
        (tmp_path / "new").mkdir()
        put_row(tmp_path / "new", "a")
        assert [cache_path(root).parent.exists() for root in sites] == [True, False, False]
        assert foreign.is_dir()
        assert cache_path(tmp_path / "new").is_file()

    def test_a_link_in_the_place_of_an_old_cache(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        put_row(tmp_path, "a")
        other = tmp_path / "other"
        other.mkdir()
        (other / "root").write_text("/gone")
        (cache_folder() / "sites/link").symlink_to(other)
        (tmp_path / "new").mkdir()
        put_row(tmp_path / "new", "a")
        assert (other / "root").is_file()

    def test_a_site_has_one_cache_under_all_its_names(self, tmp_path: Path) -> None:
        (tmp_path / "site").mkdir()
        (tmp_path / "link").symlink_to("site")
        put_row(tmp_path / "link", "a")
        assert get_row(tmp_path / "site", "a")
        assert get_row(tmp_path / "site/../link", "a")
        remove_site_cache(tmp_path / "link")
        assert get_row(tmp_path / "site", "a") is None

    def test_folders_whose_names_are_no_text(self, tmp_path: Path) -> None:
        roots = [tmp_path / "\udcff", tmp_path / "\udcfe", tmp_path / "�"]
        for number, root in enumerate(roots):
            root.mkdir()
            assert put_row(root, "a", bytes([number])) == ""
        assert [row.data for root in roots if (row := get_row(root, "a"))] == [b"\0", b"\1", b"\2"]


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:26 / /home rw,relatime - nfs4 server:/home rw,vers=4.2
31 30 8:2 / /home/local rw - xfs /dev/sdb rw
32 22 0:40 / /mnt/my\\040drive rw master:7 propagate_from:2 - fuse.sshfs me@host:/ rw
33 22 0:41 / /mnt/drive rw - cifs //server/drive rw
34 22 0:42 / /data rw - 9p host rw
35 34 0:43 / /data/cache rw - tmpfs tmpfs rw
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of its mounts")
@each_row(
    ("place", "expected"),
    [
        ("/tmp/site.db", False),
        ("/home/me/.cache/site.db", True),
        ("/homes/me/site.db", False),
        ("/home/local/site.db", False),
        ("/mnt/my drive/site.db", True),
        ("/mnt/drive/a/site.db", True),
        ("/mnt/site.db", False),
        ("/data/site.db", True),
        ("/data/cache/site.db", False),
    ],
)
def test_drives_of_the_network(place: str, expected: bool, tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert is_shared(Path(place), str(mounts)) is expected
    assert not is_shared(Path(place), str(tmp_path / "gone"))


@pytest.mark.parametrize(("shared", "mode"), [(True, "truncate"), (False, "wal")])
def test_no_log_is_shared_by_machines(
    shared: bool, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log next to the file needs memory shared by its readers."""
    put_row(tmp_path, "a")
    monkeypatch.setattr(cache_file, "is_shared", lambda file: shared)
    with open_site_cache(tmp_path) as rows:
        assert isinstance(rows, SiteCache)
        assert rows._connection.execute("PRAGMA journal_mode").fetchone() == (mode,)
        assert rows.get("page", "a")
        rows.put("page", "b", Row("key", b""))
        rows.share()
        assert Path(f"{cache_path(tmp_path)}-wal").exists() is not shared
    assert row_names(tmp_path, "page") == {"a", "b"}


def test_every_kind_is_described() -> None:
    """The table of kinds and the type have the same names, in order of creation."""
    text = Path(cache_file.__file__).with_name("site_cache.py").read_text("utf-8")
    (listed,) = re.findall(r"Kind = Literal\[(.*?)\]", text, re.DOTALL)
    (table,) = re.findall(r"KINDS: .*?= \{(.*?)\n\}", text, re.DOTALL)
    assert re.findall(r'"([\w ]+)"', listed) == re.findall(r'^    "([\w ]+)":', table, re.MULTILINE)
