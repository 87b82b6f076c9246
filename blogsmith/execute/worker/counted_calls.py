"""Counts the items of `all` and `any`: without items, their result proves nothing."""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType
    from typing import Any

_HERE = __file__.rpartition("/")[0] + "/"


class CountedCalls:
    """Counts the items in calls of `all` and `any` while a claim is evaluated. A context manager that
    replaces both functions."""

    def __init__(self) -> None:
        self._originals: tuple[Any, Any] = (builtins.all, builtins.any)
        self._watched: tuple[Any, ...] = ()
        self._empty: list[CodeType] = []
        """Code that called one of them without any items."""
        self.items = 0

    def __enter__(self) -> None:
        self._watched = (self._counted(True), self._counted(False))
        builtins.all, builtins.any = self._watched

    def __exit__(self, *_: object) -> None:
        if (builtins.all, builtins.any) == self._watched:
            builtins.all, builtins.any = self._originals

    def is_own(self, function: object) -> bool:
        """Return whether a function is Python's `all`."""
        return function is self._originals[0] or (bool(self._watched) and function is self._watched[0])

    def are_empty(self, compared: int) -> bool:
        """Return whether the claim compares nothing, because no call had any items.

        compared: number of other comparisons.
        """
        if any(code.co_name == "<module>" for code in self._empty):
            return True
        return bool(self._empty) and not (self.items or compared or any(map(_has_comparison, self._empty)))

    def _counted(self, stops_at: bool) -> Callable[[Iterable[Any]], bool]:
        """Return `all`, or `any` for False."""

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
