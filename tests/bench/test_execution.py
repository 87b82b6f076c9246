"""The benchmark of running code measures what it claims. Sizes are tiny, and no test judges a time."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from blogsmith.execute.session.jobs import TEXT_BYTES

from . import execution
from .execution import (
    AT_ONCE,
    GOALS,
    NOT_MEASURED,
    Goal,
    Sizes,
    ask_ours,
    measure_alone,
    measure_engine,
    nbclient_in,
    options_of,
    table,
)
from .execution_engine import jobs_of, measure_cells, measure_posts
from .execution_posts import FLOODS, flood_codes, numpy_codes, page_of
from .execution_site import bare_python, files_of, timeless

TINY = Sizes(runs=1, posts=2, cells=1, trivial=3, flood=2_000_000, busy=1000, busy_posts=2, figures=1)
HAS_NBCLIENT = all(map(find_spec, ("nbclient", "ipykernel", "numpy")))
drawing = pytest.mark.skipif(
    not (find_spec("numpy") and find_spec("matplotlib")),
    reason="the posts measured need NumPy and matplotlib",
)


@drawing
@pytest.mark.long
def test_every_line_of_the_table_is_measured() -> None:
    found = measure_engine(TINY, ask_ours) | measure_alone(TINY)
    assert found.keys() >= {goal.key for goal in GOALS}
    assert all(found[key] > 0 for key in ("ready", "step", "first", "wall", "cpu", "command", "scaling"))
    assert found["started"] == found["numpy"] == 0
    assert found["again"] == found["anew"] == found["elsewhere"] == 1
    # A light and a dark image.
    assert found["pictures"] == 2 * TINY.figures
    lines = table(found, {})
    assert len(lines) == 1 + len(GOALS)
    for line, goal in zip(lines[1:], GOALS, strict=True):
        assert line.startswith(goal.name)
        assert (NOT_MEASURED in line) is not goal.alone


def test_of_a_flood_no_more_is_kept_than_the_limit() -> None:
    for kind in FLOODS:
        found = ask_ours("flood", [flood_codes(kind, 2 * TEXT_BYTES)])
        assert 0 < found["kept"] <= TEXT_BYTES < 2 * TEXT_BYTES


def test_the_time_of_a_session_is_taken_apart() -> None:
    found = measure_cells([["import time\ntime.sleep(0.05)", "1"]])
    assert 0 < found["ready"] < found["first"] - 0.05 < found["first"]
    assert found["step"] > 0.05


def test_processor_seconds_are_those_of_the_sessions() -> None:
    asleep = measure_posts([["import time\ntime.sleep(0.5)"]], 1)
    awake = measure_posts(
        [["import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"]], 1
    )
    assert asleep["wall"] > 0.5
    assert awake["cpu"] > 0.5


def test_a_cell_that_fails_ends_the_measuring() -> None:
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        measure_cells([["1 / 0"]])


def test_posts_differ_and_repeat() -> None:
    assert numpy_codes(1) == numpy_codes(1) != numpy_codes(2)
    with jobs_of([numpy_codes(1), numpy_codes(2)], AT_ONCE) as jobs:
        assert len({job.post for job in jobs}) == 2
    assert [cell.number for cell in page_of(("1", "2")).cells] == [1, 2]


def test_the_table_is_printed_with_the_load(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(execution, "measure_engine", lambda sizes, ask: {"ready": sizes.pick([9, 4, 5])})
    monkeypatch.setattr(execution, "measure_alone", lambda sizes: {})
    assert execution.main(["--runs", "7"]) == execution.main(["--best", "--posts", "5"]) == 0
    printed = capsys.readouterr().out
    assert "20 NumPy posts of 5 cells; median of 7 runs; load average" in printed
    assert "5 NumPy posts of 5 cells; best of 3 runs; load average" in printed
    ready = [line.split() for line in printed.splitlines() if line.startswith("worker ready")]
    assert ready == [f"worker ready, ms {n} not measured ≤ 80 yes".split() for n in (5, 4)]


def test_without_options_the_goals_of_twenty_posts_are_measured() -> None:
    options = options_of([])
    assert (options.nbclient, options.runs, options.posts) == ("", 3, 20)
    assert options_of(["--posts", "2", "--nbclient", "python3"]).nbclient == "python3"


@pytest.mark.parametrize(("value", "met"), [(0.5, "yes"), (0.6, "yes"), (0.61, "no")])
def test_a_goal_is_met_up_to_its_target(value: float, met: str) -> None:
    assert Goal("k", "n", 0.6).met(value) == met


def test_figures_are_shown_as_words_and_numbers() -> None:
    assert Goal("k", "n", 1.7, least=True).met(1.6) == "no"
    assert Goal("k", "n", truth=True).shown(0) == "no"
    assert Goal("k", "n").met(3) == ""
    assert [Goal("k", "n").shown(value) for value in (0, 0.1234, 12.345, 12345.6, None)] == [
        "0",
        "0.123",
        "12.35",
        "12346",
        NOT_MEASURED,
    ]


def test_a_python_without_some_packages_has_the_others(tmp_path: Path) -> None:
    python = bare_python(tmp_path / "bare", ("pytest",))
    ask = (
        "import importlib.util as u; print([bool(u.find_spec(n)) for n in ('click', 'blogsmith', 'pytest')])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run(
        [python, "-c", ask], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, check=True, text=True
    )
    assert found.stdout == "[True, True, False]\n"


def test_records_are_compared_without_their_times(tmp_path: Path) -> None:
    def record(name: str, text: str) -> dict[str, list[str] | bytes]:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "outputs.json").write_text(text, encoding="utf-8")
        (folder / "a.svg").write_bytes(b"<svg/>")
        return timeless(files_of(folder))

    first = record("a", '{\n "date": "2026-01-01",\n "text": "1"\n}\n')
    assert first["a.svg"] == b"<svg/>"
    assert first == record("b", '{\n "date": "2026-01-02",\n "text": "1"\n}\n')
    assert first != record("c", '{\n "date": "2026-01-01",\n "text": "2"\n}\n')


@pytest.mark.skipif(HAS_NBCLIENT, reason="nbclient is installed here")
def test_a_python_without_nbclient_is_told_so() -> None:
    with pytest.raises(SystemExit, match="needs nbclient, ipykernel and numpy"):
        nbclient_in(sys.executable)("cells", [["1"]])


@pytest.mark.skipif(not HAS_NBCLIENT, reason="nbclient is not installed here")
def test_nbclient_gives_the_same_figures() -> None:
    theirs = measure_engine(TINY, nbclient_in(sys.executable))
    assert theirs.keys() == {goal.key for goal in GOALS if not goal.alone}
    assert all(value > 0 for value in theirs.values())
