"""Durations and sizes as text."""

from __future__ import annotations

from blogsmith.model.units import format_duration, format_size
from tests.rows import each_row


@each_row(
    ("seconds", "text"),
    [
        *((0.0, "under 1 ms"), (0.0001, "under 1 ms"), (0.0006, "1 ms"), (0.0239, "24 ms")),
        *((0.9994, "999 ms"), (0.9996, "1.0 s"), (9.41, "9.4 s"), (9.96, "10 s"), (59.7, "1 min 0 s")),
        *((125.2, "2 min 5 s"), (60_000, "1,000 min 0 s")),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@each_row(
    ("size", "text"),
    [
        *((0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1 kB"), (1500, "1.5 kB")),
        *((9_960, "10 kB"), (17_931, "18 kB"), (999_499, "999 kB"), (999_500, "1 MB"), (9_598_218, "9.6 MB")),
        *((49_000_000, "49 MB"), (999_499_999, "999 MB"), (999_500_000, "1 GB"), (1_500_000_000, "1.5 GB")),
        (5_000_000_000_000, "5,000 GB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert format_size(size) == text
