"""Row 20: whatever happens to the files of a site during a preview, the last save wins.

Tests cover so many saves that file system events are lost, saves during a build, a switch of branches,
simultaneous builds and a deleted output folder. The `long` tests come last and end in a comparison with a
build.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.preview_client import Client, soon
from tests.serve_posts import (
    FILE,
    PAGE,
    POSTS,
    QUICK,
    is_as_built,
    new_word,
    serving_posts,
    tab_of,
    wait_until_current,
)
from tests.serve_process import PATIENCE_S, PROGRAM, Listener, Serving, post, running, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Preview a dozen posts in addition to the one that editors save."""
    with serving_posts(tmp_path / "site") as serving:
        yield serving


@pytest.fixture
def tab(serving: Serving) -> Iterator[Listener]:
    """Open a tab that shows the post."""
    with tab_of(serving, PAGE) as tab:
        yield tab


def build(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `blogsmith build` beside a preview."""
    command = [str(PROGRAM), "build", *options]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=10 * PATIENCE_S)


def _is_same(serving: Serving, path: str, built: bytes) -> bool:
    return is_as_built(serving.ask(path).body, built)


def becomes_as_built(serving: Serving, output: Path) -> None:
    """Assert that every page of the preview becomes identical to the page of a clean build."""
    done = build(serving.root, "--output", str(output))
    assert done.returncode == 0, done.stderr
    for file in sorted(output.rglob("*.html")):
        path = f"/{file.relative_to(output).as_posix().removesuffix('index.html')}"
        built = file.read_bytes()
        if path != "/404.html":
            same = partial(_is_same, serving, path, built)
            assert soon(same, PATIENCE_S), path


def test_row_20_the_last_of_three_hundred_saves_wins(serving: Serving, tab: Listener) -> None:
    chance = random.Random(6)
    pause = threading.Event()
    for _ in range(300):
        text = new_word()
        chance.choice(QUICK)(serving.root / FILE, post("First", text))
        pause.wait(0.001)
    serving.wait_for(PAGE, "200 ", text)
    wait_until_current(serving, tab)
    assert text in serving.page(PAGE)


def test_row_20_saves_while_the_whole_site_is_looked_at(serving: Serving, tab: Listener) -> None:
    text = ""
    for number in range(5):
        write(serving.root, {"blogsmith.yaml": f"title: Notes {number}\n"})
        for _ in range(4):
            text = new_word()
            write(serving.root, {FILE: post("First", text)})
        serving.wait_for(PAGE, "200 ", text)
    serving.wait_for(PAGE, "200 ", text, "Notes 4")
    serving.wait_for("/posts/p3/", "200 ", "Notes 4")
    wait_until_current(serving, tab)


def test_row_20_an_output_folder_that_is_deleted(serving: Serving, tab: Listener) -> None:
    """Even during a build: the preview does not read the output folder, and the next build rewrites it."""
    output = serving.root / "public"
    for _ in range(2):
        building = subprocess.Popen(
            [PROGRAM, "build"], cwd=serving.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        text = new_word()
        write(serving.root, {FILE: post("First", text)})
        shutil.rmtree(output, ignore_errors=True)
        serving.wait_for(PAGE, "200 ", text)
        building.wait(10 * PATIENCE_S)
        shutil.rmtree(output, ignore_errors=True)
    wait_until_current(serving, tab)
    assert not output.exists(), "the preview writes nothing there"
    assert build(serving.root).returncode == 0
    assert text in (output / "posts/a/index.html").read_text("utf-8")


def git(root: Path, *words: str) -> None:
    """Run git without any settings of the user."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True)


def test_row_20_a_branch_switch_of_200_files(tmp_path: Path) -> None:
    root = tmp_path / "site"
    names = {number: f"content/posts/p{number:03}.md" for number in range(200)}
    main = {names[number]: post(f"P{number}", "on main") for number in range(140)}
    other = {names[number]: post(f"P{number}", "on other") for number in range(60, 200)}
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
        first, gone = serving.version(f"/{_page(100)}"), f"/{_page(0)}"
        serving.page(f"/{_page(100)}")
        serving.page(gone)
        git(root, "switch", "-q", "other")
        serving.wait_for(f"/{_page(199)}", "200 ", "on other")
        serving.wait_for(gone, "404 ")
        with Client(serving.port) as client:
            for number in range(200):
                got = client.ask(f"/{_page(number)}")
                assert got.status == (200 if number >= 60 else 404), number
                assert b"on main" not in got.body
        tab.wait_until(lambda: tab.version(f"/{_page(100)}") not in ("", first))
        # After so many other requests the page counts as closed.
        serving.page(f"/{_page(100)}")
        git(root, "switch", "-q", "main")
        serving.wait_for(f"/{_page(139)}", "200 ", "on main")
        serving.wait_for(f"/{_page(199)}", "404 ")
        tab.wait_until(lambda: tab.version(f"/{_page(100)}") == first)


def _page(number: int) -> str:
    return f"posts/p{number:03}/"


@pytest.mark.long
def test_row_20_a_hundred_saves_a_second_while_the_site_is_built(serving: Serving, tmp_path: Path) -> None:
    """Save all posts and the settings a thousand times in ten seconds, with builds meanwhile."""
    chance, pause, is_over = random.Random(20), threading.Event(), threading.Event()
    codes: list[int] = []

    def go_on_building() -> None:
        while not is_over.is_set():
            codes.append(build(serving.root).returncode)

    builder = threading.Thread(target=go_on_building)
    builder.start()
    names = ["a", *(f"p{number}" for number in range(POSTS))]
    try:
        for number in range(1000):
            if number % 50 == 49:
                write(serving.root, {"blogsmith.yaml": f"title: Notes {number}\n"})
            elif number % 100 == 10:
                shutil.rmtree(serving.root / "public", ignore_errors=True)
            name = chance.choice(names)
            text = post(name, f"{new_word()}, [next]({chance.choice(names)}.md)", tags=f"[t{number % 7}]")
            chance.choice(QUICK)(serving.root / f"content/posts/{name}.md", text)
            pause.wait(0.01)
    finally:
        is_over.set()
        builder.join()
    assert codes
    serving.wait_for("/", "Notes 999")
    becomes_as_built(serving, tmp_path / "built")


@pytest.mark.long
def test_row_20_branches_that_are_switched_again_and_again(tmp_path: Path) -> None:
    """Change five hundred files each time, and switch back before the preview has finished."""
    root = tmp_path / "site"
    write(root, {"blogsmith.yaml": "title: Notes\n", ".gitignore": ".blogsmith/\npublic/\n"})
    git(root, "init", "-q", "-b", "b0")
    for branch in range(3):
        if branch:
            git(root, "switch", "-qc", f"b{branch}")
            shutil.rmtree(root / "content")
        numbers = range(100 * branch, 100 * branch + 400)
        write(root, {f"content/posts/p{n:03}.md": post(f"P{n}", f"on {branch}") for n in numbers})
        git(root, "add", "--all")
        git(root, "commit", "-qm", str(branch))
    chance, pause = random.Random(21), threading.Event()
    with running(root) as serving:
        serving.wait_until_whole()
        branch = 2
        for _ in range(20):
            branch = chance.choice([other for other in range(3) if other != branch])
            git(root, "switch", "-q", f"b{branch}")
            pause.wait(chance.choice([0.0, 0.05, 0.5]))
        serving.wait_for(f"/{_page(100 * branch + 399)}", "200 ", f"on {branch}")
        becomes_as_built(serving, tmp_path / "built")
        for number in range(600):
            is_there = 100 * branch <= number < 100 * branch + 400
            assert serving.ask(f"/{_page(number)}").status == (200 if is_there else 404), number
