"""Rewriting of templates before compilation, so that their work is counted.

Each body that may run more than once (of a loop, a macro, a block or the whole template) begins with a call
of `Sandbox.pay` for its parts. Values that are printed, compared, sliced or joined pass through a filter that
deducts their size from the budget. Templates cannot call these filters themselves, because their names
contain a space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from jinja2.visitor import NodeTransformer

PRINT, JOIN, COMPARE, COPY = "paid print", "paid join", "paid compare", "paid copy"

_BODIES = (nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)
"""Kinds of nodes whose bodies are counted separately."""
_LEAVES = (nodes.TemplateData, nodes.Const, nodes.Name, nodes.EnvironmentAttribute)
"""Kinds of nodes that contain no others."""
_SHORT = 256
"""Maximum length of a constant string whose comparison is not counted."""
_FEW = 20
"""Maximum length of a constant list whose search is not counted."""
_PASS_STEPS = 5
"""Number of steps for one run of a body, in addition to its parts."""


def meter(template: nodes.Template) -> None:
    """Add the counting of steps and characters to a parsed template."""
    inserter = _ChargeInserter(template.environment)
    inserter.add_payment(template.body, 1)
    inserter.generic_visit(template)


class MeteredCode(CodeGenerator):
    """Generator of code in which values are printed as the filter `PRINT` returns them, already escaped."""

    def _output_child_pre(self, *_: Any) -> None:
        self.write("(")


class _ChargeInserter(NodeTransformer):
    """Transformer that adds payments to bodies, and passes expressions through the filters that deduct their
    size. A body is counted before its parts change."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Visit a node. Most nodes have no parts, and Jinja would search them for some."""
        return node if isinstance(node, _LEAVES) else super().visit(node, *args, **kwargs)

    def _visit_body(self, node: Any) -> nodes.Node:
        self.add_payment(node.body, node.lineno)
        return self.generic_visit(node)

    visit_Macro = visit_CallBlock = visit_Block = _visit_body

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """Add payments for the body of a loop and for its condition."""
        if node.test is not None:
            paid = self._payment([node.test], node.lineno)
            node.test = nodes.And(paid, node.test, lineno=node.lineno, environment=self._environment)
        return self._visit_body(node)

    def visit_Output(self, node: nodes.Output) -> nodes.Output:
        """Wrap each expression printed by `{{ … }}` in the filter that deducts its size."""
        self.generic_visit(node)
        node.nodes = [
            part if isinstance(part, nodes.TemplateData) else self._wrap(part, PRINT) for part in node.nodes
        ]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:
        """Wrap `a ~ b` in the filter that deducts its size."""
        self.generic_visit(node)
        values = nodes.List(node.nodes, lineno=node.lineno, environment=self._environment)
        return self._wrap(values, JOIN)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Compare:
        """Wrap the sides of `a in b` and `a == b`, except for short constants. `a == b` is not wrapped if one
        side is a constant, because that comparison is cheap."""
        self.generic_visit(node)
        sides = [node.expr, *(operand.expr for operand in node.ops)]
        is_search = any(operand.op in ("in", "notin") for operand in node.ops)
        if is_search or not any(isinstance(side, nodes.Const) for side in sides):
            node.expr = self._wrap_key(node.expr)
            for operand in node.ops:
                operand.expr = self._wrap_key(operand.expr)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Expr:
        """Wrap `a[b]` if `b` is a slice, because a slice copies elements."""
        self.generic_visit(node)
        return self._wrap(node, COPY) if isinstance(node.arg, nodes.Slice) else node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Pair:
        """Wrap the key `a` of `{a: b}` unless it is a short constant, because the dictionary hashes the
        key."""
        self.generic_visit(node)
        node.key = self._wrap_key(node.key)
        return node

    def add_payment(self, body: list[nodes.Node], line: int) -> None:
        """Insert a payment at the start of a body."""
        payment = self._payment(body, line)
        body.insert(0, nodes.ExprStmt(payment, lineno=line, environment=self._environment))

    def _payment(self, body: Sequence[nodes.Node], line: int) -> nodes.Expr:
        """Return a call of `Sandbox.pay` for one run of a body."""
        parts, characters = _count_parts(body)
        call = f"pay({parts + _PASS_STEPS}, {characters})"
        return nodes.EnvironmentAttribute(call, lineno=line, environment=self._environment)

    def _wrap_key(self, node: nodes.Expr) -> nodes.Expr:
        is_free = isinstance(node, nodes.Const) and _is_short(node.value)
        return node if is_free else self._wrap(node, COMPARE)

    def _wrap(self, node: nodes.Expr, name: str) -> nodes.Filter:
        environment = self._environment
        return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno, environment=environment)


def _is_short(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= _FEW and all(_is_short(one) for one in value)
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _SHORT)


def _count_parts(body: Sequence[nodes.Node]) -> tuple[int, int]:
    """Return the number of parts of a body and the number of its literal characters. Nested bodies are not
    included, because they are counted separately."""
    parts, characters = 0, 0
    left = list(body)
    while left:
        node = left.pop()
        parts += 1
        if isinstance(node, nodes.TemplateData):
            characters += len(node.data)
        if isinstance(node, _LEAVES):
            continue
        left.extend(node.iter_child_nodes(exclude=("body", "test") if isinstance(node, _BODIES) else None))
    return parts, characters
