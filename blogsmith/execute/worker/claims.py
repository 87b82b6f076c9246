"""Claims: the truth of a cell's last expression, and for a false one the two sides that were compared.

The expression is evaluated once. Before, its operands are wrapped in calls that keep their values, under a
name no author can write.
"""

from __future__ import annotations

import _ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_KEEP = "<keep>"
_MAX_CHARACTERS = 60


class Claim:
    """The last expression of a cell, prepared and then explained."""

    def __init__(self, expression: _ast.expr, source: str) -> None:
        self._source = source
        self._kept: list[tuple[int, Any]] = []
        """Operands in the order in which they were computed."""
        self._nodes: list[_ast.expr] = []
        self._expression = expression
        self._watched: dict[int, list[int]] = {}
        """`id` of a node → numbers of its operands."""
        self._watch(expression)

    def evaluate(self, namespace: dict[str, Any], run: Callable[[], Any]) -> dict[str, Any]:
        """`{"holds", "detail"}`. run: evaluates the expression; what it raises comes through."""
        namespace[_KEEP] = self._keep
        try:
            value = run()
        finally:
            namespace.pop(_KEEP, None)
        if callable(value) or isinstance(value, (str, bytes)):
            # true whatever it says: a method that is not called, a text
            raise TypeError(f"a claim ends in a comparison, not in a {type(value).__name__}")
        holds = bool(value)
        return {"holds": holds, "detail": "" if holds else self._explain(self._expression, value)}

    def _keep(self, number: int, value: Any) -> Any:
        self._kept.append((number, value))
        return value

    def _watch(self, node: _ast.expr) -> None:
        """Wrap the operands of a node, and of those that decide it."""
        if isinstance(node, _ast.UnaryOp) and isinstance(node.op, _ast.Not):
            self._watch(node.operand)
            node.operand = self._wrapped(node, node.operand)
        elif isinstance(node, _ast.BoolOp):
            for operand in node.values:
                self._watch(operand)
            node.values = [self._wrapped(node, operand) for operand in node.values]
        elif isinstance(node, _ast.Compare):
            node.left = self._wrapped(node, node.left)
            node.comparators = [self._wrapped(node, operand) for operand in node.comparators]
        elif isinstance(node, _ast.Call):
            if isinstance(node.func, _ast.Attribute) and isinstance(node.func.value, _ast.Compare):
                self._watch(node.func.value)
                node.func.value = self._wrapped(node, node.func.value)
            for argument in node.args:
                self._watch(argument)
            node.args = [
                argument
                if isinstance(argument, (_ast.Starred, _ast.GeneratorExp))
                else self._wrapped(node, argument)
                for argument in node.args
            ]

    def _wrapped(self, node: _ast.expr, operand: _ast.expr) -> _ast.expr:
        """`operand` as a call that keeps its value as one of `node`'s."""
        self._watched.setdefault(id(node), []).append(len(self._nodes))
        number = _at(operand, _ast.Constant(value=len(self._nodes), kind=None))
        self._nodes.append(operand)
        keep = _at(operand, _ast.Name(id=_KEEP, ctx=_ast.Load()))
        call: _ast.expr = _at(operand, _ast.Call(func=keep, args=[number, operand], keywords=[]))
        return call

    def _explain(self, node: _ast.expr, value: Any) -> str:
        """Why `node` has a value one did not expect."""
        operands = self._operands(node)
        if isinstance(node, _ast.UnaryOp) and operands:
            return self._explain(*operands[-1])
        if isinstance(node, _ast.BoolOp) and operands:
            decisive = operands[-1:] if isinstance(node.op, _ast.And) else operands
            return "; ".join(
                f"{self._text(part)} is false ({self._explain(part, v)})" for part, v in decisive
            )
        if isinstance(node, _ast.Compare) and len(operands) >= 2:
            # a chain ends with the link that is false
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


def _at(place: _ast.expr, node: Any) -> Any:
    """`node` where `place` stands, for tracebacks."""
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
