"""Evaluates a claim: whether a cell's last expression is true and, if not, which two sides were compared.

The expression is evaluated once. Before that, its operands are wrapped in calls that inspect their values,
under a name that no author can write. This also shows whether each deciding part, such as the sides of `and`,
is true or false (`truths.py`), and what was compared (`comparisons.py`). While the expression is evaluated,
`all` and `any` count their items, also in functions that it calls.
"""

from __future__ import annotations

import _ast
import builtins
from typing import TYPE_CHECKING

from .comparisons import Comparisons, CountedCalls, is_empty
from .expressions import called_name, compared_difference, is_empty_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .truths import Truths

_RECORD = "<keep>"
_MAX_CHARACTERS = 60
_MAX_QUOTED = 40
"""Maximum number of characters of code in a remark."""
_COMPREHENSIONS = (_ast.GeneratorExp, _ast.ListComp, _ast.SetComp)
_DECIDING = (_ast.BoolOp, _ast.Call, _ast.Compare, _ast.IfExp, _ast.NamedExpr)
"""Expressions whose parts may decide whether a claim is true."""
_CONVERTIBLE = ("", "object", "array")
"""Kinds of values that `bool(…)` may convert to a truth value, since the author requests it explicitly."""
# Roles of operands: the reason why each is stored. Most are shown if the claim is false; some are only
# checked.
_SIDE = "side"
_CONDITION = "condition"  # true or false
_CONVERTED = "converted"  # argument of `bool`
_COMPARED = "compared"  # must not be empty, or nothing is compared
_OWNER = "owner"  # object of the method `all`: must not be empty; not shown
_ANY_OWNER = "owner of any"  # object of the method `any`, which is false if empty; not shown
_GENERATOR = "generator"  # passed to `np.all`, which treats it as one true object
_LISTED = "listed"  # list of truth values, must not be empty
_FUNCTION = "function"  # `all` itself, before its items are computed
_ITEM = "item"  # must be true or false; not stored, since there may be millions
_PART = "part"  # part of an operand, only inspected
_REDUCED = "reduced"  # reduced to one number: must not be empty; only inspected
_ORDERED = "ordered"  # compared by `max` or `min`: must not be NaN; only inspected
_INSPECTED_ROLES = frozenset((_ITEM, _PART, _REDUCED, _ORDERED))
_HIDDEN_ROLES = frozenset((_OWNER, _ANY_OWNER, _GENERATOR, _FUNCTION, *_INSPECTED_ROLES))
_COMPARERS = frozenset(("allclose", "array_equal", "array_equiv", "equal", "isclose"))
"""Names of functions that compare their first two arguments."""
_TOLERANCES = frozenset(("rel", "rel_tol", "rtol"))
_REDUCTIONS = frozenset(
    (
        *(
            "Counter",
            "amax",
            "amin",
            "count_nonzero",
            "dot",
            "fsum",
            "max",
            "mean",
            "median",
            "min",
            "nanmax",
        ),
        *(
            "nanmean",
            "nanmin",
            "nansum",
            "norm",
            "prod",
            "ptp",
            "set",
            "sorted",
            "std",
            "sum",
            "trace",
            "var",
        ),
        *("vdot",),
    )
)
"""Names of functions and methods that reduce a collection, and return a number even if it is empty."""
_MOST_PAIRS = 20_000
"""Maximum number of pairs of one comparison that are inspected."""


class Claim:
    """The last expression of a cell: it is prepared, evaluated and, if it is false, explained."""

    def __init__(self, expression: _ast.expr, source: str, truths: Truths) -> None:
        self._source = source
        self._truths = truths
        self._comparisons = Comparisons(truths)
        self._expression = expression
        self._nodes: list[_ast.expr] = []
        """Operands that are wrapped in calls."""
        self._roles: list[str] = []
        """Role of each wrapped operand."""
        self._kept: list[tuple[int, Any]] = []
        """Values of operands in order of evaluation, each with the operand's index in `_nodes`."""
        self._watched: dict[int, list[int]] = {}
        """`id` of a node → indices of its operands."""
        self._counts: dict[int, int] = {}
        """Index of an operand that is an item → how often this item was computed."""
        self._groups: dict[int, tuple[Callable[..., str], tuple[int, ...], _ast.expr]] = {}
        """Index of the last operand of a group → function that inspects the values and returns the kind of a
        fault; indices of the operands; node."""
        self._held: dict[int, Any] = {}
        """Index of an operand → its value, until the values of all operands in its group are known."""
        self._in_groups: set[int] = set()
        """Indices of the operands that belong to any group."""
        self._seen: dict[int, int] = {}
        """Index of the last operand of a group → how often the values of the whole group were inspected."""
        self._faults: list[tuple[_ast.expr, str, Any]] = []
        """Parts whose value is neither true nor false, or compares nothing: node, kind, value."""
        self._calls = CountedCalls()
        self._wrap(expression)

    def evaluate(self, namespace: dict[str, Any], run: Callable[[], Any]) -> dict[str, Any]:
        """Return `{"holds", "detail"}`.

        If `holds` is None, `kind` is the kind of value found instead of a truth value. `part` is the part of
        the expression concerned, if it is not the whole. run: evaluates the expression; its exceptions are
        passed on.
        """
        namespace[_RECORD] = self._record
        try:
            with self._calls:
                value = run()
        finally:
            namespace.pop(_RECORD, None)
        report = {"compared": self._compared(), "notes": self._comparisons.notes}
        for node, kind, found in self._undecided_parts(value):
            part = "" if node is self._expression else self._text(node)
            return {"holds": None, "detail": _short(found), "kind": kind, "part": part, **report}
        holds = self._truths.truth_of(value)
        detail = "" if holds else self._explain(self._expression, value)
        return {"holds": holds, "detail": detail, **report}

    def _compared(self) -> int:
        """Return the number of compared values; comparisons that cannot be counted are not included."""
        return self._comparisons.count or sum(self._counts.values()) or self._calls.items

    def _record(self, number: int, value: Any) -> Any:
        role = self._roles[number]
        if role == _ITEM:
            self._counts[number] = self._counts.get(number, 0) + 1
            if self._truths.truth_of(value) is None and all(kept != number for kept, _ in self._kept):
                self._kept.append((number, value))
        elif role == _REDUCED:
            if is_empty(value):
                self._fault(self._nodes[number], "empty", value)
        elif role == _ORDERED:
            if self._comparisons.has_nan(value) or is_empty(value):
                kind = "empty" if is_empty(value) else "nan"
                self._fault(self._nodes[number], kind, value)
        elif role != _PART:
            self._kept.append((number, value))
        if number in self._in_groups:
            self._inspect(number, value)
        return value

    def _fault(self, node: _ast.expr, kind: str, value: Any) -> None:
        if not self._faults:
            self._faults.append((node, kind, value))

    def _inspect(self, number: int, value: Any) -> None:
        """Store the value of an operand that belongs to a group. If it is the last operand, inspect all
        values of the group."""
        self._held[number] = value
        if number not in self._groups:
            return
        inspect, numbers, node = self._groups[number]
        values = [self._held[each] for each in numbers if each in self._held]
        for each in numbers[:-1]:
            self._held.pop(each, None)
        self._seen[number] = self._seen.get(number, 0) + 1
        if len(values) != len(numbers) or self._seen[number] > _MOST_PAIRS:
            return
        text = self._text(node)
        kind = inspect(*values, text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…")
        if kind:
            self._fault(node, kind, next(filter(self._comparisons.has_nan, values), values[-1]))

    def _undecided_parts(self, value: Any) -> Iterator[tuple[_ast.expr, str, Any]]:
        """Yield each part that is neither true nor false: its node, its kind, its value."""
        before: Any = None
        for number, operand in self._kept:
            node, role, kind = self._nodes[number], self._roles[number], self._truths.kind_of(operand)
            if (role in (_CONDITION, _ITEM) and kind) or (role == _CONVERTED and kind not in _CONVERTIBLE):
                yield node, kind, operand
            elif role in (_COMPARED, _OWNER, _LISTED) and is_empty(operand):
                yield node, "empty", operand
            elif role == _LISTED and type(operand) in (list, tuple):
                unjudged = self._truths.first_unjudged(operand)
                yield from ((node, self._truths.kind_of(item), item) for item in unjudged)
            elif role == _FUNCTION and self._calls.is_own(operand) and number + 1 not in self._counts:
                yield self._nodes[number + 1], "empty", []
            elif role == _GENERATOR and type(before) is type(builtins):
                yield node, kind, operand
            before = operand
        yield from self._faults
        if kind := self._truths.kind_of(value):
            yield self._expression, kind, value
        elif self._calls.are_empty(self._comparisons.count):
            yield self._expression, "empty", []

    def _wrap(self, node: _ast.expr) -> None:
        """Replace each operand of `node` by a call that stores its value. Do the same in the parts that
        decide whether `node` is true."""
        if isinstance(node, _ast.UnaryOp) and isinstance(node.op, _ast.Not):
            self._wrap(node.operand)
            node.operand = self._wrap_operand(node, node.operand, _CONDITION)
        elif isinstance(node, _ast.BoolOp):
            for operand in node.values:
                self._wrap(operand)
            node.values = [self._wrap_operand(node, operand, _CONDITION) for operand in node.values]
        elif isinstance(node, _ast.IfExp):
            for part in (node.test, node.body, node.orelse):
                self._wrap(part)
            node.test = self._wrap_operand(node, node.test, _CONDITION)
        elif isinstance(node, _ast.NamedExpr):
            self._wrap(node.value)
        elif isinstance(node, _ast.Compare):
            self._wrap_comparison(node, _SIDE)
        elif isinstance(node, _ast.Call):
            self._watch_call(node)

    def _wrap_comparison(self, node: _ast.Compare, role: str) -> None:
        """Wrap the sides of a comparison with one or more operators."""
        texts = [self._text(side) for side in (node.left, *node.comparators)]
        is_literal = [is_empty_literal(side) for side in (node.left, *node.comparators)]
        differences = [compared_difference(side) for side in (node.left, *node.comparators)]
        sides = [self._observe(side) for side in (node.left, *node.comparators)]
        first = len(self._nodes)
        node.left, *node.comparators = [self._wrap_operand(node, side, role) for side in sides]
        for index in range(len(node.ops)):
            if isinstance(node.ops[index], (_ast.In, _ast.NotIn, _ast.Is, _ast.IsNot)):
                continue
            inspect: Callable[[Any, Any, str], str] = self._comparisons.compare
            if texts[index] == texts[index + 1]:
                inspect = self._comparisons.compare_same
            elif isinstance(node.ops[index], (_ast.Lt, _ast.LtE)):
                difference = differences[index]
                inspect = self._comparisons.less(self._text(difference) if difference else "")
            elif isinstance(node.ops[index], _ast.Eq) and not any(is_literal[index : index + 2]):
                inspect = self._comparisons.compare_contents
            self._group(node, inspect, first + index, first + index + 1)

    def _group(self, node: _ast.expr, inspect: Callable[..., str], *numbers: int) -> None:
        self._groups[numbers[-1]] = (inspect, numbers, node)
        self._in_groups.update(numbers)

    def _observe(self, node: _ast.expr) -> _ast.expr:
        """Return a call that inspects a part of an operand and returns its value."""
        if isinstance(node, _ast.BinOp):
            return self._observe_operation(node)
        if isinstance(node, _ast.UnaryOp):
            node.operand = self._observe(node.operand)
        elif isinstance(node, (_ast.Attribute, _ast.Subscript)):
            node.value = self._observe(node.value)
        elif isinstance(node, _ast.Compare):
            self._wrap_comparison(node, _PART)
        elif isinstance(node, _COMPREHENSIONS):
            self._observe_items(node)
        elif isinstance(node, _ast.Call):
            self._observe_call(node)
        return node

    def _observe_operation(self, node: _ast.BinOp) -> _ast.expr:
        name = type(node.op).__name__
        node.left = self._wrap_operand(node, self._observe(node.left), _PART)
        left = len(self._nodes) - 1
        node.right = self._wrap_operand(node, self._observe(node.right), _PART)
        right = len(self._nodes) - 1
        wrapped = self._wrap_operand(node, node, _PART)

        def inspect(first: Any, second: Any, result: Any, text: str) -> str:
            self._comparisons.combine(first, name, second, result, text)
            return ""

        self._group(node, inspect, left, right, right + 1)
        return wrapped

    def _observe_items(self, node: Any) -> None:
        """Observe the items of a comprehension, and check that there are any."""
        first = node.generators[0]
        first.iter = self._observe(first.iter)
        first.iter = self._wrap_operand(node, first.iter, _REDUCED)
        if not isinstance(node, _ast.DictComp):
            node.elt = self._observe(node.elt)

    def _observe_call(self, node: _ast.Call) -> None:
        for index, argument in enumerate(node.args):
            if not isinstance(argument, _ast.Starred):
                node.args[index] = self._observe(argument)
        name, is_method = called_name(node)
        if name in _COMPARERS:
            first = len(self._nodes)
            node.args = [a if not _is_plain(a) else self._wrap_operand(node, a, _PART) for a in node.args]
            self._watch_comparer(node, name, first)
        else:
            self._watch_reduction(node, name, is_method=is_method)

    def _watch_reduction(self, node: _ast.Call, name: str, *, is_method: bool) -> None:
        """Insert a check of a call that reduces a collection to one number: the collection must be neither
        empty nor contain NaN."""
        if isinstance(node.func, _ast.Attribute) and not _is_record(node.func.value):
            node.func.value = self._observe(node.func.value)
        if name in ("max", "min") and not is_method:
            node.args = [self._wrap_operand(node, a, _ORDERED) if _is_plain(a) else a for a in node.args]
        elif name in _REDUCTIONS and node.args:
            if _is_plain(node.args[0]):
                node.args[0] = self._wrap_operand(node, node.args[0], _REDUCED)
        elif name in _REDUCTIONS and isinstance(node.func, _ast.Attribute):
            node.func.value = self._wrap_operand(node, node.func.value, _REDUCED)
        elif name in ("zip", "map") and not is_method:
            self._observe_lengths(node, name)

    def _observe_lengths(self, node: _ast.Call, name: str) -> None:
        """Inspect the lengths of the arguments of `zip` or `map`, unless the author meant one to be
        shorter."""
        start = 1 if name == "map" else 0
        parts = node.args[start:]
        is_meant = any(isinstance(part, _ast.Subscript) or not _is_plain(part) for part in parts)
        if len(parts) < 2 or node.keywords or is_meant:
            return
        first = len(self._nodes)
        node.args[start:] = [self._wrap_operand(node, part, _PART) for part in parts]

        def inspect(*found: Any) -> str:
            lengths = [len(value) for value in found[:-1] if hasattr(type(value), "__len__")]
            if len(lengths) == len(found) - 1 and min(lengths) != max(lengths):
                self._comparisons.note(
                    f'compares only {min(lengths)} of {max(lengths)} items of "{found[-1]}"'
                )
            return ""

        self._group(node, inspect, *range(first, first + len(parts)))

    def _watch_call(self, node: _ast.Call) -> None:
        name, is_method = called_name(node)
        if isinstance(node.func, _ast.Attribute) and isinstance(node.func.value, _ast.Compare):
            self._wrap(node.func.value)
            role = _COMPARED if name == "all" else _SIDE
            node.func.value = self._wrap_operand(node, node.func.value, role)
        elif isinstance(node.func, _ast.Attribute) and name in ("all", "any"):
            owner = _OWNER if name == "all" else _ANY_OWNER
            node.func.value = self._observe(node.func.value)
            node.func.value = self._wrap_operand(node, node.func.value, owner)
            if len(node.args) == 1 and isinstance(node.args[0], _ast.GeneratorExp):
                node.args = [self._wrap_operand(node, node.args[0], _GENERATOR)]
                return
        if name in ("all", "any") and not is_method and len(node.args) == 1:
            if isinstance(node.args[0], _COMPREHENSIONS):
                self._watch_items(node, node.args[0])
                return
            role = _LISTED
        elif name == "bool" and not is_method:
            role = _CONVERTED
        else:
            role = _COMPARED if name == "all" or name in _COMPARERS else _SIDE
        for index, argument in enumerate(node.args):
            if isinstance(argument, _DECIDING):
                self._wrap(argument)
            elif _is_plain(argument):
                node.args[index] = self._observe(argument)
        first = len(self._nodes)
        node.args = [a if not _is_plain(a) else self._wrap_operand(node, a, role) for a in node.args]
        if name in _COMPARERS:
            self._watch_comparer(node, name, first)
        else:
            self._watch_reduction(node, name, is_method=is_method)

    def _watch_comparer(self, node: _ast.Call, name: str, first: int) -> None:
        """Inspect the arguments of a function that compares two arguments. first: index of the first compared
        argument."""
        if len(node.args) >= 2 and all(map(_is_plain, node.args)):
            numbers = [first, first + 1]
        elif isinstance(node.func, _ast.Attribute) and len(node.args) == 1:
            owner = self._wrap_operand(node, node.func.value, _PART)
            node.func.value, numbers = owner, [len(self._nodes) - 1, first]
        else:
            return
        for keyword in node.keywords:
            if keyword.arg in _TOLERANCES:
                keyword.value = self._wrap_operand(node, keyword.value, _PART)
                self._group(node, self._tolerate, len(self._nodes) - 1)
        if name in ("allclose", "isclose") and len(node.args) > 2:
            self._group(node, self._tolerate, first + 2)
        equal = next((keyword for keyword in node.keywords if keyword.arg == "equal_nan"), None)
        if equal is None:
            self._group(node, self._comparisons.compare, *numbers)
            return
        equal.value = self._wrap_operand(node, equal.value, _PART)

        def inspect(left: Any, right: Any, is_equal: Any, text: str) -> str:
            found = self._comparisons.compare(left, right, text)
            return self._comparisons.count_equal_nan(left) if found and is_equal is True else found

        self._group(node, inspect, *numbers, len(self._nodes) - 1)

    def _tolerate(self, value: Any, _: str) -> str:
        self._comparisons.tolerate(value)
        return ""

    def _watch_items(self, node: _ast.Call, items: Any) -> None:
        """Check every item of `all(x > 0 for x in …)` as it is computed."""
        items.elt = self._observe(items.elt)
        items.generators[0].iter = self._observe(items.generators[0].iter)
        node.func = self._wrap_operand(node, node.func, _FUNCTION)
        items.elt = self._wrap_operand(node, items.elt, _ITEM)

    def _wrap_operand(self, node: _ast.expr, operand: _ast.expr, role: str = _SIDE) -> _ast.expr:
        """Return `operand` as a call that stores its value as an operand of `node`."""
        if role not in _HIDDEN_ROLES:
            self._watched.setdefault(id(node), []).append(len(self._nodes))
        number = _place_node(operand, _ast.Constant(value=len(self._nodes), kind=None))
        self._nodes.append(operand)
        self._roles.append(role)
        keep = _place_node(operand, _ast.Name(id=_RECORD, ctx=_ast.Load()))
        call: _ast.expr = _place_node(operand, _ast.Call(func=keep, args=[number, operand], keywords=[]))
        return call

    def _explain(self, node: _ast.expr, value: Any) -> str:
        """Return a text that explains why `node` has an unexpected value."""
        operands = self._operands(node)
        if isinstance(node, _ast.UnaryOp) and operands:
            return self._explain(*operands[-1])
        if isinstance(node, _ast.BoolOp) and operands:
            decisive = operands[-1:] if isinstance(node.op, _ast.And) else operands
            return "; ".join(
                f"{self._text(part)} is false ({self._explain(part, v)})" for part, v in decisive
            )
        if isinstance(node, _ast.Compare) and len(operands) >= 2:
            # a chain ends with the comparison that is false
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


def _is_record(node: _ast.expr) -> bool:
    """Return whether an expression is one of the inserted calls that inspect operands."""
    return isinstance(node, _ast.Call) and isinstance(node.func, _ast.Name) and node.func.id == _RECORD


def _is_plain(node: _ast.expr) -> bool:
    """Return whether an argument is a single value that may be inspected, not `*items`."""
    return not isinstance(node, (_ast.Starred, _ast.GeneratorExp))


def _place_node(place: _ast.expr, node: Any) -> Any:
    """Return `node` with the location of `place`, for tracebacks."""
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
