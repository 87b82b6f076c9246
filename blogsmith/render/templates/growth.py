"""Size of the results of operators, methods and filters in templates, checked before they are created.

An operation is listed here if its result can be much larger than its arguments, or if Python cannot interrupt
it. For all others, the size of arguments and results is deducted from the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

from jinja2 import Environment
from jinja2.filters import make_attrgetter

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from .budget import ITEM, NUMBER_BITS, SCALAR_TYPES, Budget, BudgetExceededError, is_container, measure_extent

# tuples, because a union type would be created again at each use
_TEXTS = (str, bytes)
_SEQUENCES = (str, bytes, list, tuple)
_COLLECTIONS = (list, tuple, dict, set)
_OWNERS = (str, bytes, int)
_DIGITS = lazy_pattern(r"\d{1,20}")

_WIDENING = name_set("center ljust rjust zfill to_bytes batch slice")
"""Operations whose result has the length that one of the arguments requests."""
_WIDENING_LINES = name_set("indent expandtabs")
"""Operations that add to each line or tab as many characters as one of the arguments requests."""
_REPLACING = name_set("replace translate wordwrap urlize")
"""Operations that may replace each character with the text of an argument."""
_SPLITTING = name_set("split rsplit splitlines list wordcount")
"""Operations that make a list with an item for each word or character."""
_GROWING = _WIDENING | _WIDENING_LINES | _REPLACING | _SPLITTING | name_set("join sum round format tojson")
_LAZY = name_set(
    "map select reject selectattr rejectattr first last length count list batch slice default d reverse items"
)
"""Filters that do not inspect the items of their list."""


def take_result(value: Any, budget: Budget) -> Any:
    """Deduct the size of an operation's result from the budget, and return the result."""
    if isinstance(value, _TEXTS):
        budget.spend(0, len(value))
    elif isinstance(value, _COLLECTIONS):
        budget.spend(0, ITEM * len(value))
    elif isinstance(value, int):
        _check_number(value.bit_length())
    return value


def _check_number(bits: int) -> None:
    """Raise BudgetExceededError if an integer with this number of bits is too large."""
    if bits > NUMBER_BITS:
        raise BudgetExceededError(f"integer would have more than {NUMBER_BITS:,} bits")


def prepare_operator(operator: str, left: Any, right: Any, budget: Budget) -> None:
    """Deduct the size of the result of `left operator right` from the budget before the result is
    computed."""
    if operator == "*" and isinstance(right, _SEQUENCES):
        left, right = right, left
    if operator == "%" and isinstance(left, _TEXTS):
        budget.take_size(_format_size(left, right, budget), "this format")
    elif isinstance(left, _SEQUENCES):
        unit = 1 if isinstance(left, _TEXTS) else ITEM
        if operator == "+":
            budget.take_size(unit * (len(left) + _length(right)), "this sum")
        elif isinstance(right, int):
            budget.take_size(unit * len(left) * max(0, right), "this product")
    elif isinstance(left, int) and isinstance(right, int) and operator in ("*", "**"):
        bits = left.bit_length()
        _check_number(bits * max(0, right) if operator == "**" else bits + right.bit_length() - 1)


def prepare_field(value: Any, spec: str, budget: Budget) -> None:
    """Deduct the size of a field `{:spec}` of a format string from the budget before the field is filled."""
    if is_container(value):
        measure_extent(value, budget)
    budget.take_size(sum(map(int, _DIGITS.findall(spec))), "this format")


def prepare_call(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], budget: Budget
) -> tuple[Any, ...]:
    """Deduct the size of a call's arguments from the budget, and check the size of its result. Return the
    arguments; if the result grows with them, iterators become lists."""
    # `text.format` is wrapped by Jinja
    owner = getattr(getattr(function, "__wrapped__", function), "__self__", None)
    name = getattr(function, "__name__", "")
    for value in (*args, *kwargs.values()):
        if is_container(value):
            measure_extent(value, budget)
    if isinstance(owner, _OWNERS) and name in _GROWING and name != "format":
        args = tuple(list(value) if isinstance(value, Iterator) else value for value in args)
        budget.check_size(_result_size(name, (owner, *args), kwargs, budget), f"{name}()")
    return args


def charged_filter(name: str, function: Callable[..., Any], budget: Budget) -> Callable[..., Any]:
    """Return the filter or test `function` with deductions of its arguments and its result from the
    budget."""
    skipped = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def apply(*args: Any, **kwargs: Any) -> Any:
        before, given = args[:skipped], list(args[skipped:])
        if name == "join" and given:
            given, kwargs = _attributes(before[0], given, kwargs)
        given = [_take_value(value, budget, is_lazy=name in _LAZY) for value in given]
        for value in kwargs.values():
            _take_value(value, budget, is_lazy=False)
        if name in _GROWING and given:
            budget.check_size(_result_size(name, given, kwargs, budget), f'filter "{name}"')
        return take_result(function(*before, *given, **kwargs), budget)

    return apply


def _take_value(value: Any, budget: Budget, *, is_lazy: bool) -> Any:
    """Deduct an argument of a filter from the budget and return it. Items of an iterator are deducted when
    the filter reads them. is_lazy: whether the filter does not inspect the items of lists."""
    if isinstance(value, _TEXTS):
        budget.spend(1, len(value) if len(value) > ITEM else 0)
    elif type(value) in SCALAR_TYPES:
        # Neither a container nor an iterator.
        return value
    elif is_container(value) and not is_lazy:
        measure_extent(value, budget)
    elif is_container(value) or isinstance(value, range):
        budget.spend(len(value))
    elif isinstance(value, Iterator):
        return _charged_items(value, budget)
    return value


def _charged_items(values: Iterable[Any], budget: Budget) -> Iterator[Any]:
    for value in values:
        budget.spend(1)
        yield value


def _attributes(
    eval_context: Any, given: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of the filter `join`, with the `attribute` of each item instead of the item,
    because an attribute may be larger than its item."""
    attribute = kwargs.get("attribute", given[2] if len(given) > 2 else None)
    values = given[0]
    if attribute is not None and isinstance(values, Iterable):
        environment: Environment = eval_context.environment
        values = map(make_attrgetter(environment, attribute), values)
    if isinstance(values, Iterator):
        values = list(values)
    return [values, *given[1:2]], {key: value for key, value in kwargs.items() if key != "attribute"}


def _result_size(name: str, given: Sequence[Any], kwargs: Mapping[str, Any], budget: Budget) -> int:
    """Return an upper bound of the number of characters that a method or filter creates."""
    value, others = given[0], [*given[1:], *kwargs.values()]
    length, number = _length(value), max((one for one in others if isinstance(one, int)), default=0)
    size = sum(_size(one, budget) for one in others if not isinstance(one, int))
    if name in _WIDENING:
        return length + number * (ITEM if name in _LAZY else 1)
    if name in _WIDENING_LINES:
        return length * (1 + number + size)
    if name in _REPLACING:
        return length * (1 + size)
    if name in _SPLITTING:
        return length * ITEM // 2
    if name == "join":
        return length * max(map(_length, others), default=0) + size + _size(value, budget)
    if name == "sum":
        # each addition of lists copies the result so far
        return length * _size(value, budget) if any(map(is_container, others)) else 0
    if name == "format":
        return _format_size(value, others, budget)
    if name == "tojson":
        return _size(value, budget) * (6 + number * measure_extent(value, budget).depth)
    # `round` computes a power of ten
    _check_number(4 * abs(number))
    return 0


def _format_size(pattern: str | bytes, values: Any, budget: Budget) -> int:
    """Return an upper bound of the length of `pattern % values`."""
    text = str(pattern)
    widths = sum(map(int, _DIGITS.findall(text)))
    if "*" in text:
        given = values if isinstance(values, list | tuple) else (values,)
        widths += sum(abs(value) for value in given if isinstance(value, int))
    # an escape makes at most six characters of one
    return len(text) + widths + 6 * text.count("%") * _size(values, budget)


def _size(value: Any, budget: Budget) -> int:
    """Return an upper bound of the length of a value as text."""
    return len(value) if isinstance(value, _TEXTS) else measure_extent(value, budget).characters


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 0
