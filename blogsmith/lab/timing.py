"""Time, memory and error of attention over the length of the sequence, on this machine.

With a file of rows, what this machine has measured before is not measured again, so a post that is run twice
shows the same numbers, and rows of other machines stay beside its own.
"""

from __future__ import annotations

import datetime
import hashlib
import inspect
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from . import reference
from .devices import driver_version, processor_name, usable_cores
from .measuring import give_back, is_out_of_memory, peak_of, times_of
from .precision import dtype_name, rounded
from .ran import BackendError, tell
from .row_tables import Timings
from .rows import Row, append_rows, case_of, newest, rows_of
from .subjects import (
    KINDS,
    Backends,
    Function,
    Subject,
    as_given,
    from_arrays,
    proved,
    subjects,
    torch_for,
)

CHECKED_QUERIES = 256
"""Queries whose error is computed, spread evenly: any length can be checked."""


def benchmark(
    backends: Backends | None = None,
    *,
    lengths: int | Iterable[int],
    batch: int = 1,
    heads: int = 8,
    d: int = 64,
    dtype: object = "float32",
    is_causal: bool = False,
    inputs: str = "numpy",
    rows: str | os.PathLike[str] | None = None,
    again: bool = False,
    repeats: int | None = None,
    budget_s: float = 1.0,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
    date: str | None = None,
) -> Timings:
    """Time, memory and error of one call on (batch, heads, n, d) of N(0, 1), for each n of `lengths`.

    backends: names, or a mapping from a name to a function f(q, k, v), or a list of both; None: all that are
    present and can. inputs: the arrays that functions get, `numpy`, `torch` or `torch-cuda`; a function sees
    to `is_causal` itself.
    Each case is called for its proof, for its memory and to warm up; then as often as fits into `budget_s`
    seconds, at least 5 times and at most 200, or `repeats` times. Times are the median and the quartiles of
    one call, of `attention` with all it does; on CUDA they are the device's, without launching. The error is
    the largest of up to 256 queries, against float64. Without memory for a case its row says so.
    rows: a file of rows, see `rows.py`. A case that stands there for this machine is not measured again,
    unless again=True or the source of its function has changed; then a newer row is added. The result holds
    all rows of the file, the newest of each case.
    BackendError if a backend that was named cannot run; ValueError for a broken file or a wrong argument.
    """
    if inputs not in KINDS:
        raise ValueError(f"no such inputs: {inputs}; choose from {', '.join(KINDS)}")
    asked = _lengths(lengths, batch, heads, d, 1 if repeats is None else repeats)
    case: dict[str, Any] = {"batch": batch, "heads": heads, "d": d, "is_causal": is_causal}
    case["dtype"] = dtype_name(dtype)
    case["date"] = date or datetime.date.today().isoformat()
    known = () if rows is None else _known(rows)
    plan = _Plan({s.name: s for s in subjects(backends, inputs)}, seed, repeats, budget_s, clock)
    wanted = [
        Row(**_machine(subject.kind), **case, backend=subject.name, ran="", n=n, code=_code(subject.function))
        for subject in plan.subjects.values()
        for n in asked
    ]
    fresh: list[Row] = []
    for row in wanted if again else _missing(wanted, known):
        fresh += _added(row, plan, rows, named=backends is not None)
    shown = {case_of(row): row for row in newest([*known, *fresh])}
    for row in wanted:
        # also of what was measured before: a post that is run again says the same
        measured = shown.get(case_of(row), row)
        backend, *operators = measured.ran.split() or [""]
        tell(row.kind, backend, operators)
    return Timings(tuple(shown.values()))


@dataclass(frozen=True, slots=True)
class _Plan:
    """How rows are measured."""

    subjects: Mapping[str, Subject]
    seed: int
    repeats: int | None
    budget_s: float
    clock: Callable[[], float]


def _lengths(lengths: int | Iterable[int], *others: int) -> list[int]:
    asked = [lengths] if isinstance(lengths, int) else list(lengths)
    if not asked:
        raise ValueError("lengths is empty")
    if min(*asked, *others) < 1:
        raise ValueError("lengths, batch, heads, d and repeats must be 1 or more")
    return asked


def _missing(wanted: Iterable[Row], known: Iterable[Row]) -> list[Row]:
    """Those that no row stands for, or only one of other code."""
    code = {case_of(row): row.code for row in known}
    return [row for row in wanted if code.get(case_of(row)) != row.code]


def _known(path: str | os.PathLike[str]) -> tuple[Row, ...]:
    """Rows of a file that may be missing."""
    # opened for adding alone, first: the file is an output of the cell, not one of its inputs
    with suppress(PermissionError), Path(path).open("ab"):
        pass
    return rows_of(path)


def _added(row: Row, plan: _Plan, path: str | os.PathLike[str] | None, *, named: bool) -> list[Row]:
    """`row` measured and written down; nothing if a backend that nobody named refuses."""
    try:
        measured = _measured(row, plan)
    except BackendError:
        if named:
            raise
        return []
    if path is not None:
        append_rows(path, [measured])
    if measured.status == "out of memory":
        give_back()
    return [measured]


def _measured(row: Row, plan: _Plan) -> Row:
    """`row` with its numbers. BackendError."""
    subject = plan.subjects[row.backend]
    random = np.random.default_rng([plan.seed, row.n])
    shape = (row.batch, row.heads, row.n, row.d)
    arrays = [rounded(random.standard_normal(shape, np.float32), row.dtype) for _ in "qkv"]
    try:
        q, k, v = (as_given(x, subject.kind, row.dtype) for x in arrays)
        output, ran = proved(subject, q, k, v, is_causal=row.is_causal)
        row = replace(row, ran=" ".join([ran.backend, *ran.operators]), kernels=", ".join(ran.kernels))
        error = _error(from_arrays(output), arrays, is_causal=row.is_causal)
        del output

        def call() -> object:
            return subject.call(q, k, v, is_causal=row.is_causal)

        peak, memory_from = peak_of(call, subject.kind)
        on_cuda = subject.kind == "torch-cuda"
        times = times_of(
            call, on_cuda=on_cuda, repeats=plan.repeats, budget_s=plan.budget_s, clock=plan.clock
        )
    except Exception as problem:
        if not is_out_of_memory(problem):
            raise
        return replace(row, status="out of memory")
    return replace(
        row,
        median_s=times.median_s,
        low_s=times.low_s,
        high_s=times.high_s,
        repeats=times.repeats,
        peak_bytes=peak,
        memory_from=memory_from,
        max_abs_error=error if np.isfinite(error) else None,
        status="ok" if np.isfinite(error) else "not a number",
    )


def _error(output: Any, arrays: Sequence[Any], *, is_causal: bool) -> float:
    """Largest absolute error of some queries; arrays (batch, heads, n, d) as they were given."""
    q, k, v = arrays
    n = q.shape[-2]
    if output.shape != q.shape:
        raise ValueError(f"the output has the shape {output.shape}, the queries {q.shape}")
    chosen = np.unique(np.linspace(0, n - 1, min(n, CHECKED_QUERIES)).astype(int))
    mask = np.arange(n) <= chosen[:, None] if is_causal else None
    worst = [0.0]
    # head by head: float64 of all of them could be more than the memory that the call itself needs
    for at in np.ndindex(q.shape[:-2]):
        wide = (x.astype(np.float64) for x in (q[at][chosen], k[at], v[at]))
        exact = reference.attention(*wide, mask=mask)
        worst.append(float(np.abs(output[at][chosen] - exact).max()))
    # max() would lose NaN
    return float(np.max(worst))


def _code(function: Function | None) -> str:
    """Digest of a function's own source; empty where there is none."""
    try:
        text = inspect.getsource(function) if function is not None else ""
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else ""


def _machine(kind: str) -> dict[str, Any]:
    """Fields of a row that name the machine, for arrays of `kind`."""
    found: dict[str, Any] = {
        "kind": "cpu",
        "device": processor_name() or platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        # without loading it: a row of NumPy alone need not wait a second for that
        "torch": metadata.version("torch") if find_spec("torch") else "",
    }
    if kind == "numpy":
        threads = os.environ.get("OMP_NUM_THREADS", "")
        return {**found, "threads": int(threads) if threads.isdecimal() else usable_cores()}
    torch = torch_for(kind)
    if kind == "torch":
        return {**found, "threads": torch.get_num_threads()}
    device = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        **found,
        "kind": "cuda",
        "device": device.name,
        "capability": f"{device.major}.{device.minor}",
        "driver": driver_version(),
        "cuda": torch.version.cuda or "",
    }
