"""Templates compiled so that their work is counted.

Jinja compiles a template to Python. Here each body that may run more than once, of a loop, a macro, a block
or the whole template, begins with a call that pays for its parts; what is written, sliced, searched or put
together passes functions of `Sandbox` that pay for its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators

from .record_fields import CONTENT, PLAIN_FIELDS

_BODIES = (nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)
"""Their bodies pay for themselves."""

_SHORT = 256
"""Of a text: to compare it costs nothing."""
_FEW = 20
"""Of values: to search them costs nothing either."""
_PASS = 5
"""Steps for a pass through a body, whatever is in it."""


class PaidCode(CodeGenerator):
    """Jinja's, with calls of `Sandbox.pay` and its like in between."""

    _printed: nodes.Expr | None = None
    """What is written next, where that is HTML as it is."""

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """Add the payments, then go on as Jinja does."""
        for name in sorted({part.attr for part in node.find_all(nodes.Getattr)} & PLAIN_FIELDS.keys()):
            self.writeline(f"has_{name} = environment.plain_fields[{name!r}]")
        for part in list(node.find_all(_BODIES)):
            if isinstance(part, nodes.For) and part.test is not None:
                paid = nodes.EnvironmentAttribute(
                    f"passes({_weigh([part.test])[0] + _PASS})", lineno=part.lineno
                )
                part.test = nodes.And(paid, part.test, lineno=part.lineno)
            _add_payment(part.body, part.lineno)  # type: ignore[attr-defined]
        _add_payment(node.body, 1)
        super().visit_Template(node, frame)

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile:
            self.write("environment.print_value(context.eval_ctx.autoescape, ")
        else:
            self.write(f"environment.print_value({bool(frame.eval_ctx.autoescape)}, ")
            self._printed = node if frame.eval_ctx.autoescape else None

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        # a filter may make a long constant, which a loop then writes without paying
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        """`a.b`; of our own records without a call."""
        if node is self._printed and node.attr == CONTENT:
            self.write("environment.print_content(")
            self.visit(node.node, frame)
            self.write(")")
        elif isinstance(node.node, nodes.Name) and node.attr in PLAIN_FIELDS:
            name = frame.symbols.ref(node.node.name)
            self.write(f"({name}.{node.attr} if type({name}) in has_{node.attr} else ")
            super().visit_Getattr(node, frame)
            self.write(")")
        else:
            super().visit_Getattr(node, frame)

    def visit_Include(self, node: nodes.Include, frame: Frame) -> None:
        """`{% include "a.html" %}`; as a rule without a loop that hands on piece by piece."""
        is_name = isinstance(node.template, nodes.Const) and isinstance(node.template.value, str)
        if not is_name or node.ignore_missing or not node.with_context or frame.buffer is not None:
            super().visit_Include(node, frame)
            return
        self.writeline("template = environment.get_template(", node)
        self.visit(node.template, frame)
        self.write(f", {self.name!r})")
        context = f"context.get_all(), True, {self.dump_local_context(frame)}"
        self.writeline(f"yield from template.root_render_func(template.new_context({context}))")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """`a ~ b`"""
        self.write("environment.concatenate(context.eval_ctx.autoescape, (")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        """`a == b`, `a in b`; a comparison with a constant is cheap."""
        sides = [node.expr, *(operand.expr for operand in node.ops)]
        is_search = any(operand.op in ("in", "notin") for operand in node.ops)
        if not is_search and any(isinstance(side, nodes.Const) for side in sides):
            super().visit_Compare(node, frame)
            return
        names = ["", *(operators[operand.op] for operand in node.ops)]
        self.write("(")
        for name, side in zip(names, sides, strict=True):
            is_free = isinstance(side, nodes.Const) and _is_short(side.value)
            self.write(f" {name} (" if is_free else f" {name} environment.pay_comparison(")
            self.visit(side, frame)
            self.write(")")
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """`a[b]`; a slice is a copy."""
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.pay_copy(")
        super().visit_Getitem(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        """`{a: b}`; a key is hashed."""
        self.write("{")
        for pair in node.items:
            self.write("environment.pay_comparison(")
            self.visit(pair.key, frame)
            self.write("): ")
            self.visit(pair.value, frame)
            self.write(", ")
        self.write("}")


def _is_short(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= _FEW and all(_is_short(one) for one in value)
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _SHORT)


def _add_payment(body: list[nodes.Node], line: int) -> None:
    parts, characters = _weigh(body)
    payment = nodes.EnvironmentAttribute(f"pay({parts + _PASS}, {characters})", lineno=line)
    body.insert(0, nodes.ExprStmt(payment, lineno=line))


def _weigh(body: Sequence[nodes.Node]) -> tuple[int, int]:
    """How many parts a body has, and how many characters of its own it writes, without the bodies in it."""
    parts, characters = 0, 0
    left = list(body)
    while left:
        node = left.pop()
        parts += 1
        if isinstance(node, nodes.TemplateData):
            characters += len(node.data)
        left.extend(node.iter_child_nodes(exclude=("body", "test") if isinstance(node, _BODIES) else None))
    return parts, characters
