"""How authors write a sweep: `sweep: {d: [4, 16, 64]}`, and which of the values others see."""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator
from math import prod

from ...base.schema.forms import Form, accepts, either, list_of
from ...base.schema.slots import Slot
from ...model.sweeps import MOST_AXES, MOST_RUNS, Scalar, Sweep, SweepAxis

CODE = "cell-sweep"
_FORM = "such as sweep: {d: [4, 16, 64]}"
_LONGEST = 40
"""Characters of a value that is a text."""


_SCALAR: Form = {"type": ["boolean", "number", "string"]}
_AXIS: Form = {
    **list_of({**_SCALAR, "minLength": 1, "maxLength": _LONGEST}, least=2),
    "maxItems": MOST_RUNS,
    "uniqueItems": True,
}


@accepts(
    {
        "type": "object",
        "propertyNames": {"pattern": r"^[^\W\d]\w*$"},
        "additionalProperties": _AXIS,
        "minProperties": 1,
        "maxProperties": MOST_AXES,
    }
)
def read_sweep(slot: Slot) -> Sweep | None:
    """The axes of a sweep; mistakes are reported."""
    if not isinstance(slot.value, dict) or not slot.value:
        _wrong(slot, "a sweep is a mapping of names to lists of values", _FORM)
        return None
    if len(slot.value) > MOST_AXES:
        _wrong(slot, f"a sweep has at most {MOST_AXES} names, and this has {len(slot.value)}")
        return None
    axes = [_axis(slot.at(name), name) for name in slot.value]
    if any(axis is None for axis in axes):
        return None
    known = tuple(axis for axis in axes if axis is not None)
    count = prod(len(axis.values) for axis in known)
    if count > MOST_RUNS:
        message = f"a sweep runs at most {MOST_RUNS} times, and this would be {count}"
        _wrong(slot, message, "leave values out, or make a figure of all of them in one cell")
        return None
    return Sweep(known)


def _axis(slot: Slot, name: str) -> SweepAxis | None:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        _wrong(slot, f'"{name}" is no name of a variable', _FORM)
        return None
    if not isinstance(slot.value, list) or len(slot.value) < 2:
        _wrong(slot, f"{name} needs a list of two values or more", _FORM)
        return None
    values = list(_values(slot))
    if len(values) != len(slot.value):
        return None
    return SweepAxis(name, tuple(values))


def _values(slot: Slot) -> Iterator[Scalar]:
    seen = set[str]()
    for index, value in enumerate(slot.value):
        entry = slot.at(index)
        is_number = isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))
        if not is_number and not (isinstance(value, str) and 0 < len(value) <= _LONGEST):
            message = f"a value of a sweep is a number, true, false or a text of up to {_LONGEST} characters"
            _wrong(entry, message)
        elif str(value) in seen:
            _wrong(entry, f"{value} stands in this list twice")
        else:
            seen.add(str(value))
            yield value


@accepts(either(_SCALAR, list_of(_SCALAR), {"type": "object", "additionalProperties": _SCALAR}))
def read_default(slot: Slot) -> tuple[Scalar, ...] | None:
    """The values that `sweep-default` names, one for each axis."""
    items = slot.value
    if isinstance(items, dict):
        items = list(items.values())
    items = items if isinstance(items, list) else [items]
    if all(isinstance(item, bool | int | float | str) for item in items):
        return tuple(items)
    _wrong(slot, "sweep-default is one value for each name of the sweep", "such as sweep-default: 16")
    return None


def _wrong(slot: Slot, message: str, hint: str = "") -> None:
    slot.wrong(message, hint, code=CODE)


def default_indices(sweep: Sweep, values: tuple[Scalar, ...]) -> tuple[int, ...] | None:
    """Where the values of `sweep-default` stand in the lists; None if one of them does not."""
    if len(values) != len(sweep.axes):
        return None
    found = []
    for axis, value in zip(sweep.axes, values, strict=True):
        at = next((i for i, own in enumerate(axis.values) if repr(own) == repr(value)), None)
        if at is None:
            return None
        found.append(at)
    return tuple(found)
