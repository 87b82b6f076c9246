"""What counts as true or false in a claim, and what stands in its place if it is neither.

Only Python's own truth values count, and those of NumPy and torch without dimensions. Nearly everything
else is true to `bool()` whatever it says: a tuple made by a comma, a text, `nan`, a method nobody calls.
Types are compared by identity, for a subclass or an object with `__bool__` may answer anything.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_NOTHING = (type(None), type(...), type(NotImplemented))
_COLLECTIONS = (list, dict, set, frozenset, range)


def truth_of(value: Any) -> bool | None:
    """None for what is neither true nor false."""
    if value is True or value is False:
        return value is True
    kind, numpy = type(value), _contents("numpy")
    is_truth = kind is numpy.get("bool_")
    if kind is numpy.get("ndarray"):
        is_truth = value.shape == () and value.dtype == bool
    elif (torch := _contents("torch")) and kind is torch.get("Tensor"):
        is_truth = value.dim() == 0 and value.dtype is torch["bool"]
    return bool(value) if is_truth else None


def kind_of(value: object) -> str:
    """What stands in place of a truth value, as one word; empty for what is one."""
    # not isinstance: that would ask the object
    kind = type(value)
    if truth_of(value) is not None:
        return ""
    if kind in _NOTHING:
        return "nothing"
    if issubclass(kind, tuple):
        return "tuple"
    if issubclass(kind, (str, bytes, bytearray)):
        return "text"
    if issubclass(kind, _COLLECTIONS) or hasattr(kind, "__next__"):
        return "collection"
    if hasattr(kind, "__array__") or hasattr(kind, "shape"):
        return "number" if _is_number(value) else "array"
    if hasattr(kind, "__float__") or hasattr(kind, "__complex__"):
        return "number"
    return "function" if callable(value) else "object"


def first_unjudged(values: Iterable[object]) -> tuple[object, ...]:
    """The first of `values` that is neither true nor false, alone; empty if there is none."""
    return next(((value,) for value in values if truth_of(value) is None), ())


def is_empty(value: object) -> bool:
    """Whether it is a list or an array without elements."""
    if type(value) in (list, tuple):
        return not value
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and 0 in shape


def _is_number(value: Any) -> bool:
    """A scalar of NumPy has all that an array has."""
    return type(value).__module__ == "numpy" and not hasattr(value, "__setitem__")


def _contents(module: str) -> dict[str, Any]:
    """The names of a module; none while nobody has imported it."""
    return vars(sys.modules[module]) if module in sys.modules else {}
