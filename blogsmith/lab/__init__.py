"""Attention lab for the code of posts: one attention function for every backend, with proof of the one that
ran.

Cells import this package in their own process. It imports nothing of the builder, and the builder imports
nothing of it. A name's module is loaded when the name is first used: drawing needs no NumPy, and the
reference needs no torch.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .devices import device_report as device_report
    from .drawing.charts import curves as curves
    from .drawing.heat import heatmap as heatmap
    from .parity import ParityError as ParityError
    from .parity import compare as compare
    from .ran import BackendError as BackendError
    from .ran import Ran as Ran
    from .reference import causal_mask as causal_mask
    from .reference import multi_head as multi_head
    from .reference import online_attention as online_attention
    from .reference import online_softmax as online_softmax
    from .reference import padding_mask as padding_mask
    from .reference import softmax as softmax
    from .row_tables import Timings as Timings
    from .rows import newest as newest
    from .rows import read_rows as read_rows
    from .rows import series as series
    from .scaled_dot_product import Attended as Attended
    from .scaled_dot_product import attention as attention
    from .timing import benchmark as benchmark

_HOMES = MappingProxyType(
    {
        "Attended": "scaled_dot_product",
        "BackendError": "ran",
        "ParityError": "parity",
        "Ran": "ran",
        "Timings": "row_tables",
        "attention": "scaled_dot_product",
        "benchmark": "timing",
        "causal_mask": "reference",
        "compare": "parity",
        "curves": "drawing.charts",
        "device_report": "devices",
        "heatmap": "drawing.heat",
        "multi_head": "reference",
        "newest": "rows",
        "online_attention": "reference",
        "online_softmax": "reference",
        "padding_mask": "reference",
        "read_rows": "rows",
        "series": "rows",
        "softmax": "reference",
    }
)

__all__ = [
    "Attended",
    "BackendError",
    "ParityError",
    "Ran",
    "Timings",
    "attention",
    "benchmark",
    "causal_mask",
    "compare",
    "curves",
    "device_report",
    "heatmap",
    "multi_head",
    "newest",
    "online_attention",
    "online_softmax",
    "padding_mask",
    "read_rows",
    "series",
    "softmax",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module when it is first used, see PEP 562."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
