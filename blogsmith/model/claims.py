"""Claims whose last value is neither true nor false: messages about them, and checks of their code.

The worker checks values (`execute/worker/claims.py`). If the code alone shows the problem, it is an error
here, so that a record of an older version cannot show the claim as checked.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from .names import name_set
from .results import UndecidedClaim

_COMPARE = "end it with a comparison that is true or false, such as `abs(a - b) < 1e-9`"
_DESCRIPTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "tuple": ("a tuple", "remove the comma: it makes this a tuple, which is always true"),
        "array": ("an array", "write `.all()` or `.any()`, as in `(a == b).all()`"),
        "number": ("a number", "compare it with a value, as in `x == 0` or `abs(x) < 1e-9`"),
        "text": ("a string", _COMPARE),
        "nothing": ("not a value", "add a `return` to the function, or " + _COMPARE),
        "collection": (
            "a collection",
            "write `all(…)` or `any(…)`, or compare it with a value, as in `x == []`",
        ),
        "function": ("a function", "call it: write its arguments in parentheses after it, or `()`"),
        "empty": ("empty", "compare values that are not empty: a comparison of no values is always true"),
        "object": ("an object", _COMPARE + ", or with `bool(…)`"),
    }
)
"""Kind of a value, as the worker names it → its description, and a hint."""
_EMPTY_MESSAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "nan": (
            "the claim compares NaN, so it proves nothing",
            "compare numbers that are not NaN, or test for it with `np.isnan(…)`",
        ),
        "constant": (
            "the claim is a constant, so it checks nothing",
            "compare a value that the cell computes",
        ),
    }
)
"""Kind of a claim that compares nothing meaningful, such as NaN → message, and hint."""
_COMPARERS = name_set("allclose array_equal array_equiv equal isclose")
"""Names of functions that compare their first two arguments."""
_LITERALS: Mapping[type[ast.expr], str] = MappingProxyType(
    {
        ast.Tuple: "tuple",
        ast.JoinedStr: "text",
        ast.Lambda: "function",
        **dict.fromkeys((ast.List, ast.Dict, ast.Set), "collection"),
        **dict.fromkeys((ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp), "collection"),
    }
)


class ClaimProblem(Struct, frozen=True):
    """An expression in a claim's code that is neither true nor false."""

    kind: str
    line: int
    """1-based line in the code; 0 if there is no code."""
    column: int
    """0-based column in bytes of UTF-8, as in `ast`."""
    end_column: int
    """0-based column on `end_line` of the end of the part, in bytes of UTF-8."""
    end_line: int


def unjudged_message(found: UndecidedClaim) -> tuple[str, str]:
    """Return message and hint for a claim that is neither true nor false, or that checks nothing."""
    if found.kind in _EMPTY_MESSAGES:
        message, hint = _EMPTY_MESSAGES[found.kind]
        return f'{message}: "{found.part}"' if found.part else message, hint
    start = "the claim is neither true nor false" if found.kind != "empty" else "the claim checks nothing"
    if found.kind == "none":
        return f"{start}: the cell does not end with an expression", _COMPARE
    what, hint = _DESCRIPTIONS.get(found.kind, _DESCRIPTIONS["object"])
    value = f": {found.detail}" if found.detail and found.kind not in ("empty",) else ""
    part = f'"{found.part}"' if found.part else "it"
    return f"{start}: {part} is {what}{value}", hint


def find_claim_problem(code: str) -> ClaimProblem | None:
    """Return the part of a claim's code that is neither true nor false. Return None if only a run can show
    that, or if the code is not Python."""
    tree = _parse(code)
    if tree is None:
        return None
    if not tree.body:
        return ClaimProblem("none", 0, 0, 0, 0)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        return _fault("none", last)
    constants = _constant_names(tree)
    if isinstance(last.value, ast.Compare | ast.BoolOp) and not _computes(last.value):
        return _fault("constant", last.value)
    return next((_fault(kind, node) for node, kind in _undecided_literals(last.value, constants)), None)


def find_tuple_assertions(code: str) -> Iterator[ClaimProblem]:
    """Yield assertions of a tuple, such as `assert (a == b, "why")`, which are true for all a and b."""
    tree = _parse(code) if "assert" in code else None
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple) and node.test.elts:
            yield _fault("tuple", node.test)


def _parse(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            # an escape such as "\d" is reported when the code runs
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _constant_names(tree: ast.Module) -> frozenset[str]:
    """Return the names that the code only ever sets to True or False."""
    stores = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    set_names = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign) and _is_truth(statement.value)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return frozenset(name for name in set_names if stores.count(name) == 1)


def _computes(node: ast.expr) -> bool:
    """Return whether an expression contains more than comparisons of literals."""
    return any(isinstance(part, (ast.Name, ast.BinOp, *_LITERALS)) for part in ast.walk(node))


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _is_constant(node: ast.expr, constants: Container[str]) -> bool:
    """Return whether an expression is true or false whatever the code computes."""
    if _is_truth(node) or (isinstance(node, ast.Name) and node.id in constants):
        return True
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in _COMPARERS and len(node.args) >= 2 and _are_same(node.args[:2])
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    is_reflexive = all(isinstance(op, ast.Eq | ast.LtE | ast.GtE | ast.Is) for op in node.ops)
    return is_reflexive and _are_same(sides)


def _are_same(sides: Sequence[ast.expr]) -> bool:
    """Return whether expressions are the same and call nothing, so that their values are the same."""
    has_call = any(isinstance(part, ast.Call | ast.Await) for side in sides for part in ast.walk(side))
    return not has_call and len({ast.dump(side) for side in sides}) == 1


def _undecided_literals(node: ast.expr, constants: Container[str]) -> Iterator[tuple[ast.expr, str]]:
    """Yield the literals that decide whether an expression is true, each with its kind. constants: names that
    are always true or false."""
    if _is_constant(node, constants):
        yield node, "constant"
        return
    if isinstance(node, ast.BoolOp):
        parts = node.values
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        parts = [node.operand]
    elif isinstance(node, ast.IfExp):
        parts = [node.test, node.body, node.orelse]
    elif isinstance(node, ast.NamedExpr):
        parts = [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool":
        parts = node.args
    else:
        if kind := _literal(node):
            yield node, kind
        return
    for part in parts:
        yield from _undecided_literals(part, constants)


def _literal(node: ast.expr) -> str:
    """Return the kind of a literal; empty for other expressions, and for True and False."""
    if not isinstance(node, ast.Constant):
        return _LITERALS.get(type(node), "")
    if isinstance(node.value, bool):
        return ""
    if node.value is None or node.value is ...:
        return "nothing"
    return "text" if isinstance(node.value, str | bytes) else "number"


def _fault(kind: str, node: ast.stmt | ast.expr) -> ClaimProblem:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return ClaimProblem(kind, node.lineno, node.col_offset, end_column, end_line)
