"""Counts as phrases, such as "2 errors".

Every start of the program loads this module, so it imports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .model import Diagnostic


def plural(count: int, word: str) -> str:
    """Return `1 page` or `2 pages`, with commas between thousands."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def count_line(diagnostics: Iterable[Diagnostic]) -> str:
    """Return `2 errors, 1 warning` without zero counts; empty if there are no diagnostics."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    counts = [(severities.count("error"), "error"), (severities.count("warning"), "warning")]
    return ", ".join(plural(count, word) for count, word in counts if count)


def first_names(names: Sequence[str], most: int) -> str:
    """Return `a, b and 3 more`: at most `most` names and the number of the others."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{rest}"
