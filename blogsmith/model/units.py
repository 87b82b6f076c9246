"""Durations, sizes and counts as people read them, used by every page, message and progress bar."""

from __future__ import annotations

_SIZES = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"))


def format_duration(seconds: float) -> str:
    """Format a duration: `under 1 ms`, `12 ms`, `1.4 s`, `42 s`, `2 min 5 s`."""
    if round(seconds * 1000) < 1:
        return "under 1 ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{rest} s"


def format_size(size_bytes: int) -> str:
    """Format a size with at least two digits and powers of ten as units: `1 byte`, `18 kB`, `9.6 MB`, `2
    GB`."""
    if size_bytes < 1000:
        return "1 byte" if size_bytes == 1 else f"{size_bytes} bytes"
    # a size that would round to the next unit uses that unit
    unit, name = next(pair for pair in _SIZES if size_bytes / pair[0] < 999.5 or pair is _SIZES[-1])
    value = size_bytes / unit
    return f"{value:.1f}".removesuffix(".0") + f" {name}" if value < 9.95 else f"{value:,.0f} {name}"


def number_to_letters(number: int) -> str:
    """Return a number as letters: 1 → a, 26 → z, 27 → aa."""
    text = ""
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("a") + letter) + text
    return text
