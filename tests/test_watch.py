"""The watcher with folders, links, lost events and systems without events."""

from __future__ import annotations

import ctypes
import errno
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from blogsmith.base.storage.changed_files import ChangedFiles
from blogsmith.watch.hints import HintQueue, OpenNotifier, WatchError
from blogsmith.watch.observer import ObserverNotifier
from blogsmith.watch.watcher import PROBE_S, EventProbe, Watcher, open_notifier
from tests.sessions import descriptors, wait_for
from tests.test_watch_saves import (
    deleted_and_created,
    in_place,
    moved_in,
    temporary_and_rename,
    temporary_and_rename_unsynced,
    vim,
)
from tests.watched import DEADLINE_S, LAST, Receiver, watching, write

POST = "content/posts/a.md"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a small site with an output folder."""
    root = tmp_path / "site"
    write(root, POST, "content/posts/b.md", "static/img/x.png", "blogsmith.yaml", "public/index.html")
    write(root, "_freeze/a.json", "node_modules/x/y.js", ".git/HEAD", "env/pyvenv.cfg", "env/lib/z.py")
    return root


@pytest.fixture
def receiver(site: Path) -> Iterator[Receiver]:
    """Yield the receiver of reports about that site."""
    with watching(site) as (receiver, _):
        yield receiver


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare everything more often than usual."""
    monkeypatch.setattr("blogsmith.watch.watcher.FALLBACK_SCAN_S", 0.2)


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow events to be slow."""
    monkeypatch.setattr("blogsmith.watch.watcher.PROBE_S", 10 * DEADLINE_S)
    monkeypatch.setattr("blogsmith.watch.watcher._EVENT_S", DEADLINE_S / 8)


@pytest.fixture
def only_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable comparisons, so that only events cause reports."""
    for name in ("PROBE_S", "FALLBACK_SCAN_S"):
        monkeypatch.setattr(f"blogsmith.watch.watcher.{name}", 10 * DEADLINE_S)


class SilentNotifier:
    """A system that accepts every folder, or a number of them, and reports nothing."""

    def __init__(self, notices: HintQueue, most: int = 1000) -> None:
        self.notices = notices
        self.most = most
        self.folders: set[str] = set()
        self.stopped = False

    def watch(self, folder: str, inode: int, *, alone: bool) -> None:
        if len(self.folders) >= self.most:
            raise WatchError("the limit of the test is reached")
        self.folders.add(folder)

    def keep_only(self, folders: Set[str]) -> None:
        self.folders &= folders

    def stop(self) -> None:
        self.stopped = True


# Where


@pytest.mark.parametrize("name", [POST, "blogsmith.yaml", "_freeze/a.json", "static/img/x.png", "new.yaml"])
def test_what_is_watched(site: Path, receiver: Receiver, name: str) -> None:
    write(site, name, text="second\n")
    assert receiver.settle() == [{name}]


@pytest.mark.parametrize(
    "name",
    ["public/index.html", "node_modules/x/y.js", ".git/HEAD", "env/lib/z.py", ".env", "content/.x/a.md"],
)
def test_what_is_not_watched(site: Path, receiver: Receiver, name: str) -> None:
    write(site, name, text="second\n")
    assert receiver.settle() == []


@pytest.mark.parametrize("name", ["static/.well-known/security.txt", "static/.nojekyll"])
def test_hidden_names_that_are_published_are_watched(site: Path, receiver: Receiver, name: str) -> None:
    write(site, name)
    receiver.wait_for(name)


def test_an_environment_that_is_made_disappears_from_view(site: Path, receiver: Receiver) -> None:
    write(site, "env2/lib/z.py")
    receiver.wait_for("env2/lib/z.py")
    receiver.settle()
    write(site, "env2/pyvenv.cfg")
    receiver.wait_for("env2/lib/z.py")
    receiver.settle()
    write(site, "env2/lib/z.py", text="second\n")
    assert receiver.settle() == []


def test_the_root_may_be_a_link(site: Path) -> None:
    link = site.with_name("link")
    link.symlink_to(site)
    with watching(link) as (receiver, _):
        (site / POST).write_text("second\n")
        receiver.wait_for(POST)


def test_names_that_are_no_text(site: Path, receiver: Receiver) -> None:
    name = os.fsdecode(b"content/\xff.md")
    write(site, name)
    receiver.wait_for(name)


def test_pipes_are_left_alone(site: Path, receiver: Receiver) -> None:
    os.mkfifo(site / "content/pipe")
    assert receiver.settle() == []
    (site / POST).unlink()
    os.mkfifo(site / POST)
    receiver.wait_for(POST)


# Folders


def test_a_branch_switch_of_five_hundred_files(site: Path) -> None:
    def git(*words: str) -> None:
        who = ("user.name=a", "user.email=a@example.org", "commit.gpgsign=false")
        settings = [word for setting in (*who, "init.defaultBranch=main") for word in ("-c", setting)]
        subprocess.run(["git", *settings, *words], cwd=site, check=True, capture_output=True)

    shutil.rmtree(site / ".git")
    changed = [f"content/posts/{number}/index.md" for number in range(300)]
    gone = [f"content/old/{number}.md" for number in range(100)]
    new = [f"content/new/{number}/index.md" for number in range(100)]
    write(site, *changed, *gone)
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "-b", "other")
    shutil.rmtree(site / "content/old")
    write(site, *changed, *new, text="second, of another length\n")
    git("add", ".")
    git("commit", "-m", "two")
    with watching(site) as (receiver, _):
        for branch in ("main", "other", "main"):
            git("checkout", branch)
            receiver.wait_for(*changed, *gone, *new)
            assert set().union(*receiver.settle()) == {*changed, *gone, *new}


def test_folders_that_are_renamed_and_moved(site: Path, receiver: Receiver) -> None:
    posts, notes = site / "content/posts", site / "content/notes"
    posts.rename(notes)
    receiver.wait_for(POST, "content/posts/b.md", "content/notes/a.md", "content/notes/b.md")
    receiver.settle()
    write(site, "content/notes/a.md", text="second\n")
    assert receiver.settle() == [{"content/notes/a.md"}]
    notes.rename(site.with_name("elsewhere"))
    receiver.wait_for("content/notes/a.md", "content/notes/b.md")
    receiver.settle()
    write(site.with_name("elsewhere"), "a.md", text="third\n")
    assert receiver.settle() == []
    site.with_name("elsewhere").rename(posts)
    receiver.wait_for(POST, "content/posts/b.md")
    receiver.settle()
    write(site, POST, text="fourth\n")
    assert receiver.settle() == [{POST}]


def test_two_folders_that_change_places(site: Path, receiver: Receiver) -> None:
    write(site, "content/drafts/a.md", text="draft\n")
    receiver.wait_for("content/drafts/a.md")
    receiver.settle()
    for old, new in (("posts", "x"), ("drafts", "posts"), ("x", "drafts")):
        (site / "content" / old).rename(site / "content" / new)
    receiver.wait_for(POST, "content/drafts/a.md")
    receiver.settle()
    for name in (POST, "content/drafts/a.md"):
        write(site, name, text="second\n")
        assert receiver.settle() == [{name}]


def test_a_top_folder_that_is_removed_and_made_again(site: Path, receiver: Receiver) -> None:
    for number in range(3):
        shutil.rmtree(site / "content")
        write(site, POST, "content/posts/c.md", text=f"again {number}\n")
        receiver.wait_for(POST, "content/posts/c.md")
        receiver.settle()
        write(site, POST, text=f"and again {number}\n")
        assert receiver.settle() == [{POST}]


def test_deep_folders_made_at_once(site: Path, receiver: Receiver) -> None:
    names = [f"content/{number}/b/c/d/e/f.md" for number in range(50)]
    write(site, *names)
    receiver.wait_for(*names)
    receiver.settle()
    write(site, names[7], text="second\n")
    assert receiver.settle() == [{names[7]}]


def test_the_output_may_be_deleted(site: Path, receiver: Receiver) -> None:
    shutil.rmtree(site / "public")
    assert receiver.settle() == []
    write(site, "public/index.html", "public/a/index.html")
    assert receiver.settle() == []


def test_the_root_may_be_deleted_and_come_back(site: Path, receiver: Receiver) -> None:
    shutil.rmtree(site)
    # all files; otherwise the rest is reported together with the files that return
    gone = (POST, "content/posts/b.md", "static/img/x.png", "blogsmith.yaml", "_freeze/a.json", LAST)
    receiver.wait_for(*gone)
    write(site, POST, text="back\n")
    receiver.wait(lambda: receiver.reports[-1].paths == {site / POST})
    receiver.settle()
    write(site, POST, text="second\n")
    assert receiver.settle() == [{POST}]


# Links


def test_the_target_of_a_link_is_told_under_both_names(site: Path) -> None:
    (site / "content/posts/x.png").symlink_to("../../static/img/x.png")
    (site / "content/shared").symlink_to("../static/img")
    with watching(site) as (receiver, _):
        write(site, "static/img/x.png", text="second\n")
        shared = {"static/img/x.png", "content/shared/x.png", "content/posts/x.png"}
        assert receiver.settle() == [shared]
        write(site, "static/img/y.png")
        assert receiver.settle() == [{"static/img/y.png", "content/shared/y.png"}]


def test_links_that_are_made_changed_and_broken(site: Path, receiver: Receiver) -> None:
    link = site / "content/link.md"
    link.symlink_to("posts/a.md")
    assert receiver.settle() == [{"content/link.md"}]
    link.unlink()
    link.symlink_to("posts/c.md")
    assert receiver.settle() == [{"content/link.md"}]
    write(site, "content/posts/c.md")
    assert receiver.settle() == [{"content/link.md", "content/posts/c.md"}]
    write(site, POST, text="second\n")
    assert receiver.settle() == [{POST}]


def test_links_out_of_the_site_are_not_followed(site: Path, receiver: Receiver) -> None:
    write(site.parent, "secret/a.md")
    (site / "content/out").symlink_to(site.parent / "secret")
    (site / "content/out.md").symlink_to(site.parent / "secret/a.md")
    (site / "content/env").symlink_to("../.git")
    (site / "content/built").symlink_to("../public")
    (site / "content/round").symlink_to("..")
    assert receiver.settle() == []


def test_files_elsewhere_that_results_depend_on(site: Path, soon: None) -> None:
    write(site.parent, "data/d.csv", "data/other.csv", "theme/layouts/post.html")
    write(site, ".cache/x.json")
    data, theme = site.parent / "data/d.csv", site.parent / "theme"
    with watching(site) as (receiver, watcher):
        watcher.watch_also([data, theme, site / ".cache/x.json", site / POST, site.parent / "later/l.csv"])
        watcher.watch_also([data])
        assert receiver.settle() == []
        write(site.parent, "data/d.csv", "data/other.csv", "theme/layouts/post.html", text="second\n")
        write(site, ".cache/x.json", ".cache/y.json", text="second\n")
        receiver.wait_for(str(data), str(theme / "layouts/post.html"), ".cache/x.json")
        assert len(set().union(*receiver.settle())) == 3
        write(site.parent, "theme/partials/new.html")
        receiver.wait_for(str(theme / "partials/new.html"))
        # its folder is not there to be watched: the regular comparison finds it
        write(site.parent, "later/l.csv")
        receiver.wait_for(str(site.parent / "later/l.csv"))


# Events that are lost, and systems without


def test_an_overflow_means_look_at_everything(site: Path, only_told: None) -> None:
    opened: list[HintQueue] = []

    def recorded(notices: HintQueue) -> SilentNotifier:
        opened.append(notices)
        return SilentNotifier(notices)

    with watching(site, notifier=recorded) as (receiver, _):
        write(site, POST, text="second\n")
        opened[0].add_overflow()
        receiver.wait(lambda: bool(receiver.reports))
        assert receiver.reports == [ChangedFiles(frozenset({site / POST}), everything=True)]


def test_the_kernel_says_when_its_queue_overflows(site: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 100_000:
        pytest.skip("the queue is too long to fill")
    with watching(site) as (receiver, watcher):
        # the reader waits for this lock with its first event, and the kernel's queue fills up
        with watcher._hints._changed:
            one, two = site / "content/one", site / "content/two"
            one.touch()
            for _ in range(most // 4 + 2000):
                one.rename(two)
                two.rename(one)
            write(site, POST, text="second\n")
            write(site, "content/deep/er/new.md")
        receiver.wait(lambda: any(report.everything for report in receiver.reports))
        receiver.wait_for(POST, "content/deep/er/new.md", "content/one")
        receiver.settle()
        write(site, "content/deep/er/new.md", text="second\n")
        assert receiver.settle() == [{"content/deep/er/new.md"}]


@pytest.mark.parametrize(
    ("call", "number", "words"),
    [
        ("inotify_init", errno.EMFILE, "the limit fs.inotify.max_user_instances is reached"),
        ("inotify_add_watch", errno.ENOSPC, "the limit fs.inotify.max_user_watches is reached"),
        ("inotify_init", errno.ENOSYS, os.strerror(errno.ENOSYS)),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_what_the_kernel_refuses_has_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, words: str
) -> None:
    files = descriptors()

    def refuse(*arguments: object) -> int:
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(f"watchdog.observers.inotify_c.{call}", refuse)
    with ExitStack() as stack, pytest.raises(WatchError, match=f"^{re.escape(words)}$"):
        notifier = open_notifier(HintQueue())
        stack.callback(notifier.stop)
        notifier.watch(str(tmp_path), tmp_path.stat().st_ino, alone=True)
    assert descriptors() == files


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_folder_under_two_names_is_told_under_both_until_one_goes(tmp_path: Path) -> None:
    """A moved folder is watched under its new name before the old one is dropped."""
    (old := tmp_path / "old").mkdir()
    notices, new = HintQueue(), tmp_path / "new"
    notifier = open_notifier(notices)
    try:
        notifier.watch(str(old), old.stat().st_ino, alone=True)
        old.rename(new)
        notifier.watch(str(new), new.stat().st_ino, alone=True)
        places = {place for name in ("a", "b") for place in _told_of(notices, new / name, str(new / name))}
        assert {str(old / "a"), str(new / "a")} <= places
        notifier.keep_only({str(new)})
        assert _told_of(notices, new / "c", str(new / "c")) == {str(new / "c")}
    finally:
        notifier.stop()


def _told_of(notices: HintQueue, file: Path, last: str) -> set[str]:
    """Write a file. Return the reports up to its name `last`."""
    file.touch()
    places: set[str] = set()
    while last not in places:
        burst = notices.next_batch(DEADLINE_S)
        assert burst is not None
        places |= burst.places.keys()
    return places


def test_polling(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # there is no event to wait for
    monkeypatch.setattr("blogsmith.watch.watcher._EVENT_S", 10 * DEADLINE_S)
    with watching(site, poll_s=0.02) as (receiver, _):
        for number in range(3):
            write(site, POST, text=f"{number}\n")
            receiver.wait_for(POST)
            receiver.reports.clear()
        (site / "content/posts").rename(site / "content/notes")
        receiver.wait_for(POST, "content/notes/a.md")
        assert receiver.lines == []


def test_polling_sees_writes_that_leave_size_and_times_alone(site: Path) -> None:
    with watching(site, poll_s=0.02) as (receiver, _):
        for text in ("one", "two", "six"):
            (site / POST).write_text(text)
            receiver.wait_for(POST)
            receiver.reports.clear()


def test_a_system_that_refuses_is_polled(site: Path) -> None:
    def refuse(notices: HintQueue) -> SilentNotifier:
        raise WatchError("the limit of the test is reached")

    with watching(site, notifier=refuse) as (receiver, _):
        expected = "no events for changed files (the limit of the test is reached): polling every 1 s"
        assert receiver.lines == [expected]
        write(site, POST, text="second\n")
        receiver.wait_for(POST)


def test_a_system_that_refuses_later_is_polled(site: Path, only_told: None) -> None:
    opened: list[SilentNotifier] = []

    def limited(notices: HintQueue) -> SilentNotifier:
        opened.append(SilentNotifier(notices, 8))
        return opened[0]

    with watching(site, notifier=limited) as (receiver, _):
        assert receiver.lines == []
        names = [f"content/{number}/a.md" for number in range(5)]
        write(site, *names)
        opened[0].notices.add(str(site / "content"))
        receiver.wait_for(*names)
        assert len(receiver.lines) == 1
        assert opened[0].stopped


def probe_of(root: Path) -> Path:
    """Return the file of the probe."""
    return root / f".blogsmith/watch-{os.getpid()}"


NONE_SO_FAR = "no events for changed files (none arrived within 0.3 s): polling every 1 s until one arrives"
NO_MORE_LOOKING = "events for changed files arrive again: polling stopped"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the probe give up and retry soon."""
    monkeypatch.setattr("blogsmith.watch.watcher.PROBE_S", 0.3)
    monkeypatch.setattr("blogsmith.watch.watcher.PAUSE_S", 0.01)
    monkeypatch.setattr("blogsmith.watch.watcher.MAX_PAUSE_S", 0.05)


def test_a_system_that_reports_nothing_is_polled(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blogsmith.watch.watcher.PROBE_S", 0.3)
    with watching(site, notifier=SilentNotifier) as (receiver, _):
        receiver.wait(lambda: bool(receiver.lines))
        assert receiver.lines == [NONE_SO_FAR]
        write(site, POST, text="second\n")
        receiver.wait_for(POST)
        assert list((site / ".blogsmith").iterdir()) == []


class HeldBack(SilentNotifier):
    """A machine so busy that no reported event is read until `read` is called.

    Like the system, it drops events of folders that are no longer watched.
    """

    def read(self, place: Path) -> None:
        """Read the events of a place."""
        if str(place.parent) in self.folders:
            self.notices.add(str(place))


def test_the_probe_is_heard_however_late_it_is_read(site: Path, impatient: None) -> None:
    held: list[HeldBack] = []

    def hold_back(notices: HintQueue) -> HeldBack:
        held.append(HeldBack(notices))
        return held[0]

    with watching(site, notifier=hold_back) as (receiver, watcher):
        # as the preview does at once: what is watched is gone through again
        watcher.watch_also([site.parent / "elsewhere.json"])
        receiver.wait(lambda: bool(receiver.lines))
        held[0].read(probe_of(site))
        receiver.wait(lambda: len(receiver.lines) > 1)
        assert receiver.lines == [NONE_SO_FAR, NO_MORE_LOOKING]
        assert watcher._poll_s is None
        assert list((site / ".blogsmith").iterdir()) == []


def test_a_probe_that_failed_is_tried_again(site: Path, impatient: None) -> None:
    """A folder that starts to report, for example because it was mounted late."""

    class Third(SilentNotifier):
        attempts = 0

        def watch(self, folder: str, inode: int, *, alone: bool) -> None:
            if folder.endswith(".blogsmith"):
                self.attempts += 1
                if self.attempts == 3:
                    self.notices.add(str(probe_of(site)))

    with watching(site, notifier=Third) as (receiver, watcher):
        receiver.wait(lambda: len(receiver.lines) > 1)
        assert receiver.lines == [NONE_SO_FAR, NO_MORE_LOOKING]
        assert watcher._probe is None


def test_pauses_between_attempts_grow(tmp_path: Path) -> None:
    probe, notifier, now_s, pauses = EventProbe(tmp_path), SilentNotifier(HintQueue()), 100.0, []
    for _ in range(10):
        assert probe.write(notifier, now_s)
        assert (probe.is_waiting, probe.next_s) == (True, now_s + PROBE_S)
        probe.pause(now_s := probe.next_s)
        pauses.append(probe.next_s - now_s)
        now_s = probe.next_s
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300, 300]
    assert list((tmp_path / ".blogsmith").iterdir()) == []


def test_the_probe_writes_through_no_link(tmp_path: Path) -> None:
    """A cloned site may include a link of any name."""
    (tmp_path / ".blogsmith").mkdir()
    (tmp_path / "precious").write_text("kept")
    probe = EventProbe(tmp_path)
    Path(probe.place).symlink_to(tmp_path / "precious")
    assert probe.write(SilentNotifier(HintQueue()), 0.0)
    assert (tmp_path / "precious").read_text() == "kept"
    assert not Path(probe.place).is_symlink()
    probe.remove()
    (tmp_path / ".blogsmith").rmdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / ".blogsmith").symlink_to("theirs")
    assert not probe.write(SilentNotifier(HintQueue()), 0.0)
    assert list((tmp_path / "theirs").iterdir()) == []


def test_a_system_that_reports_is_not_polled(site: Path, unhurried: None) -> None:
    with watching(site) as (receiver, watcher):
        deadline = threading.Event()
        while watcher._probe is not None:
            deadline.wait(0.01)
        assert receiver.lines == []
        assert list((site / ".blogsmith").iterdir()) == []


def test_a_change_without_an_event_is_found(site: Path, soon: None) -> None:
    notices: list[HintQueue] = []

    def half_deaf(opened: HintQueue) -> SilentNotifier:
        notices.append(opened)

        class HalfDeaf(SilentNotifier):
            def watch(self, folder: str, inode: int, *, alone: bool) -> None:
                # a container that tells of its own files, and not of those of its host
                if folder.endswith(".blogsmith"):
                    opened.add(str(probe_of(site)))

        return HalfDeaf(opened)

    with watching(site, notifier=half_deaf) as (receiver, _):
        write(site, POST, text="second\n")
        receiver.wait_for(POST)
        assert receiver.lines == []
        for number in range(2):
            receiver.reports.clear()
            write(site, POST, text=f"{number}\n")
            receiver.wait_for(POST)
        without = "no events for changed files (some changes had none): polling every 1 s"
        assert receiver.lines == [without]
        # changes of its own files are reported, without information about the others
        notices[0].add(str(site / "content/own.md"))
        for number in range(2, 4):
            receiver.reports.clear()
            write(site, POST, text=f"{number}\n")
            receiver.wait_for(POST)
        assert receiver.lines == [without]
        # the events of all that was missed came after all
        notices[0].add(str(site / POST))
        receiver.wait(lambda: len(receiver.lines) > 1)
        assert receiver.lines == [without, NO_MORE_LOOKING]


def test_events_that_come_late_are_events(
    site: Path, soon: None, unhurried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine: the comparison finds each change before its event comes."""
    # the comparison waits for no event: each is too late, however quick this machine is
    monkeypatch.setattr("blogsmith.watch.watcher._EVENT_S", 0.0)
    told: list[HintQueue] = []

    def late(notices: HintQueue) -> SilentNotifier:
        told.append(notices)
        return SilentNotifier(notices)

    with watching(site, notifier=late) as (receiver, watcher):
        for number in range(6):
            receiver.reports.clear()
            write(site, POST, text=f"{number}\n")
            receiver.wait_for(POST)
            told[0].add(str(site / POST))
            wait_for(lambda: not watcher._changes_without_event, DEADLINE_S)
        assert receiver.lines == []


def test_a_change_that_was_told_is_not_counted_as_missed(site: Path, soon: None, unhurried: None) -> None:
    with watching(site) as (receiver, _):
        for number in range(40):
            write(site, POST, text=f"{number}\n")
            receiver.wait_for(POST)
            receiver.reports.clear()
            threading.Event().wait(0.02)
        assert receiver.lines == []


# watchdog 7.1 watches a new folder twice if it is quicker than the folder's own event, and warns of it
@pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")
@pytest.mark.parametrize("save", [in_place, temporary_and_rename, vim, moved_in, deleted_and_created])
def test_the_way_of_other_systems(site: Path, save: Callable[[Path, str], None], unhurried: None) -> None:
    (site.parent / "elsewhere").mkdir()
    with watching(site, notifier=ObserverNotifier) as (receiver, _):
        for number in range(2):
            save(site / POST, f"{number}\n")
            receiver.wait_for(POST)
            receiver.settle()
        write(site, "content/new/deep/c.md", "public/x.html", "node_modules/x/z.js", "top/d.md")
        receiver.wait_for("content/new/deep/c.md", "top/d.md")
        shutil.rmtree(site / "content")
        receiver.wait_for(POST)
        write(site, POST, text="again\n")
        receiver.wait(lambda: (site / POST) in receiver.reports[-1].paths)
        receiver.settle()
        write(site, POST, text="and again\n")
        # the new folder is watched by a thread of its own, which may be slower than that of the last file
        receiver.wait_for(POST)
        assert receiver.settle() == [{POST}]
        (site / POST).read_bytes()
        assert receiver.settle() == []
        assert not receiver.names() & {"public/x.html", "node_modules/x/z.js"}
        assert receiver.lines == []


def test_what_a_bug_breaks_off_is_told_all_the_same(
    site: Path, only_told: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files already checked are compared with the last report, not with that check."""
    monkeypatch.setattr("blogsmith.watch.watcher.INCOMPLETE_S", DEADLINE_S / 8)
    opened: list[HintQueue] = []

    class Failing(SilentNotifier):
        fails = True

        def watch(self, folder: str, inode: int, *, alone: bool) -> None:
            super().watch(folder, inode, alone=alone)
            if folder.endswith("/new") and self.fails:
                self.fails = False
                raise RuntimeError("a bug")

    def failing(notices: HintQueue) -> Failing:
        opened.append(notices)
        return Failing(notices)

    with watching(site, notifier=failing) as (receiver, _):
        # what has become empty is doubted: its report goes on until the folder comes
        (site / "content/posts/b.md").write_text("")
        opened[0].add(str(site / "content/posts/b.md"))
        write(site, POST, text="second\n")
        opened[0].add(str(site / POST))
        write(site, "content/new/c.md")
        opened[0].add(str(site / "content/new"))
        receiver.wait_for(POST, "content/posts/b.md", "content/new/c.md")
        assert receiver.lines == ["blogsmith has a bug: RuntimeError: a bug; watching continues"]


# The end


def test_nothing_is_left_behind(site: Path) -> None:
    threads, files = set(threading.enumerate()), descriptors()
    for number in range(20):
        with watching(site) as (receiver, _):
            write(site, POST, text=f"{number}\n")
            receiver.wait_for(POST)
    # `stop` does not wait for long for a thread that a busy machine lets wait
    wait_for(lambda: set(threading.enumerate()) <= threads and descriptors() <= files)
    assert list((site / ".blogsmith").iterdir()) == []


def test_nothing_piles_up(site: Path) -> None:
    with watching(site) as (receiver, watcher):
        receiver.settle()
        threads, files = set(threading.enumerate()), descriptors()
        for number in range(300):
            write(site, f"content/{number}/a.md", text="first\n")
            shutil.rmtree(site / f"content/{number}")
        receiver.settle()
        folders = {str(path) for path in site.rglob("*") if path.is_dir()}
        assert set(threading.enumerate()) <= threads
        # not at once: a file may just be read
        wait_for(lambda: descriptors() <= files)
        assert watcher._tree.notifier is not None
        watched = watcher._tree.notifier._folders.keys()  # type: ignore[attr-defined]
        assert watched <= {*folders, str(site)}


def test_stopping_twice_early_and_from_the_receiver(site: Path) -> None:
    Watcher(site, changed=lambda changes: None).stop()
    stopped = threading.Event()

    def changed(changes: ChangedFiles) -> None:
        watcher.stop()
        watcher.watch_also([site])
        stopped.set()

    watcher = Watcher(site, changed=changed)
    watcher.start()
    write(site, POST, text="second\n")
    assert stopped.wait(DEADLINE_S)
    watcher.stop()
    watcher.stop()


# All of it together


class Mirror:
    """The files of a site as known from reports alone."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = self.on_disk()
        self.lines: list[str] = []
        self.seen = threading.Condition()

    def on_disk(self) -> dict[Path, bytes]:
        """Return the files on disk."""
        return {path: path.read_bytes() for path in self.root.rglob("*.md") if path.is_file()}

    def changed(self, changes: ChangedFiles) -> None:
        """Read the reported files. Called by the watcher."""
        with self.seen:
            for path in changes.paths:
                self.files.pop(path, None)
                # files that disappear again are reported again
                with suppress(OSError):
                    self.files[path] = path.read_bytes()
            self.files = {path: data for path, data in self.files.items() if path.suffix == ".md"}
            self.seen.notify_all()


def edit(root: Path, chance: random.Random) -> None:
    """Make one random change to files and folders, as authors and their tools do."""
    folders = [root / "content", *(path for path in (root / "content").rglob("*") if path.is_dir())]
    folder, other = chance.choice(folders), chance.choice(folders)
    name, new = chance.choice("abcd") + ".md", chance.choice("wxyz")
    what = chance.randrange(8)
    if what <= 2:
        chance.choice([in_place, temporary_and_rename_unsynced, vim_or_new])(
            folder / name, str(chance.random())
        )
    elif what == 3:
        (folder / name).unlink(missing_ok=True)
    elif what == 4 and (folder / name).exists():
        (folder / name).replace(other / name)
    elif what == 5:
        write(folder, f"{new}/{name}", text=str(chance.random()))
    elif what == 6 and folder != root / "content" and not other.is_relative_to(folder):
        if not (other / new).exists():
            folder.rename(other / new)
    elif what == 7 and folder != root / "content" and chance.random() < 0.3:
        shutil.rmtree(folder)


def vim_or_new(post: Path, text: str) -> None:
    (vim if post.exists() else in_place)(post, text)


@pytest.mark.parametrize(
    ("notifier", "seed"), [*((open_notifier, seed) for seed in range(4)), (ObserverNotifier, 4)]
)
@pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")
def test_who_reads_what_is_reported_knows_the_site(site: Path, notifier: OpenNotifier, seed: int) -> None:
    chance = random.Random(seed)
    mirror = Mirror(site)
    watcher = Watcher(site, changed=mirror.changed, notifier=notifier, say=mirror.lines.append)
    watcher.start()
    try:
        for _ in range(6):
            for _ in range(40):
                edit(site, chance)
            expected = mirror.on_disk()
            with mirror.seen:
                is_known = mirror.seen.wait_for(lambda now=expected: mirror.files == now, DEADLINE_S)  # type: ignore[misc]
                assert is_known, (mirror.lines, dict(mirror.files.items() ^ expected.items()))
    finally:
        watcher.stop()
