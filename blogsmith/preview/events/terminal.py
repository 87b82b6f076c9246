"""Terminal output of the preview, with one line for each change, and each diagnostic once.

Two diagnostics with the same message and file are the same diagnostic, even if the location differs, for
example because the author typed text before it.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...base.diagnostics.counts import count_line, plural
from ...base.diagnostics.format import printable
from ...base.diagnostics.listing import format_list
from ...base.diagnostics.model import Diagnostic, sort_key
from ...base.patterns import lazy_pattern
from ...model.units import format_duration
from ...project.report import Counts

_TIMED = lazy_pattern(r"(?:\d\d:){2}\d\d (.*?): [^\n]*")


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """Data of the line about saved files and the resulting changes."""

    time: dt.datetime
    """Time when the save was detected, in the time zone that is shown."""
    paths: Sequence[str]
    """Files relative to the site root, the most important one first."""
    pages: int
    """Number of pages with new HTML."""
    seconds: float
    """Time in seconds from the save until the last page was rendered."""
    problems: Sequence[Diagnostic] = ()
    """Current diagnostics of the whole site."""


def serving_line(url: str) -> str:
    """Return the first line, printed as soon as the server accepts requests."""
    return f"blogsmith serves {url} (press Ctrl-C to stop)"


def format_complete(counts: Counts, seconds: float, problems: Iterable[Diagnostic] = ()) -> str:
    """Return the line printed when every page is available, with `counts` of the site and the duration."""
    parts = [plural(counts.pages, "page"), plural(counts.formulas, "formula")]
    if counts.cells:
        parts.append(plural(counts.cells, "cell"))
    drafts = f"{plural(counts.drafts, 'draft')} left out" if counts.drafts else ""
    scheduled = f"{len(counts.scheduled):,} scheduled" if counts.scheduled else ""
    expired = f"{counts.expired:,} expired" if counts.expired else ""
    left_out = ", ".join(filter(None, (drafts, expired, scheduled)))
    return f"{', '.join(parts)} in {format_duration(seconds)}" + _notes(left_out, count_line(problems))


def change_line(change: ChangeLine) -> str:
    """Return the line printed after a save, with time, files, number of pages, duration and number of
    diagnostics."""
    first = printable(change.paths[0]) if change.paths else "the site"
    others = f" and {len(change.paths) - 1:,} more" if len(change.paths) > 1 else ""
    came = (
        f"{plural(change.pages, 'page')} in {format_duration(change.seconds)}"
        if change.pages
        else "no page changed"
    )
    return f"{change.time:%H:%M:%S} {first}{others}: {came}" + _notes(count_line(change.problems))


def problem_lines(before: Sequence[Diagnostic], now: Sequence[Diagnostic], *, color: bool) -> list[str]:
    """Return the entries to print after a change from the diagnostics `before` to those of `now`. They are
    new errors, new warnings, and a note about fixed errors. An entry may have several lines."""
    fresh = new_problems(before, now)
    ordered = sorted(fresh, key=lambda found: (found.severity, *sort_key(found)))
    return [*format_list(ordered, color=color), *_format_fixed(before, now, fresh)]


def new_problems(before: Iterable[Diagnostic], now: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics in `now` that are not in `before`, in the order of `now`."""
    known = Counter(map(_identity, before))
    fresh = []
    for found in now:
        name = _identity(found)
        if known[name]:
            known[name] -= 1
        else:
            fresh.append(found)
    return fresh


def replaces(line: str, previous: str) -> bool:
    """Return whether a line replaces the previous line on the terminal, because both are about saves of the
    same file."""
    new, old = _TIMED.fullmatch(line), _TIMED.fullmatch(previous)
    return new is not None and old is not None and new[1] == old[1]


def _format_fixed(
    before: Sequence[Diagnostic], now: Sequence[Diagnostic], fresh: Sequence[Diagnostic]
) -> list[str]:
    """Return a line about fixed errors; no line if none was fixed. Files with new errors are left out,
    because the author is probably still typing. fresh: the new diagnostics."""
    # with swapped arguments, this returns the diagnostics that are gone
    changed = {found.path for found in fresh if found.severity == "error"}
    gone = [
        found
        for found in new_problems(now, before)
        if found.severity == "error" and found.path not in changed
    ]
    if not gone:
        return []
    what = _short(gone[0]) if len(gone) == 1 else plural(len(gone), "error")
    left = sum(found.severity == "error" for found in now)
    return [f"fixed: {what}" + _notes(f"{plural(left, 'error')} left" if left else "")]


def _short(found: Diagnostic) -> str:
    where = f"{printable(found.path)}: " if found.path else ""
    return f"{where}{printable(found.message)} [{found.code}]"


def _identity(found: Diagnostic) -> tuple[str, str, str, str]:
    return (found.severity, found.code, found.path, found.message)


def _notes(*notes: str) -> str:
    told = "; ".join(filter(None, notes))
    return f" ({told})" if told else ""
