"""What operators, methods and filters of templates would make, known before they make it.

An operation has a row here if its result can be much larger than what it is given, or if it cannot be broken
off; all others are paid for by what they are given and by what they give.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any

from jinja2 import Environment
from jinja2.filters import make_attrgetter

from .template_budget import ITEM, NUMBER_BITS, Budget, OverBudget, extent_of, is_container

_WIDTHS = re.compile(r"\d{1,20}")
_FIELD = re.compile(r"%(?:\([^)]*\))?[#0 +-]*(\*|\d*)(?:\.(\*|\d*))?")


def take_result(value: Any, budget: Budget) -> Any:
    """Pay for what an operation gave, and hand it on."""
    if isinstance(value, str | bytes):
        budget.take(0, len(value))
    elif isinstance(value, list | tuple | dict | set):
        budget.take(0, ITEM * len(value))
    elif isinstance(value, int):
        _check_number(value.bit_length())
    return value


def _check_number(bits: int) -> None:
    if bits > NUMBER_BITS:
        raise OverBudget(f"a whole number here would have more than {NUMBER_BITS:,} binary digits")


# Operators


def prepare_operator(operator: str, left: Any, right: Any, budget: Budget) -> None:
    """Pay for `left operator right` before it is worked out."""
    if operator == "*":
        _product(left, right, budget)
    elif operator == "**" and isinstance(left, int) and isinstance(right, int):
        _check_number(left.bit_length() * max(0, right))
    elif operator == "%" and isinstance(left, str | bytes):
        budget.take_size(_percent(left, right, budget), "this format")
    elif operator == "+" and isinstance(left, str | bytes | list | tuple):
        unit = 1 if isinstance(left, str | bytes) else ITEM
        budget.take_size(unit * (len(left) + _length(right)), "this sum")


def _product(left: Any, right: Any, budget: Budget) -> None:
    if isinstance(right, str | bytes | list | tuple):
        left, right = right, left
    if isinstance(left, int) and isinstance(right, int):
        _check_number(left.bit_length() + right.bit_length() - 1)
    elif isinstance(left, str | bytes | list | tuple) and isinstance(right, int):
        unit = 1 if isinstance(left, str | bytes) else ITEM
        budget.take_size(unit * len(left) * max(0, right), "this product")


def _percent(pattern: str | bytes, values: Any, budget: Budget) -> int:
    """At most the length of `pattern % values`."""
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    fields = _FIELD.findall(text)
    widths = sum(int(number) for field in fields for number in field if number not in ("", "*"))
    given = values if isinstance(values, tuple) else (values,)
    if any("*" in field for field in fields):
        widths += sum(abs(value) for value in given if isinstance(value, int))
    # escapes make at most six characters of one
    return len(text) + widths + 6 * len(fields) * _characters(values, budget)


def prepare_field(value: Any, spec: str, budget: Budget) -> None:
    """Pay for a field `{:spec}` of a format before it is filled."""
    if is_container(value):
        extent_of(value, budget)
    budget.take_size(sum(int(number) for number in _WIDTHS.findall(spec)), "this format")


def _characters(value: Any, budget: Budget) -> int:
    """At most how many characters the text of a value has."""
    if isinstance(value, str | bytes):
        return len(value)
    return extent_of(value, budget).characters


def _length(value: Any) -> int:
    try:
        return len(value)
    except TypeError:
        return 0


# Calls

Estimate = Callable[..., int]
"""The arguments, the one in front of the dot or the bar first → at most how many characters come out."""


def _at(values: Sequence[Any], index: int, default: Any) -> Any:
    return values[index] if index < len(values) else default


def _wide(text: Any, width: Any = 80, *_: Any, **__: Any) -> int:
    return max(_length(text), _number(width))


def _number(value: Any) -> int:
    """A width as Python would take it; a filter makes a number of nothing else."""
    return max(0, value) if isinstance(value, int) else 0


def _replaced(text: Any, old: Any = "", new: Any = "", *_: Any, **__: Any) -> int:
    text, old = str(text), str(old)
    return len(text) + (text.count(old) if old else len(text) + 1) * len(str(new)) * 6


def _tabs(text: Any, tabsize: Any = 8) -> int:
    count: int = text.count("\t" if isinstance(text, str) else b"\t")
    return len(text) + count * _number(tabsize)


def _pieces(text: Any, sep: Any = None, *_: Any, **__: Any) -> int:
    return ITEM * (text.count(sep) if sep else len(text) // 2 + 1)


def _translated(text: Any, table: Any = None, *_: Any) -> int:
    values = table.values() if isinstance(table, Mapping) else ()
    return len(text) * max((_length(value) for value in values), default=1)


def _joined(text: Any, values: Any = ()) -> int:
    return sum(6 * _length(value) + _length(text) for value in values)


METHODS: Mapping[str, Estimate] = MappingProxyType(
    {
        **dict.fromkeys(("center", "ljust", "rjust", "zfill"), _wide),
        **dict.fromkeys(("split", "rsplit"), _pieces),
        "splitlines": lambda text, *_, **__: ITEM * (len(text) // 2 + 1),
        "replace": _replaced,
        "expandtabs": _tabs,
        "translate": _translated,
        "join": _joined,
        "to_bytes": lambda number, length=1, *_, **__: _number(length),
    }
)
"""Method of a text, of bytes or of a number → what it makes."""


def prepare_call(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], budget: Budget
) -> tuple[Any, ...]:
    """Pay for a call of a method before it is made; its arguments, those that are read once as lists."""
    owner = getattr(function, "__self__", None)
    estimate = METHODS.get(getattr(function, "__name__", ""))
    for value in (*args, *kwargs.values()):
        if is_container(value):
            extent_of(value, budget)
    if estimate and isinstance(owner, str | bytes | int):
        args = tuple(list(value) if isinstance(value, Iterator) else value for value in args)
        budget.take_size(_estimated(estimate, owner, args, kwargs), f"{function.__name__}()")
    return args


def _estimated(estimate: Estimate, owner: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    try:
        return estimate(owner, *args, **kwargs)
    except (TypeError, AttributeError):
        # wrong arguments, which the function itself will say best
        return 0


# Filters


def _indented(text: Any, width: Any = 4, *_: Any, **__: Any) -> int:
    size = len(width) if isinstance(width, str) else _number(width)
    return _length(text) + (str(text).count("\n") + 2) * size


def _wrapped(text: Any, width: Any = 79, long: Any = True, wrapstring: Any = None, *_: Any, **__: Any) -> int:
    return (_length(text) + 1) * (1 + _length(wrapstring) if isinstance(wrapstring, str) else 2)


def _linked(text: Any, *args: Any, **kwargs: Any) -> int:
    words = str(text).count(" ") + str(text).count("\n") + 1
    return 6 * _length(text) + words * (40 + sum(_length(value) for value in (*args, *kwargs.values())))


def _filled(values: Any, count: Any = 0, *_: Any, **__: Any) -> int:
    return ITEM * (_number(count) + _length(values))


def _rounded(value: Any, precision: Any = 0, *_: Any, **__: Any) -> int:
    if abs(_number(precision) if isinstance(precision, int) else 0) > 1000:
        raise OverBudget("a number is rounded to at most 1,000 digits")
    return 0


def _whole(value: Any, *_: Any, **__: Any) -> int:
    _check_number(4 * _length(value) if isinstance(value, str | bytes) else 0)
    return 0


def _summed(values: Any, attribute: Any = None, start: Any = 0) -> int:
    if isinstance(start, int | float):
        return 0
    # each addition copies what there is so far
    return ITEM * _length(values) * sum(_length(value) for value in values)


FILTERS: Mapping[str, Estimate] = MappingProxyType(
    {
        **dict.fromkeys(("list", "sort", "batch", "slice", "groupby", "unique"), _filled),
        "center": _wide,
        "indent": _indented,
        "int": _whole,
        "join": lambda values, d="", *_: _joined(d, values),
        "replace": _replaced,
        "round": _rounded,
        "sum": _summed,
        "truncate": lambda text, length=255, killwords=False, end="...", *_: _length(end),
        "urlize": _linked,
        "wordcount": lambda text: ITEM * (_length(text) // 2),
        "wordwrap": _wrapped,
    }
)
"""Filter → what it makes."""

_LAZY = frozenset(
    [
        "map",
        "select",
        "reject",
        "selectattr",
        "rejectattr",
        "first",
        "last",
        "length",
        "count",
        "list",
        "batch",
        "slice",
        "default",
        "d",
        "reverse",
        "items",
    ]
)
"""Filters that do not look into the values of the list they are given."""


def paid_filter(name: str, function: Callable[..., Any], budget: Budget) -> Callable[..., Any]:
    """A filter that is paid for: by what it is given, and by what it gives."""
    estimate = FILTERS.get(name)
    skipped = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def apply(*args: Any, **kwargs: Any) -> Any:
        before, given = args[:skipped], list(args[skipped:])
        if name == "join" and given:
            given, kwargs = _attributes(before[0], given, kwargs)
        given = [_taken(value, budget, is_lazy=name in _LAZY) for value in given]
        for value in kwargs.values():
            _taken(value, budget, is_lazy=False)
        if name == "format" and given:
            values = kwargs or tuple(given[1:])
            budget.take_size(_percent(str(given[0]), values, budget), "format")
        elif name == "tojson" and given:
            _take_json(given, kwargs, budget)
        elif estimate and given:
            budget.take_size(_estimated(estimate, given[0], given[1:], kwargs), f"the filter {name}")
        return take_result(function(*before, *given, **kwargs), budget)

    return apply


def _taken(value: Any, budget: Budget, *, is_lazy: bool) -> Any:
    """Pay for a value that a filter takes in hand; what is made while it is read is paid for item by item."""
    if isinstance(value, str | bytes):
        budget.take(1, len(value) if len(value) > ITEM else 0)
    elif is_container(value):
        if is_lazy:
            budget.take(len(value))
        else:
            extent_of(value, budget)
    elif isinstance(value, Iterator):
        return _paid_items(value, budget)
    elif isinstance(value, range):
        budget.take(len(value))
    return value


def _paid_items(values: Iterable[Any], budget: Budget) -> Iterator[Any]:
    for value in values:
        budget.take(1)
        yield value


def _attributes(
    eval_context: Any, given: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of `join` with the values it would join: what it looks up may be larger than its list."""
    attribute = kwargs.get("attribute", _at(given, 2, None))
    values = given[0]
    if attribute is not None and isinstance(values, Iterable):
        environment: Environment = eval_context.environment
        values = map(make_attrgetter(environment, attribute), values)
    if isinstance(values, Iterator):
        values = list(values)
    return [values, *given[1:2]], {key: value for key, value in kwargs.items() if key != "attribute"}


def _take_json(given: list[Any], kwargs: dict[str, Any], budget: Budget) -> None:
    extent = extent_of(given[0], budget)
    indent = _number(kwargs.get("indent", _at(given, 1, 0)))
    budget.take_size(6 * extent.characters + extent.values * extent.depth * indent, "tojson")
