"""Shapes written in comments, checked while the code runs.

A comment is checked after

- an assignment, `scores = q @ k.T  # (n, m)`, also an annotated or augmented one; several targets have
  several shapes, `q, k = heads  # (n, d), (m, d)`, or one that applies to each of them;
- a `return`;
- a parameter of a function or an argument of a call that is on lines of its own.

`dimensions.py` defines shapes and the meaning of their names. A name bound by a comment keeps its size until
the function returns, or for the session. None has no shape: it means a value that is not given. A tuple of
integers may be a shape itself: `b, n, d = x.shape  # (2, 3, 4)`.

Not checked are fields in the body of a class, elements of lists and dicts, values that are not assigned,
targets that would have to be evaluated again (`x[next(i)] += 1`), and code inside f-strings.

The tree changes, but not the source: a value passes through a call at the same location, so lines, carets
and `inspect.getsource` stay as they are. A function with shape comments gets a variable `.scope`, and the
globals get `.shapes`. No author can write these names, but `locals()` shows them.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import TYPE_CHECKING, Any, TypeVar

from .checks import Check, Comment, Scope
from .dimensions import parse_shapes

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from .checks import Report

SESSION = ".shapes"
SCOPE = ".scope"
STATEMENT_END = re.compile(r"[\s;]*")
# Targets of these types can be evaluated again without side effects.
REPEATABLE = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.Constant,
    ast.UnaryOp,
    ast.unaryop,
    ast.expr_context,
)

Function = TypeVar("Function", ast.FunctionDef, ast.AsyncFunctionDef)
Node = TypeVar("Node", bound=ast.AST)


def instrument(
    tree: ast.Module, source: str, namespace: MutableMapping[str, Any], report: Report
) -> ast.Module:
    """Return `tree`, changed so that `report(line, written, expected, got)` is called for a wrong shape
    comment.

    Each comment reports once, even if a later cell reaches it.

    tree: syntax tree of `source`, which contains the comments.
    namespace: globals of the code. Sizes of names stay known from one cell to the next.
    """
    comments = find_shape_comments(source)
    if comments:
        session: Scope = namespace.setdefault(SESSION, Scope([]))
        Instrument(source, comments, session.checks, report).visit(tree)
    return tree


def find_shape_comments(source: str) -> dict[int, Comment]:
    """Map line numbers to comments that consist of shapes."""
    found: dict[int, Comment] = {}
    if "#" not in source:
        return found
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            shapes = parse_shapes(token.string) if token.type == tokenize.COMMENT else ()
            if shapes:
                found[token.start[0]] = Comment(*token.start, shapes)
    except (tokenize.TokenError, SyntaxError):  # compiling reports this error
        return {}
    return found


class Instrument(ast.NodeTransformer):
    """Transformer that inserts checks into a tree."""

    def __init__(
        self, source: str, comments: Mapping[int, Comment], checks: list[Check], report: Report
    ) -> None:
        self.lines = [line.encode() for line in source.split("\n")]
        """Lines as bytes, since the tree counts columns in bytes."""
        self.comments, self.checks, self.report = comments, checks, report
        self.scope = SESSION
        self.used = False
        """Whether the visited function contains a check."""
        self.fields = False
        """Whether the visited statements are the body of a class."""

    def comment_after(self, node: ast.stmt) -> Comment | None:
        """Return the shape comment at the end of a statement; None if there is none."""
        comment = self.comments.get(node.end_lineno or 0)
        fits = comment and not self.fields and STATEMENT_END.fullmatch(self.text_between(node, comment))
        return comment if fits else None

    def comment_beside(self, first: ast.AST, last: Any) -> Comment | None:
        """Return the shape comment next to a parameter or argument, which extends from `first` to `last` and
        must be on lines of its own. None if there is no comment."""
        comment = self.comments.get(last.end_lineno)
        before = self.lines[first.lineno - 1][: first.col_offset].strip()  # type: ignore[attr-defined]
        if not comment or before not in (b"", b"("):
            return None
        closing = r"\s*,?\s*" if not before else r"\s*\)\s*,?\s*"
        return comment if re.fullmatch(closing, self.text_between(last, comment)) else None

    def text_between(self, node: Any, comment: Comment) -> str:
        """Return the text between the end of `node` and the comment on that line."""
        line, end = self.lines[comment.line - 1], node.end_col_offset
        return line[end:].decode()[: comment.column - len(line[:end].decode())]

    def call(self, method: str, comment: Comment, values: list[ast.expr]) -> ast.Call:
        """Create a call such as `.scope.check(7, value)`."""
        self.used = True
        self.checks.append(Check(comment, self.report))
        number = ast.Constant(len(self.checks) - 1)
        function = ast.Attribute(ast.Name(self.scope, ast.Load()), method, ast.Load())
        return place_node(ast.Call(function, [number, *values], []), values[0])

    def wrap_value(self, value: ast.expr, comment: Comment | None) -> ast.expr:
        """Return a call that checks the value, or the value itself if it has no shape comment."""
        return self.call("check", comment, [value]) if comment else value

    def create_check(self, node: ast.AST, comment: Comment, targets: list[ast.expr]) -> ast.If:
        """Create a statement that checks assigned targets. It is not an expression, because an expression
        would become the value of the cell."""
        values = [target_value(target, node) for target in targets]
        return place_node(ast.If(self.call("is_checked", comment, values), [ast.Pass()], []), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        comment = self.comment_after(node)
        target = node.targets[0]
        if comment and len(node.targets) == 1 and isinstance(target, (ast.Tuple, ast.List)):
            plain = all(isinstance(part, REPEATABLE) for part in ast.walk(target) if part is not target)
            nested = any(isinstance(part, (ast.Tuple, ast.List)) for part in target.elts)
            return [node, self.create_check(node, comment, target.elts)] if plain and not nested else node
        node.value = self.wrap_value(node.value, comment)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        node.value = node.value and self.wrap_value(node.value, self.comment_after(node))
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        node.value = node.value and self.wrap_value(node.value, self.comment_after(node))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        comment = self.comment_after(node)
        plain = all(isinstance(part, REPEATABLE) for part in ast.walk(node.target))
        return [node, self.create_check(node, comment, [node.target])] if comment and plain else node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        for place, value in enumerate(node.args):
            if not isinstance(value, ast.Starred):
                node.args[place] = self.wrap_value(value, self.comment_beside(value, value))
        for keyword in node.keywords:
            if keyword.arg:
                keyword.value = self.wrap_value(keyword.value, self.comment_beside(keyword, keyword.value))
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return node  # before Python 3.12, its parts have no location in the source

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        fields, self.fields = self.fields, True
        self.generic_visit(node)
        self.fields = fields
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self.function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self.function(node)

    def function(self, node: Function) -> Function:
        """Return a function with checks of its parameters at the beginning."""
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self.visit(node.args)
        outer = self.scope, self.used, self.fields
        self.scope, self.used, self.fields = SCOPE, False, False
        node.body = self.generic_visit(ast.Module(node.body, [])).body  # type: ignore[attr-defined]
        start = 1 if ast.get_docstring(node, clean=False) is not None else 0
        front: list[ast.stmt] = [
            self.create_check(parameter, comment, [ast.Name(parameter.arg, ast.Load())])
            for parameter, last in parameters(node.args)
            if (comment := self.comment_beside(parameter, last))
        ]
        if self.used:
            new = ast.Call(ast.Attribute(ast.Name(SESSION, ast.Load()), "scope", ast.Load()), [], [])
            front.insert(0, place_node(ast.Assign([ast.Name(SCOPE, ast.Store())], new), node.body[0]))
        node.body[start:start] = front
        self.scope, self.used, self.fields = outer
        return node


def parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.AST]]:
    """Return each parameter with its last node: its default value or, without one, the parameter itself. Skip
    `*args` and `**options`."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults, *arguments.kw_defaults]
    both = enumerate([*plain, *arguments.kwonlyargs])
    return [(parameter, defaults[place] or parameter) for place, parameter in both]


def target_value(target: ast.expr, node: ast.AST) -> ast.expr:
    """Return the target as an expression with the location of `node`."""
    expression = ast.parse(ast.unparse(target), mode="eval").body
    for part in ast.walk(expression):
        ast.copy_location(part, node)
    return expression


def place_node(node: Node, at: ast.AST) -> Node:
    """Return `node`. Parts of it without a location get the location of `at`."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, at)
    return node
