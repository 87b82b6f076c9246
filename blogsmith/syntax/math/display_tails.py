"""Text directly after display math that belongs to it: label and attribute in braces, and punctuation."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from ...base.diagnostics.model import Place, Reporter
from ...base.patterns import lazy_pattern
from ..records import Math
from ..references.labels import normal_id

WIDE = ("fit", "shrink", "break", "scroll")
"""Allowed values of `{wide=…}`."""
_BRACES = lazy_pattern(r"[ \t]*\{(?=[#w])(?:#([\w:.-]+))?(?:(?:(?<=\{)|[ \t]+)wide=([^\s{}]*))?[ \t]*\}")
_MYST_LABEL = lazy_pattern(r"[ \t]*\((eq:[\w:.-]+|eq-[A-Za-z][\w:.-]*)\)(?=[ \t]*(?:\n|$))")
TAIL = lazy_pattern(r"[.,;:](?=\s|$)")
"""Punctuation that is printed with the display before it."""


class DisplayTail(Struct, frozen=True):
    """Label, attribute and punctuation directly after a display."""

    pos: int
    """Index after the label, attribute and punctuation."""
    id: str = ""
    """Id from the label `{#eq:x}`, or from MyST's `(eq:x)` at the end of the line; empty if there is none."""
    label: int = 0
    """Index of the label's text."""
    wide: str = ""
    """Value of `{wide=…}` as written; empty if there is none."""
    wide_at: int = 0
    """Index of the value of `{wide=…}`."""
    tail: str = ""
    """Punctuation, or an empty string."""


def match_braces(text: str, pos: int, end: int) -> re.Match[str] | None:
    """Return the match of `{#eq:x wide=scroll}` at `pos`, or None. Its groups are the label and the value;
    each may be None."""
    return _BRACES.match(text, pos, end)


def read_display_tail(text: str, pos: int, end: int) -> DisplayTail:
    """Return the label, attribute and punctuation directly after a display."""
    braces = match_braces(text, pos, end)
    found = braces or _MYST_LABEL.match(text, pos, end)
    pos = found.end() if found else pos
    punctuation = TAIL.match(text, pos, end)
    tail = punctuation[0] if punctuation else ""
    pos += len(tail)
    if found is None:
        return DisplayTail(pos, tail=tail)
    name, at = (normal_id(found[1]), found.start(1)) if found[1] else ("", 0)
    wide, wide_at = (braces[2], braces.start(2)) if braces and braces[2] is not None else ("", 0)
    return DisplayTail(pos, name, at, wide, wide_at, tail)


def add_tail(math: Math, after: DisplayTail, place: Callable[[int, int], Place], reporter: Reporter) -> Math:
    """Return the display with its label, attribute and punctuation. Report an unknown value of `{wide=…}`.
    place: maps an index and a length in the text to a position."""
    wide = after.wide
    if wide and wide not in WIDE:
        at = place(after.wide_at, len(wide))
        near = reporter.nearest(wide, WIDE)
        message = f'invalid wide "{wide}": expected fit, shrink, break or scroll'
        hint = f"write `{{wide={near or 'scroll'}}}`"
        reporter.error("attribute", message, at, hint, reporter.correct(at, wide, near))
        wide = ""
    return Math(
        math.tex,
        math.display,
        math.origin,
        after.id,
        after.tail,
        label_place=place(after.label, len(after.id)) if after.id else None,
        wide=wide,
        is_phrasing=math.is_phrasing,
    )
