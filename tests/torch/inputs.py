"""What the tests of attention compute with, and what they compare with."""

from __future__ import annotations

from typing import Any

import numpy as np

from blogsmith.lab import reference


def drawn(seed: int, *shapes: tuple[int, ...], dtype: Any = np.float32) -> list[Any]:
    """Standard normal arrays."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def exact(arrays: list[Any], **options: Any) -> Any:
    """The reference in float64."""
    return reference.attention(*(np.asarray(x, np.float64) for x in arrays), **options)
