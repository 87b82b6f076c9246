"""Inspects the comparisons of a claim: their number, NaN, broadcast shapes, numbers that wrap around, and
tolerances. Also counts the items of `all` and `any`, which prove nothing if there are no items.

Values are inspected when they are computed and not stored, since they may be large.
"""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType
    from typing import Any

    from .truths import Truths


_HERE = __file__.rpartition("/")[0] + "/"


class CountedCalls:
    """Counts the items in calls of `all` and `any` while a claim is evaluated. A context manager that
    replaces both functions."""

    def __init__(self) -> None:
        self._originals: tuple[Any, Any] = (builtins.all, builtins.any)
        self._watched: tuple[Any, ...] = ()
        self._empty: list[CodeType] = []
        """Code objects that called `all` or `any` without any items."""
        self.items = 0

    def __enter__(self) -> None:
        self._watched = (self._counted(True), self._counted(False))
        builtins.all, builtins.any = self._watched

    def __exit__(self, *_: object) -> None:
        if (builtins.all, builtins.any) == self._watched:
            builtins.all, builtins.any = self._originals

    def is_own(self, function: object) -> bool:
        """Return whether a function is Python's `all` or its replacement."""
        return function is self._originals[0] or (bool(self._watched) and function is self._watched[0])

    def are_empty(self, compared: int) -> bool:
        """Return whether the claim compares nothing, because no call had any items. compared: number of other
        comparisons."""
        if any(code.co_name == "<module>" for code in self._empty):
            return True
        return bool(self._empty) and not (self.items or compared or any(map(_has_comparison, self._empty)))

    def _counted(self, stops_at: bool) -> Callable[[Iterable[Any]], bool]:
        """Return a replacement that counts items. stops_at: True for `all`, False for `any`."""

        def counted(items: Iterable[Any], /) -> bool:
            count, result = 0, stops_at
            for item in items:
                count += 1
                if (not item) is stops_at:
                    result = not stops_at
                    break
            code = sys._getframe(1).f_code
            if _is_of_author(code.co_filename):
                self.items += count
                if not count:
                    self._empty.append(code)
            return result

        counted.__name__ = counted.__qualname__ = "all" if stops_at else "any"
        return counted


def _is_of_author(file: str) -> bool:
    is_other = file.startswith(("<", _HERE)) or "/lib/python" in file or "-packages/" in file
    return file.startswith("<cell ") or not is_other


def _has_comparison(code: CodeType) -> bool:
    """Return whether a function itself compares values."""
    from dis import get_instructions

    names = ("COMPARE_OP", "CONTAINS_OP", "IS_OP")
    return any(instruction.opname in names for instruction in get_instructions(code))


_MAX_TOLERANCE = 0.1
_MAX_NOTES = 8


class Comparisons:
    """Comparisons of one claim: the number of compared values, and remarks."""

    def __init__(self, truths: Truths) -> None:
        self._truths = truths
        self.count = 0
        """Number of compared values."""
        self.notes: list[str] = []
        """Remarks, as messages."""
        self._largest: dict[str, float] = {}
        """Source code of a subtraction → largest absolute value in its two operands."""

    def compare(self, left: Any, right: Any, text: str) -> str:
        """Add a comparison of two values. Return `nan` if one of the values is NaN, otherwise an empty
        string. text: source code of the comparison."""
        shapes = shape_of(left), shape_of(right)
        self.count += max(_size(shapes[0]), _size(shapes[1]), 1)
        if None not in shapes and shapes[0] != shapes[1] and () not in shapes:
            self.note(f'combines different shapes, {shapes[0]} and {shapes[1]}, in "{text}"')
        return "nan" if self.has_nan(left) or self.has_nan(right) else ""

    def compare_same(self, left: Any, right: Any, text: str) -> str:
        """Add a comparison of a value with itself. Such a comparison tests for NaN, which differs from
        itself, so the returned note is always empty."""
        self.compare(left, right, text)
        return ""

    def compare_contents(self, left: Any, right: Any, text: str) -> str:
        """Add a comparison by `==`. Return `nan` as in `compare`, or `empty` if both values are collections
        without elements."""
        return self.compare(left, right, text) or ("empty" if is_empty(left) and is_empty(right) else "")

    def less(self, difference: str) -> Callable[[Any, Any, str], str]:
        """Return a function that adds a comparison by `<` or `<=`. That function returns `empty` for an empty
        set, which is a subset of every set. difference: source code of a difference whose size is compared;
        may be empty."""

        def compare(left: Any, right: Any, text: str) -> str:
            largest = self._largest.get(difference, 0.0)
            if largest > 0 and isinstance(right, (int, float)):
                self.tolerate(right / largest)
            is_set = type(left) in (set, frozenset)
            return self.compare(left, right, text) or ("empty" if is_set and not left else "")

        return compare

    def combine(self, left: Any, operator: str, right: Any, result: Any, text: str) -> None:
        """Add an arithmetic operation. operator: name of the operator's class in `ast`."""
        shapes = shape_of(left), shape_of(right)
        found = shape_of(result)
        is_expanded = shapes[0] and shapes[1] and found and _size(found) > max(map(_size, shapes))
        if is_expanded and operator != "MatMult":
            self.note(f'combines different shapes, {shapes[0]} and {shapes[1]}, in "{text}"')
        if operator == "Sub":
            self._largest[text] = max(map(_largest, (left, right)))
        if operator in ("Sub", "Add", "Mult") and self._wraps(left, operator, right, result):
            self.note(f'wraps around in unsigned numbers ({result.dtype}) in "{text}"')

    def tolerate(self, value: Any) -> None:
        if type(value) in (int, float) and value > _MAX_TOLERANCE:
            self.note(f"allows a difference of {value * 100:.3g} %")

    def count_equal_nan(self, left: Any) -> str:
        """Add a comparison that treats NaN as equal. Return `nan` if all values are NaN."""
        found = self._nan_count(left)
        if not found:
            return ""
        size = max(_size(shape_of(left)), 1)
        if found >= size:
            return "nan"
        self.note(f"treats NaN as equal in {found} of {size} places")
        return ""

    def note(self, text: str) -> None:
        if text not in self.notes and len(self.notes) < _MAX_NOTES:
            self.notes.append(text)

    def has_nan(self, value: Any) -> bool:
        """Return whether a number is NaN, or an array contains NaN."""
        return self._nan_count(value) > 0

    def _nan_count(self, value: Any) -> int:
        if isinstance(value, (float, complex)) and type(value).__module__ in ("builtins", "numpy"):
            return int(value != value)
        if type(value) in (list, tuple):
            return sum(self._nan_count(item) for item in value)
        if not self._is_float(value):
            return 0
        try:
            return int((value != value).sum())
        except Exception:
            return 0

    def _is_float(self, value: Any) -> bool:
        kind = getattr(value, "dtype", None)
        if type(value).__module__ == "numpy" and not self._truths.is_array(value):
            return str(kind).startswith(("float", "complex"))
        return self._truths.is_array(value) and str(kind).rpartition(".")[2].startswith(
            ("float", "bfloat", "complex", "half", "double")
        )

    def _wraps(self, left: Any, operator: str, right: Any, result: Any) -> bool:
        """Return whether the result of an operation has wrapped around because NumPy or torch used unsigned
        numbers."""
        if not str(getattr(result, "dtype", "")).rpartition(".")[2].startswith("uint"):
            return False
        try:
            if operator == "Sub":
                return bool((left < right).any()) if shape_of(result) else bool(left < right)
            wide = (
                _as_float(left) + _as_float(right)
                if operator == "Add"
                else _as_float(left) * _as_float(right)
            )
            wrapped = wide != _as_float(result)
            return bool(wrapped.any()) if hasattr(wrapped, "any") else bool(wrapped)
        except Exception:
            return False


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of an array or a tensor. For a list or tuple that contains only numbers, return
    `(len(value),)`; for other values, None."""
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple) or not all(type(size) is int for size in shape):
        return (len(value),) if type(value) in (list, tuple) and _is_flat(value) else None
    return tuple(shape)


def is_empty(value: object) -> bool:
    """Return whether the value is a collection or an array without elements."""
    kind = type(value)
    if kind.__module__ == "builtins" and hasattr(kind, "__len__"):
        return not len(value)  # type: ignore[arg-type]
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and 0 in shape


def _is_flat(values: Any) -> bool:
    return all(type(item) in (int, float, complex) for item in values)


def _size(shape: tuple[int, ...] | None) -> int:
    size = 1
    for length in shape or ():
        size *= length
    return size


def _largest(value: Any) -> float:
    """Return the largest absolute value of a number or an array; 0 if it has none."""
    try:
        found = abs(value)
        return float(found.max() if shape_of(value) else found)
    except Exception:
        return 0.0


def _as_float(value: Any) -> Any:
    if hasattr(value, "astype"):
        return value.astype(float)
    return value.double() if hasattr(value, "double") else float(value)
