"""Strings and values whose parts come from callers: the records of the tracer, and what a call binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeGuard

from .program import Function, FunctionNode, Module

OUTER = "<outer>"
"""Key of the frame of the function around a function."""
_NOTHING = ast.Constant("")


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A function with the values of its parameters, where they are known."""

    function: Function
    arguments: Mapping[str, Value] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    """Names for which there is no caller."""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression, and the frame that its names belong to."""

    node: ast.expr
    frame: Frame


@dataclass(frozen=True, slots=True)
class Need:
    """A name whose value the callers of a function decide, or that is an instance of classes."""

    frame: Frame
    name: str
    classes: tuple[str, ...] = ()
    """Classes of the instance; empty for a parameter."""
    attribute: str = ""
    """Attribute of the instance; empty: its text."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a string that the program computes."""

    source: str
    need: Need | None = None
    is_number: bool = False
    elements: tuple[Text, ...] = ()
    """Strings that the part joins."""
    carriers: tuple[tuple[str, str], ...] = ()
    """Classes and attributes whose instances carry the string here."""


Text = tuple[str | Hole, ...]


def literal_prefix(text: Text) -> str:
    """Return the literal parts of a string; a hole is one character."""
    return "".join(part if isinstance(part, str) else "\N{OBJECT REPLACEMENT CHARACTER}" for part in text)


def is_literal(text: Text) -> bool:
    """Return whether a string has no holes."""
    return all(isinstance(part, str) for part in text)


@cache
def local_values(function: Function) -> Mapping[str, list[tuple[str, ast.AST, int]]]:
    """Return name → (kind, node, index) of all bindings of a function.

    Kinds: `value`, `item` of a tuple, `element` and `element-item` of an iterable, `error` of a handler.
    """
    found: dict[str, list[tuple[str, ast.AST, int]]] = {}

    def bind(target: ast.AST, kind: str, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append((kind, node, 0))
        elif isinstance(target, ast.Tuple | ast.List):
            for index, one in enumerate(target.elts):
                if isinstance(one, ast.Name):
                    inner = "element-item" if kind == "element" else "item"
                    found.setdefault(one.id, []).append((inner, node, index))

    for node in walk(function.node):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                bind(target, "value", node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            bind(node.target, "value", node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            before = [one for _, one, _ in found.get(node.target.id, ()) if isinstance(one, ast.expr)]
            joined = [ast.BinOp(one, node.op, node.value) for one in before]
            found.setdefault(node.target.id, []).extend(("value", one, 0) for one in joined)
        elif isinstance(node, ast.For | ast.comprehension):
            bind(node.target, "element", node.iter)
        elif isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            found.setdefault(node.name, []).append(("error", node.type, 0))
    return found


def walk(top: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function in source order, without those of functions inside."""
    for node in ast.iter_child_nodes(top):
        yield node
        if not isinstance(node, FunctionNode | ast.ClassDef | ast.Lambda):
            yield from walk(node)


@cache
def results(function: Function) -> tuple[ast.expr, ...]:
    """Return the expressions that a function returns."""
    if isinstance(function.node, ast.Lambda):
        return (function.node.body,)
    found = (one.value for one in walk(function.node) if isinstance(one, ast.Return))
    return tuple(one for one in found if one is not None)


@cache
def yielded(function: Function) -> tuple[ast.expr, ...]:
    """Return the expressions that a generator yields."""
    found = (one.value for one in walk(function.node) if isinstance(one, ast.Yield))
    return tuple(one for one in found if one is not None)


def bind(function: Function, call: ast.Call, frame: Frame) -> Frame | None:
    """Return the frame of a called function; None if the call does not fit its parameters."""
    names = [one.arg for one in function.parameters]
    has_rest = bool(getattr(function.node.args, "vararg", None)) if hasattr(function.node, "args") else False
    has_keywords = (
        bool(getattr(function.node.args, "kwarg", None)) if hasattr(function.node, "args") else False
    )
    plain = [one for one in call.args if not isinstance(one, ast.Starred)]
    is_spread = len(plain) < len(call.args) or any(one.arg is None for one in call.keywords)
    if len(plain) > function.positional and not has_rest:
        return None
    found = {name: Value(one, frame) for name, one in zip(names[: function.positional], plain, strict=False)}
    for one in call.keywords:
        if one.arg is not None and one.arg not in names and not has_keywords:
            return None
        if one.arg is not None:
            found[one.arg] = Value(one.value, frame)
    top = top_frame(function.module)
    missing = {name: Value(one, top) for name, one in function.defaults.items() if name not in found}
    if not is_spread and any(name not in found and name not in missing for name in names):
        return None
    lost = frozenset(name for name in names if name not in found and name not in missing)
    if isinstance(call.func, ast.Attribute) and function.owner and ast.unparse(call.func.value) != "self":
        found["self"] = Value(call.func.value, frame)
    return Frame(function, {**missing, **found}, lost)


@cache
def top_frame(module: Module) -> Frame:
    return Frame(module.top)


def rebind(frame: Frame, old: Frame, new: Frame) -> Frame:
    """Return `frame` with one frame in it replaced."""
    if frame is old:
        return new
    if frame.function.outer is old.function and OUTER not in frame.arguments:
        return Frame(frame.function, {**frame.arguments, OUTER: Value(_NOTHING, new)}, frame.unknown)
    arguments = {
        name: replaced
        for name, value in frame.arguments.items()
        if (replaced := Value(value.node, rebind(value.frame, old, new)))
    }
    changed = any(arguments[name].frame is not value.frame for name, value in frame.arguments.items())
    return Frame(frame.function, arguments, frame.unknown) if changed else frame


def is_inside_quotes(before: str) -> bool:
    """Return whether a position is in double quotes or in code. before: what precedes it."""
    return before.count("`") % 2 == 1 or before.count('"') % 2 == 1


def merge(text: Text) -> Text:
    """Return a string with neighbouring literal parts joined."""
    found: list[str | Hole] = []
    for part in text:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return tuple(found)


def source_of(node: ast.AST | None) -> str:
    return "" if node is None else " ".join(ast.unparse(node).split())


@cache
def self_values(init: Function) -> Mapping[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in walk(init.node):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute) and source_of(target.value) == "self":
                    found.setdefault(target.attr, []).append(node.value)
    return found


def class_names(annotation: ast.expr | None) -> list[str]:
    return (
        [one.id for one in ast.walk(annotation) if isinstance(one, ast.Name)]
        if annotation is not None
        else []
    )


def is_property(function: Function) -> bool:
    node = function.node
    return isinstance(node, FunctionNode) and any(
        source_of(one) in ("property", "cached_property") for one in node.decorator_list
    )


def is_super_init(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and source_of(node.func) == "super().__init__"
