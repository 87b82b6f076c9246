"""Counter-check of a claim: the cell runs again with another constant changed each time, until the claim is
false.

A claim that is true for all constants proves nothing about them. Numbers and truth values are changed: those
before the claim or, if there are none, those in it.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MOST_RUNS = 40


def changed_trees(tree: ast.Module) -> Iterator[ast.Module]:
    """Yield copies of a cell, each with another constant."""
    runs = 0
    for change in range(3):
        for index in range(len(_constants(tree))):
            copy = deepcopy(tree)
            constant = _constants(copy)[index]
            values = _other_values(constant.value)
            if change < len(values) and runs < _MOST_RUNS:
                runs += 1
                constant.value = values[change]
                yield copy


def _constants(tree: ast.Module) -> list[ast.Constant]:
    """Return the numbers and truth values before the last expression, or those in it if there are none."""
    nodes = ([*ast.walk(ast.Module(part, []))] for part in (tree.body[:-1], tree.body[-1:]))
    found = (
        [n for n in part if isinstance(n, ast.Constant) and type(n.value) in (bool, int, float, complex)]
        for part in nodes
    )
    return next(filter(None, found), [])


def _other_values(value: Any) -> tuple[Any, ...]:
    if type(value) is bool:
        return (not value,)
    return (value + 1, 0 if value else 2, -value - 1)
