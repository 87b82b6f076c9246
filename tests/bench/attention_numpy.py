"""The NumPy reference compared with attention in plain NumPy.

The plain functions compute the same numbers: they also subtract the maximum. They check nothing, have no
grouped heads, and give NaN for a query that may attend to nothing.

    python -m tests.bench.attention_numpy < REQUEST

measures in a separate process with one BLAS thread, because on a busy machine the waiting of threads for
each other would dominate the times. REQUEST and response are JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from blogsmith.lab import attention, reference
from blogsmith.lab.tables import Table, table

from .attention_paired import Paired, measure_paired, time_in_words

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parents[2]
Shape = tuple[int, int, int, int]
"""(batch, heads, n, d)."""
Plain = Callable[[Array, Array, Array, bool], Array]
"""A function `f(q, k, v, is_causal)` that returns the output."""
REFERENCE, LAB = "reference.attention", 'attention(backend="numpy")'
FEWEST, MOST = 9, 400


@dataclass(frozen=True, slots=True)
class NumpyTimes:
    """Times for one size."""

    shape: Shape
    dtype: str
    is_causal: bool
    times: Paired

    @property
    def best(self) -> str:
        """The name of the fastest plain function."""
        return self.times.fastest(list(PLAIN))

    @property
    def ratio(self) -> float:
        """Time of the slower of our two calls of the reference, relative to the best plain function."""
        return max(self.times.ratio(ours, self.best) for ours in (REFERENCE, LAB))


def textbook(q: Array, k: Array, v: Array, is_causal: bool) -> Array:
    """Compute attention line by line, following the formula."""
    scores = _hidden(q @ k.swapaxes(-1, -2) / q.dtype.type(q.shape[-1] ** 0.5), is_causal)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray((weights / weights.sum(axis=-1, keepdims=True)) @ v)


def in_place(q: Array, k: Array, v: Array, is_causal: bool) -> Array:
    """Compute attention in one array of scores: scale q instead of the scores, and divide the output."""
    scores = _hidden((q * q.dtype.type(q.shape[-1] ** -0.5)) @ k.swapaxes(-1, -2), is_causal)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    return np.asarray((scores @ v) / scores.sum(axis=-1, keepdims=True))


def by_heads(q: Array, k: Array, v: Array, is_causal: bool) -> Array:
    """Compute `in_place` one head at a time, so that its scores stay in the CPU cache."""
    output = np.empty_like(q)
    for head in np.ndindex(q.shape[:-2]):
        output[head] = in_place(q[head], k[head], v[head], is_causal)
    return output


def by_einsum(q: Array, k: Array, v: Array, is_causal: bool) -> Array:
    """Compute attention with einsum."""
    scaled = q * q.dtype.type(q.shape[-1] ** -0.5)
    scores = _hidden(np.einsum("...nd,...md->...nm", scaled, k, optimize=True), is_causal)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.einsum("...nm,...md->...nd", weights, v, optimize=True))


PLAIN: Mapping[str, Plain] = MappingProxyType(
    {"textbook": textbook, "in place": in_place, "by heads": by_heads, "einsum": by_einsum}
)


def measure_numpy(shapes: Sequence[Shape], dtypes: Sequence[str], budget_s: float) -> list[NumpyTimes]:
    """Measure each size in each precision, causal and not, for about `budget_s` seconds each."""
    cases = [(shape, dtype, causal) for dtype in dtypes for causal in (False, True) for shape in shapes]
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    finished = subprocess.run(
        [sys.executable, "-m", "tests.bench.attention_numpy"],
        input=json.dumps([cases, budget_s]).encode(),
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(names, "1")},
        stdout=subprocess.PIPE,
        check=True,
    )
    answers = json.loads(finished.stdout)
    return [NumpyTimes(*case, Paired(answer)) for case, answer in zip(cases, answers, strict=True)]


def shown_numpy(found: Iterable[NumpyTimes]) -> Table:
    header = ("batch, heads, n, d", "dtype", "causal", REFERENCE, LAB, "best plain", "which", "ratio")
    lines = [
        (
            " × ".join(map(str, one.shape)),
            one.dtype,
            "yes" if one.is_causal else "no",
            *(time_in_words(one.times.median_of(name)) for name in (REFERENCE, LAB, one.best)),
            one.best,
            f"{one.ratio:.2f}",
        )
        for one in found
    ]
    return table(
        header, lines, "The NumPy reference beside plain NumPy, one thread; medians, the ratio paired"
    )


def measure_here(shape: Sequence[int], dtype: str, is_causal: bool, budget_s: float) -> Paired:
    """Measure one size in this process."""
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal(shape).astype(dtype) for _ in range(3))
    calls = {name: partial(plain, q, k, v, is_causal) for name, plain in PLAIN.items()}
    calls[REFERENCE] = partial(reference.attention, q, k, v, is_causal=is_causal)
    lab = partial(attention, q, k, v, is_causal=is_causal, backend="numpy")
    return measure_paired({**calls, LAB: lab}, budget_s, FEWEST, MOST)


def _hidden(scores: Array, is_causal: bool) -> Array:
    if not is_causal:
        return scores
    return np.where(np.tri(*scores.shape[-2:], dtype=np.bool_), scores, scores.dtype.type(-np.inf))


def main() -> None:
    """Answer a request with the seconds of each call, for each size."""
    cases, budget_s = json.load(sys.stdin)
    found = [measure_here(shape, dtype, causal, budget_s).seconds for shape, dtype, causal in cases]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
