"""Saves while `blogsmith serve` runs: however and however often a file is saved, the last one is shown."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.preview_client import Client
from tests.serve_process import Listener, Serving, post, running, write
from tests.test_watch_saves import SAVES, in_place, temporary_and_rename, vim

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

POSTS = 12
QUICK = (in_place, temporary_and_rename, vim)
FILE = "content/posts/a.md"
PAGE = "/posts/a/"

_numbers = count(1)


def word() -> str:
    """One that no post has had."""
    return f"zq{next(_numbers):05}x"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A preview of a dozen posts beside the one that editors save."""
    folder = tmp_path_factory.mktemp("saves")
    (folder / "elsewhere").mkdir()
    root = folder / "site"
    files = {f"content/posts/p{number}.md": post(f"Post {number}") for number in range(POSTS)}
    write(root, {"blogsmith.yaml": "title: Notes\n", FILE: post("First"), **files})
    with running(root) as serving:
        serving.wait_until_whole()
        yield serving


@pytest.fixture
def tab(serving: Serving) -> Iterator[Listener]:
    """A tab that shows the post."""
    with serving.listen() as tab:
        serving.page(PAGE)
        yield tab


def is_told(serving: Serving, tab: Listener) -> None:
    """Wait until what tabs were told last of the page is what it is."""
    tab.wait_until(lambda: tab.version(PAGE) == serving.version(PAGE))


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
def test_however_it_is_saved(serving: Serving, tab: Listener, save: Callable[[Path, str], None]) -> None:
    for _ in range(2):
        before, text = len(tab.events), word()
        save(serving.root / FILE, post("First", f"The word is {text}."))
        # the tab is told before it asks, and finds it when it does
        tab.wait_for("pages", before)
        serving.wait_for(PAGE, "200 ", text)
        is_told(serving, tab)


def test_a_touch_is_no_change(serving: Serving, tab: Listener) -> None:
    before = serving.version(PAGE)
    (serving.root / FILE).touch()
    text = word()
    serving.page("/posts/p0/")
    write(serving.root, {"content/posts/p0.md": post("Post 0", text)})
    tab.wait_until(lambda: bool(tab.version("/posts/p0/")))
    assert serving.version(PAGE) == before
    assert tab.version(PAGE) == ""


def test_none_of_300_saves_is_missed(serving: Serving) -> None:
    chance = random.Random(5)
    names = [f"p{number}" for number in range(POSTS)]
    with serving.listen() as tab:
        for name in names:
            serving.page(f"/posts/{name}/")
        for _ in range(300 // POSTS):
            texts = {name: word() for name in names}
            for name, text in texts.items():
                chance.choice(QUICK)(serving.root / f"content/posts/{name}.md", post(name, text))
            for name, text in texts.items():
                serving.wait_for(f"/posts/{name}/", "200 ", text)
        for name in names:
            path = f"/posts/{name}/"
            tab.wait_until(lambda path=path: tab.version(path) == serving.version(path))  # type: ignore[misc]


def test_the_last_of_a_thousand_saves_wins(serving: Serving, tab: Listener) -> None:
    chance = random.Random(6)
    pause = threading.Event()
    for _ in range(1000):
        text = word()
        chance.choice(QUICK)(serving.root / FILE, post("First", text))
        pause.wait(0.001)
    serving.wait_for(PAGE, "200 ", text)
    is_told(serving, tab)
    assert text in serving.page(PAGE)


def test_saves_while_the_whole_site_is_looked_at(serving: Serving, tab: Listener) -> None:
    text = ""
    for number in range(5):
        write(serving.root, {"blogsmith.yaml": f"title: Notes {number}\n"})
        for _ in range(4):
            text = word()
            write(serving.root, {FILE: post("First", text)})
        serving.wait_for(PAGE, "200 ", text)
    serving.wait_for(PAGE, "200 ", text, "Notes 4")
    serving.wait_for("/posts/p3/", "200 ", "Notes 4")
    is_told(serving, tab)


def git(root: Path, *words: str) -> None:
    """As an author has it who has no settings."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True)


def test_a_branch_switch_of_500_files(tmp_path: Path) -> None:
    root = tmp_path / "site"
    names = {number: f"content/posts/p{number:03}.md" for number in range(500)}
    main = {names[number]: post(f"P{number}", "on main") for number in range(350)}
    other = {names[number]: post(f"P{number}", "on other") for number in range(150, 500)}
    write(root, {"blogsmith.yaml": "title: Notes\n", ".gitignore": ".blogsmith/\n", **main})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "--all")
    git(root, "commit", "-qm", "main")
    git(root, "switch", "-qc", "other")
    for name in main:
        (root / name).unlink()
    write(root, other)
    git(root, "add", "--all")
    git(root, "commit", "-qm", "other")
    git(root, "switch", "-q", "main")
    with running(root) as serving, serving.listen() as tab:
        serving.wait_until_whole()
        first, gone = serving.version(f"/{_page(200)}"), f"/{_page(0)}"
        serving.page(f"/{_page(200)}")
        serving.page(gone)
        git(root, "switch", "-q", "other")
        serving.wait_for(f"/{_page(499)}", "200 ", "on other")
        serving.wait_for(gone, "404 ")
        with Client(serving.port) as client:
            for number in range(500):
                got = client.ask(f"/{_page(number)}")
                assert got.status == (200 if number >= 150 else 404), number
                assert b"on main" not in got.body
        tab.wait_until(lambda: tab.version(f"/{_page(200)}") not in ("", first))
        # so many others were asked for that it counts as closed
        serving.page(f"/{_page(200)}")
        git(root, "switch", "-q", "main")
        serving.wait_for(f"/{_page(349)}", "200 ", "on main")
        serving.wait_for(f"/{_page(499)}", "404 ")
        tab.wait_until(lambda: tab.version(f"/{_page(200)}") == first)


def _page(number: int) -> str:
    return f"posts/p{number:03}/"
