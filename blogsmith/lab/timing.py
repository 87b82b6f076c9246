"""Measures time, memory and error of attention for different sequence lengths, on this machine.

If a file of rows is used, cases that this machine has measured before are not measured again. So a post that
runs twice shows the same numbers, and rows of other machines stay in the file.
"""

from __future__ import annotations

import datetime
import hashlib
import inspect
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module, metadata
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from . import reference
from .devices import driver_version, processor_name, usable_cores
from .measuring import give_back, is_out_of_memory, peak_of, times_of
from .precision import dtype_name, rounded
from .ran import BackendError, profiled, tell
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
"""Number of queries whose error is computed, evenly spaced, so that any length can be checked."""


def benchmark(
    backends: Backends | None = None,
    *,
    lengths: int | Iterable[int],
    batch: int = 1,
    heads: int = 8,
    d: int = 64,
    dtype: object = "float32",
    is_causal: bool = False,
    direction: str = "forward",
    inputs: str = "numpy",
    rows: str | os.PathLike[str] | None = None,
    again: bool = False,
    repeats: int | None = None,
    budget_s: float = 1.0,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
    date: str | None = None,
) -> Timings:
    """Measure time, memory and error of one call on (batch, heads, n, d) of N(0, 1), for each n of `lengths`.

    Each case is called once for the proof of what ran, once for memory and once to warm up. Then it is timed
    as often as fits into `budget_s` seconds, at least 5 and at most 200 times, or `repeats` times. Times are
    the median and the quartiles of one call of `attention` with everything it does; on CUDA, they are device
    times without launching. The error is the largest of up to 256 queries, compared with float64. If memory
    runs out, the row of the case says so.

    direction: `forward`, or `backward` for the gradients of q, k and v from that of the output. Then times
        and memory are those of the gradients, the error is that of q's, and backends without torch are left
        out.
    backends: names, a mapping from names to functions f(q, k, v), or a list of both. None: all available
        backends.
    inputs: arrays that functions receive: `numpy`, `torch` or `torch-cuda`. A function must handle
        `is_causal` itself.
    rows: file of rows, see `rows.py`. A case that this machine has measured is not measured again, unless
        again=True or the source of its function has changed; then a newer row is added. The result contains
        the newest row of each case in the file.

    Raises `BackendError` if a named backend cannot run, and `ValueError` for a damaged file or an invalid
    argument.
    """
    case = _case(batch, heads, d, dtype, direction, inputs, date, is_causal=is_causal)
    asked = _lengths(lengths, batch, heads, d, 1 if repeats is None else repeats)
    known = () if rows is None else _known(rows)
    plan = _Plan({s.name: s for s in subjects(backends, inputs)}, seed, repeats, budget_s, clock)
    wanted = [
        Row(**_machine(subject.kind), **case, backend=subject.name, ran="", n=n, code=_code(subject.function))
        for n in asked
        for subject in plan.subjects.values()
    ]
    fresh: list[Row] = []
    # all backends get the same numbers, whose exact result takes longest to compute
    for _, cases in groupby(wanted if again else _missing(wanted, known), key=lambda row: row.n):
        same = list(cases)
        given = _given(same[0], plan.seed)
        for row in same:
            fresh += _added(row, given, plan, rows, named=backends is not None)
    shown = {case_of(row): row for row in newest([*known, *fresh])}
    _tell(wanted, shown)
    return Timings(tuple(shown.values()))


def _tell(wanted: Iterable[Row], shown: Mapping[tuple[object, ...], Row]) -> None:
    """Tell the page what ran, also for rows measured before: a post that runs again reports the same."""
    for row in wanted:
        measured = shown.get(case_of(row), row)
        backend, *operators = measured.ran.split() or [""]
        tell(row.kind, backend, operators)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Settings for measuring rows."""

    subjects: Mapping[str, Subject]
    seed: int
    repeats: int | None
    budget_s: float
    clock: Callable[[], float]


def _case(
    batch: int,
    heads: int,
    d: int,
    dtype: object,
    direction: str,
    inputs: str,
    date: str | None,
    *,
    is_causal: bool,
) -> dict[str, Any]:
    """Return the fields of rows that are the same for all lengths and backends. Raises `ValueError`."""
    if direction not in ("forward", "backward"):
        raise ValueError(f"unknown direction {direction}; choose from forward, backward")
    if inputs not in KINDS:
        raise ValueError(f"unknown inputs {inputs}; choose from {', '.join(KINDS)}")
    is_forward = direction == "forward"
    case: dict[str, Any] = {"batch": batch, "heads": heads, "d": d, "is_causal": is_causal}
    case |= {"dtype": dtype_name(dtype), "direction": "" if is_forward else direction}
    return {**case, "date": date or datetime.date.today().isoformat()}


def _lengths(lengths: int | Iterable[int], *others: int) -> list[int]:
    asked = [lengths] if isinstance(lengths, int) else list(lengths)
    if not asked:
        raise ValueError("lengths is empty")
    if min(*asked, *others) < 1:
        raise ValueError("lengths, batch, heads, d and repeats must be 1 or more")
    return asked


def _missing(wanted: Iterable[Row], known: Iterable[Row]) -> list[Row]:
    """Return those wanted rows that have no known row, or whose function has changed since."""
    code = {case_of(row): row.code for row in known}
    return [row for row in wanted if code.get(case_of(row)) != row.code]


def _known(path: str | os.PathLike[str]) -> tuple[Row, ...]:
    """Return the rows of a file. Create the file if it does not exist."""
    # Open for appending first, so that the file counts as an output of the cell and not as an input.
    with suppress(PermissionError), Path(path).open("ab"):
        pass
    return rows_of(path)


def _added(
    row: Row, given: _Given, plan: _Plan, path: str | os.PathLike[str] | None, *, named: bool
) -> list[Row]:
    """Measure and store `row`. Return an empty list if a backend that was not named cannot run."""
    try:
        measured = _measured(row, given, plan)
    except BackendError:
        if named:
            raise
        return []
    if path is not None:
        append_rows(path, [measured])
    if measured.status == "out of memory":
        give_back()
    return [measured]


@dataclass(slots=True)
class _Given:
    """Inputs for one length, and exact results for some queries."""

    n: int
    arrays: list[Any]
    """q, k and v, of shape (batch, heads, n, d)."""
    gradient: Any
    """Gradient of the output; None if gradients are not computed."""
    chosen: Any
    """Indices of the queries whose results are compared."""
    exact: list[Any]
    """Exact results for these queries, one array for each head; empty until they are needed."""


def _given(row: Row, seed: int) -> _Given:
    random = np.random.default_rng([seed, row.n])
    shape = (row.batch, row.heads, row.n, row.d)
    arrays = [rounded(random.standard_normal(shape, np.float32), row.dtype) for _ in "qkv"]
    gradient = rounded(random.standard_normal(shape, np.float32), row.dtype) if row.direction else None
    chosen = np.unique(np.linspace(0, row.n - 1, min(row.n, CHECKED_QUERIES)).astype(int))
    return _Given(row.n, arrays, gradient, chosen, [])


def _measured(row: Row, given: _Given, plan: _Plan) -> Row:
    """Return `row` with its measurements. Raises `BackendError`."""
    subject = plan.subjects[row.backend]
    if row.direction and subject.kind == "numpy":
        raise BackendError(f"{subject.name} computes no gradients")
    try:
        q, k, v = (as_given(x, subject.kind, row.dtype) for x in given.arrays)
        if row.direction:
            q, k, v = (x.requires_grad_() for x in (q, k, v))
        output, ran = proved(subject, q, k, v, is_causal=row.is_causal)

        def call() -> Any:
            return subject.call(q, k, v, is_causal=row.is_causal)

        if row.direction:
            call = _gradients(output, (q, k, v), as_given(given.gradient, subject.kind, row.dtype))
            ran = replace(ran, kernels=profiled(call).kernels)
            output = call()[0]
        row = replace(row, ran=" ".join([ran.backend, *ran.operators]), kernels=", ".join(ran.kernels))
        error = _error(from_arrays(output), given, is_causal=row.is_causal)
        del output
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


def _gradients(output: Any, arrays: tuple[Any, ...], gradient: Any) -> Callable[[], Any]:
    """Return a function that computes the gradients of `arrays`. It can be called again."""
    torch: Any = import_module("torch")
    if not getattr(output, "requires_grad", False):
        raise BackendError("the output has no gradient")
    return lambda: torch.autograd.grad(output, arrays, gradient, retain_graph=True)


def _error(output: Any, given: _Given, *, is_causal: bool) -> float:
    """Return the largest absolute error among the chosen queries, for the output or for the gradient of q."""
    q = given.arrays[0]
    if output.shape != q.shape:
        raise ValueError(f"the output has the shape {output.shape}, the queries {q.shape}")
    heads = list(np.ndindex(q.shape[:-2]))
    if not given.exact:
        # head by head: float64 for all heads could need more memory than the call itself
        given.exact.extend(_exact(given, head, is_causal=is_causal) for head in heads)
    pairs = zip(heads, given.exact, strict=True)
    found = [np.abs(output[head][given.chosen] - exact).max() for head, exact in pairs]
    # max() would ignore NaN
    return float(np.max([0.0, *found]))


def _exact(given: _Given, head: tuple[int, ...], *, is_causal: bool) -> Any:
    """Return the exact results of the chosen queries for one head in float64, of shape (chosen queries,
    d)."""
    q, k, v = (x[head].astype(np.float64) for x in given.arrays)
    q = q[given.chosen]
    mask = np.arange(given.n) <= given.chosen[:, None] if is_causal else None
    output = reference.attention(q, k, v, mask=mask)
    if given.gradient is None:
        return output
    gradient = given.gradient[head][given.chosen].astype(np.float64)
    scale = 1 / np.sqrt(q.shape[-1])
    scores = q @ k.T * scale
    weights = reference.softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    changes = weights * (gradient @ v.T - (gradient * output).sum(axis=-1, keepdims=True))
    return changes @ k * scale


def _code(function: Function | None) -> str:
    """Return a digest of a function's source. Empty if there is no source."""
    try:
        text = inspect.getsource(function) if function is not None else ""
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else ""


def _machine(kind: str) -> dict[str, Any]:
    """Return the fields of a row that name the machine, for arrays of `kind`."""
    found: dict[str, Any] = {
        "kind": "cpu",
        "device": processor_name() or platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        # without loading it: a row of NumPy alone need not wait a second
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
