"""The list of all that is wrong, as an author reads it: calm, however much it is.

What stands at many places for one reason is told once, with a count and the first places. Of a code with very
many reasons the first are told, and what is left is counted: no code crowds out another, and warnings stand
beside errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TextIO, TypeVar

from msgspec import Struct

from .codes import RECORD_CODES
from .counts import count_line, plural
from .format import format_diagnostic, format_location
from .model import Diagnostic, Severity, sort_key

Item = TypeVar("Item")

MAX_BLOCKS = 40
"""Findings of which all are printed; where there are more, of each code only the first."""
FIRST_BLOCKS = 3
"""Findings of one code that are printed then."""
ALONE = 3
"""Equal findings that are printed each by itself."""
PLACES = 3
"""Places that are named of findings told together."""


class ShortList(Struct, frozen=True):
    """The first of what is wrong."""

    blocks: tuple[str, ...]
    """Each is printed by itself and may have several lines."""
    left_out: int
    """Findings that no block tells of."""


class _Group(Struct, frozen=True):
    """Findings that one line tells: of one code, for one reason."""

    members: tuple[Diagnostic, ...]

    @property
    def code(self) -> tuple[str, str]:
        """What it is counted with."""
        return self.members[0].code, self.members[0].severity


def print_diagnostics(
    diagnostics: Iterable[Diagnostic], stream: TextIO, color: bool, *, full: bool = False
) -> None:
    """Print them in the order of files and places, then what is left out by code, and a count of all.

    Warnings about recorded results come last. full: every one at its place.
    """
    ordered = sorted(diagnostics, key=lambda found: (found.code in RECORD_CODES, sort_key(found)))
    groups = [_Group((found,)) for found in ordered] if full else _group(ordered)
    shown = groups if full else _choose(groups)
    for group in shown:
        print(_format_group(group, color), file=stream)
    if len(shown) < len(ordered):
        for line in _count_codes(ordered):
            print(line, file=stream)
    if len(shown) < len(groups):
        print("some are left out here; with --full each is printed", file=stream)
    if ordered:
        print(count_line(ordered), file=stream)


def format_first(diagnostics: Iterable[Diagnostic], most: int, *, color: bool) -> ShortList:
    """At most so many blocks, errors first; a third of them is left to warnings."""
    groups = _group(sorted(diagnostics, key=sort_key))
    shown = choose_first(groups, most, lambda group: group.members[0].severity)
    told = sum(len(group.members) for group in shown)
    blocks = tuple(_format_group(group, color) for group in shown)
    return ShortList(blocks, sum(len(group.members) for group in groups) - told)


def choose_first(items: Sequence[Item], most: int, severity: Callable[[Item], Severity]) -> list[Item]:
    """At most so many, errors first; a third of them is left to warnings."""
    errors = [item for item in items if severity(item) == "error"]
    warnings = [item for item in items if severity(item) != "error"]
    chosen = errors[: most - min(len(warnings), most // 3)]
    return chosen + warnings[: most - len(chosen)]


def _group(ordered: Sequence[Diagnostic]) -> list[_Group]:
    """Equal findings together where the first of them stands, if they are many."""
    equal: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for found in ordered:
        equal.setdefault((found.severity, found.code, found.message), []).append(found)
    groups: list[_Group] = []
    for found in ordered:
        members = equal[found.severity, found.code, found.message]
        if len(members) <= ALONE:
            groups.append(_Group((found,)))
        elif members[0] is found:
            groups.append(_Group(tuple(members)))
    return groups


def _choose(groups: Sequence[_Group]) -> Sequence[_Group]:
    """Those that are printed."""
    if len(groups) <= MAX_BLOCKS:
        return groups
    chosen: list[_Group] = []
    seen: dict[tuple[str, str], int] = {}
    for group in groups:
        seen[group.code] = seen.get(group.code, 0) + 1
        if seen[group.code] <= FIRST_BLOCKS:
            chosen.append(group)
    return chosen


def _format_group(group: _Group, color: bool) -> str:
    first, *others = group.members
    text = format_diagnostic(first, color=color)
    if not others:
        return text
    named = ", ".join(map(format_location, others[: PLACES - 1]))
    more = len(others) - (PLACES - 1)
    return f"{text}\nalso at: {named} and {plural(more, 'more place')}"


def _count_codes(ordered: Sequence[Diagnostic]) -> list[str]:
    """A line for each code, the most frequent first, errors before warnings."""
    counted: dict[tuple[str, str], list[Diagnostic]] = {}
    for found in ordered:
        counted.setdefault((found.severity, found.code), []).append(found)
    rows = sorted(counted.items(), key=lambda row: (row[0][0], -len(row[1]), row[0][1]))
    return ["", *_align([_cells(severity, code, found) for (severity, code), found in rows]), ""]


def _cells(severity: str, code: str, found: Sequence[Diagnostic]) -> tuple[str, str, str]:
    files = len({one.path for one in found if one.path})
    return f"{plural(len(found), severity)}", code, f"in {plural(files, 'file')}" if files else ""


def _align(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    widths: Mapping[int, int] = {at: max(len(row[at]) for row in rows) for at in (0, 1)}
    return [f"  {row[0]:>{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip() for row in rows]
