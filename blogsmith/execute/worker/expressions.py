"""Forms of Python expressions that `claims.py` distinguishes."""

from __future__ import annotations

import _ast
from typing import Any

_ABSOLUTE = frozenset(("abs", "absolute", "fabs"))
_LARGEST = frozenset(("amax", "max"))


def called_name(node: _ast.Call) -> tuple[str, bool]:
    """Return the name of the function, and whether it is a method."""
    if isinstance(node.func, _ast.Attribute):
        return node.func.attr, True
    return (node.func.id if isinstance(node.func, _ast.Name) else ""), False


def is_empty_literal(node: _ast.expr) -> bool:
    """Return whether an expression is written as an empty value, such as `[]`, `""` or `set()`."""
    if isinstance(node, (_ast.List, _ast.Tuple, _ast.Set)):
        return not node.elts
    if isinstance(node, _ast.Dict):
        return not node.keys
    if isinstance(node, _ast.Call):
        return not (node.args or node.keywords)
    return isinstance(node, _ast.Constant) and node.value in ("", b"")


def compared_difference(node: _ast.expr) -> _ast.expr | None:
    """Return the difference whose size an expression computes, as `a - b` in `abs(a - b)` and
    `np.abs(a - b).max()`. None for other expressions."""
    inner: Any = node
    is_absolute = False
    while isinstance(inner, _ast.Call):
        name = called_name(inner)[0]
        if name not in _ABSOLUTE and name not in _LARGEST:
            return None
        is_absolute = is_absolute or name in _ABSOLUTE
        inner = inner.args[0] if inner.args else getattr(inner.func, "value", None)
    is_difference = isinstance(inner, _ast.BinOp) and isinstance(inner.op, _ast.Sub)
    return inner if is_absolute and is_difference else None
