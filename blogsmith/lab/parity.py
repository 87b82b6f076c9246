"""Whether every backend computes the same attention: errors against float64.

The bound is twice the error of the naive attention in the same precision, and 1e-5: the rule of
FlashAttention's own tests. A fixed bound would be too strict for bfloat16 or too lax for float32.
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
    """One backend in one precision."""

    backend: str
    dtype: str
    device: str = ""
    """Where it ran: `cpu` or `cuda`; likewise the next."""
    ran: str = ""
    """What ran, and the operators that prove it."""
    max_abs_error: float | None = None
    """Largest difference from the float64 reference; None if it did not run. NaN if it gave NaN."""
    max_rel_error: float | None = None
    """Largest difference in the output of a query, over the largest value that the reference has there."""
    bound: float | None = None
    """What the absolute error may be."""
    problem: str = ""
    """Why there is nothing to compare, in words."""
    named: bool = True
    """Asked for by the author, not only found here."""

    @property
    def passes(self) -> bool:
        """Whether the error is within its bound."""
        if self.max_abs_error is None or self.bound is None:
            return False
        return self.max_abs_error <= self.bound

    @property
    def verdict(self) -> str:
        """In words."""
        if (self.backend, self.dtype) == ("numpy", "float64"):
            return "the reference itself"
        return "passes" if self.passes else self.problem or "fails"


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """What `compare` found; prints as a table."""

    rows: tuple[Compared, ...]

    @property
    def failures(self) -> tuple[Compared, ...]:
        """Rows that break the rule; of what was refused, backends the author named and that ran not once."""
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
    """A backend departs from the reference by more than its precision explains."""

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
    """Errors of backends against the NumPy reference in float64, on inputs rounded to each precision first.

    q (…, n, d_k), k (…, m, d_k), v (…, m, d_v): NumPy arrays or torch tensors; mask, scale, is_causal as in
    `attention`. backends: names, or a mapping from a name to a function f(q, k, v), or a list of both; None:
    all that are present. A function gets arrays of the kind you give here, in each precision, and sees to
    mask and scale itself. dtypes: None: those a backend is made for. What ran is proved once for each row.
    ParityError if an error is more than 2 × that of the naive attention in the same precision + 1e-5, or if a
    backend that was named refuses every precision; check=False: the table says so instead.
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
    """The attention that everyone is asked for."""

    arrays: tuple[Any, ...]
    mask: Any
    is_causal: bool
    scale: float | None

    def rounded_mask(self, dtype: str) -> Any:
        if self.mask is None or self.mask.dtype == bool:
            return self.mask
        return rounded(self.mask, dtype)

    def exact(self, dtype: str) -> Any:
        """The reference in float64, on inputs as `dtype` holds them."""
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
    """Largest absolute error, and largest error relative to the largest value of the same query.

    A query whose output is nearly nothing would make any error large: it counts as a thousandth of the
    largest.
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
    # what is long stands last: a phone shows the first columns
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
    """What may have rounded float32 on CUDA: no mistake of the author's, but a setting."""
    torch: Any = sys.modules.get("torch")
    if (row.device, row.dtype) != ("cuda", "float32") or torch is None:
        return ""
    try:
        is_exact = torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:  # it refuses to answer where newer settings were made
        is_exact = False
    hint = 'torch.set_float32_matmul_precision("highest")'
    return "" if is_exact else f"; products of float32 may be rounded to TF32 here, without {hint}"
