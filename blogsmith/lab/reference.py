"""Readable implementation of attention in NumPy, used as the reference for fast implementations.

float64 and float32 are computed in their own precision. float16 is computed in float32 and rounded once, at
the end: NumPy has no fast half precision, and a reference should not lose digits in between.

If a query has no visible keys, its weights and its output are 0, as in torch; the formula would give 0/0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .shapes import Sizes, check_mask, check_types, sizes

Array = NDArray[Any]


def softmax(x: ArrayLike, axis: int = -1) -> Array:
    """Return exp(x) / Σ exp(x) along an axis, in the shape and dtype of x. Integers become float64.

    The computation is stable: the maximum is subtracted first. Entries of −inf have weight 0; if all are
    −inf, all weights are 0.
    """
    given = np.asarray(x)
    powers, total = _powers(_working(given).copy(), axis)
    powers /= total
    return powers.astype(given.dtype, copy=False) if given.dtype.kind == "f" else powers


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    is_causal: bool = False,
    mask: ArrayLike | None = None,
    scale: float | None = None,
) -> Array:
    """Compute scaled dot-product attention: softmax(scale · q kᵀ) v.

    q (…, n, d_k), k (…, m, d_k), v (…, m, d_v) → (…, n, d_v), in the dtype of q. Leading axes broadcast. The
    last of them is the axis of heads; q may have a multiple of the heads of k and v, and then each of these
    serves several.

    mask: boolean (True: visible) or added to the scores; broadcast to (…, n, m).
    is_causal: query i sees the keys 0 … i, even if n ≠ m; combined with the mask.
    scale: factor of the scores; 1/√d_k if None.

    Raises `ValueError` or `TypeError` for invalid inputs. Source: Vaswani et al. 2017, eq. (1).
    """
    q, k, v, size = _checked(q, k, v)
    return computed(q, k, v, size, is_causal=is_causal, mask=mask, scale=scale)


def computed(
    q: Array,
    k: Array,
    v: Array,
    size: Sizes,
    *,
    is_causal: bool = False,
    mask: ArrayLike | None = None,
    scale: float | None = None,
) -> Array:
    """Compute `attention` of arrays that are already checked.

    For small arrays, checking takes as long as computing.
    """
    # n·d_k products here; scaling the scores would take n·m
    scores = (_working(q) * _scale(scale, size)) @ _serving(k, size).swapaxes(-1, -2)
    powers, total = _powers(_masked(scores, 0, is_causal, mask, size), -1)
    output = powers @ _serving(v, size)
    # For the same reason, divide the output instead of the weights.
    output /= total
    return output.astype(q.dtype, copy=False)


def online_softmax(blocks: Iterable[tuple[ArrayLike, ArrayLike]]) -> Array:
    """Compute softmax(scores) v, where scores and v arrive in blocks of keys, each read once.

    `blocks` yields pairs of scores (…, n, b) and values (…, b, d_v), where b may differ; the result is (…,
    n, d_v). It equals softmax([scores₁ scores₂ …]) [v₁; v₂; …], but only one block of scores is in memory at
    a time.

    Three values are carried along for each query: the maximum so far (…, n, 1), the sum of the powers
    relative to it (…, n, 1), and the weighted sum of values (…, n, d_v). When the maximum grows, both sums
    are scaled down. float16 gives float32.

    Raises `ValueError` without blocks. Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022,
    algorithm 1.
    """
    top: Any = -np.inf
    total: Any = 0.0
    brought: Any = None
    for block, values in blocks:
        scores, v = _working(np.asarray(block)), _working(np.asarray(values))
        higher = np.maximum(top, scores.max(axis=-1, keepdims=True, initial=-np.inf))
        shift = _finite(higher)
        powers = np.exp(scores - shift)
        shrink = np.exp(top - shift)
        total = total * shrink + powers.sum(axis=-1, keepdims=True)
        brought = powers @ v if brought is None else brought * shrink + powers @ v
        top = higher
    if brought is None:
        raise ValueError("online_softmax needs one block at least")
    return np.asarray(brought / np.where(total == 0, 1, total))


def online_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    block: int = 128,
    is_causal: bool = False,
    mask: ArrayLike | None = None,
    scale: float | None = None,
) -> Array:
    """Compute `attention` over blocks of keys, with n × block scores in memory at a time instead of n × m."""
    if block < 1:
        raise ValueError(f"block is {block}; it must be 1 at least")
    q, k, v, size = _checked(q, k, v)
    scaled = _working(q) * _scale(scale, size)
    keys, values = _serving(k, size), _serving(v, size)

    def blocks() -> Iterable[tuple[Array, Array]]:
        # one empty block if there are no keys
        for first in range(0, max(size.m, 1), block):
            part = slice(first, first + block)
            scores = scaled @ keys[..., part, :].swapaxes(-1, -2)
            yield _masked(scores, first, is_causal, mask, size), values[..., part, :]

    return online_softmax(blocks()).astype(q.dtype, copy=False)


def multi_head(
    x: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike,
    heads: int,
    *,
    context: ArrayLike | None = None,
    is_causal: bool = False,
    mask: ArrayLike | None = None,
) -> Array:
    """Compute multi-head attention: heads side by side, combined by w_o.

    x (…, n, d) → (…, n, d_out). The weights are w_q (d, heads·d_k), w_k (d, h·d_k), w_v (d, h·d_v) and w_o
    (heads·d_v, d_out). Head i uses the i-th block of columns, or of rows in w_o. The number h of heads of
    keys and values follows from w_k and must divide heads; if h < heads, each serves several. x is
    multiplied from the left; torch's `Linear` stores transposed matrices.

    context: (…, m, d), the source of keys and values; x if None.
    mask: as in `attention`, broadcast to (…, heads, n, m).

    Source: Vaswani et al. 2017, section 3.2.2.
    """
    rows = np.asarray(x)
    seen = rows if context is None else np.asarray(context)
    q = _split(rows @ np.asarray(w_q), heads, "w_q")
    d_k = q.shape[-1]
    keys = seen @ np.asarray(w_k)
    if keys.shape[-1] % d_k:
        raise ValueError(
            f"w_k has {keys.shape[-1]} columns; heads of q have {d_k}, which does not divide them"
        )
    key_heads = keys.shape[-1] // d_k
    k, v = _split(keys, key_heads, "w_k"), _split(seen @ np.asarray(w_v), key_heads, "w_v")
    attended = attention(q, k, v, is_causal=is_causal, mask=mask)
    joined = attended.swapaxes(-3, -2).reshape(*attended.shape[:-3], attended.shape[-2], -1)
    return np.asarray(joined @ np.asarray(w_o))


def causal_mask(n: int, m: int | None = None) -> Array:
    """Return an (n, m) array of booleans that is True where j ≤ i: key j does not come after query i.

    m: number of keys; n if None.
    """
    return np.tri(n, m, dtype=np.bool_)


def padding_mask(lengths: ArrayLike, m: int) -> Array:
    """Return a mask that is True for the keys that are text: the first `lengths` of m.

    lengths (b, …) → (b, …, 1, 1, m), the same for all heads and queries of (b, …, heads, n, m).
    """
    return np.arange(m) < np.asarray(lengths)[..., None, None, None]


def _checked(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> tuple[Array, Array, Array, Sizes]:
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    check_types(q, k, v)
    return q, k, v, sizes(q.shape, k.shape, v.shape)


def _working(x: Array) -> Array:
    """Convert to the dtype used for the computation."""
    if x.dtype.kind != "f":
        return x.astype(np.float64)
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def _scale(scale: float | None, size: Sizes) -> float:
    return size.d_k**-0.5 if scale is None else float(scale)


def _serving(x: Array, size: Sizes) -> Array:
    """Return keys or values with their heads repeated, so that there is one for each head of q."""
    if size.groups > 1 and x.ndim > 2 and x.shape[-3] > 1:
        x = np.repeat(x, size.groups, axis=-3)
    return _working(x)


def _masked(scores: Array, first: int, is_causal: bool, mask: ArrayLike | None, size: Sizes) -> Array:
    """Return scores (…, n, b) of the keys from `first` on, with −inf for keys that are not visible.

    The scores may be modified in place.
    """
    count = scores.shape[-1]
    if is_causal:
        # key first + j comes after query i
        np.copyto(scores, -np.inf, where=~np.tri(size.n, count, -first, dtype=np.bool_))
    if mask is None:
        return scores
    given = np.asarray(mask)
    check_mask(given, size)
    if given.ndim and given.shape[-1] != 1:
        given = given[..., first : first + count]
    if given.dtype.kind == "b":
        return np.where(given, scores, -np.inf)
    with np.errstate(over="ignore"):  # −1e30 becomes −inf in float16
        return np.asarray(scores + given.astype(scores.dtype))


def _powers(scores: Array, axis: int) -> tuple[Array, Array]:
    """Return exp(scores − maximum), written over the scores, and its sum along the axis; the sum is 1 if all
    are −inf.

    The softmax does not change under a shift; without it, exp overflows float32 above 88.7.
    """
    scores -= _finite(scores.max(axis=axis, keepdims=True, initial=-np.inf))
    np.exp(scores, out=scores)
    total = scores.sum(axis=axis, keepdims=True)
    # The largest power is 1, so the sum is less only if all scores are −inf.
    return scores, np.maximum(total, 1)


def _finite(top: Array) -> Array:
    """Return finite maxima to subtract before exp.

    A maximum of −inf is replaced by the smallest number, since −inf − (−inf) is undefined.
    """
    return np.asarray(np.maximum(top, np.finfo(top.dtype).min))


def _split(x: Array, heads: int, name: str) -> Array:
    """Split heads: (…, n, heads·d) → (…, heads, n, d)."""
    if heads < 1 or x.shape[-1] % heads:
        raise ValueError(f"{name} has {x.shape[-1]} columns, which {heads} heads cannot share evenly")
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-3, -2)
