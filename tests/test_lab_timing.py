"""Measurement of rows with a manual clock, in NumPy alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blogsmith.lab import benchmark, read_rows
from blogsmith.lab.row_tables import Timings
from blogsmith.lab.rows import append_rows
from tests.rows import each_row

ROOT = Path(__file__).parent.parent


class Clock:
    """A clock that advances by an eighth of a second with each access; binary fractions add up exactly."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.125
        return self.now


def measured(
    *backends: object, clock: Callable[[], float] | None = None, date: str = "2026-11-21", **options: Any
) -> Timings:
    given: dict[str, Any] = {"lengths": [4, 8], "heads": 2, "d": 4, "budget_s": 1.0, **options}
    return benchmark(list(backends) or "numpy", clock=clock or Clock(), date=date, **given)  # type: ignore[arg-type]


def test_a_budget_is_spent_and_the_median_found() -> None:
    (row, _) = measured().rows
    # eight calls of an eighth of a second fill one second
    assert (row.median_s, row.low_s, row.high_s, row.repeats) == (0.125, 0.125, 0.125, 8)
    assert (row.backend, row.ran, row.kind, row.n, row.status) == ("numpy", "numpy", "cpu", 4, "ok")
    assert row.max_abs_error is not None and row.max_abs_error < 2e-6
    assert (row.numpy, row.date, row.code) == (np.__version__, "2026-11-21", "")
    assert row.device and row.python


@pytest.mark.parametrize(
    ("options", "repeats"), [({"budget_s": 0.1}, 5), ({"budget_s": 1e9}, 200), ({"repeats": 3}, 3)]
)
def test_how_often_a_case_is_timed(options: dict[str, Any], repeats: int) -> None:
    assert [row.repeats for row in measured(lengths=2, **options).rows] == [repeats]


def test_quartiles() -> None:
    spans = iter([0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0])
    (row,) = measured(lengths=4, repeats=5, clock=lambda: next(spans)).rows
    assert (row.low_s, row.median_s, row.high_s, row.iqr_s) == (2.0, 3.0, 4.0, 2.0)


def test_what_is_known_is_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    calls: list[int] = []

    def mine(q: Any, k: Any, v: Any) -> Any:
        calls.append(q.shape[-2])
        return written_out(q, k, v)

    first = measured({"mine": mine}, rows=path)
    text = path.read_text("utf-8")
    done = len(calls)
    assert measured({"mine": mine}, rows=path, date="2027-01-01").rows == first.rows
    assert (path.read_text("utf-8"), len(calls)) == (text, done)
    # an additional length is measured alone
    assert [row.n for row in measured({"mine": mine}, rows=path, lengths=[4, 8, 16]).rows] == [4, 8, 16]
    assert set(calls[done:]) == {16}
    again = measured({"mine": mine}, rows=path, again=True, date="2027-01-01")
    assert [(row.n, row.date) for row in again.rows] == [
        (4, "2027-01-01"),
        (8, "2027-01-01"),
        (16, "2026-11-21"),
    ]
    assert path.read_text("utf-8").startswith(text)
    assert len(read_rows(path)) == 5


def test_a_function_that_changed_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    measured({"mine": written_out}, rows=path, lengths=4)
    changed = measured({"mine": lambda q, k, v: written_out(q, k, v)}, rows=path, lengths=4)
    assert len(read_rows(path)) == 2 and len(changed.rows) == 1
    assert changed.rows[0].code not in ("", read_rows(path)[0].code)


def test_rows_of_another_machine_stay_beside_ours(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    (ours,) = measured(lengths=4).rows
    theirs = replace(ours, device="Example GPU", kind="cuda", threads=0)
    append_rows(path, [theirs])
    timings = measured(rows=path, lengths=4)
    assert [row.device for row in timings.rows] == ["Example GPU", ours.device]
    assert read_rows(path)[0] == theirs


def test_the_file_is_no_input_of_the_cell_that_adds_to_it(tmp_path: Path) -> None:
    """Otherwise the cell would be stale as soon as it has run."""
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from blogsmith.execute.worker.file_access import FileAccess
from blogsmith.lab import benchmark, read_rows
(lambda path: open(path, "w").close())("other.jsonl")
seen = FileAccess({str(tmp_path)!r}, (), lambda: None, lambda: None)
seen.install()
benchmark("numpy", lengths=4, rows="timings.jsonl", repeats=1)
benchmark("numpy", lengths=4, rows="timings.jsonl", repeats=1)
read_rows("other.jsonl")
print(seen.take_new()[0])
read_rows("timings.jsonl")
print(seen.take_new()[0])
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    # drawings include the rows of other machines, so they become stale when rows are added
    assert (result.stdout.split(), result.stderr) == (["['other.jsonl']", "['timings.jsonl']"], "")


def test_memory_that_is_missing_becomes_a_row() -> None:
    def greedy(q: Any, k: Any, v: Any) -> Any:
        if q.shape[-2] > 4:
            raise MemoryError
        return written_out(q, k, v)

    small, large = measured({"greedy": greedy}).rows
    assert (small.status, large.status) == ("ok", "out of memory")
    assert (large.median_s, large.peak_bytes, large.max_abs_error) == (None, None, None)


def test_other_exceptions_are_not_swallowed() -> None:
    with pytest.raises(RuntimeError, match="mine"):
        measured({"mine": raises})


def test_nan_is_said() -> None:
    timings = measured({"mine": lambda q, k, v: q * np.nan}, lengths=4)
    assert [(row.status, row.max_abs_error) for row in timings.rows] == [("not a number", None)]
    assert "NaN" in repr(timings)


def test_peak_memory_is_that_of_the_call() -> None:
    def two_arrays(q: Any, k: Any, v: Any) -> Any:
        held = [np.zeros(2**20, np.uint8), np.zeros(2**21, np.uint8)]
        held.pop()
        np.zeros(2**20, np.uint8)
        return written_out(q, k, v)

    (row,) = measured({"mine": two_arrays}, lengths=4).rows
    assert row.memory_from == "tracemalloc"
    # both of `held` at the same time, and some objects of Python
    assert row.peak_bytes is not None and 3 * 2**20 <= row.peak_bytes < 3 * 2**20 + 50_000


@pytest.mark.parametrize("n", [4, 300])
@pytest.mark.parametrize("is_causal", [False, True])
def test_the_error_is_found_at_every_length(n: int, is_causal: bool) -> None:
    (right,) = measured(lengths=n, is_causal=is_causal, repeats=1).rows
    assert right.max_abs_error is not None and right.max_abs_error < 2e-6
    (wrong,) = measured({"mine": lambda q, k, v: v}, lengths=n, is_causal=is_causal, repeats=1).rows
    assert wrong.max_abs_error is not None and wrong.max_abs_error > 0.1


def test_inputs_are_the_same_on_every_machine() -> None:
    seen: list[Any] = []

    def mine(q: Any, k: Any, v: Any) -> Any:
        seen.append(q)
        return written_out(q, k, v)

    for seed in (0, 0, 1):
        measured({"mine": mine}, lengths=4, repeats=1, seed=seed)
    one, two, three = seen[0], seen[len(seen) // 3], seen[-1]
    assert (one == two).all() and not (one == three).any()
    assert one.shape == (1, 2, 4, 4) and one.dtype == np.float32


@each_row(
    ("options", "message"),
    [
        ({"inputs": "jax"}, "unknown inputs jax; choose from numpy, torch, torch-cuda"),
        ({"lengths": [4, 0]}, "must be 1 or more"),
        ({"lengths": []}, "lengths is empty"),
        ({"repeats": 0}, "must be 1 or more"),
        ({"dtype": "float12"}, "unknown dtype float12"),
    ],
)
def test_arguments_that_mean_nothing(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measured(**options)


def test_an_output_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the output has the shape \(2, 4, 4\), the queries \(1, 2, 4, 4\)"):
        measured({"mine": lambda q, k, v: v[0]}, lengths=4)


def written_out(q: Any, k: Any, v: Any) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) * np.float32(q.shape[-1] ** -0.5)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def raises(q: Any, k: Any, v: Any) -> Any:
    raise RuntimeError("mine")
