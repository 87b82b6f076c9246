"""The extent of the ink of formulas on both sides of the gallery.

Boxes are not comparable, because fonts have different ascents and KaTeX adds struts. So the image is
analysed: the edges of the ink relative to the baseline, and the widest white gap in it, in em of the
surrounding text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from PIL import Image, ImageChops

EM_PX = 16
"""Font size of the text in the gallery."""
_NEAR = 6
"""Maximum distance in CSS pixels of ink outside the box of a formula that still belongs to it."""
_INK = 40
"""Minimum difference in brightness between ink and paper, of 255."""

_WORTH_SAYING = 0.08

# Shows one group alone, so that an image needs no layout of the others. Returns side, number, left, top,
# right, bottom and baseline of each formula that was drawn.
BOXES = """
for (const section of document.querySelectorAll("section")) section.hidden = section.id !== arguments[0];
return [...document.querySelectorAll("section:not([hidden]) .piece.drawn")].map(piece => {
  const bases = piece.querySelectorAll(".katex-base");
  const parts = bases.length ? [...bases] : [piece.querySelector("math, .katex-html")];
  const boxes = parts.map(part => part.getBoundingClientRect());
  const edge = (pick, side) => pick(...boxes.map(box => box[side]));
  return [
    piece.closest(".ours") ? "ours" : "katex",
    Number(piece.dataset.number),
    edge(Math.min, "left"),
    edge(Math.min, "top") + scrollY,
    edge(Math.max, "right"),
    edge(Math.max, "bottom") + scrollY,
    piece.querySelector(".foot").getBoundingClientRect().bottom + scrollY,
  ];
});
"""


@dataclass(frozen=True, slots=True)
class Ink:
    """Extent of the ink of a formula, in em."""

    width: float
    ascent: float
    """Height above the baseline."""
    depth: float
    """Depth below the baseline."""
    gap: float
    """Widest column of white inside."""


@dataclass(frozen=True, slots=True)
class Box:
    """Box of a formula in the page, in CSS pixels."""

    left: float
    top: float
    right: float
    bottom: float
    baseline: float


Key = tuple[str, int]
"""Name of the group, and number of the formula in it."""


def ink(picture: Image.Image, scale: int, origin: tuple[float, float], box: Box) -> Ink | None:
    """Return the ink in `box`; None if there is none.

    The corner of the image is at `origin` of the page.
    """
    left, top = (box.left - origin[0] - _NEAR) * scale, (box.top - origin[1] - _NEAR) * scale
    right, bottom = (box.right - origin[0] + _NEAR) * scale, (box.bottom - origin[1] + _NEAR) * scale
    cut = picture.crop((round(left), max(0, round(top)), round(right), round(bottom))).convert("RGB")
    paper = Image.new("RGB", cut.size, picture.convert("RGB").getpixel((0, 0)))
    difference = ImageChops.difference(cut, paper).convert("L").point(lambda value: 255 * (value > _INK))
    edges = difference.getbbox()
    if edges is None:
        return None
    columns, _ = difference.crop(edges).getprojection()
    em = EM_PX * scale
    base = (box.baseline - origin[1]) * scale - max(0, round(top))
    start, highest, end, lowest = edges
    return Ink((end - start) / em, (base - highest) / em, (lowest - base) / em, _widest(columns) / em)


def _widest(columns: Sequence[int]) -> int:
    """Return the length of the longest run of columns without ink."""
    return max(map(len, "".join("x" if column else " " for column in columns).split("x")), default=0)


# Name, value, and whether values are compared as ratios, because larger formulas may differ by more; the
# rest is compared in em.
_MEASURES: tuple[tuple[str, Callable[[Ink], float], bool], ...] = (
    ("width", lambda ink: ink.width, True),
    ("height", lambda ink: ink.ascent + ink.depth, True),
    ("middle", lambda ink: (ink.ascent - ink.depth) / 2, False),
    ("gap", lambda ink: ink.gap, False),
)


@dataclass(frozen=True, slots=True)
class Outlier:
    """A formula and its difference from KaTeX's."""

    key: Key
    distance: float
    """Largest unusual difference: a logarithm for sizes, em for the rest."""
    said: str
    """The measures that differ, with KaTeX's value and ours."""


def outliers(theirs: Mapping[Key, Ink], ours: Mapping[Key, Ink]) -> list[Outlier]:
    """Return all formulas, the most unusual first, compared with the median over all."""
    both = [key for key in theirs if key in ours]
    distances: dict[Key, dict[str, float]] = {key: {} for key in both}
    for name, of, is_size in _MEASURES:
        values = {key: _difference(of(theirs[key]), of(ours[key]), is_size) for key in both}
        usual = median(values.values()) if values else 0.0
        for key, value in values.items():
            distances[key][name] = abs(value - usual)
    found = [
        Outlier(key, max(distances[key].values()), _said(distances[key], theirs[key], ours[key]))
        for key in both
    ]
    return sorted(found, key=lambda outlier: -outlier.distance)


def _difference(theirs: float, ours: float, is_size: bool) -> float:
    # Half an em is added so that a slightly larger dot does not become the worst formula.
    return math.log((ours + 0.5) / (theirs + 0.5)) if is_size else ours - theirs


def _said(distances: Mapping[str, float], theirs: Ink, ours: Ink) -> str:
    return ", ".join(
        f"{name} {of(theirs):.2f}→{of(ours):.2f}"
        for name, of, _ in _MEASURES
        if distances[name] >= max(_WORTH_SAYING, max(distances.values()) / 3)
    )
