"""Checks of shapes and types of q, k, v and a mask, the same for every backend.

Only `shape` and `dtype` of arrays are used, so torch is not needed to inspect a tensor.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of one attention."""

    lead: Shape
    """Leading axes of the output. The last of these axes is the axis of q's heads."""
    groups: int
    """Number of heads of q that share one head of k and v; 1 without grouping."""
    n: int
    """Number of queries."""
    m: int
    """Number of keys."""
    d_k: int
    d_v: int

    @property
    def lead_of_keys(self) -> Shape:
        """Leading axes that k and v broadcast to, with their own number of heads."""
        return (*self.lead[:-1], self.lead[-1] // self.groups) if self.groups > 1 else self.lead


def is_tensor(x: Any) -> bool:
    """Return whether `x` is a torch tensor. False if torch is not loaded."""
    if isinstance(x, np.ndarray):
        return False
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def sizes(q: Shape, k: Shape, v: Shape) -> Sizes:
    """Return the sizes of the attention of arrays with these shapes.

    Raises `ValueError` if the shapes do not fit.
    """
    # slicing torch's own shapes is slow
    q, k, v = tuple(q), tuple(k), tuple(v)
    if q == k == v and len(q) > 1 and q[-1]:
        # the usual case, where nothing can be wrong
        return Sizes(q[:-2], 1, q[-2], q[-2], q[-1], q[-1])
    for name, shape, axes in (("q", q, "n, d_k"), ("k", k, "m, d_k"), ("v", v, "m, d_v")):
        if len(shape) < 2:
            raise ValueError(f"{name} has the shape {shape}; it needs two axes at least, (…, {axes})")
    if q[-1] != k[-1]:
        raise ValueError(f"q {q} and k {k} differ in their last axis, d_k: {q[-1]} and {k[-1]}")
    if k[-2] != v[-2]:
        raise ValueError(f"k {k} and v {v} differ in the number of keys: {k[-2]} and {v[-2]}")
    if not q[-1]:
        raise ValueError(f"q {q} and k {k} have d_k = 0: there is nothing to compare")
    try:
        keys = _broadcast(k[:-2], v[:-2])
        groups = _groups(q[:-2], keys)
        if groups > 1:
            keys = (*keys[:-1], (keys[-1] if keys else 1) * groups)
        lead = _broadcast(q[:-2], keys)
    except ValueError as error:
        raise ValueError(f"q {q}, k {k} and v {v} do not fit together: {error}") from None
    return Sizes(lead, groups, q[-2], k[-2], q[-1], v[-1])


def check_mask(mask: Any, size: Sizes) -> None:
    """Raise `TypeError` unless the mask is boolean or floating-point, and `ValueError` unless it fits the
    scores."""
    if not (is_boolean(mask.dtype) or is_floating(mask.dtype)):
        raise TypeError(
            f"mask is {mask.dtype}; it must be boolean (True: may look) or of floats, added to the scores"
        )
    full = (*size.lead, size.n, size.m)
    shape = tuple(mask.shape)
    padded = (1,) * (len(full) - len(shape)) + shape
    if len(padded) > len(full) or any(a not in (1, b) for a, b in zip(padded, full, strict=True)):
        raise ValueError(f"mask {shape} does not broadcast to the scores {full}, (…, n, m)")


def check_types(q: Any, k: Any, v: Any) -> None:
    """Raise `TypeError` unless all three are of one kind, NumPy or torch, and of one floating-point type."""
    # Objects of one class are of one kind; this check is faster.
    if not type(q) is type(k) is type(v) and not is_tensor(q) == is_tensor(k) == is_tensor(v):
        raise TypeError("q, k and v must be all NumPy arrays or all tensors of torch")
    if not q.dtype == k.dtype == v.dtype:
        raise TypeError(f"q, k and v differ in type: {q.dtype}, {k.dtype} and {v.dtype}")
    if not is_floating(q.dtype):
        raise TypeError(f"q, k and v are {q.dtype}; attention takes floating-point numbers")


def is_floating(dtype: Any) -> bool:
    """Return whether a dtype is floating-point, for types of torch and for types of NumPy with 16, 32 or 64
    bits."""
    if isinstance(dtype, np.dtype):
        return dtype.kind == "f" and dtype.itemsize <= 8
    return bool(dtype.is_floating_point)


def is_boolean(dtype: Any) -> bool:
    """Return whether a dtype of NumPy or torch is boolean."""
    return dtype.kind == "b" if isinstance(dtype, np.dtype) else str(dtype) == "torch.bool"


def _groups(q: Shape, keys: Shape) -> int:
    """Return the number of query heads per key head.

    If k and v have a single head for all queries, this counts as grouping too: kernels read the head once,
    while broadcasting would copy it.
    """
    heads, key_heads = (shape[-1] if shape else 1 for shape in (q, keys))
    if heads in (0, 1, key_heads):
        return 1
    if not key_heads or heads % key_heads:
        raise ValueError(f"{heads} heads of q cannot share {key_heads} heads of k and v evenly")
    return heads // key_heads


def _broadcast(first: Shape, second: Shape) -> Shape:
    if first == second:
        return first
    try:
        return tuple(np.broadcast_shapes(first, second))
    except ValueError:
        raise ValueError(f"leading axes {first} and {second} do not broadcast") from None
