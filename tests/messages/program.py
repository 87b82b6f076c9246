"""The package as syntax trees: its functions, its classes, and the calls of each.

Names are resolved as imports bind them. A method is found by its name alone, because nothing here knows the
types of objects; callers of `Program` discard candidates that do not fit.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "blogsmith"
UNREAD = ("blogsmith/lab/", "blogsmith/execute/worker/")
"""Code that runs in the author's Python: its messages are exceptions of that Python."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function, a method, or the top level of a module or class."""

    module: Module
    owner: str
    """Name of its class; empty: none."""
    name: str
    """Empty for the top level of a module."""
    node: ast.AST
    outer: Function | None = None
    """Function around this one."""

    @property
    def parameters(self) -> list[ast.arg]:
        """Parameters in order, without `self`."""
        if not isinstance(self.node, FunctionNode | ast.Lambda):
            return []
        given = self.node.args
        found = [*given.posonlyargs, *given.args]
        is_bound = self.owner and not _has_decorator(self.node, "staticmethod")
        return [*(found[1:] if is_bound else found), *given.kwonlyargs]

    @property
    def positional(self) -> int:
        """Number of parameters that may be given by position."""
        given = self.node.args if isinstance(self.node, FunctionNode | ast.Lambda) else None
        return len(self.parameters) - len(given.kwonlyargs) if given else 0

    @property
    def defaults(self) -> Mapping[str, ast.expr]:
        """Parameter → default."""
        if not isinstance(self.node, FunctionNode | ast.Lambda):
            return {}
        given = self.node.args
        ordered = [*given.posonlyargs, *given.args]
        last = ordered[len(ordered) - len(given.defaults) :]
        found = {one.arg: value for one, value in zip(last, given.defaults, strict=True)}
        keyed = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        return {**found, **{one.arg: value for one, value in keyed if value is not None}}

    def annotation(self, name: str) -> ast.expr | None:
        """Return the annotation of a parameter."""
        return next((one.annotation for one in self.parameters if one.arg == name), None)


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """A class of the package."""

    module: Module
    node: ast.ClassDef

    @property
    def fields(self) -> Mapping[str, ast.expr | None]:
        """Annotated fields in order → default."""
        rows = [one for one in self.node.body if isinstance(one, ast.AnnAssign)]
        return {one.target.id: one.value for one in rows if isinstance(one.target, ast.Name)}

    @property
    def bases(self) -> list[str]:
        """Names of the base classes."""
        names = [called_name(one) for one in self.node.bases]
        return [one for one in names if one and one != self.node.name]


@dataclass(eq=False)
class Module:
    """A module of the package."""

    path: str
    """Relative to the repository."""
    tree: ast.Module
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Local name → dotted module and the name in it; an empty name is the module itself."""
    constants: dict[str, ast.expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)

    @cached_property
    def top(self) -> Function:
        """Code outside functions."""
        return Function(self, "", "", self.tree)

    @property
    def dotted(self) -> str:
        """Name for imports."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@dataclass(frozen=True, slots=True, eq=False)
class CallSite:
    """A call, with the function that contains it."""

    call: ast.Call
    inside: Function


@cache
def assigned(node: ast.AST) -> Mapping[str, Sequence[ast.expr]]:
    """Return name → values that assignments anywhere in a node give it."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign):
            for target in inner.targets:
                if isinstance(target, ast.Name):
                    found[target.id].append(inner.value)
    return found


class Program:
    """The whole package."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.modules: dict[str, Module] = {}
        self.methods: dict[str, list[Function]] = defaultdict(list)
        self.classes: dict[str, list[Class]] = defaultdict(list)
        self.fields: dict[str, list[ast.expr]] = defaultdict(list)
        """Field of a class → its annotations."""
        self.calls: dict[str, list[CallSite]] = defaultdict(list)
        """Called name, without what precedes the last dot → calls."""
        self.bodies: dict[ast.AST, Function] = {}
        self.passed: dict[ast.AST, CallSite] = {}
        """Lambda that is an argument → call that receives it."""
        for file in files:
            module = Module(file.relative_to(ROOT).as_posix(), ast.parse(file.read_text("utf-8")))
            self.modules[module.dotted] = module
        for module in self.modules.values():
            self._index(module)
        for sites in [*self.calls.values()]:
            for site in [*sites]:
                self._index_alias(site)

    def _index(self, module: Module) -> None:
        self._index_body(module.tree.body, module.top, "")

    def _index_body(self, body: Sequence[ast.AST], inside: Function, owner: str) -> None:
        for node in body:
            self._index_node(node, inside, owner)

    def _index_node(self, node: ast.AST, inside: Function, owner: str) -> None:
        module = inside.module
        if isinstance(node, FunctionNode):
            inner = Function(module, owner, node.name, node, inside if inside.name else None)
            self.bodies[node] = inner
            if owner:
                self.methods[node.name].append(inner)
            else:
                module.functions.setdefault(node.name, inner)
            self._index_body([*node.decorator_list, node.args], inside, "")
            self._index_body(node.body, inner, "")
            return
        if isinstance(node, ast.ClassDef):
            found = Class(module, node)
            self.classes[node.name].append(found)
            module.classes[node.name] = found
            for row in node.body:
                if isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name):
                    self.fields[row.target.id].append(row.annotation)
            self._index_body(node.body, inside, node.name)
            return
        if isinstance(node, ast.Lambda):
            inner = Function(module, "", f"lambda:{node.lineno}", node, inside if inside.name else None)
            self.bodies[node] = inner
            self._index_body([node.body], inner, "")
            return
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._index_import(node, module)
        if isinstance(node, ast.Assign | ast.AnnAssign) and not inside.name and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    module.constants[target.id] = node.value
        if isinstance(node, ast.Call):
            given = (*node.args, *(one.value for one in node.keywords))
            self.passed.update((one, CallSite(node, inside)) for one in given if isinstance(one, ast.Lambda))
            self.calls[called_name(node.func)].append(CallSite(node, inside))
        self._index_body(list(ast.iter_child_nodes(node)), inside, owner if isinstance(node, ast.If) else "")

    def _index_alias(self, site: CallSite) -> None:
        """Index the methods that a called local name means, as in `report = warn if … else page.error`."""
        name = site.call.func
        if not isinstance(name, ast.Name) or not isinstance(site.inside.node, FunctionNode):
            return
        for value in assigned(site.inside.node).get(name.id, ()):
            for option in [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]:
                if isinstance(option, ast.Attribute):
                    call = ast.Call(option, site.call.args, site.call.keywords)
                    self.calls[option.attr].append(CallSite(ast.copy_location(call, site.call), site.inside))

    def _index_import(self, node: ast.Import | ast.ImportFrom, module: Module) -> None:
        if isinstance(node, ast.Import):
            return
        base = node.module or ""
        if node.level:
            parts = module.dotted.split(".")
            up = node.level - (1 if module.path.endswith("__init__.py") else 0)
            base = ".".join([*parts[: len(parts) - up], *([base] if base else [])])
        for name in node.names:
            target = (
                (f"{base}.{name.name}", "") if f"{base}.{name.name}" in self.modules else (base, name.name)
            )
            module.imports[name.asname or name.name] = target

    def find(self, module: Module, name: str) -> tuple[Module, str] | None:
        """Return the module that defines `name` as `module` sees it, and its name there."""
        for _ in range(5):
            if name in module.functions or name in module.classes or name in module.constants:
                return module, name
            if name not in module.imports or module.imports[name][0] not in self.modules:
                return None
            dotted, name = module.imports[name]
            module = self.modules[dotted]
            if not name:
                return module, ""
        return None

    def callees(self, call: ast.Call, inside: Function) -> list[Function | Class]:
        """Return the functions or classes of the package that a call may mean."""
        return list(self._callees(call.func, inside))

    def _callees(self, func: ast.expr, inside: Function) -> Iterator[Function | Class]:
        if isinstance(func, ast.Name):
            found = self.find(inside.module, func.id)
            if found:
                yield from _defined(*found)
        elif isinstance(func, ast.Attribute):
            base = func.value
            if isinstance(base, ast.Name):
                found = self.find(inside.module, base.id)
                if found and not found[1]:
                    yield from _defined(found[0], func.attr)
                    return
                if base.id in ("self", "cls") and inside.owner:
                    mine = [
                        one for one in self.methods[func.attr] if self.is_related(one.owner, inside.owner)
                    ]
                    if mine or self.annotation_of(inside.owner, func.attr):
                        yield from mine
                        return
                if base.id in inside.module.imports and not found:
                    return
            kinds = self.receiver_classes(base, inside)
            is_common = func.attr in dir(str) or func.attr in dir(dict)
            for one in self.methods[func.attr] if kinds or not is_common else ():
                if not kinds or any(self.is_related(one.owner, kind) for kind in kinds):
                    yield one

    def receiver_classes(self, base: ast.expr, inside: Function) -> list[str]:
        """Return the classes that annotations give an object; empty if they give none."""
        annotation: ast.expr | None = None
        name = base.attr if isinstance(base, ast.Attribute) else ast.unparse(base)
        if name.lstrip("_") == "reporter":
            return ["Reporter"]
        if isinstance(base, ast.Call):
            found = self.callees(base, inside)
            annotation = next(
                (
                    one.node.returns
                    for one in found
                    if isinstance(one, Function) and isinstance(one.node, FunctionNode)
                ),
                None,
            )
        elif isinstance(base, ast.Name):
            function: Function | None = inside
            while function is not None and annotation is None:
                annotation = function.annotation(base.id)
                function = function.outer
        elif isinstance(base, ast.Attribute):
            owners = [inside.owner] if ast.unparse(base.value) == "self" else []
            owners = owners or self.receiver_classes(base.value, inside)
            annotation = next((one for name in owners if (one := self.annotation_of(name, base.attr))), None)
        names = [one.id for one in ast.walk(annotation) if isinstance(one, ast.Name)] if annotation else []
        return [one for one in names if one in self.classes]

    @cache  # noqa: B019
    def annotation_of(self, owner: str, attribute: str) -> ast.expr | None:
        """Return the annotation of an attribute of a class."""
        for one in self.classes.get(owner, ()):
            for row in one.node.body:
                if isinstance(row, ast.AnnAssign) and ast.unparse(row.target) == attribute:
                    return row.annotation
            for init in self.methods["__init__"]:
                if (
                    init.owner == owner
                    and init.module is one.module
                    and (found := init.annotation(attribute))
                ):
                    return found
            for node in ast.walk(one.node):
                is_own = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == f"self.{attribute}"
                value = node.value if isinstance(node, ast.Assign) and is_own else None
                if isinstance(value, ast.Call) and called_name(value.func) in self.classes:
                    return value.func
            for method in self.methods[attribute]:
                if method.owner == owner and isinstance(method.node, FunctionNode):
                    return method.node.returns
            for base in one.bases:
                if found := self.annotation_of(base, attribute):
                    return found
        return None

    def _callback_calls(self, target: Function) -> list[CallSite]:
        """Return the calls of a lambda, by the name of the parameter or field that receives it."""
        site = self.passed[target.node]
        found = []
        for callee in self.callees(site.call, site.inside):
            names = (
                list(callee.fields) if isinstance(callee, Class) else [one.arg for one in callee.parameters]
            )
            given = dict(zip(names, site.call.args, strict=False))
            given |= {one.arg: one.value for one in site.call.keywords if one.arg}
            wanted = [name for name, one in given.items() if one is target.node]
            for name in wanted:
                for one in self.calls[name]:
                    is_own = (
                        one.inside.owner == callee.node.name
                        if isinstance(callee, Class)
                        else one.inside is callee
                    )
                    if is_own:
                        found.append(one)
        return found

    def is_related(self, one: str, other: str) -> bool:
        """Return whether one class is the other or inherits from it."""
        return one == other or one in self._ancestors(other) or other in self._ancestors(one)

    def _ancestors(self, name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for one in self.classes.get(waiting.pop(), ()):
                new = [base for base in one.bases if base not in found]
                found.update(new)
                waiting += new
        return found

    def callers(self, target: Function | Class) -> list[CallSite]:
        """Return the calls that may mean `target`."""
        if isinstance(target, Function) and target.node in self.passed:
            return self._callback_calls(target)
        name = target.name if isinstance(target, Function) else target.node.name
        if name == "__init__" and isinstance(target, Function):
            return [site for one in self.classes[target.owner] for site in self.callers(one)]
        return [one for one in self.calls[name] if target in self.callees(one.call, one.inside)]


def called_name(func: ast.expr) -> str:
    """Return the last part of the name of a called function."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _defined(module: Module, name: str) -> Iterator[Function | Class]:
    if name in module.functions:
        yield module.functions[name]
    if name in module.classes:
        yield module.classes[name]


def _has_decorator(node: ast.AST, name: str) -> bool:
    return isinstance(node, FunctionNode) and any(ast.unparse(one) == name for one in node.decorator_list)


@cache
def read_program() -> Program:
    """Read the package once."""
    files = sorted((ROOT / PACKAGE).rglob("*.py"))
    read = [one for one in files if not one.relative_to(ROOT).as_posix().startswith(UNREAD)]
    return Program(read)
