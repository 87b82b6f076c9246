"""Cells in `blogsmith serve`: run in the background of a trusted site; results appear on the page."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.preview_processes import is_running, processes
from tests.preview_client import soon
from tests.serve_posts import tab_of
from tests.serve_process import PATIENCE_S, Listener, Serving, cell, post, running, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

FILE, PAGE = "content/posts/cells.md", "/posts/cells/"
ENDLESS = cell("import time\nprint('it runs', flush=True)\nwhile True:\n    time.sleep(0.01)")
CONFIG = "title: Notes\nexecute: {jobs: 2}\n"


def summing(*numbers: int) -> str:
    """Return a post whose cells print strings that are not in their code."""
    return post(
        "Cells", "\n".join(cell(f"print(f'the sum is {{{number} + {number}}}')") for number in numbers)
    )


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Yield a preview of a trusted site."""
    root = tmp_path_factory.mktemp("cells") / "site"
    write(root, {"blogsmith.yaml": CONFIG, FILE: summing(10)})
    with running(root, trusted=True) as serving:
        serving.wait_for(PAGE, "the sum is 20")
        yield serving


@pytest.fixture
def tab(serving: Serving) -> Iterator[Listener]:
    """Yield a tab that shows the post."""
    with tab_of(serving, PAGE) as tab:
        yield tab


def test_an_edited_cell_runs_and_its_output_comes(serving: Serving, tab: Listener) -> None:
    write(serving.root, {FILE: summing(101, 202)})
    tab.wait_for("run", page=PAGE, state="finished")
    serving.wait_for(PAGE, "the sum is 202", "the sum is 404")
    tab.wait_until(lambda: tab.version(PAGE) == serving.version(PAGE))
    # events of the previous test about problems may come late
    told = [event for event in tab.events[1:] if event["kind"] != "problems"]
    kinds = [event["state"] if event["kind"] == "run" else event["kind"] for event in told]
    # the text is shown before anything has run, the results once they are recorded
    assert kinds[0] == "pages" and kinds[-1] == "pages", kinds
    states = [kind for kind in kinds if kind != "pages"]
    assert [states.count(state) for state in ("started", "ended", "finished")] == [2, 2, 1], states
    texts = {number: "".join(event["text"] for event in tab.of("run", cell=number, state="output"))
             for number in (1, 2)}  # fmt: skip
    assert texts == {1: "the sum is 202\n", 2: "the sum is 404\n"}
    assert (serving.root / "_freeze/posts/cells/outputs.json").is_file()


def test_prose_runs_nothing(serving: Serving, tab: Listener) -> None:
    write(serving.root, {FILE: summing(7)})
    serving.wait_for(PAGE, "the sum is 14")
    # the page with the result is announced last, after the end of the run
    tab.wait_until(lambda: tab.version(PAGE) == serving.version(PAGE))
    after = len(tab.events)
    write(serving.root, {FILE: summing(7) + "\nMore prose.\n"})
    serving.wait_for(PAGE, "More prose.", "the sum is 14")
    write(serving.root, {FILE: summing(7) + "\nEven more prose.\n"})
    serving.wait_for(PAGE, "Even more prose.")
    tab.wait_until(lambda: tab.version(PAGE) == serving.version(PAGE))
    assert tab.of("run", after) == []


def test_a_mistake_in_a_cell_is_told_until_it_is_mended(serving: Serving, tab: Listener) -> None:
    write(serving.root, {FILE: post("Cells", cell("print(nothing)"))})
    told = tab.wait_for("problems", errors=1)
    assert told["items"][0]["message"].startswith("NameError"), told
    assert told["items"][0]["path"] == FILE
    write(serving.root, {FILE: summing(9)})
    serving.wait_for(PAGE, "the sum is 18")
    after = tab.events.index(told)
    tab.wait_for("problems", after=after, errors=0)
    items = [item for event in tab.of("problems", after) for item in event["items"] if item["path"] == FILE]
    assert {item["severity"] for item in items} <= {"error"}, "it is run: nothing to warn of"


def test_stop_and_again(serving: Serving, tab: Listener) -> None:
    write(serving.root, {FILE: post("Cells", ENDLESS)})
    tab.wait_for("run", state="output", text="it runs\n")
    with serving.listen() as later:
        [*_, last] = later.events[0]["running"]
        assert (last["page"], last["cell"]) == (PAGE, 1)
    body = json.dumps({"page": PAGE}).encode()
    for token in (None, "guessed"):
        assert serving.act("stop", token, body).status == 403
    assert tab.of("run", state="stopped") == []
    assert serving.act("stop", serving.token(), body).status == 200
    stopped = tab.wait_for("run", page=PAGE, state="stopped")
    after = tab.events.index(stopped)
    assert serving.act("run", serving.token(), body).status == 200
    tab.wait_for("run", after, state="output", text="it runs\n")
    # a save cancels it, too
    write(serving.root, {FILE: summing(8)})
    serving.wait_for(PAGE, "the sum is 16")
    tab.wait_until(lambda: tab.version(PAGE) == serving.version(PAGE))


def test_a_post_that_is_deleted_while_it_runs(serving: Serving, tab: Listener) -> None:
    file, page = "content/posts/short.md", "/posts/short/"
    before = len(processes(serving.process.pid))
    write(
        serving.root,
        {file: post("Short", cell("import os, signal\nprint(os.getpid(), flush=True)\nsignal.pause()"))},
    )
    pid = int(tab.wait_for("run", page=page, state="output")["text"])
    assert is_running(pid)
    (serving.root / file).unlink()
    serving.wait_for(page, "404 ")
    assert soon(lambda: not is_running(pid), PATIENCE_S)
    # one more: a server of warm workers, which may start only now
    assert soon(lambda: len(processes(serving.process.pid)) <= before + 1, PATIENCE_S)


def test_data_that_a_cell_has_read(serving: Serving, tab: Listener) -> None:
    reading = cell("from pathlib import Path\nprint('read', Path('data.txt').read_text().upper())")
    write(
        serving.root,
        {"content/posts/data/data.txt": "old", "content/posts/data/index.md": post("Data", reading)},
    )
    serving.wait_for("/posts/data/", "read OLD")
    write(serving.root, {"content/posts/data/data.txt": "new"})
    serving.wait_for("/posts/data/", "read NEW")
    tab.wait_until(lambda: tab.version("/posts/data/") == serving.version("/posts/data/"))


def test_what_a_value_without_cells_has_read_and_imported(serving: Serving) -> None:
    folder, page = "content/posts/lone", "/posts/lone/"
    value = "It is {= open('data.txt').read() + __import__('unit_of_lone').UNIT =}."
    write(
        serving.root,
        {f"{folder}/data.txt": "1", "unit_of_lone.py": "UNIT = ' m'", f"{folder}/index.md": post("L", value)},
    )
    serving.wait_for(page, "1 m")
    write(serving.root, {f"{folder}/data.txt": "2"})
    serving.wait_for(page, "2 m")
    # found first from now on, and so instead of the other
    write(serving.root, {f"{folder}/unit_of_lone.py": "UNIT = ' km'"})
    serving.wait_for(page, "2 km")


class TestASiteThatIsNotTrusted:
    CODE = "from pathlib import Path\nPath('ran.txt').touch()\nprint(1 + 1, 'came')"

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        """Return the root of an untrusted site."""
        root = tmp_path / "site"
        write(root, {"blogsmith.yaml": CONFIG, "content/posts/a/index.md": post("First", cell(self.CODE))})
        return root

    def test_nothing_runs_and_that_is_told(self, root: Path) -> None:
        with running(root) as serving, serving.listen() as tab:
            assert "2 came" not in serving.page("/posts/a/")
            told = tab.wait_for("problems", errors=0, warnings=1)
            assert told["items"][0]["code"] == "cell-pending"
            assert "blogsmith trust" in told["items"][0]["text"]
            code = f"{self.CODE}\nprint(2 + 2)"
            write(root, {"content/posts/a/index.md": post("First", cell(code))})
            tab.wait_for("pages")
            serving.wait_for_words("content/posts/a/index.md: 1 page")
            token = serving.token()
            assert serving.act("run", token, b'{"page": "/posts/a/"}').status == 200
            write(root, {"content/posts/b.md": post("Second")})
            serving.wait_for("/posts/b/", "200 ")
            assert tab.of("run") == []
        assert not list(root.parent.rglob("ran.txt"))

    def test_with_execute_they_run(self, root: Path) -> None:
        with running(root, "--execute") as serving:
            serving.wait_for("/posts/a/", "2 came")
