"""Expressions reduced to those that are not names, choices, or calls of known functions.

The value of a name is followed through assignments, tables, results of functions and attributes of records. A
name that a caller decides, or an instance of a class, is a `Need`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TypeGuard

from .frames import (
    OUTER,
    Frame,
    Need,
    Value,
    bind,
    class_names,
    is_property,
    is_super_init,
    local_values,
    results,
    self_values,
    source_of,
    walk,
    yielded,
)
from .program import Class, Function, FunctionNode, Program, called_name

MAX_ALTERNATIVES = 60
MAX_DEPTH = 20
_WRAPPERS = (
    "MappingProxyType",
    "frozenset",
    "tuple",
    "list",
    "dict",
    "set",
    "sorted",
    "dict.fromkeys",
    "cast",
)
_OPAQUE = ("format_size", "parse_size", "_format_failure", "callout_lines")
"""Functions whose results are numbers with units, or code."""


class ValueTracer:
    """The values of expressions of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._open: list[int] = []
        self._known: dict[tuple[int, int], tuple[Value, list[Value | Need]]] = {}
        self._cuts = 0
        self._errors: dict[ast.AST, ast.Name] = {}
        self._numbers: dict[int, tuple[Value, bool]] = {}
        self._frames: dict[tuple[Function, int, int], tuple[Value | None, Frame | None]] = {}

    def plain_frame(self, function: Function) -> Frame:
        """Return the frame of a function with unknown parameters."""
        key = function, 0, 0
        if key not in self._frames:
            self._frames[key] = None, Frame(function)
        found = self._frames[key][1]
        assert found is not None
        return found

    def _property_frame(self, function: Function, owner: Value) -> Frame:
        key = function, id(owner.node), id(owner.frame)
        if key not in self._frames:
            self._frames[key] = owner, Frame(function, {"self": owner})
        found = self._frames[key][1]
        assert found is not None
        return found

    def bind(self, function: Function, value: Value) -> Frame | None:
        """Return `bind` of a call, always the same frame for the same call."""
        key = function, id(value.node), id(value.frame)
        if key not in self._frames:
            assert isinstance(value.node, ast.Call)
            self._frames[key] = value, bind(function, value.node, value.frame)
        return self._frames[key][1]

    # -- expressions reduced to those that are not names, choices or calls of known functions

    def reduce(self, value: Value) -> list[Value | Need]:
        """Return what an expression may be."""
        known = self._known.get((id(value.node), id(value.frame)))
        if known is not None:
            return known[1]
        key = id(value.node)
        if self._open.count(key) > 1 or len(self._open) > MAX_DEPTH:
            self._cuts += 1
            return []
        self._open.append(key)
        before = self._cuts
        found = list(dict.fromkeys(self._reduce(value)))[:MAX_ALTERNATIVES]
        self._open.pop()
        if self._cuts == before or not self._open:
            self._known[id(value.node), id(value.frame)] = value, found
        return found

    def _reduce(self, value: Value) -> Iterator[Value | Need]:
        node, frame = value.node, value.frame
        if isinstance(node, ast.IfExp):
            yield from self.reduce(Value(node.body, frame))
            yield from self.reduce(Value(node.orelse, frame))
        elif isinstance(node, ast.BoolOp):
            for one in node.values if isinstance(node.op, ast.Or) else node.values[-1:]:
                yield from self.reduce(Value(one, frame))
        elif isinstance(node, ast.NamedExpr | ast.Await | ast.Starred):
            yield from self.reduce(Value(node.value, frame))
        elif isinstance(node, ast.Name):
            yield from self._reduce_name(node, frame)
        elif isinstance(node, ast.Attribute):
            yield from self._reduce_attribute(node, frame)
        elif isinstance(node, ast.Subscript):
            yield from self._reduce_subscript(node, frame)
        elif isinstance(node, ast.Call):
            yield from self._reduce_call(node, frame)
        else:
            yield value

    def _reduce_name(self, node: ast.Name, frame: Frame) -> Iterator[Value | Need]:
        name = node.id
        if name in frame.arguments:
            yield from self.reduce(frame.arguments[name])
            return
        function: Function | None = frame.function
        inner = frame
        while function is not None:
            if function is frame.function:
                inner = frame
            else:
                inner = (
                    inner.arguments[OUTER].frame if OUTER in inner.arguments else self.plain_frame(function)
                )
            if name in inner.arguments:
                yield from self.reduce(inner.arguments[name])
                return
            bound = local_values(function).get(name, ())
            for kind, source, index in bound:
                yield from self._reduce_binding(kind, source, index, name, inner)
            if any(one.arg == name for one in function.parameters):
                yield Value(node, inner) if name in inner.unknown else Need(inner, name)
                return
            if bound and function.name:
                return
            function = function.outer
        found = self.program.find(frame.function.module, name)
        if found and found[1] in found[0].constants:
            top = self.plain_frame(found[0].top)
            yield from self.reduce(Value(found[0].constants[found[1]], top))
        else:
            yield Value(node, frame)

    def _reduce_binding(
        self, kind: str, source: ast.AST, index: int, name: str, frame: Frame
    ) -> Iterator[Value | Need]:
        if kind == "error":
            names = tuple(ast.unparse(one) for one in getattr(source, "elts", [source]))
            known = tuple(one for one in names if one in self.program.classes and name not in frame.unknown)
            if known:
                yield Need(frame, name, known)
            if len(known) < len(names):
                outside = self._errors.setdefault(source, ast.Name(name))
                yield Value(outside, self.plain_frame(frame.function))
        elif isinstance(source, ast.expr):
            value = Value(source, frame)
            if kind in ("item", "element-item"):
                options = [value] if kind == "item" else self.elements(value)
                for option in options:
                    yield from self.item(option, index)
            elif kind == "element":
                for option in self.elements(value):
                    yield from self.reduce(option) if isinstance(option, Value) else [option]
            else:
                yield from self.reduce(value)

    def item(self, value: Value | Need, index: int) -> Iterator[Value | Need]:
        """Yield what an item of a tuple may be."""
        for one in self.reduce(value) if isinstance(value, Value) else [value]:
            if isinstance(one, Value) and isinstance(one.node, ast.Tuple) and index < len(one.node.elts):
                yield from self.reduce(Value(one.node.elts[index], one.frame))
            elif isinstance(one, Value) and (made := self._constructed(one)):
                names = list(made.fields)
                if index < len(names):
                    yield from self.field(one, names[index])
            else:
                yield one

    def elements(self, value: Value) -> list[Value | Need]:
        """Return what an element of an iterable may be."""
        found: list[Value | Need] = []
        node = value.node
        is_view = (
            isinstance(node, ast.Call) and called_name(node.func) in ("items", "values") and not node.args
        )
        if is_view and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            for key, entry in self._entries(Value(node.func.value, value.frame)):
                pair = ast.Tuple([key or ast.Constant(""), entry.node])
                found.append(Value(pair, entry.frame) if node.func.attr == "items" else entry)
            return found
        if isinstance(node, ast.Call) and called_name(node.func) == "enumerate" and node.args:
            counted = self.elements(Value(node.args[0], value.frame))
            pairs = (
                (ast.Tuple([ast.Constant(0), one.node]), one) for one in counted if isinstance(one, Value)
            )
            return [Value(pair, one.frame) for pair, one in pairs]
        for one in self.reduce(value):
            if isinstance(one, Need):
                found.append(one)
            elif isinstance(one.node, ast.Tuple | ast.List | ast.Set):
                for element in one.node.elts:
                    if isinstance(element, ast.Starred):
                        found += self.elements(Value(element.value, one.frame))
                    else:
                        found.append(Value(element, one.frame))
            elif isinstance(one.node, ast.Dict):
                found += [Value(key, one.frame) for key in one.node.keys if key is not None]
            elif isinstance(one.node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
                found.append(Value(one.node.elt, one.frame))
            elif isinstance(one.node, ast.Call) and (made := list(self._called(one))):
                for frame in made:
                    found += [Value(each, frame) for each in yielded(frame.function)]
        return found

    def _entries(self, value: Value) -> Iterator[tuple[ast.expr | None, Value]]:
        """Yield keys and values of a dictionary."""
        for one in self.reduce(value):
            if isinstance(one, Value) and isinstance(one.node, ast.Dict):
                for key, entry in zip(one.node.keys, one.node.values, strict=True):
                    if key is None:
                        yield from self._entries(Value(entry, one.frame))
                    else:
                        yield key, Value(entry, one.frame)
            elif isinstance(one, Value) and isinstance(one.node, ast.DictComp):
                yield one.node.key, Value(one.node.value, one.frame)
            elif isinstance(one, Value) and _is_fromkeys(one.node):
                yield None, Value(one.node.args[1], one.frame)

    def _reduce_subscript(self, node: ast.Subscript, frame: Frame) -> Iterator[Value | Need]:
        base = Value(node.value, frame)
        entries = list(self._entries(base))
        if entries:
            for _, one in entries:
                yield from self.reduce(one)
        elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            options = list(self.item(base, node.slice.value)) if node.slice.value >= 0 else []
            is_tuple = [one for one in options if not (isinstance(one, Value) and one.node is node.value)]
            yield from is_tuple if is_tuple and options == is_tuple else [Value(node, frame)]
        else:
            yield Value(node, frame)

    # -- calls

    def _called(self, value: Value) -> Iterator[Frame]:
        """Yield the functions of the package that a call means, with their arguments."""
        call, frame = value.node, value.frame
        assert isinstance(call, ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id in local_values(frame.function):
            return
        for callee in self.program.callees(call, frame.function):
            if isinstance(callee, Function) and (bound := self.bind(callee, value)) is not None:
                yield bound

    def _reduce_call(self, node: ast.Call, frame: Frame) -> Iterator[Value | Need]:
        name = called_name(node.func)
        if ast.unparse(node.func) in _WRAPPERS and node.args:
            yield from self.reduce(Value(node.args[-1 if name == "cast" else 0], frame))
            return
        if name in ("get", "pop", "setdefault") and isinstance(node.func, ast.Attribute):
            entries = list(self._entries(Value(node.func.value, frame)))
            for _, one in entries:
                yield from self.reduce(one)
            if entries:
                for default in node.args[1:]:
                    yield from self.reduce(Value(default, frame))
                return
        if name in _OPAQUE:
            yield Value(node, frame)
            return
        if name == "next" and node.args:
            options = self.elements(Value(node.args[0], frame))
            for option in options:
                yield from self.reduce(option) if isinstance(option, Value) else [option]
            for default in node.args[1:]:
                yield from self.reduce(Value(default, frame))
            if options:
                return
        made = [bound for bound in self._called(Value(node, frame)) if self._may_be_text(bound.function)]
        for bound in made:
            for result in results(bound.function):
                yield from self.reduce(Value(result, bound))
        if not made:
            yield Value(node, frame)

    def _may_be_text(self, function: Function) -> bool:
        """Return whether a function returns strings, or records that contain messages."""
        if not results(function):
            return False
        if not isinstance(function.node, FunctionNode) or function.node.returns is None:
            return True
        annotation = function.node.returns
        return "str" in source_of(annotation) or any(map(self._has_message, class_names(annotation)))

    @cache  # noqa: B019
    def _has_message(self, name: str) -> bool:
        return bool(self._attributes(name) & {"message", "hint", "problem", "reason", "why", "detail"})

    # -- attributes

    def _constructed(self, value: Value) -> Class | None:
        """Return the class that a call makes an instance of."""
        if not isinstance(value.node, ast.Call):
            return None
        found = self.program.callees(value.node, value.frame.function)
        return next((one for one in found if isinstance(one, Class)), None)

    def _reduce_attribute(self, node: ast.Attribute, frame: Frame) -> Iterator[Value | Need]:
        base = node.value
        if isinstance(base, ast.Name) and (found := self.program.find(frame.function.module, base.id)):
            module, name = found
            if not name and node.attr in module.constants:
                top = self.plain_frame(module.top)
                yield from self.reduce(Value(module.constants[node.attr], top))
                return
        options = self._objects(base, frame)
        is_found = False
        for one in options:
            if isinstance(one, Need):
                if one.classes or class_names(one.frame.function.annotation(one.name)):
                    is_found = True
                    yield self._attribute_need(one, node.attr)
            elif self._constructed(one):
                values = list(self.field(one, node.attr))
                is_found = is_found or bool(values)
                yield from values
        properties = [one for one in self.program.methods[node.attr] if is_property(one)]
        # many classes have a property of the same common name, such as `name`
        is_outside = any(
            one.node in self._errors.values()
            if isinstance(one, Value)
            else one.frame.function.annotation(one.name) is not None
            for one in options
        )
        if not is_found and not is_outside and len(properties) == 1 and self._may_be_text(properties[0]):
            is_found = True
            inner = self._property_frame(properties[0], Value(base, frame))
            for result in results(properties[0]):
                yield from self.reduce(Value(result, inner))
        if not is_found:
            yield Value(node, frame)

    def _objects(self, base: ast.expr, frame: Frame) -> list[Value | Need]:
        if isinstance(base, ast.Name) and base.id in ("self", "cls") and "self" in frame.arguments:
            return self.reduce(frame.arguments["self"])
        if isinstance(base, ast.Name) and base.id == "self" and frame.function.owner:
            return [] if "self" in frame.unknown else [Need(frame, "self", (frame.function.owner,))]
        return self.reduce(Value(base, frame))

    def _attribute_need(self, need: Need, attribute: str) -> Need:
        """Return a need for an attribute of what a need gives."""
        if not need.classes:
            return self._as_instance(need, attribute)
        if not need.attribute:
            return replace(need, attribute=attribute)
        kinds = (self.program.annotation_of(one, need.attribute) for one in need.classes)
        names = tuple(name for one in kinds for name in class_names(one) if name in self.program.classes)
        return Need(
            need.frame,
            need.name,
            names or need.classes,
            attribute if names else f"{need.attribute}.{attribute}",
        )

    def _as_instance(self, need: Need, attribute: str) -> Need:
        """Return a need for an instance of the annotated class of a parameter that has the attribute."""
        names = class_names(need.frame.function.annotation(need.name))
        known = tuple(one for one in names if attribute in self._attributes(one))
        return Need(need.frame, need.name, known, attribute) if known else need

    def _attributes(self, name: str) -> set[str]:
        found: set[str] = set()
        for one in self.program.classes.get(name, ()):
            found |= set(one.fields)
            for base in one.bases:
                found |= self._attributes(base)
            init = self._method(one, "__init__")
            if init:
                found |= set(self_values(init))
        return found

    def _method(self, owner: Class, name: str) -> Function | None:
        own = [one for one in self.program.methods[name] if one.owner == owner.node.name]
        same = [one for one in own if one.module is owner.module]
        return next(iter(same or own), None)

    def field(self, made: Value, name: str) -> Iterator[Value | Need]:
        """Yield what an attribute of a new instance may be. name: `` for the text of an exception."""
        owner = self._constructed(made)
        call = made.node
        assert owner is not None and isinstance(call, ast.Call)
        init = self._method(owner, "__init__")
        if init and (bound := self.bind(init, made)) is not None:
            if name:
                for one in self_values(init).get(name, ()):
                    yield from self.reduce(Value(one, bound))
            else:
                supers = [one for one in walk(init.node) if is_super_init(one)]
                for text in (text for one in supers for text in one.args[:1]):
                    yield from self.reduce(Value(text, bound))
            return
        fields = self._all_fields(owner)
        if not name:
            if call.args and not fields:
                yield from self.reduce(Value(call.args[0], made.frame))
            return
        if name in fields:
            index = list(fields).index(name)
            given = next((one.value for one in call.keywords if one.arg == name), None)
            given = given or (call.args[index] if index < len(call.args) else fields[name])
            if given is not None:
                yield from self.reduce(Value(given, made.frame))
        elif (prop := self._method(owner, name)) and is_property(prop):
            for result in results(prop):
                yield from self.reduce(Value(result, Frame(prop, {"self": made})))

    def _all_fields(self, owner: Class) -> Mapping[str, ast.expr | None]:
        found: dict[str, ast.expr | None] = {}
        for base in owner.bases:
            for one in self.program.classes.get(base, ()):
                found.update(self._all_fields(one))
        return {**found, **owner.fields}


def _is_fromkeys(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and called_name(node.func) == "fromkeys" and len(node.args) == 2
