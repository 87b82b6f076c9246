"""Pages imported by several processes: same results in the same order, even if a process fails."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import pytest

from blogsmith.importers import page_work
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.page_work import Workers, default_method, map_pages
from blogsmith.importers.report import ImportResult
from blogsmith.importers.source_files import source_root
from blogsmith.pools import page_executor
from blogsmith.pools.pool import NumberedItem, ProcessPool, StartMethod
from blogsmith.project.report import no_progress
from tests.importers.import_texts import outcome, read_import_text, text_files
from tests.site_files import NOW, put

METHODS: tuple[StartMethod, ...] = ("fork", "spawn") if default_method() == "fork" else ("spawn",)
PAGES = 200
"""Enough pages for both start methods to use several processes."""
SYSTEMS = ("hugo", "mkdocs", "myst", "obsidian")
each_method = pytest.mark.parametrize("method", [*METHODS])


def square_elsewhere(number: int) -> tuple[int, bool]:
    """Return the square, and whether another process computed it."""
    return number * number, parent_process() is not None


@each_method
def test_results_are_in_the_order_of_the_pages(method: StartMethod) -> None:
    found = list(map_pages(square_elsewhere, range(PAGES), PAGES, Workers(2, method)))
    assert found == [(number * number, True) for number in range(PAGES)]


def test_few_pages_stay_in_this_process() -> None:
    workers = Workers(2)
    for count, expected in ((3, False), (PAGES, True)):
        assert {far for _, far in map_pages(square_elsewhere, range(count), count, workers)} == {expected}
    assert {far for _, far in map_pages(square_elsewhere, range(PAGES), PAGES, Workers(1))} == {False}


def fail_elsewhere(number: int) -> int:
    if number == 7 and parent_process() is not None:
        raise ValueError(number)
    return number


def die_elsewhere(number: int) -> int:
    if number == 7 and parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def return_what_cannot_be_sent(number: int) -> Callable[[], int]:
    return lambda: number


def fail_everywhere(number: int) -> int:
    raise ValueError(number)


@each_method
@pytest.mark.parametrize("work", [fail_elsewhere, die_elsewhere])
def test_this_process_does_what_others_cannot(work: Callable[[int], int], method: StartMethod) -> None:
    assert list(map_pages(work, range(PAGES), PAGES, Workers(2, method))) == list(range(PAGES))


def test_a_result_that_cannot_be_sent_is_made_here() -> None:
    made = map_pages(return_what_cannot_be_sent, range(PAGES), PAGES, Workers(2))
    assert [result() for result in made] == list(range(PAGES))


def test_an_error_is_raised_as_by_one_process() -> None:
    with pytest.raises(ValueError, match=r"\A0\Z") as caught:
        list(map_pages(fail_everywhere, range(PAGES), PAGES, Workers(2)))
    assert caught.value.__cause__ is None


def test_items_are_read_when_they_are_needed() -> None:
    numbers = iter(range(PAGES))
    made = map_pages(square_elsewhere, numbers, PAGES, Workers(2))
    assert next(made) == (0, True)
    assert next(numbers) < PAGES / 2


def test_a_path_of_a_source_is_the_same_in_another_process(tmp_path: Path) -> None:
    inside = source_root(tmp_path) / "a.md"
    put(tmp_path, {"a.md": b"a", "../outside": b"b"})
    (tmp_path / "link.md").symlink_to(tmp_path.parent / "outside")
    found = pickle.loads(pickle.dumps(inside))
    assert found == inside and found.is_file()
    assert not pickle.loads(pickle.dumps(source_root(tmp_path) / "link.md")).is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [f"{system}/{file.stem}" for system in SYSTEMS for file in text_files(system)]
)
def test_processes_import_what_one_does(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, _, stem = name.partition("/")
    (file,) = (each for each in text_files(system) if each.stem == stem)
    put(tmp_path / "source", read_import_text(file).source)
    alone = imported(tmp_path / "alone", tmp_path / "source", Workers())
    use_processes_always(monkeypatch)
    together = imported(tmp_path / "together", tmp_path / "source", Workers(2))
    assert together == alone


@pytest.mark.slow
def test_fresh_processes_import_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "source", hugo_site(6))
    alone = imported(tmp_path / "alone", tmp_path / "source", Workers())
    use_processes_always(monkeypatch)
    assert imported(tmp_path / "together", tmp_path / "source", Workers(2, "spawn")) == alone


def use_processes_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use several processes even for one page, and forbid the fallback to this process."""
    monkeypatch.setattr(page_work, "_MIN_PAGES", {"fork": 1, "spawn": 1})
    monkeypatch.setattr(page_executor, "MIN_FORK_BODIES", 1)
    monkeypatch.setattr(page_executor, "MIN_SPAWN_BODIES", 1)
    monkeypatch.setattr(page_work, "ProcessPool", StrictPool)


class StrictPool(ProcessPool):
    """A process pool that fails if any task fails."""

    def map(self, tasks: Iterable[Any], per_call: int = 1) -> Iterator[NumberedItem]:
        """Map tasks as `ProcessPool` does, and assert that each has a result."""
        for number, result in super().map(tasks, per_call):
            assert result is not None
            yield number, result


def imported(folder: Path, source: Path, workers: Workers) -> tuple[str, object, Mapping[str, bytes]]:
    """Import the source and return its files, the check and the reports."""
    options = ImportOptions(now=NOW, workers=workers)
    done: ImportResult = import_site(source, folder / "new", options, no_progress)
    names = ("import-report.md", "import-report.json")
    return outcome(done, folder), done.check, {name: (folder / "new" / name).read_bytes() for name in names}


def hugo_site(pages: int) -> dict[str, bytes]:
    """Return a site of posts with formulas, code, a box, a lost table and a file of `assets/`."""
    text = (
        "---\ntitle: Post {number}\ndate: 2024-01-01\n---\n\nWords $a_{number}$ and `code`.\n\n"
        '```python\nprint({number})\n```\n\n{{{{< figure src="/a.png" >}}}}\n\n{{{{< unknown >}}}}\n'
    )
    posts = {f"content/posts/p{number}.md": text.format(number=number).encode() for number in range(pages)}
    return {"hugo.toml": b"title = 'Many'\n", "assets/a.png": b"", **posts}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="asks /proc for processes")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["int", "term", "kill"]
)
def test_no_process_outlives_an_import(number: signal.Signals, tmp_path: Path) -> None:
    put(tmp_path / "source", hugo_site(400))
    command = [sys.executable, "-m", "blogsmith", "import", "source", "new"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children = wait_for(lambda: children_of(running.pid))
    if number == signal.SIGINT:
        # as a terminal does it: to all
        os.killpg(running.pid, number)
    else:
        running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == (130 if number == signal.SIGINT else -number)
    assert not errors.strip()
    wait_for(lambda: not any(map(is_alive, children)))


def wait_for(condition: Callable[[], object], seconds: float = 30) -> list[int]:
    """Wait until the condition is true, and return its value."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.01)
    return found if isinstance(found, list) else []


def children_of(process: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_fresh_processes_import_nothing_from_the_working_folder(tmp_path: Path) -> None:
    put(tmp_path, {"source/" + name: data for name, data in hugo_site(160).items()})
    put(tmp_path, {"multiprocessing.py": b"open('ran', 'w')\n", "random.py": b"open('ran', 'w')\n"})
    script = (
        "import datetime as dt, pathlib, sys\n"
        "from blogsmith.importers.importer import ImportOptions, import_site\n"
        "from blogsmith.importers.page_work import Workers\n"
        "options = ImportOptions(now=dt.datetime.now(dt.UTC), workers=Workers(2, 'spawn'))\n"
        "import_site(pathlib.Path('source'), pathlib.Path('new'), options, lambda *_: None)\n"
    )
    subprocess.run([sys.executable, "-P", "-c", script], cwd=tmp_path, check=True, timeout=120)
    assert not (tmp_path / "ran").exists()
    assert (tmp_path / "new" / "import-report.md").is_file()
