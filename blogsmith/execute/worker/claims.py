"""Claims: the truth of a cell's last expression and, if it is false, the two sides that were compared.

The expression is evaluated once. Before that, its operands are wrapped in calls that store their values,
under a name that no author can write. This also shows whether each deciding part, such as the sides of
`and`, is true or false (`truth_of`), and whether `all` had any items.
"""

from __future__ import annotations

import _ast
import builtins
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

_RECORD = "<keep>"
_MAX_CHARACTERS = 60
_COMPREHENSIONS = (_ast.GeneratorExp, _ast.ListComp, _ast.SetComp)
_CONVERTIBLE = ("", "object", "array")
"""Kinds of values whose truth `bool(…)` may convert, since the author requests it explicitly."""
# Roles of operands: why each is stored. Most are shown if the claim is false; some are only validated.
_SIDE = "side"
_CONDITION = "condition"  # true or false
_CONVERTED = "converted"  # argument of `bool`
_COMPARED = "compared"  # must not be empty, or nothing is compared
_OWNER = "owner"  # object of the method `all`: must not be empty; not shown
_ANY_OWNER = "owner of any"  # object of the method `any`, which is false if empty; not shown
_GENERATOR = "generator"  # passed to `np.all`, which treats it as one true object
_LISTED = "listed"  # list of truth values, must not be empty
_FUNCTION = "function"  # `all` itself, before its items are computed
_ITEM = "item"  # must be true or false; not stored, since there may be millions
_HIDDEN_ROLES = frozenset((_OWNER, _ANY_OWNER, _GENERATOR, _FUNCTION, _ITEM))


class Claim:
    """Last expression of a cell, first prepared and then explained."""

    def __init__(self, expression: _ast.expr, source: str) -> None:
        self._source = source
        self._expression = expression
        self._nodes: list[_ast.expr] = []
        """Wrapped operands."""
        self._roles: list[str] = []
        """Role of each wrapped operand."""
        self._kept: list[tuple[int, Any]] = []
        """Values of operands in order of evaluation, each with its index in `_nodes`."""
        self._watched: dict[int, list[int]] = {}
        """`id` of a node → indices of its operands."""
        self._counts: dict[int, int] = {}
        """Index of an item → how often it was computed."""
        self._wrap(expression)

    def evaluate(self, namespace: dict[str, Any], run: Callable[[], Any]) -> dict[str, Any]:
        """Return `{"holds", "detail"}`.

        If `holds` is None, `kind` is the kind of value found instead of a truth value.

        `part` is the part of the expression concerned, if it is not the whole.

        run: evaluates the expression; its exceptions are passed on.
        """
        namespace[_RECORD] = self._record
        try:
            value = run()
        finally:
            namespace.pop(_RECORD, None)
        for node, kind, found in self._undecided_parts(value):
            part = "" if node is self._expression else self._text(node)
            return {"holds": None, "detail": _short(found), "kind": kind, "part": part}
        holds = truth_of(value)
        return {"holds": holds, "detail": "" if holds else self._explain(self._expression, value)}

    def _record(self, number: int, value: Any) -> Any:
        if self._roles[number] != _ITEM:
            self._kept.append((number, value))
            return value
        self._counts[number] = self._counts.get(number, 0) + 1
        if truth_of(value) is None and all(kept != number for kept, _ in self._kept):
            self._kept.append((number, value))
        return value

    def _undecided_parts(self, value: Any) -> Iterator[tuple[_ast.expr, str, Any]]:
        """Yield each part that is neither true nor false: its node, its kind, its value."""
        before: Any = None
        for number, operand in self._kept:
            node, role, kind = self._nodes[number], self._roles[number], kind_of(operand)
            if (role in (_CONDITION, _ITEM) and kind) or (role == _CONVERTED and kind not in _CONVERTIBLE):
                yield node, kind, operand
            elif role in (_COMPARED, _OWNER, _LISTED) and is_empty(operand):
                yield node, "empty", operand
            elif role == _LISTED and type(operand) in (list, tuple):
                yield from ((node, kind_of(item), item) for item in first_unjudged(operand))
            elif role == _FUNCTION and operand is builtins.all and number + 1 not in self._counts:
                yield self._nodes[number + 1], "empty", []
            elif role == _GENERATOR and type(before) is type(builtins):
                yield node, kind, operand
            before = operand
        if kind := kind_of(value):
            yield self._expression, kind, value

    def _wrap(self, node: _ast.expr) -> None:
        """Wrap the operands of a node, and those of the parts that decide it."""
        if isinstance(node, _ast.UnaryOp) and isinstance(node.op, _ast.Not):
            self._wrap(node.operand)
            node.operand = self._wrap_operand(node, node.operand, _CONDITION)
        elif isinstance(node, _ast.BoolOp):
            for operand in node.values:
                self._wrap(operand)
            node.values = [self._wrap_operand(node, operand, _CONDITION) for operand in node.values]
        elif isinstance(node, _ast.IfExp):
            for part in (node.test, node.body, node.orelse):
                self._wrap(part)
            node.test = self._wrap_operand(node, node.test, _CONDITION)
        elif isinstance(node, _ast.NamedExpr):
            self._wrap(node.value)
        elif isinstance(node, _ast.Compare):
            node.left = self._wrap_operand(node, node.left)
            node.comparators = [self._wrap_operand(node, operand) for operand in node.comparators]
        elif isinstance(node, _ast.Call):
            self._watch_call(node)

    def _watch_call(self, node: _ast.Call) -> None:
        name, is_method = _called_name(node)
        if isinstance(node.func, _ast.Attribute) and isinstance(node.func.value, _ast.Compare):
            self._wrap(node.func.value)
            role = _COMPARED if name == "all" else _SIDE
            node.func.value = self._wrap_operand(node, node.func.value, role)
        elif isinstance(node.func, _ast.Attribute) and name in ("all", "any"):
            owner = _OWNER if name == "all" else _ANY_OWNER
            node.func.value = self._wrap_operand(node, node.func.value, owner)
            if len(node.args) == 1 and isinstance(node.args[0], _ast.GeneratorExp):
                node.args = [self._wrap_operand(node, node.args[0], _GENERATOR)]
                return
        if name in ("all", "any") and not is_method and len(node.args) == 1:
            if isinstance(node.args[0], _COMPREHENSIONS):
                self._watch_items(node, node.args[0])
                return
            role = _LISTED
        elif name == "bool" and not is_method:
            role = _CONVERTED
        else:
            role = _COMPARED if name in ("all", "allclose") else _SIDE
        for argument in node.args:
            self._wrap(argument)
        skipped = (_ast.Starred, _ast.GeneratorExp)
        node.args = [a if isinstance(a, skipped) else self._wrap_operand(node, a, role) for a in node.args]

    def _watch_items(self, node: _ast.Call, items: Any) -> None:
        """Check every item of `all(x > 0 for x in …)` as it is computed."""
        node.func = self._wrap_operand(node, node.func, _FUNCTION)
        items.elt = self._wrap_operand(node, items.elt, _ITEM)

    def _wrap_operand(self, node: _ast.expr, operand: _ast.expr, role: str = _SIDE) -> _ast.expr:
        """Return `operand` as a call that stores its value as an operand of `node`."""
        if role not in _HIDDEN_ROLES:
            self._watched.setdefault(id(node), []).append(len(self._nodes))
        number = _place_node(operand, _ast.Constant(value=len(self._nodes), kind=None))
        self._nodes.append(operand)
        self._roles.append(role)
        keep = _place_node(operand, _ast.Name(id=_RECORD, ctx=_ast.Load()))
        call: _ast.expr = _place_node(operand, _ast.Call(func=keep, args=[number, operand], keywords=[]))
        return call

    def _explain(self, node: _ast.expr, value: Any) -> str:
        """Explain why `node` has an unexpected value."""
        operands = self._operands(node)
        if isinstance(node, _ast.UnaryOp) and operands:
            return self._explain(*operands[-1])
        if isinstance(node, _ast.BoolOp) and operands:
            decisive = operands[-1:] if isinstance(node.op, _ast.And) else operands
            return "; ".join(
                f"{self._text(part)} is false ({self._explain(part, v)})" for part, v in decisive
            )
        if isinstance(node, _ast.Compare) and len(operands) >= 2:
            # a chain ends with the comparison that is false
            return _sides([side for _, side in operands[-2:]])
        if isinstance(node, _ast.Call) and operands:
            if len(operands) == 1 and isinstance(operands[0][0], (_ast.Compare, _ast.Call)):
                return self._explain(*operands[0])
            return _sides([argument for _, argument in operands])
        return f"value: {_short(value)}"

    def _operands(self, node: _ast.expr) -> list[tuple[_ast.expr, Any]]:
        numbers = self._watched.get(id(node), [])
        return [(self._nodes[number], value) for number, value in self._kept if number in numbers]

    def _text(self, node: _ast.expr) -> str:
        import ast

        return " ".join((ast.get_source_segment(self._source, node) or "a part").split())


def _called_name(node: _ast.Call) -> tuple[str, bool]:
    """Return the name of the function, and whether it is a method."""
    if isinstance(node.func, _ast.Attribute):
        return node.func.attr, True
    return (node.func.id if isinstance(node.func, _ast.Name) else ""), False


def _place_node(place: _ast.expr, node: Any) -> Any:
    """Return `node` with the location of `place`, for tracebacks."""
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(node, name, getattr(place, name))
    return node


def _sides(values: Sequence[Any]) -> str:
    if len(values) == 2:
        return f"left: {_short(values[0])}, right: {_short(values[1])}"
    return ", ".join(_short(value) for value in values)


def _short(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:
        return f"<{type(value).__name__} object>"
    half = _MAX_CHARACTERS // 2
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:half]}…{text[-half:]}"


# Truth values in claims, and the kinds of other values.
#
# Only truth values of Python, and those of NumPy and torch without dimensions, are accepted. Nearly
# everything else is true for `bool()` whatever it says: a tuple made by a comma, a string, `nan`, a method
# that is not called. Types are compared by identity, because a subclass or an object with `__bool__` may
# return anything.


_NOTHING = (type(None), type(...), type(NotImplemented))
_COLLECTIONS = (list, dict, set, frozenset, range)


def truth_of(value: Any) -> bool | None:
    """Return a truth value as a bool. None if the value is neither true nor false."""
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
    """Return the kind of a value that is not a truth value, as one word. Empty for truth values."""
    # not isinstance, which would ask the object
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
    """Return the first of `values` that is neither true nor false, as a 1-tuple. Empty if there is none."""
    return next(((value,) for value in values if truth_of(value) is None), ())


def is_empty(value: object) -> bool:
    """Return whether the value is a list or an array without elements."""
    if type(value) in (list, tuple):
        return not value
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and 0 in shape


def _is_number(value: Any) -> bool:
    """Return whether the value is a scalar of NumPy, which has all attributes of an array."""
    return type(value).__module__ == "numpy" and not hasattr(value, "__setitem__")


def _contents(module: str) -> dict[str, Any]:
    """Return the names of a module. Empty if it is not imported."""
    return vars(sys.modules[module]) if module in sys.modules else {}
