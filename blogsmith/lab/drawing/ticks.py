"""Positions and labels of axis ticks: three to eight numbers that are easy to read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

MOST = 8
LEAST = 3

_UNITS: Mapping[str, tuple[tuple[float, str], ...]] = MappingProxyType(
    {
        "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
        "bytes": ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
    }
)
UNITS = ("", *_UNITS)
"""Units of an axis: none, seconds, bytes."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NARROW_SPACE = "\u202f"


@dataclass(frozen=True, slots=True)
class Tick:
    """Tick of an axis."""

    value: float
    label: str


def without_dust(value: float) -> float:
    """Return 0 for a value so close to 0 that steps on an axis would be 0. Return other values unchanged."""
    return 0.0 if abs(value) < 1e-290 else value


def linear_ticks(low: float, high: float, unit: str = "") -> tuple[Tick, ...]:
    """Return ticks at multiples of 1, 2 or 5 times a power of ten, in the unit that suits the larger end."""
    factor, name = _unit_of(max(abs(low), abs(high)), unit)
    step, exponent = _step(low / factor, high / factor)
    first, last = math.ceil(low / factor / step - 1e-9), math.floor(high / factor / step + 1e-9)
    # Keep a tick at an end of the axis inside the range despite rounding.
    values = [min(max(k * step * factor, low), high) for k in range(first, last + 1)]
    largest = max(abs(first), abs(last)) * step
    labels = (_decimal(k * step, exponent, largest) for k in range(first, last + 1))
    return tuple(
        Tick(value, label if label == "0" else label + name)
        for value, label in zip(values, labels, strict=True)
    )


def log_ticks(low: float, high: float, unit: str = "", *, binary: bool = False) -> tuple[Tick, ...]:
    """Return ticks at powers of ten or two.

    A short range has ticks at their multiples, or as on a linear axis.

    low: must be above 0.
    """
    base = 2 if binary else 10
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    powers = range(first, last + 1)
    if len(powers) >= LEAST:
        every = -(-len(powers) // MOST)
        return _labelled((float(base) ** k for k in powers if k % every == 0), low, high, unit, binary)
    if not binary:
        candidates = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
        found = [value for value in candidates if low <= value <= high]
        if len(found) >= LEAST:
            return _labelled(found, low, high, unit, binary)
    return linear_ticks(low, high, unit)


def told(value: float, unit: str = "") -> str:
    """Format a value for a sentence, with three significant digits."""
    factor, name = _unit_of(abs(value), unit)
    scaled = value / factor
    if scaled == int(scaled) and abs(scaled) < 1_000_000:
        return f"{scaled:.0f}".replace("-", "−") + name
    exponent = math.floor(math.log10(abs(scaled)))
    if -4 <= exponent < 6:
        text = f"{scaled:.{max(2 - exponent, 0)}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−") + name
    # Do not divide by a power of ten, which is 0 for the smallest numbers.
    mantissa, _, power = f"{scaled:.2e}".partition("e")
    return f"{mantissa}·10{str(int(power)).translate(_SUPERSCRIPTS)}".replace("-", "−") + name


def _labelled(given: Iterable[float], low: float, high: float, unit: str, binary: bool) -> tuple[Tick, ...]:
    """Return ticks with labels in a common format."""
    values = list(given)
    if unit:
        labels = [told(value, unit) for value in values]
    elif binary:
        labels = [_power_of_two(value) for value in values]
    elif all(1e-3 <= value <= 1e4 for value in values):
        labels = [told(value) for value in values]
    else:
        labels = [_power_of_ten(value) for value in values]
    places = (min(max(value, low), high) for value in values)
    return tuple(Tick(place, label) for place, label in zip(places, labels, strict=True))


def _step(low: float, high: float) -> tuple[float, int]:
    """Return the widest step between ticks with at least four multiples in the range or, if there is none,
    with three. Also return the step's power of ten.

    Steps grow by a factor of at most 2.5, so the widest step with three multiples has at most eight.
    """
    exponent = math.floor(math.log10(high - low)) + 1
    found: tuple[float, int] | None = None
    for down in range(4):
        for multiple in (5, 2, 1):
            step = multiple * 10.0 ** (exponent - down)
            count = math.floor(high / step + 1e-9) - math.ceil(low / step - 1e-9) + 1
            if count > MOST:
                break
            if count >= LEAST:
                found = found or (step, exponent - down)
                if count > LEAST:
                    return step, exponent - down
    if found is None:
        raise ValueError(f"{low} to {high} is not a range of an axis")
    return found


def _unit_of(largest: float, unit: str) -> tuple[float, str]:
    """Return size and name of the largest unit that is not larger than the value. The name starts with a
    space."""
    units = _UNITS.get(unit)
    if units is None:
        return 1.0, ""
    fits = (one for one in units if one[0] <= largest * (1 + 1e-9))
    size, name = next(fits, units[-1]) if largest else (1.0, next(name for size, name in units if size == 1))
    return size, _NARROW_SPACE + name


def _decimal(value: float, exponent: int, largest: float) -> str:
    """Format a number.

    exponent: exponent of the step, which determines the digits shown.
    """
    if round(value / 10.0**exponent) == 0:
        return "0"
    if exponent < -4 or exponent > 5:
        power = math.floor(math.log10(largest) + 1e-9)
        mantissa = f"{value / 10.0**power:.{max(power - exponent, 0)}f}"
        return f"{mantissa}·10{str(power).translate(_SUPERSCRIPTS)}".replace("-", "−")
    return f"{value:,.{max(-exponent, 0)}f}".replace(",", _NARROW_SPACE).replace("-", "−")


def _power_of_two(value: float) -> str:
    """Format a power of two: `512`, `4096`, `16k` with k = 1024, `2⁻³`."""
    if value < 1 or value >= 2.0**30:
        return f"2{str(round(math.log2(value))).translate(_SUPERSCRIPTS)}"
    size, name = (2**20, "M") if value >= 2**20 else (2**10, "k") if value >= 2**14 else (1, "")
    return f"{value / size:.0f}{name}"


def _power_of_ten(value: float) -> str:
    power = math.floor(math.log10(value) + 1e-9)
    multiple = round(value / 10.0**power)
    if power in (0, 1):
        return str(multiple * 10**power)
    front = f"{multiple}·" if multiple > 1 else ""
    return f"{front}10{str(power).translate(_SUPERSCRIPTS)}"
