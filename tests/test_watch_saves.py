"""For every way of saving, the watcher reports the file once, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from blogsmith.base.storage.changed_files import ChangedFiles
from blogsmith.watch.watcher import Watcher
from tests.sessions import wait_for
from tests.watched import DEADLINE_S, Receiver, watching, write

POST = "content/posts/a.md"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site with a post, and a folder next to it as a source of files."""
    root = tmp_path / "site"
    write(root, POST, "content/posts/b.md", "blogsmith.yaml")
    (tmp_path / "elsewhere").mkdir()
    return root


@pytest.fixture
def receiver(site: Path) -> Iterator[Receiver]:
    """Yield the receiver of reports about that site."""
    with watching(site) as (receiver, _):
        yield receiver


def _elsewhere(post: Path) -> Path:
    """Return a folder on the same disk that is not watched."""
    site = next(folder for folder in post.parents if (folder / "blogsmith.yaml").exists())
    return site.parent / "elsewhere"


def in_place(post: Path, text: str) -> None:
    post.write_text(text)


def in_place_in_steps(post: Path, text: str) -> None:
    """Empty the file, and write it after a moment, as on a slow disk."""
    with post.open("w") as file:
        file.flush()
        threading.Event().wait(0.020)
        file.write(text)


def temporary_and_rename(post: Path, text: str) -> None:
    temporary = post.with_name("tmpx7k2")
    with temporary.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(post)


def temporary_synced_slowly(post: Path, text: str) -> None:
    temporary = post.with_name("a.md.new")
    with temporary.open("w") as file:
        file.write(text)
        file.flush()
        threading.Event().wait(0.040)
    temporary.replace(post)


def vim(post: Path, text: str) -> None:
    probe = post.with_name("4913")
    probe.touch()
    probe.unlink()
    backup = post.with_name("a.md~")
    post.rename(backup)
    post.write_text(text)
    backup.unlink()


def vim_with_another_suffix(post: Path, text: str) -> None:
    backup = post.with_name("a.bak")
    post.rename(backup)
    post.write_text(text)
    backup.unlink()


def vim_with_a_folder_for_backups(post: Path, text: str) -> None:
    """Move the file out of the watched folders; watchdog's Linux observer then reports nothing for 500 ms."""
    backup = _elsewhere(post) / "a.md~"
    post.rename(backup)
    post.write_text(text)
    backup.unlink()


def moved_in(post: Path, text: str) -> None:
    new = _elsewhere(post) / "a.md"
    new.write_text(text)
    new.replace(post)


def deleted_and_created(post: Path, text: str) -> None:
    post.unlink()
    threading.Event().wait(0.015)
    post.write_text(text)


def intellij(post: Path, text: str) -> None:
    new, old = post.with_name("a.md___jb_tmp___"), post.with_name("a.md___jb_old___")
    new.write_text(text)
    post.rename(old)
    new.rename(post)
    old.unlink()


SAVES: list[Callable[[Path, str], None]] = [
    in_place,
    in_place_in_steps,
    temporary_and_rename,
    temporary_synced_slowly,
    vim,
    vim_with_another_suffix,
    vim_with_a_folder_for_backups,
    moved_in,
    deleted_and_created,
    intellij,
]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable time limits, because this process may be paused between two steps of a save."""
    for name in ("INCOMPLETE_S", "CLOSE_S", "MAX_PENDING_S"):
        monkeypatch.setattr(f"blogsmith.watch.watcher.{name}", DEADLINE_S / 4)


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
def test_each_save_is_one_report_of_the_post(
    patient: None, site: Path, receiver: Receiver, save: Callable[[Path, str], None]
) -> None:
    for number in range(3):
        save(site / POST, f"text {number}\n")
        receiver.wait_for(POST)
        assert not any(report.everything for report in receiver.reports)
        assert receiver.settle() == [{POST}]


def test_a_save_of_the_same_bytes_is_none(patient: None, site: Path, receiver: Receiver) -> None:
    for save in (in_place, temporary_and_rename, moved_in):
        save(site / POST, "first\n")
    os.utime(site / POST)
    os.utime(site / POST, (1, 1))
    (site / POST).chmod(0o600)
    assert receiver.settle() == []


def test_reading_is_nothing(site: Path, receiver: Receiver) -> None:
    for path in (POST, "blogsmith.yaml"):
        (site / path).read_bytes()
    assert sorted(path.name for path in (site / "content/posts").iterdir()) == ["a.md", "b.md"]
    assert receiver.settle() == []


@pytest.mark.parametrize(
    "name",
    [".a.md.swp", "4913", "a.md~", "#a.md#", ".#a.md", "a.md___jb_tmp___", "a.tmp", ".goutputstream-X1"],
)
def test_litter_is_nothing(site: Path, receiver: Receiver, name: str) -> None:
    litter = site / "content/posts" / name
    litter.write_text("x")
    litter.write_text("xy")
    assert receiver.settle() == []
    litter.unlink()
    assert receiver.settle() == []


def test_litter_that_becomes_a_post_and_back(site: Path, receiver: Receiver) -> None:
    posts = site / "content/posts"
    (posts / ".new").write_text("x")
    (posts / ".new").rename(posts / "new.md")
    receiver.wait_for("content/posts/new.md")
    receiver.settle()
    (posts / "new.md").rename(posts / "new.md~")
    receiver.wait_for("content/posts/new.md")


def test_a_file_that_stays_empty_or_away_is_told(site: Path, receiver: Receiver) -> None:
    (site / POST).write_text("")
    receiver.wait_for(POST)
    receiver.settle()
    (site / POST).unlink()
    receiver.wait_for(POST)


def test_renaming_a_post_is_one_report(site: Path, receiver: Receiver) -> None:
    (site / POST).rename(site / "content/posts/c.md")
    receiver.wait_for("content/posts/c.md")
    assert receiver.settle() == [{POST, "content/posts/c.md"}]


def test_a_file_that_is_kept_open(site: Path, receiver: Receiver) -> None:
    with (site / POST).open("a") as file:
        for number in range(3):
            file.write(f"{number}\n")
            file.flush()
            receiver.wait_for(POST)
            assert receiver.settle() == [{POST}]


def test_two_writes_that_leave_size_and_times_alone(site: Path, receiver: Receiver) -> None:
    post = site / POST
    for text in ("one", "two", "six"):
        post.write_text(text)
        os.utime(post, ns=(10**18, 10**18))
        receiver.wait_for(POST)
        receiver.settle()


def temporary_and_rename_unsynced(post: Path, text: str) -> None:
    temporary = post.with_name("tmpx7k2")
    temporary.write_text(text)
    temporary.replace(post)


def test_the_last_of_many_saves_wins(site: Path) -> None:
    post = site / POST
    texts: list[str] = []
    came = threading.Condition()

    def changed(changes: ChangedFiles) -> None:
        # time to render a page: the next report waits for it
        threading.Event().wait(0.020)
        with came:
            texts.append(post.read_text() if post.exists() else "")
            came.notify_all()

    watcher = Watcher(site, changed=changed)
    watcher.start()
    try:
        began_s = time.perf_counter()
        for number in range(1000):
            (in_place, temporary_and_rename_unsynced, vim)[number % 3](post, f"{number}\n")
        with came:
            assert came.wait_for(lambda: bool(texts) and texts[-1] == "999\n", DEADLINE_S)
        took_s = time.perf_counter() - began_s
    finally:
        watcher.stop()
    # one more may have been in progress when the last was seen
    assert len(texts) <= took_s / 0.020 + 1


def test_none_of_three_hundred_saves_is_missed(site: Path, receiver: Receiver) -> None:
    posts = [site / f"content/posts/{number}/index.md" for number in range(100)]
    write(site, *(post.relative_to(site).as_posix() for post in posts))
    receiver.wait_for(*(post.relative_to(site).as_posix() for post in posts))
    for number in range(3):
        receiver.settle()
        for place, post in enumerate(posts):
            SAVES[(0, 2, 4, 7)[place % 4]](post, f"{number}\n")
        receiver.wait_for(*(post.relative_to(site).as_posix() for post in posts))


def test_what_is_saved_while_the_receiver_is_busy_comes_in_one_report(site: Path) -> None:
    reports: list[ChangedFiles] = []
    busy, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def changed(changes: ChangedFiles) -> None:
        reports.append(changes)
        if len(reports) == 1:
            busy.set()
            assert go_on.wait(DEADLINE_S)
        else:
            done.set()

    watcher = Watcher(site, changed=changed)
    watcher.start()
    try:
        (site / POST).write_text("one\n")
        assert busy.wait(DEADLINE_S)
        for number in range(20):
            (site / POST).write_text(f"{number}\n")
            (site / f"content/posts/{number}.md").write_text("new\n")
        # the events have arrived, not only occurred
        last = str(site / "content/posts/19.md")
        wait_for(lambda: watcher._hints._places.get(last) is False)
        go_on.set()
        assert done.wait(DEADLINE_S)
    finally:
        watcher.stop()
    names = {path.name for path in reports[1].paths}
    assert names == {"a.md", *(f"{number}.md" for number in range(20))}


@pytest.mark.skipif(shutil.which("vim") is None, reason="no vim")
@pytest.mark.parametrize("settings", ["", "set nobackup nowritebackup", "set backup backupcopy=no"])
def test_vim_itself(patient: None, site: Path, receiver: Receiver, settings: str) -> None:
    command = [
        "vim",
        "-Nu",
        "NONE",
        "-n",
        "-es",
        "-c",
        settings or "echo",
        "-c",
        "s/first/second/",
        "-c",
        "wq",
    ]
    subprocess.run([*command, str(site / POST)], stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert (site / POST).read_text() == "second\n"
    receiver.wait_for(POST)
    assert receiver.settle() == [{POST}]
