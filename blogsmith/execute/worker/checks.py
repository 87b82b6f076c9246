"""Shape comments at run time: what their names stand for, whether a value has the shape.

`shapes.py` puts calls of `Scope` into the code of cells. They never raise and never change a value.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from .dimensions import counts, fit, format_tuple, sizes_of, with_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from .dimensions import Known, Shape, Sizes

    Report = Callable[[int, str, str, str], None]


# Before Python 3.12 these are functions, run at once by the one around them.
COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>"))


class Comment(NamedTuple):
    """A comment that consists of shapes."""

    line: int
    column: int
    """In characters, from 0."""
    shapes: tuple[Shape, ...]


class Check:
    """A comment and whom to tell."""

    __slots__ = ("comment", "done", "report")

    def __init__(self, comment: Comment, report: Report) -> None:
        self.comment, self.report = comment, report
        self.done = False
        """Only the first mismatch of a loop is reported."""

    def report_mismatch(self, written: str, expected: str, got: list[str]) -> None:
        """Report a mismatch."""
        self.done = True
        self.report(self.comment.line, written, expected, ", ".join(got))


class Scope:
    """The sizes that names were met with, in one call of a function or in a session."""

    __slots__ = ("checks", "met")

    def __init__(self, checks: list[Check]) -> None:
        self.checks = checks
        """Of the session, all scopes share it."""
        self.met: dict[str, int | Sizes] = {}

    def scope(self) -> Scope:
        """For one call of a function."""
        return Scope(self.checks)

    def check(self, number: int, value: Any) -> Any:
        """`value`, looked at on its way."""
        self.check_values(number, (value,), sys._getframe(1))
        return value

    def is_checked(self, number: int, *values: object) -> bool:
        """False; for values that already are where they belong."""
        self.check_values(number, values, sys._getframe(1))
        return False

    def check_values(self, number: int, values: tuple[object, ...], frame: Any) -> None:
        """Report the first of `values` that has not the shape of comment `number`."""
        check = self.checks[number]
        if check.done:
            return
        shapes = check.comment.shapes
        values = as_many(values, len(shapes))
        if len(shapes) == 1:
            shapes *= len(values)
        known = self.sizes_in(frame)
        # not `None in values`: an array would answer for each of its elements
        if len(shapes) != len(values) and all(value is not None for value in values):
            written = ", ".join(shape.written for shape in shapes)
            check.report_mismatch(written, f"{len(shapes)} values", [format_shape(value) for value in values])
            return
        for place, shape in enumerate(shapes[: len(values)]):
            value = values[place]
            if value is not None and counts(shape, known) and not self.bind(shape, value, known):
                got = [format_shape(value, len(shape.parts))]
                check.report_mismatch(shape.written, with_numbers(shape, known), got)
                return

    def bind(self, shape: Shape, value: object, known: Known) -> bool:
        """Whether `value` has the shape; if so, its names are known from now on."""
        for sizes in readings(value):
            met = fit(shape, sizes, known)
            if met is not None:
                self.met.update(met)
                return True
        return False

    def sizes_in(self, frame: Any) -> Known:
        """What names stand for in code that runs in `frame`."""
        places = [frame.f_locals]
        while frame.f_code.co_name in COMPREHENSIONS and frame.f_back:
            frame = frame.f_back
            places.append(frame.f_locals)
        places.append(frame.f_globals)

        def known(name: str) -> int | Sizes | None:
            bare = name.lstrip("*")
            # a local variable hides the global one, whatever it holds
            value = next((names[bare] for names in places if bare in names), None)
            size = as_sizes(value) if bare != name else as_integer(value)
            return self.met.get(name) if size is None else size

        return known


def as_many(values: tuple[object, ...], shapes: int) -> tuple[object, ...]:
    """The values that `shapes` speak of: the items of one value, or several sizes as one shape."""
    if shapes > 1 and len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    if shapes == 1 and len(values) > 1 and as_sizes(values) is not None:
        return (values,)
    return values


def readings(value: object) -> list[Sizes]:
    """The shapes a value can be said to have: its own, and for a tuple of whole numbers the one it states."""
    sizes, stated = sizes_of(value), as_sizes(value)
    return [found for found in (stated, sizes) if isinstance(found, tuple)]


def format_shape(value: object, dimensions: int = 0) -> str:
    """The shape of a value, of two readings the one with so many dimensions; else what it is instead."""
    sizes = next((found for found in readings(value) if len(found) == dimensions), sizes_of(value))
    return sizes if isinstance(sizes, str) else format_tuple([str(size) for size in sizes])


def as_sizes(value: object) -> Sizes | None:
    """The sizes in a tuple of whole numbers, such as a shape."""
    numbers = [as_integer(item) for item in value] if isinstance(value, tuple) else []
    sizes = tuple(number for number in numbers if number is not None)
    return sizes if numbers and len(sizes) == len(numbers) else None


def as_integer(value: object) -> int | None:
    """An int of Python, or of NumPy or torch without dimensions; no truth value."""
    if isinstance(value, bool) or (not isinstance(value, int) and sizes_of(value) != ()):
        return None
    try:
        return int(value.__index__())  # type: ignore[attr-defined]
    except Exception:  # a float has none; jax has no number yet while it traces
        return None
