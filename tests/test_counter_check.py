"""The counter-check of claims: a claim that is true for all constants is reported, any other is not."""

from __future__ import annotations

import ast
from pathlib import Path

from blogsmith.execute.session.counter_check import changed_codes, check_claim
from blogsmith.execute.session.jobs import CellStep, SessionJob
from blogsmith.execute.session.session import run_session
from blogsmith.model.results import CellRun, Failure, SessionRun
from tests.rows import each_row
from tests.sessions import cell, job, no_process_left, printed

NONE = "has no constant to change"


@each_row(
    ("code", "changed"),
    [
        ("x = 3\nx > 2", ["x = (4)", "x = (6)", "x = (-3)"]),
        ("x = 0\nx == 0", ["x = (1)", "x = (-1)"]),
        ("x, ok = 1.5, True\nok", ["x, ok = (2.5), True", "x, ok = 1.5, (False)"]),
        ("x = -2j\nx == 0", ["x = -((1+2j))", "x = -(4j)", "x = -((-0-2j))"]),
        ("é = 'a'; x = 2; x == 2", ["é = (''); x = 2; x == 2", "é = 'a'; x = (3); x == 2"]),
        ("if kind == 'a': pass\nTrue", ["if kind == (''): pass"]),
        ("f(2) == g(4)", ["f((3)) == g(4)", "f(2) == g((5))"]),
        # tolerances, names, text without effect
        ("abs(f() - g()) < 1e-9", []),
        ("1e-3 * 2 > abs(f() - g())", []),
        ("error = 1e-9\nabs(f()) < error", []),
        ("tol = 1e-9\nf() < tol", []),
        ("np.isclose(f(), g(), 0.1, 1e-8)", []),
        (
            "np.allclose(f(), g(), rtol=0.1, equal_nan=False)",
            ["np.allclose(f(), g(), rtol=0.1, equal_nan=(True))"],
        ),
        (
            "def near(a, b, *, eps=1e-6, n=7): return f(a, b, n)\nnear(1, 2)",
            ["def near(a, b, *, eps=1e-6, n=(8)): return f(a, b, n)"],
        ),
        ("'''text'''\nx = data['a']\nprint(f'{x:3}', 'b')\nx > 1", []),
        ("x = None\nx is None", []),
        (f"x = {'9' * 400}\nx > 1", []),
        ("x = 1e308\nx > 1", ["x = (-1e+308)"]),
        ("x = (\nx > 1", []),
        ("", []),
    ],
)
def test_the_constants_that_are_changed(code: str, changed: list[str]) -> None:
    found = [change.code for change in changed_codes(code)]
    lines = [
        next((new for new, old in zip(c.split("\n"), code.split("\n"), strict=True) if new != old), "")
        for c in found
    ]
    assert [line for line in changed if line not in lines] == [], lines
    assert bool(found) is bool(changed)
    for text in found:
        ast.parse(text)


def run_here(work: SessionJob) -> SessionRun:
    """Run the last cell of a session in this process."""
    step = work.steps[-1]
    assert isinstance(step, CellStep)
    names: dict[str, object] = {}
    tree = ast.parse(step.code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    try:
        exec(compile(tree, "cell", "exec"), names)
        holds = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    except Exception as error:
        failed = CellRun("error", (Failure(type(error).__name__, str(error), ""),), problem=str(error))
        return SessionRun("main", (failed,))
    return SessionRun("main", (CellRun("ok" if holds else "error"),))


def notes(root: Path, code: str, **limits: float) -> tuple[str, ...]:
    claim = cell(1, code, claim=True, counter_check=True, **limits)
    return check_claim(job(root, claim), claim, CellRun("ok"), run_here)


@each_row(
    ("code", "note"),
    [
        ("x = 3\nx * x == 9", ""),
        (
            "x = 3\nflag = True\nflag or x > 0",
            'never fails: it stays true if one of "3", "True" is replaced by 4 other values',
        ),
        ("x = 3\nx * x >= 0", 'never fails: it stays true if "3" is replaced by 3 other values'),
        ("x, y = 0, 7\nabs(x * y) < 1e-9", ""),
        ("x = 1\n1 / (x - 2) < 9", ""),
        ("kind = 'a'\nlen(kind) < 9", "never fails: it stays true if 'a' is replaced by another value"),
        ("kind = 'a'\n{'a': 1}[kind] == 1", NONE),
        ("[].append(0) is None", 'never fails: it stays true if "0" is replaced by 2 other values'),
        ("len([]) < 1", NONE),
    ],
)
def test_a_claim_that_never_fails(tmp_path: Path, code: str, note: str) -> None:
    assert notes(tmp_path, code) == ((note,) if note else ())


def test_the_limits_of_a_check(tmp_path: Path) -> None:
    code = "".join(f"x{n} = 1.{n:05}\n" for n in range(99)) + "True == True"
    (note,) = notes(tmp_path, code)
    assert note.startswith('never fails: it stays true if one of "1.00000", "1.00001"')
    assert note.endswith(" more is replaced by 24 other values")
    assert len(note) <= 120
    (note,) = notes(tmp_path, code, timeout_s=0.0)
    assert note == "was not counter-checked within 0 s: 0 of 24 changes ran"


SESSION = (
    "items, data = [1], open('data.txt').read()",
    "n = 2\nitems.append(n)\nopen('out.txt', 'a').write(str(n))\nprint(len(items))\nlen(items) >= 0",
    "print(items, n)\nm = 5\nm == 5",
)


def test_changed_cells_run_in_sessions_and_folders_of_their_own(tmp_path: Path) -> None:
    steps = [cell(n, code, claim=n > 1, counter_check=n > 1) for n, code in enumerate(SESSION, 1)]
    (tmp_path / "content").mkdir()
    (tmp_path / "content/data.txt").write_text("x")
    with no_process_left():
        run = run_session(job(tmp_path, *steps))
    assert [found.status for found in run.cells] == ["ok", "ok", "ok"]
    assert [found.notes for found in run.cells[1:]] == [
        ('never fails: it stays true if "2" is replaced by 3 other values',),
        (),
    ]
    assert printed(run.cells[1]) == "2\n" and printed(run.cells[2]) == "[1, 2] 2\n"
    assert (tmp_path / "content/out.txt").read_text() == "2"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["content"]


def test_a_cell_that_fails_in_the_copy_is_not_called_checked(tmp_path: Path) -> None:
    here = f"import os\nassert os.getcwd() == {str(tmp_path / 'content')!r}\nx = 2\nx == 2"
    run = run_session(job(tmp_path, cell(1, here, claim=True, counter_check=True)))
    (note,) = run.cells[0].notes
    assert note == "was not counter-checked: in a copy of the site, AssertionError"
