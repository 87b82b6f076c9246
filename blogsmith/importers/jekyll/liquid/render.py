"""A Liquid tree → text: what can be known is put in, what other tags mean says the caller."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .filters import text_of
from .parse import LiquidBranch, LiquidOutput, LiquidTag, Nodes
from .values import Filter, LiquidScope, LiquidSyntaxError, UnknownValue, atom, evaluate, is_true

_ASSIGNMENT = re.compile(r"([\w-]+)\s*=\s*([\s\S]+)")
_LOOP = re.compile(r"([\w-]+)\s+in\s+(\([^)]*\)|\S+)([\s\S]*)")
_MOST_TURNS = 1000
"""Turns of one loop; a page that needs more is no page that was written."""


@dataclass(frozen=True, slots=True)
class LiquidRenderer:
    """What a text is rendered with."""

    filters: Mapping[str, Filter]
    tag: Callable[[LiquidTag, LiquidScope, LiquidRenderer], str]
    """Gives the text of a tag that is not part of Liquid itself."""
    unknown: Callable[[LiquidOutput | LiquidTag, Exception], str]
    """Gives what stands for something whose value cannot be known."""

    def render(self, nodes: Nodes, scope: LiquidScope) -> str:
        """The text of nodes; what is assigned in them stays in `scope`."""
        return "".join(
            self._text(node, scope) if isinstance(node, str) else self._node(node, scope) for node in nodes
        )

    def _text(self, node: str, scope: LiquidScope) -> str:
        scope.budget.spend(node)
        return node

    def _node(self, node: LiquidOutput | LiquidTag, scope: LiquidScope) -> str:
        try:
            if isinstance(node, LiquidOutput):
                text = text_of(evaluate(node.expression, scope, self.filters))
            elif node.name in _CORE:
                text = _CORE[node.name](self, node, scope)
            else:
                text = self.tag(node, scope, self)
            scope.budget.spend(text)
            return text
        except (UnknownValue, LiquidSyntaxError) as error:
            return self.unknown(node, error)


def _assign(renderer: LiquidRenderer, tag: LiquidTag, scope: LiquidScope) -> str:
    found = _ASSIGNMENT.fullmatch(tag.arguments)
    if not found:
        raise LiquidSyntaxError(tag.arguments)
    scope.names[found[1]] = evaluate(found[2], scope, renderer.filters)
    return ""


def _capture(renderer: LiquidRenderer, tag: LiquidTag, scope: LiquidScope) -> str:
    if not tag.branches:
        raise LiquidSyntaxError(tag.arguments)
    scope.names[tag.arguments.strip("\"' ")] = renderer.render(tag.branches[0].nodes, scope)
    return ""


def _if(renderer: LiquidRenderer, tag: LiquidTag, scope: LiquidScope) -> str:
    for branch in tag.branches:
        wanted = branch.name != "unless"
        if branch.name == "else" or is_true(branch.arguments, scope, renderer.filters) == wanted:
            return renderer.render(branch.nodes, scope)
    return ""


def _case(renderer: LiquidRenderer, tag: LiquidTag, scope: LiquidScope) -> str:
    value = atom(tag.arguments, scope)
    for branch in tag.branches[1:]:
        choices = re.split(r"\s*(?:,|\bor\b)\s*", branch.arguments)
        if branch.name == "else" or any(atom(each, scope) == value for each in choices if each):
            return renderer.render(branch.nodes, scope)
    return ""


def _for(renderer: LiquidRenderer, tag: LiquidTag, scope: LiquidScope) -> str:
    found = _LOOP.fullmatch(tag.arguments.strip())
    if not found or not tag.branches:
        raise LiquidSyntaxError(tag.arguments)
    values = atom(found[2], scope)
    every: Sequence[Any] = list(values.items()) if isinstance(values, Mapping) else values or []
    if not isinstance(every, (list, tuple)):
        raise UnknownValue(found[2])
    every = _limited(every, found[3], scope)
    if not every:
        return "".join(
            renderer.render(branch.nodes, scope) for branch in tag.branches if branch.name == "else"
        )
    parts = []
    for index, value in enumerate(every[:_MOST_TURNS]):
        loop = {
            **{"index": index + 1, "index0": index, "first": index == 0, "last": index == len(every) - 1},
            **{"length": len(every), "rindex": len(every) - index, "rindex0": len(every) - index - 1},
        }
        inner = {found[1]: list(value) if isinstance(value, tuple) else value, "forloop": loop}
        hidden = {name: scope.names[name] for name in inner if name in scope.names}
        scope.budget.spend(index)
        scope.names |= inner
        parts.append(renderer.render(tag.branches[0].nodes, scope))
        for name in inner:
            scope.names.pop(name, None)
        scope.names |= hidden
    return "".join(parts)


def _limited(every: Sequence[Any], options: str, scope: LiquidScope) -> Sequence[Any]:
    for name, value in re.findall(r"(limit|offset)\s*:\s*([\w.]+)", options):
        number = atom(value, scope)
        if isinstance(number, int):
            every = every[:number] if name == "limit" else every[number:]
    return every[::-1] if re.search(r"\breversed\b", options) else every


def _nothing(renderer: LiquidRenderer, tag: LiquidTag, scope: LiquidScope) -> str:
    return ""


def inner_text(tag: LiquidTag) -> str:
    """What stands in a verbatim block."""
    branch: LiquidBranch | None = tag.branches[0] if tag.branches else None
    return "".join(node for node in branch.nodes if isinstance(node, str)) if branch else ""


_CORE: Mapping[str, Callable[[LiquidRenderer, LiquidTag, LiquidScope], str]] = {
    **{"assign": _assign, "capture": _capture, "if": _if, "unless": _if, "case": _case, "for": _for},
    **{"comment": _nothing, "break": _nothing, "continue": _nothing, "cycle": _nothing},
}
