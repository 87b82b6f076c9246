"""Checks shape comments at run time: finds the sizes of names, and whether a value has the shape in the
comment.

`shapes.py` inserts calls of `Scope` into the code of cells. These calls never raise and never change a value.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from .dimensions import counts, fill_sizes, fit, format_tuple, value_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from .dimensions import Known, Shape, Sizes

    Report = Callable[[int, str, str, str], None]


# Before Python 3.12, these are functions that the enclosing function calls immediately.
COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>"))


class Comment(NamedTuple):
    """A comment that consists of shapes."""

    line: int
    column: int
    """Column in characters, counted from 0."""
    shapes: tuple[Shape, ...]


class Check:
    """A shape comment, and the function that reports a mismatch."""

    __slots__ = ("comment", "done", "report")

    def __init__(self, comment: Comment, report: Report) -> None:
        self.comment, self.report = comment, report
        self.done = False
        """Whether a mismatch was reported. In a loop, only the first mismatch is reported."""

    def report_mismatch(self, written: str, expected: str, got: list[str]) -> None:
        self.done = True
        self.report(self.comment.line, written, expected, ", ".join(got))


class Scope:
    """Sizes of names in one call of a function or in a session, each fixed at the first use of the name."""

    __slots__ = ("checks", "sizes")

    def __init__(self, checks: list[Check]) -> None:
        self.checks = checks
        """Checks of the session, shared by all `Scope` objects."""
        self.sizes: dict[str, int | Sizes] = {}

    def scope(self) -> Scope:
        return Scope(self.checks)

    def check(self, number: int, value: Any) -> Any:
        """Check the value of an expression and return it. number: index of the shape comment."""
        self.check_values(number, (value,), sys._getframe(1))
        return value

    def is_checked(self, number: int, *values: object) -> bool:
        """Check values that are already assigned. Always return False, so that the body of the inserted `if`
        never runs."""
        self.check_values(number, values, sys._getframe(1))
        return False

    def check_values(self, number: int, values: tuple[object, ...], frame: Any) -> None:
        """Report the first of `values` that does not have the shape in comment `number`."""
        check = self.checks[number]
        if check.done:
            return
        shapes = check.comment.shapes
        values = split_values(values, len(shapes))
        if len(shapes) == 1:
            shapes *= len(values)
        known = self.sizes_in(frame)
        # not `None in values`: an array would compare all its elements
        if len(shapes) != len(values) and all(value is not None for value in values):
            written = ", ".join(shape.written for shape in shapes)
            check.report_mismatch(written, f"{len(shapes)} values", [format_shape(value) for value in values])
            return
        for place, shape in enumerate(shapes[: len(values)]):
            value = values[place]
            if value is not None and counts(shape, known) and not self.bind(shape, value, known):
                got = [format_shape(value, len(shape.parts))]
                check.report_mismatch(shape.written, fill_sizes(shape, known), got)
                return

    def bind(self, shape: Shape, value: object, known: Known) -> bool:
        """Return whether `value` has the shape. If it does, store the sizes of its names."""
        for sizes in possible_shapes(value):
            met = fit(shape, sizes, known)
            if met is not None:
                self.sizes.update(met)
                return True
        return False

    def sizes_in(self, frame: Any) -> Known:
        """Return a function that gives the size of a name in code that runs in `frame`."""
        places = [frame.f_locals]
        while frame.f_code.co_name in COMPREHENSIONS and frame.f_back:
            frame = frame.f_back
            places.append(frame.f_locals)
        places.append(frame.f_globals)

        def known(name: str) -> int | Sizes | None:
            bare = name.lstrip("*")
            # A local variable hides the global one, whatever its value.
            value = next((names[bare] for names in places if bare in names), None)
            size = as_sizes(value) if bare != name else as_integer(value)
            return self.sizes.get(name) if size is None else size

        return known


def split_values(values: tuple[object, ...], shapes: int) -> tuple[object, ...]:
    """Return the values to compare with `shapes` shapes: the items of a single value, or several sizes
    combined into one shape."""
    if shapes > 1 and len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    if shapes == 1 and len(values) > 1 and as_sizes(values) is not None:
        return (values,)
    return values


def possible_shapes(value: object) -> list[Sizes]:
    """Return the possible shapes of a value: its own shape and, if it is a tuple of integers, the shape that
    these integers may mean."""
    sizes, stated = value_shape(value), as_sizes(value)
    return [found for found in (stated, sizes) if isinstance(found, tuple)]


def format_shape(value: object, dimensions: int = 0) -> str:
    """Return the shape of a value as text, or the type of the value if it has no shape. dimensions: expected
    number of dimensions, to choose between two possible shapes."""
    sizes = next((found for found in possible_shapes(value) if len(found) == dimensions), value_shape(value))
    return sizes if isinstance(sizes, str) else format_tuple([str(size) for size in sizes])


def as_sizes(value: object) -> Sizes | None:
    """Return the integers in a tuple of integers, which may be a shape. None for other values and the empty
    tuple."""
    numbers = [as_integer(item) for item in value] if isinstance(value, tuple) else []
    sizes = tuple(number for number in numbers if number is not None)
    return sizes if numbers and len(sizes) == len(numbers) else None


def as_integer(value: object) -> int | None:
    """Return an integer of Python, or a NumPy or torch integer without dimensions, as an int. None for
    booleans and other values."""
    if isinstance(value, bool) or (not isinstance(value, int) and value_shape(value) != ()):
        return None
    try:
        return int(value.__index__())  # type: ignore[attr-defined]
    except Exception:  # a float has no `__index__`; jax has no number yet while it traces
        return None
