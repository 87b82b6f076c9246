"""Saves while `blogsmith serve` runs: in any way and at any rate, the last version is shown."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.serve_posts import FILE, PAGE, POSTS, QUICK, new_word, serving_posts, tab_of, wait_until_current
from tests.serve_process import Listener, Serving, post, write
from tests.test_watch_saves import SAVES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Yield a preview of a dozen posts and the one that editors save."""
    folder = tmp_path_factory.mktemp("saves")
    (folder / "elsewhere").mkdir()
    with serving_posts(folder / "site") as serving:
        yield serving


@pytest.fixture
def tab(serving: Serving) -> Iterator[Listener]:
    """Yield a tab that shows the post."""
    with tab_of(serving, PAGE) as tab:
        yield tab


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
def test_however_it_is_saved(serving: Serving, tab: Listener, save: Callable[[Path, str], None]) -> None:
    for _ in range(2):
        before, text = len(tab.events), new_word()
        save(serving.root / FILE, post("First", f"The word is {text}."))
        # the event comes before the request, which must find the new page
        tab.wait_for("pages", before)
        serving.wait_for(PAGE, "200 ", text)
        wait_until_current(serving, tab)


def test_a_touch_is_no_change(serving: Serving, tab: Listener) -> None:
    before = serving.version(PAGE)
    (serving.root / FILE).touch()
    text = new_word()
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
            texts = {name: new_word() for name in names}
            for name, text in texts.items():
                chance.choice(QUICK)(serving.root / f"content/posts/{name}.md", post(name, text))
            for name, text in texts.items():
                serving.wait_for(f"/posts/{name}/", "200 ", text)
        for name in names:
            path = f"/posts/{name}/"
            tab.wait_until(lambda path=path: tab.version(path) == serving.version(path))  # type: ignore[misc]


def test_a_file_that_a_post_shows(serving: Serving) -> None:
    """Without cells, files outside of the content matter only if a post shows them."""
    with serving.listen() as tab:
        first, second = new_word(), new_word()
        write(serving.root, {"src/shown.py": f"x = '{first}'\n"})
        text = '{% include code.html file="src/shown.py" %}'
        write(serving.root, {"content/posts/p1.md": post("Post 1", text)})
        serving.wait_for("/posts/p1/", "200 ", first)
        before = len(tab.events)
        write(serving.root, {"src/shown.py": f"x = '{second}'\n"})
        tab.wait_for("pages", before)
        serving.wait_for("/posts/p1/", "200 ", second)
