"""Compares backends with the float64 reference.

The bound for the error of a backend is 1e-5 plus twice the error of the naive attention in the same
precision, as in FlashAttention's own tests. A fixed bound would be too strict for bfloat16 or too lax for
float32.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import reference
from .precision import dtype_name, naive, rounded
from .ran import BackendError, tell
from .subjects import Backends, Subject, as_given, from_arrays, kind_of_arrays, proved, subjects
from .tables import Table, table, two_digits

FACTOR = 2.0
SLACK = 1e-5


@dataclass(frozen=True, slots=True)
class Compared:
    """Result of comparing one backend in one precision."""

    backend: str
    dtype: str
    device: str = ""
    """Device of the backend: `cpu` or `cuda`. Empty if the backend did not run; then the next field is empty
    too."""
    ran: str = ""
    """Kernel that ran, and the operators that prove this."""
    max_abs_error: float | None = None
    """Largest difference from the float64 reference. None if the backend did not run, NaN if its output
    contains NaN."""
    max_rel_error: float | None = None
    """Largest difference in the output of a query, relative to the largest reference value of that query."""
    bound: float | None = None
    """Upper bound of the absolute error."""
    problem: str = ""
    """Reason why there is no result to compare, as a message; empty if there is one."""
    named: bool = True
    """Whether the author named this backend. If not, it was found on the machine."""

    @property
    def passes(self) -> bool:
        """Whether the error is within its bound."""
        if self.max_abs_error is None or self.bound is None:
            return False
        return self.max_abs_error <= self.bound

    @property
    def verdict(self) -> str:
        """Result as a message."""
        if (self.backend, self.dtype) == ("numpy", "float64"):
            return "the reference itself"
        return "passes" if self.passes else self.problem or "fails"


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Result of `compare`; prints as a table."""

    rows: tuple[Compared, ...]

    @property
    def failures(self) -> tuple[Compared, ...]:
        """Rows whose error exceeds the bound, and the rows of backends that the author named and that ran in
        no precision."""
        ran = {row.backend for row in self.rows if row.max_abs_error is not None}
        return tuple(
            row
            for row in self.rows
            if not row.passes and (row.max_abs_error is not None or (row.named and row.backend not in ran))
        )

    def __repr__(self) -> str:
        return repr(_table(self.rows))

    def _repr_html_(self) -> str:
        return _table(self.rows)._repr_html_()


class ParityError(AssertionError):
    """Error raised if a backend differs from the reference by more than its precision explains."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        lines = [*map(_complaint, comparison.failures), "", repr(_table(comparison.failures))]
        super().__init__("\n".join(lines))


def compare(
    q: Any,
    k: Any,
    v: Any,
    *,
    is_causal: bool = False,
    mask: Any = None,
    scale: float | None = None,
    backends: Backends | None = None,
    dtypes: str | Sequence[object] | None = None,
    check: bool = True,
) -> Comparison:
    """Compare backends with the NumPy reference in float64. Inputs are first rounded to each precision.

    q (…, n, d_k), k (…, m, d_k), v (…, m, d_v): NumPy arrays or torch tensors. A function f(q, k, v)
    receives arrays of the same kind in each precision, and must apply mask and scale itself. Each row
    includes a proof of the kernel that ran.

    mask, scale, is_causal: as in `attention`.
    backends: names, a mapping from names to functions, or a list of both. None: all available backends.
    dtypes: precisions; None: those that a backend is made for.
    check: raise an error for failures; False: only show them in the table.

    Raises `ParityError` if an error exceeds the bound, 1e-5 plus twice that of the naive attention in the
    same precision. It is also raised if a named backend rejects every precision.
    """
    kind = kind_of_arrays(q, k, v)
    arrays = tuple(from_arrays(x) for x in (q, k, v))
    hidden = None if mask is None else from_arrays(mask)
    wanted = _wanted(dtypes)
    task = _Task(arrays, hidden, is_causal, scale)
    rows: list[Compared] = []
    for subject in subjects(backends, kind):
        for dtype in wanted or subject.dtypes():
            rows.append(_compared(subject, dtype, task, named=backends is not None))
    for row in rows:
        backend, *operators = row.ran.split() or [""]
        tell(row.device, backend, operators)
    comparison = Comparison(tuple(rows))
    if check and comparison.failures:
        raise ParityError(comparison)
    return comparison


@dataclass(frozen=True, slots=True)
class _Task:
    """Attention that all backends and functions compute in a comparison."""

    arrays: tuple[Any, ...]
    mask: Any
    is_causal: bool
    scale: float | None

    def rounded_mask(self, dtype: str) -> Any:
        if self.mask is None or self.mask.dtype == bool:
            return self.mask
        return rounded(self.mask, dtype)

    def exact(self, dtype: str) -> Any:
        """Compute the reference in float64, on inputs rounded to `dtype`."""
        wide = [rounded(x, dtype).astype(np.float64) for x in self.arrays]
        mask = self.rounded_mask(dtype)
        return reference.attention(*wide, is_causal=self.is_causal, mask=mask, scale=self.scale)

    def naive(self, dtype: str) -> Any:
        q, k, v = (rounded(x, dtype) for x in self.arrays)
        mask = self.rounded_mask(dtype)
        return naive(q, k, v, dtype, is_causal=self.is_causal, mask=mask, scale=self.scale)


def _compared(subject: Subject, dtype: str, task: _Task, *, named: bool) -> Compared:
    try:
        q, k, v = (as_given(x, subject.kind, dtype) for x in task.arrays)
        mask = None if task.mask is None else as_given(task.rounded_mask(dtype), subject.kind, dtype)
        options = {"is_causal": task.is_causal, "mask": mask, "scale": task.scale}
        found, ran = proved(subject, q, k, v, **options)
    except BackendError as error:
        return Compared(subject.name, dtype, problem=f"refused: {error}", named=named)
    exact = task.exact(dtype)
    output = np.asarray(from_arrays(found), np.float64)
    proof = " ".join([ran.backend, *ran.operators])
    if output.shape != exact.shape:
        problem = f"fails: its shape is {output.shape}, that of the reference {exact.shape}"
        return Compared(subject.name, dtype, ran.device, proof, float("inf"), None, None, problem, named)
    with np.errstate(invalid="ignore"):
        own = np.nanmax(np.abs(task.naive(dtype) - exact), initial=0.0)
    bound = FACTOR * float(own) + SLACK
    return Compared(subject.name, dtype, ran.device, proof, *_errors(output, exact), bound, named=named)


def _errors(output: Any, exact: Any) -> tuple[float, float]:
    """Return the largest absolute error, and the largest error relative to the largest value of the same
    query.

    If the output of a query is almost 0, any error would be large, so the divisor is at least a
    thousandth of the largest value.
    """
    if not exact.size:
        return 0.0, 0.0
    error = np.abs(output - exact)
    size = np.abs(exact).max(axis=-1, keepdims=True)
    floor = max(1e-3 * float(size.max()), np.finfo(np.float64).tiny)
    return float(error.max()), float((error / np.maximum(size, floor)).max())


def _wanted(dtypes: str | Sequence[object] | None) -> tuple[str, ...]:
    if dtypes is None:
        return ()
    return tuple(map(dtype_name, [dtypes] if isinstance(dtypes, str) else dtypes))


def _table(rows: Iterable[Compared]) -> Table:
    # Long columns last: a phone shows the first ones.
    header = ("backend", "dtype", "max abs error", "bound", "verdict", "max rel error", "what ran")
    return table(
        header,
        (
            (
                row.backend,
                row.dtype,
                two_digits(row.max_abs_error),
                two_digits(row.bound),
                row.verdict,
                two_digits(row.max_rel_error),
                row.ran or None,
            )
            for row in rows
        ),
        "Attention against the float64 reference",
    )


def _complaint(row: Compared) -> str:
    name = f"{row.backend} in {row.dtype}"
    if row.problem:
        return f"{name} {row.problem}"
    if row.max_abs_error is None or row.bound is None or row.max_abs_error != row.max_abs_error:
        return f"{name} gives NaN where the reference gives numbers"
    times = row.max_abs_error / row.bound
    return (
        f"{name} is off by {two_digits(row.max_abs_error)}, "
        f"{two_digits(times)} times the bound of {two_digits(row.bound)}{_rounding(row)}"
    )


def _rounding(row: Compared) -> str:
    """Return a note if a setting of torch may have rounded float32 on CUDA, which is not the author's error.
    Otherwise empty."""
    torch: Any = sys.modules.get("torch")
    if (row.device, row.dtype) != ("cuda", "float32") or torch is None:
        return ""
    try:
        is_exact = torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:  # raised if newer settings were used
        is_exact = False
    hint = 'torch.set_float32_matmul_precision("highest")'
    return "" if is_exact else f"; products of float32 may be rounded to TF32 here, without {hint}"
