"""How much room the ink of a formula takes on either side of the gallery.

Boxes say little: fonts have ascents of their own, KaTeX fills struts. So the picture is read: the edges of
the ink against the baseline, and the widest white in it, in em of the text around.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from PIL import Image, ImageChops

EM_PX = 16
"""Size of the text in the gallery."""
_NEAR = 6
"""Ink this far outside of a piece's box, in CSS pixels, still belongs to it."""
_INK = 40
"""How much darker or lighter than the paper a pixel of ink is, of 255."""

_WORTH_SAYING = 0.08

# One group alone, so that a picture needs no layout of all others. Side, number, left, top, right, bottom and
# baseline of each formula that was drawn.
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
    """Where a formula has ink, in em."""

    width: float
    ascent: float
    """Above the baseline."""
    depth: float
    """Below the baseline."""
    gap: float
    """Widest column of white inside."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where a formula stands in the page, in CSS pixels."""

    left: float
    top: float
    right: float
    bottom: float
    baseline: float


Key = tuple[str, int]
"""Name of the group, number of the formula in it."""


def ink(picture: Image.Image, scale: int, origin: tuple[float, float], box: Box) -> Ink | None:
    """The ink in `box` of a picture whose corner stands at `origin` of the page; None if there is none."""
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
    """Longest run of columns without ink."""
    return max(map(len, "".join("x" if column else " " for column in columns).split("x")), default=0)


# A wide formula may be wider by more: sizes are compared as ratios, the rest in em.
_MEASURES: tuple[tuple[str, Callable[[Ink], float], bool], ...] = (
    ("width", lambda ink: ink.width, True),
    ("height", lambda ink: ink.ascent + ink.depth, True),
    ("middle", lambda ink: (ink.ascent - ink.depth) / 2, False),
    ("gap", lambda ink: ink.gap, False),
)


@dataclass(frozen=True, slots=True)
class Outlier:
    """A formula and how it differs from KaTeX's."""

    key: Key
    distance: float
    """Of the measure that is least usual: a logarithm for sizes, em for the rest."""
    said: str
    """The measures that differ, KaTeX's value and ours."""


def outliers(theirs: Mapping[Key, Ink], ours: Mapping[Key, Ink]) -> list[Outlier]:
    """All formulas, the least usual first; usual is the median over all."""
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
    # the half em keeps a dot that is a little larger from being the worst of all
    return math.log((ours + 0.5) / (theirs + 0.5)) if is_size else ours - theirs


def _said(distances: Mapping[str, float], theirs: Ink, ours: Ink) -> str:
    return ", ".join(
        f"{name} {of(theirs):.2f}→{of(ours):.2f}"
        for name, of, _ in _MEASURES
        if distances[name] >= max(_WORTH_SAYING, max(distances.values()) / 3)
    )
