"""Displays on narrow screens: which are shrunk, which are broken, and what the theme needs to know for that.

A display that fits a phone is printed as it is. A wider one has line breaks, and attributes with its widths.
With them `wide.css` computes three steps: it shrinks to `LEAST_SCALE` at least, then breaks, then scrolls.
Its number moves to a line of its own if it does not fit beside the formula. Widths are in em of the text.
"""

from __future__ import annotations

from ...base.patterns import lazy_pattern
from ..displays import ESTIMATE_ERROR, LEAST_SCALE, DisplayRoom, FittedDisplay
from .display_lines import DisplayLines, break_display, measure_display

STEPS_EM = (14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 29, 32, 35, 39, 43, 48)
"""Widths of boxes below which lines and tables break: rules of `wide.css`."""
_MARKUP = lazy_pattern(r"<[^<>]*>")
_MAX_CHARACTER_EM = 1.0
_DIAGRAM = 'class="math-diagram"'
"""Part of a drawing, which has the width that it states and cannot break."""
_NUMBER_GAP_EM = 0.6


def fit_display(mathml: str, room: DisplayRoom) -> FittedDisplay:
    """Return the display with line breaks if it needs them."""
    if room.wide == "scroll" or not mathml.startswith("<math "):
        return FittedDisplay(mathml)
    inside, end = mathml.index(">") + 1, mathml.rindex("</math>")
    content = mathml[inside:end]
    beside = room.number + _NUMBER_GAP_EM if room.number else 0.0
    if _is_short(content, room.width - beside):
        return FittedDisplay(mathml)
    width = measure_display(mathml)
    if width + beside <= room.width:
        return FittedDisplay(mathml)
    kind, widest = "shrink", width
    if room.wide != "shrink" and width > room.width and _DIAGRAM not in mathml:
        broken = break_display(mathml, width, room.width)
        mathml, widest = broken.mathml, broken.widest
        kind = _kind(broken, room.wide)
    style = f"--ems:{ESTIMATE_ERROR * width:.1f}"
    if ESTIMATE_ERROR * widest > room.width:
        style += f";--part:{ESTIMATE_ERROR * widest:.1f}"
    if room.number:
        style += f";--number:{room.number:.1f}"
    if room.wide == "break":
        style += ";--least:1"
    return FittedDisplay(mathml, f' data-fit="{kind}" style="{style}"')


def _is_short(content: str, room: float) -> bool:
    """Return whether the display certainly fits, without measuring it."""
    is_text = 'em"/>' not in content and _DIAGRAM not in content
    return is_text and len(_MARKUP.sub("", content)) * _MAX_CHARACTER_EM < room


def _kind(broken: DisplayLines, wide: str) -> str:
    """Return how a display changes: words that `wide.css` selects."""
    if not broken.is_table and broken.widest >= broken.width:
        return "shrink"
    whole = broken.width * (1.0 if wide == "break" else LEAST_SCALE)
    step = _step(ESTIMATE_ERROR * (broken.with_table or whole))
    return step if broken.is_table else f"lines {step}"


def _step(width: float) -> str:
    """Return the step that is not below a width."""
    return str(next((step for step in STEPS_EM if step >= width), STEPS_EM[-1]))
