"""Reasons why a recorded result is not repeatable: another run may give other results although nothing has
changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..model.cells import CellOptions

_SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "clock": "it reads the clock",
        "code": 'it calls the C code "{}"',
        "database": 'it changes the database "{}"',
        "files": "it uses files outside the site that are not recorded",
        "network": "it uses the network",
        "processes": "it starts other Python processes",
        "program": 'it runs the program "{}"',
        "random": "it uses random numbers without a seed",
        "stopwatch": "it measures time",
        "system": 'it reads "{}" of the running system',
        "times": "it reads the times of files",
    }
)
"""Kind of a reason, as in `Uses.reasons` → message about it."""
_TIMED = "stopwatch"


def describe_reason(reason: str) -> str:
    kind, _, detail = reason.partition(" ")
    return _SENTENCES[kind].format(detail)


def undeclared_reasons(reasons: Iterable[str], options: CellOptions) -> tuple[str, ...]:
    """Return those reasons that the options of a cell do not allow. `repeatable: false` allows all reasons. A
    tolerance allows only that the cell measures times."""
    if not options.repeatable:
        return ()
    return tuple(reason for reason in reasons if not (reason == _TIMED and options.tolerance))


def repeatability_hint(reasons: Iterable[str], mark: str) -> str:
    """Return the hint about a result that is not repeatable. mark: characters that begin an option line in
    the cell's language."""
    if "random" in reasons:
        return f"write `{mark} seed: 1` in the cell, or `{mark} repeatable: false` if its result may differ"
    return f"write `{mark} repeatable: false` in the cell if its result may differ"
