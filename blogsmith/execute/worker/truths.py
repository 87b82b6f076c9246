"""Truth values in claims, and the kinds of other values.

Only truth values of Python, and those of NumPy and torch without dimensions, are accepted. `bool()` is true
for nearly every other value: a tuple made by a comma, a string, `nan`, a method that is not called. Types are
compared by identity, because a subclass or an object with `__bool__` may return anything. The types of NumPy
and torch are taken from the modules when they are imported, before the author's code can replace them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .importing import after_import

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_NOTHING = (type(None), type(...), type(NotImplemented))
_COLLECTIONS = (list, dict, set, frozenset, range)


class Truths:
    """The types of truth values that one session accepts."""

    def __init__(self) -> None:
        self._scalar: Any = None
        """Type of NumPy's truth values."""
        self._array: Any = None
        self._tensor: Any = None
        self._tensor_bool: Any = None

    def install(self) -> None:
        """Read the types of NumPy and torch, now or when they are imported."""
        after_import("numpy", self._take_numpy)
        after_import("torch", self._take_torch)

    def truth_of(self, value: Any) -> bool | None:
        """Return a truth value as a bool. None if the value is neither true nor false."""
        if value is True or value is False:
            return value is True
        kind = type(value)
        is_truth = kind is self._scalar
        if kind is self._array:
            is_truth = value.shape == () and value.dtype == bool
        elif kind is self._tensor:
            is_truth = value.dim() == 0 and value.dtype is self._tensor_bool
        return bool(value) if is_truth else None

    def kind_of(self, value: object) -> str:
        """Return, as one word, what kind of value is used instead of a truth value. Empty for truth
        values."""
        # not isinstance, which would call the object's own code
        kind = type(value)
        if self.truth_of(value) is not None:
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

    def first_unjudged(self, values: Iterable[object]) -> tuple[object, ...]:
        """Return the first of `values` that is neither true nor false, as a 1-tuple; empty if
        there is none."""
        return next(((value,) for value in values if self.truth_of(value) is None), ())

    def is_array(self, value: object) -> bool:
        """Return whether the value is an array of NumPy or a tensor of torch, but not an instance of a
        subclass."""
        return type(value) in (self._array, self._tensor) and type(value) is not type(None)

    def _take_numpy(self, module: Any) -> None:
        self._scalar, self._array = module.dtype(bool).type, module.ndarray

    def _take_torch(self, module: Any) -> None:
        self._tensor, self._tensor_bool = module.Tensor, module.bool


def _is_number(value: Any) -> bool:
    """Return whether the value is a scalar of NumPy, which has all attributes of an array."""
    return type(value).__module__ == "numpy" and not hasattr(value, "__setitem__")
