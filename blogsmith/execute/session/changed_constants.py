"""Copies of a cell's code, each with one constant changed, for the counter-check of its claim.

Constants before the claim are changed or, if there are none, those in it. Tolerances stay as they are: a
wider one makes every claim true, a negative one every claim false.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from msgspec import Struct

_TOLERANCE = re.compile(r"(?:.*_)?(?:[ar]?tol|tolerance|eps|epsilon|rel|abs)")
"""Names of variables and parameters that are tolerances."""
_COMPARERS = frozenset(("allclose", "assert_allclose", "isclose"))
"""Names of functions whose third and fourth arguments are tolerances."""
_SIZES = frozenset(("abs", "absolute", "amax", "fabs", "max", "norm"))
"""Names of functions that measure a difference, which a claim compares with a tolerance."""
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_MAX_BITS = 1000
"""Maximum number of bits of an integer that is changed."""
_MAX_SHOWN = 24
"""Maximum number of characters of a constant in messages."""


class ChangedCode(Struct, frozen=True):
    """Code of a cell with another constant."""

    constant: str
    """The constant as written, shortened."""
    code: str
    is_name: bool
    """Whether the constant is a string. It may name something, so an exception says nothing about the claim.
    """


def changed_codes(code: str) -> list[ChangedCode]:
    """Return copies of the code: one for each constant, then a second one for each, and so on.

    Empty if there are no constants, or if this Python cannot parse the code.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    rounds = zip_longest(*(_changes(node, code) for node in _constants(tree)))
    return [change for one in rounds for change in one if change]


def _constants(tree: ast.Module) -> list[ast.Constant]:
    """Return the constants before the last statement, or those in it if there are none, in source order."""
    left_out = {id(node) for part in _unchanged_parts(tree) for node in ast.walk(part)}
    for part in (tree.body[:-1], tree.body[-1:]):
        nodes = [node for statement in part for node in ast.walk(statement)]
        strings = {id(node) for parent in nodes for node in _deciding_strings(parent)}
        found = [
            node
            for node in nodes
            if isinstance(node, ast.Constant)
            and id(node) not in left_out
            and (id(node) in strings or not isinstance(node.value, str))
            and _other_values(node.value)
        ]
        if found:
            return sorted(found, key=lambda node: (node.lineno, node.col_offset))
    return []


def _deciding_strings(parent: ast.AST) -> list[ast.expr]:
    """Return the parts of a node whose strings are data: those that it compares or assigns."""
    if isinstance(parent, ast.Compare):
        return [parent.left, *parent.comparators]
    return [parent.value] if isinstance(parent, ast.Assign) else []


def _unchanged_parts(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the parts of the code whose constants are tolerances or have no position of their own."""
    bounds = [*_bounds(tree)]
    names = {node.id for node in bounds if isinstance(node, ast.Name)}
    yield from bounds
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):  # before Python 3.12, positions in it are wrong
            yield node
        elif isinstance(node, ast.keyword) and _TOLERANCE.fullmatch(node.arg or ""):
            yield node.value
        elif isinstance(node, ast.Call) and _called_name(node) in _COMPARERS:
            yield from node.args[2:]
        elif isinstance(node, ast.Assign):
            targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
            if targets & names or any(map(_TOLERANCE.fullmatch, targets)):
                yield node.value
        elif isinstance(node, ast.arguments):
            named, last = [*node.posonlyargs, *node.args], len(node.defaults)
            for argument, default in (
                *zip(named[len(named) - last :], node.defaults, strict=True),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ):
                if default and _TOLERANCE.fullmatch(argument.arg):
                    yield default


def _bounds(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the limits in the last statement: what it compares with a constant expression or a size."""
    for node in ast.walk(tree.body[-1]) if tree.body else ():
        if isinstance(node, ast.Compare) and any(isinstance(op, _ORDER) for op in node.ops):
            sides = (node.left, *node.comparators)
            has_size = any(isinstance(side, ast.Call) and _called_name(side) in _SIZES for side in sides)
            for side in sides:
                is_constant = not any(isinstance(part, ast.Name) for part in ast.walk(side))
                if is_constant or (has_size and isinstance(side, ast.Name)):
                    yield side


def _called_name(call: ast.Call) -> str:
    function = call.func
    return str(getattr(function, "attr", None) or getattr(function, "id", ""))


def _changes(node: ast.Constant, code: str) -> Iterator[ChangedCode]:
    data = code.encode()
    lines = data.split(b"\n")
    start = sum(len(line) + 1 for line in lines[: node.lineno - 1]) + node.col_offset
    end = sum(len(line) + 1 for line in lines[: (node.end_lineno or 0) - 1]) + (node.end_col_offset or 0)
    before, written, after = data[:start].decode(), data[start:end].decode(), data[end:].decode()
    shown = " ".join(written.split())
    shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 1]}…"
    for value in _other_values(node.value):
        yield ChangedCode(shown, f"{before}({value!r}){after}", isinstance(node.value, str))


def _other_values(value: Any) -> list[Any]:
    """Return the changed values of a constant. Empty for constants that stay as they are."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return ["" if value else "x"]
    if not isinstance(value, int | float | complex) or (
        isinstance(value, int) and value.bit_length() > _MAX_BITS
    ):
        return []
    others = (value + 1, 2 * value, -value) if value else (1, -1)
    # an overflow gives infinity, which has no literal
    return [other for other in dict.fromkeys(others) if other != value and "inf" not in repr(other)]
