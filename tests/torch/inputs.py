"""Inputs and expected values for the tests of attention."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from blogsmith.lab import reference


def drawn(seed: int, *shapes: tuple[int, ...], dtype: Any = np.float32) -> list[Any]:
    """Return standard normal arrays."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def on_cuda(seed: int, *shapes: tuple[int, ...], dtype: str = "float16") -> list[Any]:
    """Return standard normal tensors on the device."""
    torch: Any = import_module("torch")
    return [torch.from_numpy(x).to("cuda", getattr(torch, dtype)) for x in drawn(seed, *shapes)]


def error_of(output: Any, tensors: list[Any], **options: Any) -> float:
    """Return the largest error of an attention output against the reference in float64."""
    expected = exact([x.detach().double().cpu().numpy() for x in tensors], **options)
    assert tuple(output.shape) == expected.shape
    # NaN counts as larger than any error.
    return float(np.nan_to_num(np.abs(output.detach().double().cpu().numpy() - expected), nan=np.inf).max())


def exact(arrays: list[Any], **options: Any) -> Any:
    """Return the output of the reference in float64."""
    return reference.attention(*(np.asarray(x, np.float64) for x in arrays), **options)
