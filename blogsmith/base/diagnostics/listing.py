"""The list of all errors and warnings of a site, as printed on a terminal.

No finding is left out. A short list shows each finding with its source line and hint; equal findings share
one block that names every location. A long list has one line for each finding, grouped by file, and only the
first few have source line and hint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TextIO, TypeVar

from .codes import RECORD_CODES
from .counts import count_line, plural
from .format import format_diagnostic, format_headline, format_location
from .model import Diagnostic, Severity, sort_key

Item = TypeVar("Item")

MAX_BLOCKS = 40
"""Maximum number of blocks of a short list, which shows source line and hint of each."""
FIRST_BLOCKS = 10
"""Number of findings at the top of a long list that have source line and hint."""
MAX_UNGROUPED = 3
"""Maximum number of equal findings that get a block each; more of them share one."""


def print_diagnostics(
    diagnostics: Iterable[Diagnostic], stream: TextIO, color: bool, *, full: bool = False
) -> None:
    """Print findings sorted by file and location, then their number; for a long list also a count per code.
    Warnings about recorded results come last. full: print source line and hint of every finding."""
    ordered = sorted(diagnostics, key=lambda found: (found.code in RECORD_CODES, sort_key(found)))
    lines = format_list(ordered, color=color, full=full)
    if len(ordered) > MAX_BLOCKS and not full:
        lines += [*_count_codes(ordered), "add --full to show the source line and hint of each"]
    if ordered:
        lines.append(count_line(ordered))
    for line in lines:
        print(line, file=stream)


def format_list(ordered: Sequence[Diagnostic], *, color: bool, full: bool = False) -> list[str]:
    """Return the entries to print, in the order given. An entry may have several lines."""
    if full:
        return [format_diagnostic(found, color=color) for found in ordered]
    if len(ordered) <= MAX_BLOCKS:
        return [_format_group(group, color) for group in _group(ordered)]
    different: dict[tuple[str, str, str], Diagnostic] = {}
    for found in ordered:
        different.setdefault(_group_key(found), found)
    first = choose_first([*different.values()], FIRST_BLOCKS, lambda found: found.severity)
    is_first = set(map(id, first))
    return [
        format_diagnostic(found, color=color)
        if id(found) in is_first
        else format_headline(found, color=color)
        for found in ordered
    ]


def choose_first(items: Sequence[Item], most: int, severity: Callable[[Item], Severity]) -> list[Item]:
    """Return at most `most` items, errors before warnings. If there are too many, up to a third of the places
    is for warnings; places that errors leave free go to warnings too. severity: returns the severity of an
    item."""
    errors = [item for item in items if severity(item) == "error"]
    warnings = [item for item in items if severity(item) != "error"]
    chosen = errors[: most - min(len(warnings), most // 3)]
    return chosen + warnings[: most - len(chosen)]


def _group_key(found: Diagnostic) -> tuple[str, str, str]:
    """Return the key of a finding. Findings with the same key are equal."""
    return found.severity, found.code, found.message


def _group(ordered: Sequence[Diagnostic]) -> list[list[Diagnostic]]:
    """Return the findings in groups. More than `MAX_UNGROUPED` equal findings are one group, at the position
    of the first one. Every other finding is a group of its own."""
    equal: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for found in ordered:
        equal.setdefault(_group_key(found), []).append(found)
    groups = [
        equal[_group_key(found)] if len(equal[_group_key(found)]) > MAX_UNGROUPED else [found]
        for found in ordered
    ]
    return [group for group, found in zip(groups, ordered, strict=True) if group[0] is found]


def _format_group(group: Sequence[Diagnostic], color: bool) -> str:
    first, *others = group
    text = format_diagnostic(first, color=color)
    return f"{text}\nalso at: {', '.join(map(format_location, others))}" if others else text


def _count_codes(ordered: Sequence[Diagnostic]) -> list[str]:
    """Return one line for each code, with the number of its diagnostics. Errors come before warnings; within
    each severity, the most frequent code is first."""
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
