"""Rewriting of templates before compilation, so that their work is counted.

Each body that may run more than once (of a loop, a macro, a block or the whole template) begins with a call
of `Sandbox.pay` for its parts. Values that are printed, compared, sliced or joined pass through a filter that
deducts their size from the budget. Templates cannot call these filters themselves, because their names
contain a space.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

PRINT, JOIN, COMPARE, COPY = "paid print", "paid join", "paid compare", "paid copy"

_BODIES = (nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)
"""Kinds of nodes whose bodies are counted separately."""
_SHORT = 256
"""Maximum length of a constant string whose comparison is not counted."""
_FEW = 20
"""Maximum length of a constant list whose search is not counted."""
_PASS_STEPS = 5
"""Number of steps for one run of a body, in addition to its parts."""


def meter(template: nodes.Template) -> None:
    """Add the counting of steps and characters to a parsed template."""
    for part in list(template.find_all(_BODIES)):
        if isinstance(part, nodes.For) and part.test is not None:
            part.test = nodes.And(_payment([part.test], part.lineno), part.test, lineno=part.lineno)
        _add_payment(part.body, part.lineno)  # type: ignore[attr-defined]
    _add_payment(template.body, 1)
    _ChargeInserter().visit(template)
    template.set_environment(template.environment)  # type: ignore[arg-type]


class _ChargeInserter(NodeTransformer):
    """Transformer that passes expressions through the filters that deduct their size."""

    def visit_Output(self, node: nodes.Output) -> nodes.Output:
        """Wrap each expression printed by `{{ … }}` in the filter that deducts its size."""
        self.generic_visit(node)
        node.nodes = [
            part if isinstance(part, nodes.TemplateData) else _wrap(part, PRINT) for part in node.nodes
        ]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:
        """Wrap `a ~ b` in the filter that deducts its size."""
        self.generic_visit(node)
        return _wrap(nodes.List(node.nodes, lineno=node.lineno), JOIN)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Compare:
        """Wrap the sides of `a in b` and `a == b`, except for short constants. `a == b` is not wrapped if one
        side is a constant, because that comparison is cheap."""
        self.generic_visit(node)
        sides = [node.expr, *(operand.expr for operand in node.ops)]
        is_search = any(operand.op in ("in", "notin") for operand in node.ops)
        if is_search or not any(isinstance(side, nodes.Const) for side in sides):
            node.expr = _wrap_key(node.expr)
            for operand in node.ops:
                operand.expr = _wrap_key(operand.expr)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Expr:
        """Wrap `a[b]` if `b` is a slice, because a slice copies elements."""
        self.generic_visit(node)
        return _wrap(node, COPY) if isinstance(node.arg, nodes.Slice) else node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Pair:
        """Wrap the key `a` of `{a: b}` unless it is a short constant, because the dictionary hashes the
        key."""
        self.generic_visit(node)
        node.key = _wrap_key(node.key)
        return node


def _wrap(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _wrap_key(node: nodes.Expr) -> nodes.Expr:
    return node if isinstance(node, nodes.Const) and _is_short(node.value) else _wrap(node, COMPARE)


def _is_short(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= _FEW and all(_is_short(one) for one in value)
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _SHORT)


def _add_payment(body: list[nodes.Node], line: int) -> None:
    body.insert(0, nodes.ExprStmt(_payment(body, line), lineno=line))


def _payment(body: Iterable[nodes.Node], line: int) -> nodes.Expr:
    """Return a call of `Sandbox.pay` for one run of a body."""
    parts, characters = _count_parts([*body])
    return nodes.EnvironmentAttribute(f"pay({parts + _PASS_STEPS}, {characters})", lineno=line)


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
        left.extend(node.iter_child_nodes(exclude=("body", "test") if isinstance(node, _BODIES) else None))
    return parts, characters
