"""Filters of templates, each paid for by what it is given, by what it would make and by what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any

from jinja2 import Environment
from jinja2.filters import make_attrgetter

from ...model.names import name_set
from .budget import ITEM, PLAIN, Budget, OverBudget, extent_of, is_container
from .operations import (
    TEXTS,
    Estimate,
    check_number,
    joined_size,
    length_of,
    number_of,
    percent_size,
    replaced_size,
    run_estimate,
    take_result,
    wide_size,
)


def _indented_size(text: Any, width: Any = 4, *_: Any, **__: Any) -> int:
    size = len(width) if isinstance(width, str) else number_of(width)
    return length_of(text) + (str(text).count("\n") + 2) * size


def _wrapped_size(
    text: Any, width: Any = 79, long: Any = True, wrapstring: Any = None, *_: Any, **__: Any
) -> int:
    return (length_of(text) + 1) * (1 + length_of(wrapstring) if isinstance(wrapstring, str) else 2)


def _linked_size(text: Any, *args: Any, **kwargs: Any) -> int:
    words = str(text).count(" ") + str(text).count("\n") + 1
    return 6 * length_of(text) + words * (40 + sum(length_of(value) for value in (*args, *kwargs.values())))


def _filled_size(values: Any, count: Any = 0, *_: Any, **__: Any) -> int:
    return ITEM * (number_of(count) + length_of(values))


def _rounded_size(value: Any, precision: Any = 0, *_: Any, **__: Any) -> int:
    if abs(number_of(precision) if isinstance(precision, int) else 0) > 1000:
        raise OverBudget("a number is rounded to at most 1,000 digits")
    return 0


def _integer_size(value: Any, *_: Any, **__: Any) -> int:
    check_number(4 * length_of(value) if isinstance(value, TEXTS) else 0)
    return 0


def _sum_size(values: Any, attribute: Any = None, start: Any = 0) -> int:
    if isinstance(start, int | float):
        return 0
    # each addition copies what there is so far
    return ITEM * length_of(values) * sum(length_of(value) for value in values)


FILTERS: Mapping[str, Estimate] = MappingProxyType(
    {
        **dict.fromkeys(("list", "sort", "batch", "slice", "groupby", "unique"), _filled_size),
        "center": wide_size,
        "indent": _indented_size,
        "int": _integer_size,
        "join": lambda values, d="", *_: joined_size(d, values),
        "replace": replaced_size,
        "round": _rounded_size,
        "sum": _sum_size,
        "truncate": lambda text, length=255, killwords=False, end="...", *_: length_of(end),
        "urlize": _linked_size,
        "wordcount": lambda text: ITEM * (length_of(text) // 2),
        "wordwrap": _wrapped_size,
    }
)
"""Filter → what it makes."""

_LAZY = name_set(
    "map select reject selectattr rejectattr first last length count list batch slice default d reverse items"
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
        given = [_charge_value(value, budget, is_lazy=name in _LAZY) for value in given]
        for value in kwargs.values():
            _charge_value(value, budget, is_lazy=False)
        if name == "format" and given:
            values = kwargs or tuple(given[1:])
            budget.take_size(percent_size(str(given[0]), values, budget), "format")
        elif name == "tojson" and given:
            _take_json(given, kwargs, budget)
        elif estimate and given:
            budget.take_size(run_estimate(estimate, given[0], given[1:], kwargs), f"the filter {name}")
        return take_result(function(*before, *given, **kwargs), budget)

    return apply


def _charge_value(value: Any, budget: Budget, *, is_lazy: bool) -> Any:
    """Pay for a value that a filter takes in hand; what is made while it is read is paid for item by item."""
    if isinstance(value, TEXTS):
        budget.spend(1, len(value) if len(value) > ITEM else 0)
    elif type(value) in PLAIN:
        # neither a container nor a list to be
        return value
    elif is_container(value):
        if is_lazy:
            budget.spend(len(value))
        else:
            extent_of(value, budget)
    elif isinstance(value, Iterator):
        return _paid_items(value, budget)
    elif isinstance(value, range):
        budget.spend(len(value))
    return value


def _paid_items(values: Iterable[Any], budget: Budget) -> Iterator[Any]:
    for value in values:
        budget.spend(1)
        yield value


def _attributes(
    eval_context: Any, given: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of `join` with the values it would join: what it looks up may be larger than its list."""
    attribute = kwargs.get("attribute", given[2] if len(given) > 2 else None)
    values = given[0]
    if attribute is not None and isinstance(values, Iterable):
        environment: Environment = eval_context.environment
        values = map(make_attrgetter(environment, attribute), values)
    if isinstance(values, Iterator):
        values = list(values)
    return [values, *given[1:2]], {key: value for key, value in kwargs.items() if key != "attribute"}


def _take_json(given: list[Any], kwargs: dict[str, Any], budget: Budget) -> None:
    extent = extent_of(given[0], budget)
    indent = number_of(kwargs.get("indent", given[1] if len(given) > 1 else 0))
    budget.take_size(6 * extent.characters + extent.values * extent.depth * indent, "tojson")
