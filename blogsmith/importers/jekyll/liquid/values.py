"""Expressions of Liquid: literals, names with steps, conditions, and filters between bars."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....base.patterns import lazy_pattern

Filter = Callable[..., Any]
_ATOM = lazy_pattern(
    r"\s*(?:\"([^\"]*)\"|'([^']*)'|(-?\d+\.\d+)|(-?\d+)(?![\w.])|\((\S+?)\.\.(\S+?)\)|([A-Za-z_][\w-]*))"
)
_STEP = lazy_pattern(r"\.([A-Za-z_][\w-]*)|\[([^\[\]]+)\]")
_COMPARISON = lazy_pattern(r"\s*(==|!=|<>|<=|>=|<|>|contains\b)\s*")
_JOINT = lazy_pattern(r"\s+(and|or)\s+(?=(?:[^\"']*[\"'][^\"']*[\"'])*[^\"']*$)")
_MOST_DIGITS = 100
_MOST_NUMBERS = 10_000
_WORDS: Mapping[str, Any] = {
    **{"true": True, "false": False, "nil": None, "null": None, "empty": "", "blank": ""},
}


class UnknownValue(Exception):
    """A name that an import cannot know, as what a plugin or the whole site would give."""


class LiquidSyntaxError(Exception):
    """An expression that cannot be read."""


class LiquidTooLarge(Exception):
    """Loops, includes and texts that grow make more than any page holds."""


class LiquidBudget:
    """How much the templates of one page may still make."""

    def __init__(self, most: int = 5_000_000) -> None:
        """most: characters, numbers and nodes that are rendered, together."""
        self._left = most

    def spend(self, value: Any) -> None:
        """Count a value. LiquidTooLarge if that is too much."""
        size = value.bit_length() // 3 if isinstance(value, int) else 1
        self._left -= 1 + (len(value) if isinstance(value, (str, list, tuple, Mapping)) else size)
        if self._left < 0:
            raise LiquidTooLarge


class LiquidScope:
    """The names that an expression may use; those assigned hide those around."""

    def __init__(
        self,
        names: Mapping[str, Any],
        unknown: Callable[[Sequence[str]], bool],
        budget: LiquidBudget | None = None,
    ) -> None:
        """unknown: whether a path of names, `site posts`, is one that an import does not know."""
        self.names = dict(names)
        self.budget = budget or LiquidBudget()
        self._unknown = unknown

    def inner(self, names: Mapping[str, Any]) -> LiquidScope:
        """A scope with more names; what is assigned there stays there."""
        return LiquidScope({**self.names, **names}, self._unknown, self.budget)

    def look_up(self, steps: Sequence[str | int]) -> Any:
        """The value at a path; None where nothing stands. UnknownValue if it cannot be known."""
        names = [str(step) for step in steps]
        if self._unknown(names):
            raise UnknownValue(".".join(names))
        if steps[0] not in self.names:
            raise UnknownValue(names[0])
        value = self.names[str(steps[0])]
        for step in steps[1:]:
            value = _step(value, step)
        return value


def _step(value: Any, step: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(step, len(value) if step == "size" else None)
    if isinstance(value, (list, tuple)):
        if isinstance(step, int):
            return value[step] if -len(value) <= step < len(value) else None
        ends = {"first": value[0] if value else None, "last": value[-1] if value else None}
        return len(value) if step == "size" else ends.get(step)
    return len(value) if isinstance(value, str) and step == "size" else None


def evaluate(expression: str, scope: LiquidScope, filters: Mapping[str, Filter]) -> Any:
    """The value of what stands in `{{ … }}`. UnknownValue or LiquidSyntaxError if it has none."""
    first, *calls = _split(expression, "|")
    value = atom(first, scope)
    for call in calls:
        name, _, arguments = call.strip().partition(":")
        name = name.strip()
        if name not in filters:
            if isinstance(value, str):
                # Jekyll passes over filters that do not exist
                continue
            raise UnknownValue(f"filter {name}")
        given = [atom(each, scope) for each in _split(arguments, ",")] if arguments.strip() else []
        try:
            value = filters[name](value, *given)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise LiquidSyntaxError(call.strip()) from error
        scope.budget.spend(value)
    return value


def _split(text: str, separator: str) -> list[str]:
    """Parts between separators that do not stand in quotes."""
    return [part for part in re.split(rf"{re.escape(separator)}(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*$)", text)]


def atom(text: str, scope: LiquidScope) -> Any:
    """The value of a literal or a name."""
    found = _ATOM.match(text)
    if not found:
        raise LiquidSyntaxError(text.strip())
    double, single, number, integer, first, last, name = found.groups()
    if first:
        return _range(atom(first, scope), atom(last, scope))
    if name is None:
        literal = double if double is not None else single
        if literal is not None:
            return literal
        # more digits are no number of a template, and Python refuses thousands
        return float(number) if number else int(integer[:_MOST_DIGITS])
    steps: list[str | int] = [name]
    position = found.end()
    while step := _STEP.match(text, position):
        steps.append(step[1] if step[1] else _index(step[2], scope))
        position = step.end()
    if text[position:].strip():
        raise LiquidSyntaxError(text.strip())
    return _WORDS[name] if name in _WORDS and len(steps) == 1 else scope.look_up(steps)


def _range(first: Any, last: Any) -> list[int]:
    """The numbers of `(1..3)`; LiquidSyntaxError if they are none, or more than anybody counts."""
    try:
        found = range(int(first or 0), int(last or 0) + 1)
        return list(found[: _MOST_NUMBERS + 1])
    except (TypeError, ValueError, OverflowError) as error:
        raise LiquidSyntaxError(f"({first}..{last})") from error


def _index(text: str, scope: LiquidScope) -> str | int:
    value = atom(text, scope)
    return value if isinstance(value, int) else str(value)


def is_true(condition: str, scope: LiquidScope, filters: Mapping[str, Filter]) -> bool:
    """Whether a condition of `if` holds; `and` and `or` are read from the right, as Liquid does."""
    if joint := _JOINT.search(condition):
        left = is_true(condition[: joint.start()], scope, filters)
        right = is_true(condition[joint.end() :], scope, filters)
        return (left and right) if joint[1] == "and" else (left or right)
    parts = _COMPARISON.split(condition, maxsplit=1)
    left_value = evaluate(parts[0], scope, filters)
    if len(parts) == 1:
        return left_value is not None and left_value is not False
    return _compare(left_value, parts[1], atom(parts[2], scope))


def _compare(left: Any, sign: str, right: Any) -> bool:
    if sign == "contains":
        return right in left if isinstance(left, (str, list, tuple)) and right is not None else False
    if sign in ("==", "!=", "<>"):
        # an empty text stands for what is empty, nothing included
        is_equal = left == right or (right == "" and not left and left is not False)
        return is_equal == (sign == "==")
    try:
        return bool({"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[sign])
    except TypeError:
        return False
