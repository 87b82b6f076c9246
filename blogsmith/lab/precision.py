"""Rounding to a precision, and the naive attention that rounds at every step.

Everything is computed in NumPy, so that the bound of a comparison is the same on every machine. Half
precisions are computed in float32 and rounded after each step, as on hardware that accumulates in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .reference import causal_mask

DTYPES = ("float16", "bfloat16", "float32", "float64")


def dtype_name(dtype: object) -> str:
    """Return the name of a dtype, such as `float16`, from a name or a type of NumPy or torch.

    Raises `ValueError` unless it is in `DTYPES`.
    """
    name = str(getattr(dtype, "__name__", dtype)).rpartition(".")[2]
    if name not in DTYPES:
        raise ValueError(f"unknown dtype {name}; choose from {', '.join(DTYPES)}")
    return name


def rounded(x: Any, dtype: str) -> Any:
    """Return the nearest values that `dtype` can represent. The array is float64 if `dtype` is float64,
    otherwise float32."""
    if dtype == "float64":
        return np.asarray(x, np.float64)
    with np.errstate(over="ignore"):  # values too large for float16 become inf, as in float16 itself
        if dtype == "float16":
            return np.asarray(x).astype(np.float16).astype(np.float32)
        single = np.asarray(x).astype(np.float32)
    return _to_bfloat16(single) if dtype == "bfloat16" else single


def _to_bfloat16(x: Any) -> Any:
    """Return float32 values rounded to bfloat16, ties to even. A bfloat16 is the upper 16 bits of a
    float32."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    kept = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    # NaN could become a number by rounding its bits.
    return np.where(np.isnan(x), x, kept.view(np.float32)).reshape(np.shape(x))


def naive(
    q: Any,
    k: Any,
    v: Any,
    dtype: str,
    *,
    is_causal: bool = False,
    mask: Any = None,
    scale: float | None = None,
) -> Any:
    """Compute attention (…, n, d_v) of arrays that are already rounded, with each step rounded to `dtype`.

    This is the direct implementation of the formula. The errors of other implementations are compared with
    its error. A query without visible keys gives NaN.
    """
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    k, v = (_for_heads_of(q, x) for x in (k, v))
    with np.errstate(over="ignore", invalid="ignore"):
        scores = rounded(rounded(q @ np.swapaxes(k, -1, -2), dtype) * q.dtype.type(scale), dtype)
        for hidden in (causal_mask(*scores.shape[-2:]) if is_causal else None, mask):
            if hidden is not None:
                scores = _masked(scores, hidden, dtype)
        weights = rounded(np.exp(rounded(scores - scores.max(axis=-1, keepdims=True), dtype)), dtype)
        weights = rounded(weights / rounded(weights.sum(axis=-1, keepdims=True), dtype), dtype)
        return rounded(weights @ v, dtype)


def _masked(scores: Any, mask: Any, dtype: str) -> Any:
    """Apply a mask: a boolean mask selects visible keys, any other mask is added."""
    mask = np.asarray(mask)
    if mask.dtype == bool:
        return np.where(mask, scores, scores.dtype.type(-np.inf))
    return rounded(scores + mask.astype(scores.dtype), dtype)


def _for_heads_of(q: Any, x: Any) -> Any:
    """Return x with each head repeated for the query heads that share it."""
    if x.ndim < 3 or q.ndim < 3 or x.shape[-3] in (1, q.shape[-3]):
        return x
    return np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3)
