"""Running sweeps: input of each value, its effects, and what runs again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blogsmith.execute.session.jobs import SweepStep
from blogsmith.execute.session.session import run_session
from blogsmith.model.results import SessionRun
from tests.run_sites import STALE, page, site
from tests.sessions import cell, job, printed
from tests.site_files import build
from tests.site_files import printed as messages

OTHERS = (SweepStep("d = 2", {"d": 2}), SweepStep("d = 3", {"d": 3}))


def run(root: Path, before: str, code: str, after: str = "", **more: Any) -> SessionRun:
    swept = cell(2, code, binding={"d": 1}, sweep_steps=OTHERS, **more)
    return run_session(job(root, cell(1, before), swept, cell(3, after)))


def test_names_of_other_values_do_not_stay(tmp_path: Path) -> None:
    made = run(tmp_path, "y = 0", "y = d; extra = d\nprint(d)", "print(y, extra, d)")
    assert [printed(one) for one in made.cells[1].others.values()] == ["2\n", "3\n"]
    assert printed(made.cells[1]) == "1\n"
    assert printed(made.cells[2]) == "1 1 1\n"


def test_each_value_finds_what_was_there_before(tmp_path: Path) -> None:
    made = run(tmp_path, "y = 10", "y = y + d\nprint(y, 'new' in globals())\nnew = 1")
    assert [printed(one) for one in made.cells[1].others.values()] == ["12 False\n", "13 False\n"]
    assert printed(made.cells[1]) == "11 False\n"


def test_random_numbers_are_those_of_the_default(tmp_path: Path) -> None:
    code = "import random\nprint(random.random())"
    made = run(tmp_path, "import random\nrandom.seed(7)", code)
    assert {printed(one) for one in made.cells[1].others.values()} == {printed(made.cells[1])}


def test_numpy_starts_from_the_same_state(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    code = "print(np.random.rand())"
    made = run(tmp_path, "import numpy as np\nnp.random.seed(7)", code)
    assert {printed(one) for one in made.cells[1].others.values()} == {printed(made.cells[1])}


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("seen = []", "seen.append(d)"),
        ("seen = {}", "seen[d] = 1"),
        ("seen = {1}", "seen.add(d)"),
        ("seen = bytearray(b'x')", "seen.append(d)"),
        ("import numpy as np\nseen = np.zeros(3)", "seen[0] = d"),
    ],
)
def test_what_is_changed_in_place_is_told(before: str, code: str, tmp_path: Path) -> None:
    if "numpy" in before:
        pytest.importorskip("numpy")
    made = run(tmp_path, before, code)
    first = made.cells[1].others["d = 2"]
    assert first.status == "error"
    assert 'SweepError: the cell changes "seen"' in first.problem
    assert made.cells[1].status == made.cells[2].status == "skipped"


def test_nothing_of_the_machine_is_told(tmp_path: Path) -> None:
    made = run(tmp_path, "", "import os\nprint(os.getcwd())")
    told = [printed(one) for one in (*made.cells[1].others.values(), made.cells[1])]
    assert len(set(told)) == 1
    assert str(tmp_path) not in told[0]


def test_a_value_that_fails_ends_the_session(tmp_path: Path) -> None:
    made = run(tmp_path, "", "print(1 / (d - 3))", "print('after')")
    assert [one.status for one in made.cells[1].others.values()] == ["ok", "error"]
    assert [one.status for one in made.cells] == ["ok", "skipped", "skipped"]


def test_limits_hold_for_each_value(tmp_path: Path) -> None:
    made = run(tmp_path, "", "while d == 3: pass", timeout_s=1.0)
    assert [one.status for one in made.cells[1].others.values()] == ["ok", "timeout"]


def test_only_other_values(tmp_path: Path) -> None:
    swept = cell(2, "print(d)", binding={"d": 1}, sweep_steps=OTHERS[:1], only_others=True)
    steps = (cell(1, "x = 1"), swept, cell(3, "print('no')", skip="it has no run to repeat"))
    made = run_session(job(tmp_path, *steps, is_sweep_only=True))
    assert [one.status for one in made.cells] == ["ok", "skipped", "skipped"]
    assert printed(made.cells[1].others["d = 2"]) == "2\n"
    assert made.only_sweeps


def test_figures_of_each_value(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    made = run(tmp_path, "", "import matplotlib.pyplot as plt\nplt.plot(range(d));")
    assert [len(one.outputs) for one in (*made.cells[1].others.values(), made.cells[1])] == [1, 1, 1]


SWEPT = '#| sweep: {d: [1, 2]}\nopen("log.txt", "a").write(f"{d} ")\nprint("got", d)'


def post(code: str) -> str:
    return (
        f"```{{python}}\nx = 1\n```\n\n```{{python}}\n{code}\n```\n\n```{{python}}\nprint('after', d)\n```\n"
    )


def ran(root: Path) -> list[str]:
    """Return the values that ran since the last call."""
    log = root / "content/posts/log.txt"
    found = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return found


def test_a_new_value_runs_alone(tmp_path: Path) -> None:
    root = site(tmp_path / "site", a=post(SWEPT))
    assert build(root, execution=STALE).ok
    assert ran(root) == ["2", "1"]
    for number in (1, 2):
        assert f"got {number}" in page(root)
    assert "after 1" in page(root)
    source = root / "content/posts/a.md"
    source.write_text(source.read_text().replace("[1, 2]", "[1, 2, 3]"))
    report = build(root)
    assert [found.code for found in report.diagnostics] == ["cell-stale"]
    assert "it was not run with d = 3" in messages(report)
    assert build(root, execution=STALE).ok
    assert ran(root) == ["3"]
    assert "got 3" in page(root)
    assert not build(root).diagnostics
    source.write_text(source.read_text().replace("[1, 2, 3]", "[3, 2]"))
    assert build(root, execution=STALE).ok
    assert ran(root) == ["3"]
    assert "after 3" in page(root)


def test_a_mistake_names_the_value(tmp_path: Path) -> None:
    root = site(tmp_path / "site", a=post("#| sweep: {d: [1, 0]}\nprint(1 / d)"))
    report = build(root, execution=STALE)
    assert [found.code for found in report.diagnostics] == ["cell-error"]
    assert "ZeroDivisionError: division by zero (with d = 0)" in messages(report)
    assert not (root / "_freeze").exists()


def test_a_claim_that_is_false_for_one_value(tmp_path: Path) -> None:
    root = site(tmp_path / "site", a=post("#| claim: d is one\n#| sweep: {d: [1, 2]}\nd == 1"))
    report = build(root, execution=STALE)
    assert 'the claim "d is one" is false (left: 2, right: 1) (with d = 2)' in messages(report)


def test_a_frozen_build_wants_every_value(tmp_path: Path) -> None:
    from blogsmith.project.report import ExecutionOptions

    root = site(tmp_path / "site", a=post(SWEPT))
    assert build(root, execution=STALE).ok
    assert build(root, execution=ExecutionOptions(frozen=True)).ok
    source = root / "content/posts/a.md"
    source.write_text(source.read_text().replace("[1, 2]", "[1, 2, 3]"))
    report = build(root, execution=ExecutionOptions(frozen=True))
    assert [found.code for found in report.diagnostics] == ["freeze-stale"]


def test_code_of_a_file_and_its_mistakes(tmp_path: Path) -> None:
    text = '```python file="src/f.py" region="f" eval\n```\n\n```{python}\nf(0)\n```\n'
    root = site(tmp_path / "site", a=text)
    (root / "src").mkdir()
    (root / "src/f.py").write_text(
        "import os\n\n\nclass A:\n    def f(x):\n        return 1 / x\n\n\ndef f(x):\n    return 1 / x\n"
    )
    report = build(root, execution=STALE)
    assert [(found.code, found.path, found.place and found.place.line) for found in report.diagnostics] == [
        ("cell-error", "src/f.py", 10)
    ]
    (root / "src/f.py").write_text("def f(x):\n    return x\n")
    assert build(root, execution=STALE).ok
    assert build(root).executed_cells == 0
    (root / "src/f.py").write_text("# moved\n\ndef f(x):\n    return x\n")
    assert not build(root).diagnostics
    (root / "src/f.py").write_text("def f(x):\n    return x + 1\n")
    assert "cell-stale" in {found.code for found in build(root).diagnostics}
