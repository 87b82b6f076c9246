"""What operators and methods in templates would make, known before they make it.

An operation has a row here if its result can be much larger than what it is given, or if it cannot be broken
off; all others are paid for by what they are given and by what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...base.patterns import lazy_pattern
from .budget import ITEM, NUMBER_BITS, Budget, OverBudget, extent_of, is_container

# tuples: a union would be made anew at each use
TEXTS = (str, bytes)
SEQUENCES = (str, bytes, list, tuple)
_COLLECTIONS = (list, tuple, dict, set)
_OWNERS = (str, bytes, int)

_WIDTHS = lazy_pattern(r"\d{1,20}")
_FIELD = lazy_pattern(r"%(?:\([^)]*\))?[#0 +-]*(\*|\d*)(?:\.(\*|\d*))?")


def take_result(value: Any, budget: Budget) -> Any:
    """Pay for what an operation gave, and hand it on."""
    if isinstance(value, TEXTS):
        budget.spend(0, len(value))
    elif isinstance(value, _COLLECTIONS):
        budget.spend(0, ITEM * len(value))
    elif isinstance(value, int):
        check_number(value.bit_length())
    return value


def check_number(bits: int) -> None:
    """OverBudget if a whole number is too large to work with."""
    if bits > NUMBER_BITS:
        raise OverBudget(f"a whole number here would have more than {NUMBER_BITS:,} binary digits")


def prepare_operator(operator: str, left: Any, right: Any, budget: Budget) -> None:
    """Pay for `left operator right` before it is worked out."""
    if operator == "*":
        _product(left, right, budget)
    elif operator == "**" and isinstance(left, int) and isinstance(right, int):
        check_number(left.bit_length() * max(0, right))
    elif operator == "%" and isinstance(left, TEXTS):
        budget.take_size(percent_size(left, right, budget), "this format")
    elif operator == "+" and isinstance(left, SEQUENCES):
        unit = 1 if isinstance(left, TEXTS) else ITEM
        budget.take_size(unit * (len(left) + length_of(right)), "this sum")


def _product(left: Any, right: Any, budget: Budget) -> None:
    if isinstance(right, SEQUENCES):
        left, right = right, left
    if isinstance(left, int) and isinstance(right, int):
        check_number(left.bit_length() + right.bit_length() - 1)
    elif isinstance(left, SEQUENCES) and isinstance(right, int):
        unit = 1 if isinstance(left, TEXTS) else ITEM
        budget.take_size(unit * len(left) * max(0, right), "this product")


def percent_size(pattern: str | bytes, values: Any, budget: Budget) -> int:
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
    if isinstance(value, TEXTS):
        return len(value)
    return extent_of(value, budget).characters


def length_of(value: Any) -> int:
    """0 for what has none."""
    try:
        return len(value)
    except TypeError:
        return 0


Estimate = Callable[..., int]
"""The arguments, the one in front of the dot or the bar first → at most how many characters come out."""


def wide_size(text: Any, width: Any = 80, *_: Any, **__: Any) -> int:
    """How long a text is that is filled up to a width."""
    return max(length_of(text), number_of(width))


def number_of(value: Any) -> int:
    """A width as Python would take it; a filter makes a number of nothing else."""
    return max(0, value) if isinstance(value, int) else 0


def replaced_size(text: Any, old: Any = "", new: Any = "", *_: Any, **__: Any) -> int:
    """At most how long a text is in which one part is replaced."""
    text, old = str(text), str(old)
    return len(text) + (text.count(old) if old else len(text) + 1) * len(str(new)) * 6


def _tabs(text: Any, tabsize: Any = 8) -> int:
    count: int = text.count("\t" if isinstance(text, str) else b"\t")
    return len(text) + count * number_of(tabsize)


def _pieces(text: Any, sep: Any = None, *_: Any, **__: Any) -> int:
    return ITEM * (text.count(sep) if sep else len(text) // 2 + 1)


def _translated_size(text: Any, table: Any = None, *_: Any) -> int:
    values = table.values() if isinstance(table, Mapping) else ()
    return len(text) * max((length_of(value) for value in values), default=1)


def joined_size(text: Any, values: Any = ()) -> int:
    return sum(6 * length_of(value) + length_of(text) for value in values)


METHODS: Mapping[str, Estimate] = MappingProxyType(
    {
        **dict.fromkeys(("center", "ljust", "rjust", "zfill"), wide_size),
        **dict.fromkeys(("split", "rsplit"), _pieces),
        "splitlines": lambda text, *_, **__: ITEM * (len(text) // 2 + 1),
        "replace": replaced_size,
        "expandtabs": _tabs,
        "translate": _translated_size,
        "join": joined_size,
        "to_bytes": lambda number, length=1, *_, **__: number_of(length),
    }
)
"""Method of a text, of bytes or of a number → what it makes."""


def prepare_call(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], budget: Budget
) -> tuple[Any, ...]:
    """Pay for a call of a method before it is made; its arguments, those that are read once as lists."""
    owner = getattr(function, "__self__", None)
    estimate = METHODS.get(function.__name__) if isinstance(owner, _OWNERS) else None
    for value in args:
        if is_container(value):
            extent_of(value, budget)
    for name, value in kwargs.items():
        # Jinja hands on `_loop_vars` and `_block_vars`, which no function sees
        if name[0] != "_" and is_container(value):
            extent_of(value, budget)
    if estimate:
        args = tuple(list(value) if isinstance(value, Iterator) else value for value in args)
        budget.take_size(run_estimate(estimate, owner, args, kwargs), f"{function.__name__}()")
    return args


def run_estimate(estimate: Estimate, owner: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """What an estimate says of these arguments."""
    try:
        return estimate(owner, *args, **kwargs)
    except (TypeError, AttributeError):
        # wrong arguments, which the function itself will say best
        return 0
