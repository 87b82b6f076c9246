"""How many there are of something, in words. Said at each start, so it imports nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .model import Diagnostic


def plural(count: int, word: str) -> str:
    """`1 page`, `2 pages`; thousands are set apart with commas."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def count_line(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`, leaving out what there is none of; empty for none at all."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    counts = [(severities.count("error"), "error"), (severities.count("warning"), "warning")]
    return ", ".join(plural(count, word) for count, word in counts if count)


def first_names(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`; not more than `most` of them by name."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{rest}"
