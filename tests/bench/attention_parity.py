"""Checks with `compare` that all available backends compute the same attention, over shapes and masks.

Also checks that the comparison detects faults: a backend without the scale or without the mask must fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np

from blogsmith.lab import attention, causal_mask, compare, padding_mask
from blogsmith.lab.parity import Compared
from blogsmith.lab.tables import Table, table, two_digits

DTYPES = ("float32", "float16", "bfloat16")
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One input of attention."""

    name: str
    qkv: Sequence[Array]
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options `is_causal`, `mask` and `scale`."""


@dataclass(frozen=True, slots=True)
class Parity:
    """Results of all cases for one backend in one precision."""

    backend: str
    dtype: str
    rows: tuple[Compared, ...]
    """Results of cases that ran."""
    refused: tuple[Compared, ...]

    @property
    def largest(self) -> float:
        """The largest ratio of error to bound; NaN and wrong shapes count as infinite."""
        return max(_over_bound(row) for row in self.rows)

    @property
    def worst(self) -> Compared:
        """The case with the largest ratio of error to bound."""
        return max(self.rows, key=_over_bound)


def cases(n: int) -> Iterator[Case]:
    """Yield cases with about `n` positions."""
    random = np.random.default_rng(0)

    def drawn(*shapes: tuple[int, ...]) -> list[Array]:
        return [random.standard_normal(shape).astype(np.float32) for shape in shapes]

    same = (2, 4, n, 64)
    yield Case("plain", drawn(same, same, same))
    yield Case("causal", drawn(same, same, same), {"is_causal": True})
    yield Case("one head, no batch", drawn((n, 32), (n, 32), (n, 32)), {"is_causal": True})
    wide = (1, 2, n, 128)
    yield Case("d = 128", drawn(wide, wide, wide))
    other = (2, 4, 2 * n + 1, 64)
    yield Case("more keys than queries", drawn(same, other, other), {"is_causal": True})
    yield Case("more queries than keys", drawn(other, same, same))
    large = [3 * x for x in drawn(same, same, same)]
    yield Case("scores of ± 70", large)
    yield Case("a scale of its own", drawn(same, same, same), {"scale": 0.3})
    few = (2, 2, n, 64)
    yield Case("grouped heads", drawn((2, 8, n, 64), few, few), {"is_causal": True})
    yield from _masked_cases(n, drawn(same, same, same), random)


def _masked_cases(n: int, qkv: Sequence[Array], random: np.random.Generator) -> Iterator[Case]:
    seen = causal_mask(n) | (random.random((n, n)) < 0.3)
    yield Case("boolean mask", qkv, {"mask": seen})
    yield Case("mask and causal", qkv, {"mask": seen.T | causal_mask(n), "is_causal": True})
    # One sequence of the batch is empty, so its queries may attend to nothing.
    yield Case("padding, one text empty", qkv, {"mask": padding_mask([n // 2 + 1, 0], n)})
    slopes = -np.abs(np.arange(n)[:, None] - np.arange(n)) * 2.0 ** -np.arange(1, 5)[:, None, None]
    yield Case("added to the scores", qkv, {"mask": slopes.astype(np.float32)})


def measure_parity(n: int, dtypes: Iterable[str] = DTYPES) -> list[Parity]:
    """Measure all cases for each backend and precision."""
    wanted = list(dtypes)
    rows: dict[tuple[str, str], list[Compared]] = {}
    for case in cases(n):
        for row in compare(*case.qkv, **case.options, dtypes=wanted, check=False).rows:
            rows.setdefault((row.backend, row.dtype), []).append(row)
    return [
        Parity(
            *key,
            tuple(row for row in found if row.max_abs_error is not None),
            tuple(row for row in found if row.max_abs_error is None),
        )
        for key, found in rows.items()
    ]


def largest_of(found: Iterable[Parity], dtype: str) -> float | None:
    """Return the largest ratio of error to bound in a precision over all backends; None if none ran."""
    return max((one.largest for one in found if one.dtype == dtype and one.rows), default=None)


def catches_faults(n: int, dtypes: Iterable[str] = DTYPES) -> bool:
    """Return whether attention without its scale and attention without its mask fail in each precision."""
    wanted = [dtype for dtype in dtypes if dtype != "bfloat16" or find_spec("torch")]
    inputs = _drawn_for_functions(n)
    found = compare(*inputs, is_causal=True, backends=FAULTS, dtypes=wanted, check=False)
    return len(found.failures) == len(FAULTS) * len(wanted)


def _unscaled(q: Any, k: Any, v: Any) -> Any:
    return attention(q, k, v, is_causal=True, scale=1.0)


def _unmasked(q: Any, k: Any, v: Any) -> Any:
    return attention(q, k, v)


FAULTS = MappingProxyType({"without √d_k": _unscaled, "without the mask": _unmasked})


def _drawn_for_functions(n: int) -> list[Any]:
    """Return q, k and v as tensors if torch is installed (NumPy has no bfloat16), otherwise as arrays."""
    random = np.random.default_rng(1)
    arrays = [random.standard_normal((1, 2, n, 64)).astype(np.float32) for _ in range(3)]
    return [import_module("torch").from_numpy(x) for x in arrays] if find_spec("torch") else arrays


def shown_parity(found: Iterable[Parity]) -> Table:
    """Return a table with a line for each backend and precision, showing the case nearest to its bound."""
    header = ("backend", "dtype", "cases", "refused", "max abs error", "bound", "error / bound", "verdict")
    return table(
        (*header, "what ran"), map(_line, found), "Attention against the float64 reference, all cases"
    )


def _line(one: Parity) -> Sequence[object]:
    counts = (one.backend, one.dtype, len(one.rows), len(one.refused))
    if not one.rows:
        return (*counts, None, None, None, one.refused[0].problem, None)
    worst = one.worst
    ran = "; ".join(dict.fromkeys(row.ran for row in one.rows))
    verdict = "passes" if all(row.passes for row in one.rows) else "fails"
    error = (two_digits(worst.max_abs_error), two_digits(worst.bound))
    return (*counts, *error, f"{one.largest:.2f}", verdict, ran)


def _over_bound(row: Compared) -> float:
    error, bound = row.max_abs_error, row.bound
    if error is None or bound is None or error != error:
        return float("inf")
    return error / bound
