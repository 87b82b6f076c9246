"""Interpreter for the subset of Liquid that posts use: expressions, filters and core tags.

The caller provides the output of other tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from ...api.importing import lazy_pattern
from .liquid_parser import LiquidBranch, LiquidOutput, LiquidTag, Nodes
from .settings import slugify

_MAX_CHARACTERS = 5_000_000
"""Maximum number of characters that a filter may produce."""


def format_value(value: Any) -> str:
    """Return a value as Liquid prints it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "".join(map(format_value, value)) if isinstance(value, (list, tuple)) else str(value)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _number(value: Any) -> int | float:
    if isinstance(value, (int, float)):
        return value
    text = str(value or 0)
    return float(text) if "." in text else int(text)


def _sorted(value: Any, key: Any = None) -> list[Any]:
    every = _list(value)
    return sorted(
        every, key=lambda each: format_value(each.get(key) if key and isinstance(each, Mapping) else each)
    )


def _where(value: Any, key: str, wanted: Any = True) -> list[Any]:
    return [each for each in _list(value) if isinstance(each, Mapping) and each.get(key) == wanted]


def _slice(value: Any, start: int, length: int = 1) -> Any:
    start = start if start >= 0 else len(value) + start
    return value[start : start + length]


def _split_text(value: Any, separator: str) -> list[str]:
    text = format_value(value)
    return text.split(separator) if separator.strip() else text.split() if separator else list(text)


def _replace(value: Any, what: Any, by: Any = "") -> str:
    text, old, new = format_value(value), format_value(what), format_value(by)
    if text.count(old) * len(new) > _MAX_CHARACTERS:
        raise ValueError("the text would be too large")
    return text.replace(old, new)


def _join(value: Any, between: Any = " ") -> str:
    parts, separator = _list(value), format_value(between)
    if len(parts) * len(separator) > _MAX_CHARACTERS:
        raise ValueError("the text would be too large")
    return separator.join(map(format_value, parts))


def _truncate(value: Any, length: int = 50, end: str = "...") -> str:
    text = format_value(value)
    return text if len(text) <= length else text[: max(0, length - len(end))] + end


PLAIN_FILTERS: Mapping[str, Filter] = {
    "append": lambda value, end="": format_value(value) + format_value(end),
    "prepend": lambda value, start="": format_value(start) + format_value(value),
    "capitalize": lambda value: format_value(value).capitalize(),
    "downcase": lambda value: format_value(value).lower(),
    "upcase": lambda value: format_value(value).upper(),
    "strip": lambda value: format_value(value).strip(),
    "lstrip": lambda value: format_value(value).lstrip(),
    "rstrip": lambda value: format_value(value).rstrip(),
    "strip_newlines": lambda value: format_value(value).replace("\n", ""),
    "strip_html": lambda value: re.sub(r"<[^>]*>", "", format_value(value)),
    "newline_to_br": lambda value: format_value(value).replace("\n", "<br>\n"),
    "escape": lambda value: escape(format_value(value)),
    "escape_once": lambda value: escape(format_value(value)),
    "xml_escape": lambda value: escape(format_value(value)),
    "url_encode": lambda value: quote(format_value(value), safe=""),
    "uri_escape": lambda value: quote(format_value(value), safe="/:?#[]@!$&'()*+,;=%"),
    "cgi_escape": lambda value: quote(format_value(value), safe=""),
    "slugify": lambda value, mode="": slugify(format_value(value)),
    "remove": lambda value, what: format_value(value).replace(format_value(what), ""),
    "remove_first": lambda value, what: format_value(value).replace(format_value(what), "", 1),
    "replace": _replace,
    "replace_first": lambda value, what, by="": format_value(value).replace(
        format_value(what), format_value(by), 1
    ),
    "truncate": _truncate,
    "truncatewords": lambda value, count=15, end="...": " ".join(format_value(value).split()[:count]),
    "number_of_words": lambda value, mode="": len(format_value(value).split()),
    "default": lambda value, other="": other if value in (None, False, "", []) else value,
    "size": lambda value: len(value) if isinstance(value, (str, list, tuple, Mapping)) else 0,
    "first": lambda value: next(iter(_list(value)), None),
    "last": lambda value: _list(value)[-1] if _list(value) else None,
    "join": _join,
    "split": _split_text,
    "reverse": lambda value: _list(value)[::-1],
    "sort": _sorted,
    "uniq": lambda value: list({format_value(each): each for each in _list(value)}.values()),
    "compact": lambda value: [each for each in _list(value) if each is not None],
    "concat": lambda value, other: _list(value) + _list(other),
    "push": lambda value, other: [*_list(value), other],
    "map": lambda value, key: [each.get(key) for each in _list(value) if isinstance(each, Mapping)],
    "where": _where,
    "slice": _slice,
    "plus": lambda value, other: _number(value) + _number(other),
    "minus": lambda value, other: _number(value) - _number(other),
    "times": lambda value, other: _number(value) * _number(other),
    "divided_by": lambda value, other: _number(value) // _number(other),
    "modulo": lambda value, other: _number(value) % _number(other),
    "array_to_sentence_string": lambda value: ", ".join(map(format_value, _list(value))),
    "jsonify": lambda value: json.dumps(value, ensure_ascii=False, default=str),
    "markdownify": lambda value: format_value(value),
    "smartify": lambda value: format_value(value),
    "inspect": lambda value: format_value(value),
}
"""Filters by name. `markdownify` returns its input, because the rendered page is parsed as Markdown later."""


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
    **{"true": True, "false": False, "nil": None, "null": None, "empty": "", "blank": ""}
}


class UnknownValueError(Exception):
    """An import cannot know the value of a name, for example the output of a plugin."""


class LiquidSyntaxError(Exception):
    """The expression has invalid syntax."""


class LiquidLimitError(Exception):
    """Loops, includes or strings of a template produce more output than any real page."""


class LiquidBudget:
    """Amount of output that the templates of one page may still produce."""

    def __init__(self, most: int = 5_000_000) -> None:
        """Create the budget.

        most: total number of characters, numbers and nodes that templates may produce.
        """
        self._left = most

    def spend(self, value: Any) -> None:
        """Subtract the size of a value. Raise LiquidLimitError if the limit is exceeded."""
        size = value.bit_length() // 3 if isinstance(value, int) else 1
        self._left -= 1 + (len(value) if isinstance(value, (str, list, tuple, Mapping)) else size)
        if self._left < 0:
            raise LiquidLimitError


class LiquidScope:
    """The names that an expression may use. An assigned name hides the same name in outer scopes."""

    def __init__(
        self,
        names: Mapping[str, Any],
        unknown: Callable[[Sequence[str]], bool],
        budget: LiquidBudget | None = None,
    ) -> None:
        """Create a scope. unknown: function that gets a path of names such as `("site", "posts")`, and
        returns whether an import cannot know its value."""
        self.names = dict(names)
        self.budget = budget or LiquidBudget()
        self._unknown = unknown

    def inner(self, names: Mapping[str, Any]) -> LiquidScope:
        """Return an inner scope with more names. Assignments in it do not affect this scope."""
        return LiquidScope({**self.names, **names}, self._unknown, self.budget)

    def look_up(self, steps: Sequence[str | int]) -> Any:
        """Return the value at a path of names. Return None if the first name has a value but the rest of the
        path does not exist. Raise UnknownValueError if the first name is undefined, or if an import cannot
        know the value."""
        names = [str(step) for step in steps]
        if self._unknown(names):
            raise UnknownValueError(".".join(names))
        if steps[0] not in self.names:
            raise UnknownValueError(names[0])
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
    """Evaluate the expression of `{{ … }}`.

    Raise UnknownValueError if an import cannot know the value, LiquidSyntaxError for an invalid expression.
    """
    first, *calls = _split(expression, "|")
    value = atom(first, scope)
    for call in calls:
        name, _, arguments = call.strip().partition(":")
        name = name.strip()
        if name not in filters:
            if isinstance(value, str):
                # Jekyll ignores unknown filters
                continue
            raise UnknownValueError(f"filter {name}")
        given = [atom(each, scope) for each in _split(arguments, ",")] if arguments.strip() else []
        try:
            value = filters[name](value, *given)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise LiquidSyntaxError(call.strip()) from error
        scope.budget.spend(value)
    return value


def _split(text: str, separator: str) -> list[str]:
    return [part for part in re.split(rf"{re.escape(separator)}(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*$)", text)]


def atom(text: str, scope: LiquidScope) -> Any:
    """Return the value of an expression without filters, which is a literal or a name."""
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
        # templates need no more digits, and Python raises an error for integers with thousands of digits
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
    """Return the numbers of a range such as `(1..3)`; at most `_MOST_NUMBERS` + 1, so that the caller can
    recognize a range that is too long.

    Raise LiquidSyntaxError if the bounds are not numbers.
    """
    try:
        found = range(int(first or 0), int(last or 0) + 1)
        return list(found[: _MOST_NUMBERS + 1])
    except (TypeError, ValueError, OverflowError) as error:
        raise LiquidSyntaxError(f"({first}..{last})") from error


def _index(text: str, scope: LiquidScope) -> str | int:
    value = atom(text, scope)
    return value if isinstance(value, int) else str(value)


def is_true(condition: str, scope: LiquidScope, filters: Mapping[str, Filter]) -> bool:
    """Evaluate a condition of `if`. `and` and `or` are right-associative, as in Liquid."""
    if joint := _JOINT.search(condition):
        left = is_true(condition[: joint.start()], scope, filters)
        right = is_true(condition[joint.end() :], scope, filters)
        return (left and right) if joint[1] == "and" else (left or right)
    parts = _COMPARISON.split(condition, maxsplit=1)
    left_value = evaluate(parts[0], scope, filters)
    if len(parts) == 1:
        return left_value is not None and left_value is not False
    return _compare(left_value, parts[1], atom(parts[2], scope))


def _compare(left: Any, operator: str, right: Any) -> bool:
    if operator == "contains":
        return right in left if isinstance(left, (str, list, tuple)) and right is not None else False
    if operator in ("==", "!=", "<>"):
        # in Liquid, an empty string equals every empty value, including nil
        is_equal = left == right or (right == "" and not left and left is not False)
        return is_equal == (operator == "==")
    try:
        return bool(
            {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[operator]
        )
    except TypeError:
        return False


_ASSIGNMENT = re.compile(r"([\w-]+)\s*=\s*([\s\S]+)")
_LOOP = re.compile(r"([\w-]+)\s+in\s+(\([^)]*\)|\S+)([\s\S]*)")
_MAX_ITERATIONS = 1000
"""Maximum number of iterations of one loop; no real page needs more."""


@dataclass(frozen=True, slots=True)
class LiquidRenderer:
    """Filters and callbacks for rendering templates."""

    filters: Mapping[str, Filter]
    tag: Callable[[LiquidTag, LiquidScope, LiquidRenderer], str]
    """Callback that returns the output of a tag that core Liquid does not have."""
    unknown: Callable[[LiquidOutput | LiquidTag, Exception], str]
    """Callback that returns the text for a node whose value is unknown or invalid. It receives the error."""

    def render(self, nodes: Nodes, scope: LiquidScope) -> str:
        """Render nodes to text. Variables that they assign remain in `scope`."""
        return "".join(
            self._text(node, scope) if isinstance(node, str) else self._node(node, scope) for node in nodes
        )

    def _text(self, node: str, scope: LiquidScope) -> str:
        scope.budget.spend(node)
        return node

    def _node(self, node: LiquidOutput | LiquidTag, scope: LiquidScope) -> str:
        try:
            if isinstance(node, LiquidOutput):
                text = format_value(evaluate(node.expression, scope, self.filters))
            elif node.name in _CORE:
                text = _CORE[node.name](self, node, scope)
            else:
                text = self.tag(node, scope, self)
            scope.budget.spend(text)
            return text
        except (UnknownValueError, LiquidSyntaxError) as error:
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
        raise UnknownValueError(found[2])
    every = _apply_loop_options(every, found[3], scope)
    if not every:
        others = (branch for branch in tag.branches if branch.name == "else")
        return "".join(renderer.render(branch.nodes, scope) for branch in others)
    parts = []
    for index, value in enumerate(every[:_MAX_ITERATIONS]):
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


def _apply_loop_options(every: Sequence[Any], options: str, scope: LiquidScope) -> Sequence[Any]:
    for name, value in re.findall(r"(limit|offset)\s*:\s*([\w.]+)", options):
        number = atom(value, scope)
        if isinstance(number, int):
            every = every[:number] if name == "limit" else every[number:]
    return every[::-1] if re.search(r"\breversed\b", options) else every


def _nothing(renderer: LiquidRenderer, tag: LiquidTag, scope: LiquidScope) -> str:
    return ""


def inner_text(tag: LiquidTag) -> str:
    """Return the content of a verbatim block; empty if `tag` is not a block."""
    branch: LiquidBranch | None = tag.branches[0] if tag.branches else None
    return "".join(node for node in branch.nodes if isinstance(node, str)) if branch else ""


_CORE: Mapping[str, Callable[[LiquidRenderer, LiquidTag, LiquidScope], str]] = {
    **{"assign": _assign, "capture": _capture, "if": _if, "unless": _if, "case": _case, "for": _for},
    **{"comment": _nothing, "break": _nothing, "continue": _nothing, "cycle": _nothing},
}
