"""The room that display math has on a phone, and what may be done to make it fit. Widths are in em of the
text."""

from __future__ import annotations

from msgspec import Struct

from ..base.patterns import lazy_pattern

LEAST_SCALE = 0.82
"""Smallest factor by which a display is scaled down before it is broken into lines."""
ESTIMATE_ERROR = 1.03
"""An estimated width, multiplied by this factor, is seldom less than the width of the display."""
PHONE_EM = 17.4
"""Width of a line on a phone of 360 px, minus the error of our width estimates."""
NESTED_EM = 14.6
"""Width of a line in a list or a callout on this phone."""
_PART = lazy_pattern(r";--part:([\d.]+)")
_DIGIT_EM, _PARENTHESES_EM = 0.52, 0.75


class DisplayRoom(Struct, frozen=True):
    """The room of a display, and the changes that are allowed."""

    width: float
    number: float
    """Width of the formula number beside the display; 0 if there is none."""
    wide: str
    """Allowed changes: `fit` for all, `shrink` or `break` for one of them, `scroll` for none."""


class FittedDisplay(Struct, frozen=True):
    """Display math, and the attributes of the box around it."""

    mathml: str
    attributes: str = ""
    """Attributes with widths for the theme; empty if the display fits a phone unchanged."""

    def is_scrolled(self, room: DisplayRoom) -> bool:
        """Return whether the display must be scrolled on a phone, although `room` allows changes."""
        part = _PART.search(self.attributes)
        least = 1.0 if room.wide == "break" else LEAST_SCALE
        return part is not None and least * float(part[1]) / ESTIMATE_ERROR > room.width


def find_room(wide: str, level: int, number: str) -> DisplayRoom:
    """Return the room of a display. level: number of blocks around it. number: text of its formula number."""
    width = _DIGIT_EM * len(number) + _PARENTHESES_EM if number else 0.0
    return DisplayRoom(NESTED_EM if level else PHONE_EM, width, wide)
