"""Claims that are true of nothing: an error if nothing is compared, otherwise a remark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.rows import each_row
from tests.worker_client import Client, Frame

SETUP = """\
import math
import numpy as np
def ok(x): return x > 0
def same(x, y): return x == y
def check(): return all([])
def check_each(): return all(ok(x) for x in empty)
def check_both(): return all(ok(x) for x in empty) and 1 == 1
def bad(x): return x < 0
empty, nothing, nan = [], np.array([]), float("nan")
err = nan
used = iter([]); list(used)
a, b = np.arange(3.0), np.arange(3.0)
c = b.reshape(3, 1)
n = np.array([1.0, nan])
u, v = np.array([0, 5], dtype=np.uint8), np.array([255, 3], dtype=np.uint8)
"""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    client = Client(tmp_path_factory.mktemp("claims"), {})
    client.need("numpy")
    client.run(SETUP)
    yield client
    client.close()


def judged(worker: Client, code: str) -> Frame:
    ended = worker.run(code, claim=True)
    assert ended.status == "ok", ended.done
    found: dict[str, Any] = ended.done["claim"]
    return found


@each_row(
    "expression",
    [
        "all(map(ok, []))",
        "all(map(ok, empty))",
        "all(filter(ok, [-1]))",
        "all(used)",
        "all(x == y for x, y in zip(empty, [1]))",
        "all(zip(empty, [1]))",
        "not any(map(bad, []))",
        "not any(bad(x) for x in empty)",
        "np.linalg.norm(nothing - nothing) < 1e-6",
        "np.linalg.norm(nothing) < 1e-6",
        "np.abs(nothing).sum() < 1e-6",
        "abs(nothing - nothing).sum() == 0",
        "nothing.sum() == 0",
        "np.sum(nothing) == 0",
        "math.fsum(empty) == 0",
        "np.array_equal([], [])",
        "np.array_equal(nothing, nothing)",
        "np.isclose(nothing, 1).all()",
        "sum(abs(x) for x in []) == 0",
        "sum([abs(x) for x in empty]) == 0",
        "sum(empty) == 0",
        "set(empty) == set()",
        "sorted(empty) == sorted(empty)",
        "check()",
        "check_each()",
        "not not check()",
        "1 == 1 and all(map(ok, []))",
        "np.count_nonzero(nothing) == 0",
        "all({x: 1 for x in empty})",
        "max(empty, default=0) < 1e-6",
        "dict.fromkeys(empty) == dict(zip(empty, empty))",
        "set(empty) <= {1}",
        "frozenset(map(abs, empty)) < {1}",
    ],
)
def test_nothing_is_compared(worker: Client, expression: str) -> None:
    claim = judged(worker, expression)
    assert (claim["holds"], claim["kind"]) == (None, "empty")


@each_row(
    "expression",
    [
        "not (err > 1e-6)",
        "not err > 1e-6",
        "not (n > 1).any()",
        "not np.any(n > 1)",
        "max(0.0, nan) < 1",
        "max([0.0, nan]) < 1",
        "min(5, err) < 6",
        "nan != 1",
        "err != err + 1",
        "not (1 < nan < 2)",
        "np.allclose(n, n)",
        "np.allclose([nan], [nan], equal_nan=True)",
        "np.allclose(np.full(3, nan), np.full(3, nan), equal_nan=True)",
        "not np.isclose(n, 1).all()",
        "not math.isclose(nan, 1)",
        "not np.float32('nan') > 1",
        "all(not x > 1 for x in n)",
        "not any(x > 1 for x in n)",
        "[1.0, nan] != [1.0]",
    ],
)
def test_nan_is_compared(worker: Client, expression: str) -> None:
    claim = judged(worker, expression)
    assert (claim["holds"], claim["kind"]) == (None, "nan"), claim


@each_row(
    ("expression", "note"),
    [
        ("((u - v) < 5).any()", 'wraps around in unsigned numbers (uint8) in "u - v"'),
        ("((v - u) < 255).any()", 'wraps around in unsigned numbers (uint8) in "v - u"'),
        ("(abs(u - v) >= 0).all()", 'wraps around in unsigned numbers (uint8) in "u - v"'),
        ("np.abs(u - v).max() > 0", 'wraps around in unsigned numbers (uint8) in "u - v"'),
        ("((v + v) < 255).all()", 'wraps around in unsigned numbers (uint8) in "v + v"'),
        ("((v * v) < 255).all()", 'wraps around in unsigned numbers (uint8) in "v * v"'),
        ("not np.allclose(a, c)", 'combines different shapes, (3,) and (3, 1), in "np.allclose(a, c)"'),
        ("(a == c).any()", 'combines different shapes, (3,) and (3, 1), in "a == c"'),
        ("np.abs(a - c).max() == 2", 'combines different shapes, (3,) and (3, 1), in "a - c"'),
        ("abs(1.0 - 2.0) < 1e9", "allows a difference of 5e+10 %"),
        ("np.abs(a - (a + 0.5)).max() <= 0.5", "allows a difference of 20 %"),
        ("((a - c) < 5).all()", 'combines different shapes, (3,) and (3, 1), in "a - c"'),
        ("np.allclose(n, n, equal_nan=True)", "treats NaN as equal in 1 of 2 places"),
        ("np.allclose(a, a + 0.5, rtol=1)", "allows a difference of 100 %"),
        ("np.allclose(a, a + 0.0, 0.5)", "allows a difference of 50 %"),
        ("math.isclose(3, 4, rel_tol=0.5)", "allows a difference of 50 %"),
        (
            "all(x == y for x, y in zip([1, 2, 3], [1]))",
            'compares only 1 of 3 items of "zip([1, 2, 3], [1])"',
        ),
        ("all(map(same, [1, 2, 3], [1]))", 'compares only 1 of 3 items of "map(same, [1, 2, 3], [1])"'),
    ],
)
def test_a_weak_point_is_named(worker: Client, expression: str, note: str) -> None:
    claim = judged(worker, expression)
    assert claim["holds"] is True, claim
    assert claim["notes"] == [note]


@each_row(
    ("expression", "count"),
    [
        ("a[0] == 0", 1),
        ("1 < 2 < 3", 2),
        ("(a == b).all()", 3),
        ("np.allclose(a, b)", 3),
        ("np.array_equal(a, b)", 3),
        ("np.abs(a - b).max() < 1e-6", 1),
        ("all(x >= 0 for x in a)", 3),
        ("all(map(ok, [1, 2]))", 2),
        ("sum(1 for x in a if x < 0) == 0", 1),
        ("all(x <= y for x, y in zip(a, a[1:]))", 2),
        ("len(empty) == 0", 1),
        ("empty == []", 1),
        ("nothing.size == 0", 1),
        ("nothing.shape == (0,)", 1),
        ("np.isnan(n).any()", 0),
        ("err != err", 1),
        ("math.isnan(err)", 0),
        ("((v - np.uint8(1)) < 255).all()", 2),
        ("(a - a.mean() < 5).all()", 3),
        ("((a - c.T) < 5).all()", 3),
        ("(c @ c.T).max() == 4", 1),
        ("check_both()", 0),
        ("isinstance(a, np.ndarray)", 0),
        ("np.allclose(a, 1, rtol=0.05) or a.sum() == 3", 4),
        ("len(empty) == 0 or all(map(ok, empty))", 1),
    ],
)
def test_a_sound_claim_holds_and_counts(worker: Client, expression: str, count: int) -> None:
    claim = judged(worker, expression)
    assert (claim["holds"], claim["compared"], claim["notes"]) == (True, count, []), claim


@each_row(
    "code",
    [
        "np.bool_ = B\nB()",
        "import sys, types\nsys.modules['numpy'] = types.SimpleNamespace(bool_=B, ndarray=B)\nB()",
        "import sys, types\nsys.modules['torch'] = types.SimpleNamespace(Tensor=B, bool=B)\nB()",
    ],
)
def test_truth_is_that_of_the_real_modules(worker: Client, code: str) -> None:
    worker.run("import sys\nclass B:\n    def __bool__(self): return True\nreal = np, np.bool_")
    claim = judged(worker, code)
    worker.run(
        "np, np.bool_ = real[0], real[1]\nsys.modules['numpy'] = real[0]; sys.modules.pop('torch', None)"
    )
    assert claim["holds"] is None
    assert judged(worker, "np.bool_(True)")["holds"] is True


def test_all_and_any_are_pythons_own_again_afterwards(worker: Client) -> None:
    judged(worker, "all(map(ok, [1]))")
    assert worker.run("print(all.__module__, all([1]), any([]))").text() == "builtins True False\n"
    assert worker.run("all(1 / 0 for x in [1])", claim=True).status == "error"
    assert worker.run("import builtins\nprint(repr(builtins.all))").text() == "<built-in function all>\n"
