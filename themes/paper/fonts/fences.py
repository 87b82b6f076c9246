"""Symbols that grow vertically in formulas: brackets, bars, upright arrows, slashes.

For a symbol that may grow, Chromium reserves the width of its widest form and centres all other forms in it.
Therefore all forms get the same width, little more than that of the smallest one. Wider forms extend beyond
it on the side away from the formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fontTools.ttLib import TTFont
from fontTools.ttLib.tables.otTables import GlyphAssembly
from glyphs import copy_glyph, get_growth, redraw, set_growth
from stretch import straight

OPENING, CLOSING = "([{⟨⌈⌊⟦⟪⦃⦅❲", ")]}⟩⌉⌋⟧⟫⦄⦆❳"
ROOM = 1.15
"""Width of a bracket, relative to that of its smallest form."""
WIDEST = 1.2
"""Maximum width of the outline, relative to that width; a wider one is condensed."""
INNER = 60
"""Maximum white space between a bracket and its content."""
TALLEST_BRACKET = 6000
"""Maximum height of a bracket; more than a matrix of four rows."""
STEP = 1.15
"""Maximum ratio between adjacent sizes of a bracket; larger gaps get a size in between.

Unlike TeX, Chromium never selects a size that is a little too short.
"""
BIG_SIZES = (1205, 1805, 2410, 3010)
r"""Sizes that `\big` and its variants request, plus a small margin: Chromium selects the first size that is
at least as large.
"""
NEAR_BIG = ((0.896, 0.94), (0.98, 1.02))
"""Ranges, relative to a size in `BIG_SIZES`, without any other size: Firefox selects the first size that is
at most a tenth too small.
"""
BARS = "|‖∣∥"
BAR_STEP = 1.1
ARROWS = "↑↓↕⇑⇓⇕⎰⎱⟮⟯"
"""Symbols that are stretched in the middle."""
ARROW_STEP = 1.12
TALLEST = 4000
"""Maximum height of a form in one piece. Where two parts of an assembly overlap, they look a little darker.
"""
STROKES = "/\\"
STROKE_ROOM = 500


def pack_brackets(font: TTFont) -> None:
    """Give brackets more sizes, and all sizes of a bracket the same width."""
    letters = font.getBestCmap()
    for sign in OPENING + CLOSING:
        name = letters[ord(sign)]
        old = get_growth(font, name, sideways=False)
        rough = [record.VariantGlyph for record in old.MathGlyphVariantRecord]
        # An angle bracket has no parts, and no straight segment.
        more = _beyond(font, rough[-1]) if old.GlyphAssembly else ()
        sizes = _with_big(font, [*_between(font, rough), *more])
        room = round(font["hmtx"][name][0] * ROOM)
        for size in sizes[1:]:
            _pack(font, [size], room, sign in OPENING)
        parts = _own_parts(font, name, old.GlyphAssembly)
        _pack(font, parts, room, sign in OPENING)
        set_growth(font, name, sizes, old.GlyphAssembly, sideways=False)


def _own_parts(font: TTFont, name: str, assembly: GlyphAssembly | None) -> list[str]:
    """Replace the parts of a symbol's assembly with copies that only it uses. Return their names."""
    records = assembly.PartRecords if assembly else []
    for record in records:
        width = font["hmtx"][record.glyph][0]
        record.glyph = copy_glyph(font, record.glyph, f"{name}.{record.glyph}", lambda _, x, y: (x, y), width)
    return list(dict.fromkeys(record.glyph for record in records))


def _between(font: TTFont, names: Sequence[str]) -> Iterator[str]:
    """Yield the names of sizes, with new ones between those that are far apart."""
    axis = font["MATH"].table.MathConstants.AxisHeight.Value
    heights = [font["glyf"][name].yMax - font["glyf"][name].yMin for name in names]
    for (small, large), (least, most) in zip(pairwise(names), pairwise(heights), strict=True):
        yield small
        if most / least > STEP:
            share = (least / most) ** 0.4

            def lower(_: int, x: int, y: int, share: float = share) -> tuple[int, int]:
                return x, round(axis + (y - axis) * share)

            yield copy_glyph(font, large, f"{large}.low", lower, font["hmtx"][large][0])
    yield names[-1]


def _with_big(font: TTFont, names: Sequence[str]) -> list[str]:
    """Return the names of sizes with those of `BIG_SIZES`, which replace sizes of nearly the same height."""
    axis = font["MATH"].table.MathConstants.AxisHeight.Value
    heights = {name: font["glyf"][name].yMax - font["glyf"][name].yMin for name in names}
    kept = [name for name in names[1:] if not _near_big(heights[name])]
    made = {}
    for big in BIG_SIZES:
        model = next((name for name in names if heights[name] >= big), names[-1])
        share = big / heights[model]

        def scale(_: int, x: int, y: int, share: float = share) -> tuple[int, int]:
            return x, round(axis + (y - axis) * share)

        made[copy_glyph(font, model, f"{names[0]}.big{big}", scale, font["hmtx"][model][0])] = big
    return [names[0], *sorted([*kept, *made], key=lambda name: made.get(name) or heights[name])]


def _near_big(height: int) -> bool:
    return any(low < height / big < high for big in BIG_SIZES for low, high in NEAR_BIG)


def _beyond(font: TTFont, name: str) -> Iterator[str]:
    """Yield the names of sizes larger than the largest one.

    The glyph is stretched where it is straight; a brace in two places, in its upper and lower half.
    """
    glyph = font["glyf"][name]
    upper = sum(straight(font, name, upright=True)) // 2
    lower = glyph.yMin + glyph.yMax - upper
    reached = height = glyph.yMax - glyph.yMin
    while reached * ARROW_STEP < TALLEST_BRACKET:
        reached = round(reached * ARROW_STEP)
        more = (reached - height) // 2

        def pull(_: int, x: int, y: int, more: int = more) -> tuple[int, int]:
            return x, y + (more if y > upper else -more if y < lower else 0)

        yield copy_glyph(font, name, f"{name}.h{reached}", pull, font["hmtx"][name][0])


def _pack(font: TTFont, names: Sequence[str], room: int, opening: bool) -> None:
    """Fit glyphs, which may be parts of one bracket, into the width `room`, close to their content."""
    if not names:
        return
    left = min(font["glyf"][name].xMin for name in names)
    right = max(font["glyf"][name].xMax for name in names)
    scale = min(1, WIDEST * room / (right - left))
    if opening:
        white = min(INNER, max(font["hmtx"][name][0] for name in names) - right)
        by = room - white - right * scale
    else:
        by = min(INNER, left) - left * scale
    for name in names:
        redraw(font, name, lambda _, x, y: (round(x * scale + by), y), room)


def raise_uprights(font: TTFont) -> None:
    """Draw bars, arrows and similar symbols in one piece, up to the maximum height."""
    letters = font.getBestCmap()
    for signs, step in ((BARS, BAR_STEP), (ARROWS, ARROW_STEP)):
        for sign in signs:
            name = letters[ord(sign)]
            parts = get_growth(font, name, sideways=False).GlyphAssembly if sign not in "⎰⎱⟮⟯" else None
            middle = sum(straight(font, name, upright=True)) // 2
            if signs is BARS:
                _lift(font, name, middle)
            sizes = [name, *_pulled(font, name, step, middle)]
            set_growth(font, name, sizes, parts, sideways=False)


def _lift(font: TTFont, name: str, middle: int) -> None:
    """Make a bar end at the same height as a bracket, so that both have one size around the same content."""
    bracket, bar = (font["glyf"][each] for each in (font.getBestCmap()[ord("⟨")], name))
    up, down = bracket.yMax - bar.yMax, bracket.yMin - bar.yMin
    copy = copy_glyph(
        font,
        name,
        f"{name}.lifted",
        lambda _, x, y: (x, y + (up if y > middle else down)),
        font["hmtx"][name][0],
    )
    font["glyf"].glyphs[name] = font["glyf"][copy]


def lengthen_strokes(font: TTFont) -> None:
    """Draw large slashes as thin and as steep as small ones. They extend beyond their width."""
    letters = font.getBestCmap()
    for sign in STROKES:
        name = letters[ord(sign)]
        glyph, points = font["glyf"][name], font["glyf"][name].coordinates
        top = next(x for x, y in points if y == glyph.yMax)
        bottom = next(x for x, y in points if y == glyph.yMin and (x < top) == (sign == "/"))
        thick = max(x for x, y in points if y == glyph.yMin) - min(x for x, y in points if y == glyph.yMin)
        lean = (glyph.xMax - glyph.xMin - thick) / (glyph.yMax - glyph.yMin) * (1 if top > bottom else -1)
        middle = (glyph.yMin + glyph.yMax) // 2
        sizes = [name, *_pulled(font, name, ARROW_STEP, middle, lean)]
        for size in sizes[1:]:
            form = font["glyf"][size]
            by = (STROKE_ROOM - form.xMin - form.xMax) // 2
            redraw(font, size, lambda _, x, y, by=by: (x + by, y), STROKE_ROOM)  # type: ignore[misc]
        set_growth(font, name, sizes, None, sideways=False)


def _pulled(font: TTFont, name: str, step: float, middle: int, lean: float = 0) -> Iterator[str]:
    """Yield the names of taller forms. Points above `middle` move up, and sideways if the line is slanted."""
    glyph = font["glyf"][name]
    height = glyph.yMax - glyph.yMin
    for reached in _heights(height, step):
        more = reached - height

        def pull(_: int, x: int, y: int, more: int = more) -> tuple[int, int]:
            return (x + round(more * lean), y + more) if y > middle else (x, y)

        yield copy_glyph(font, name, f"{name}.h{reached}", pull, font["hmtx"][name][0])


def _heights(least: int, step: float) -> list[int]:
    """Return heights above `least` in equal ratios, including `BIG_SIZES` and no others close to these."""
    heights = set(BIG_SIZES)
    height = float(least)
    while (height := height * step) < TALLEST:
        for big in BIG_SIZES:
            (low, high), _ = NEAR_BIG
            if low < height / big < high:
                height = high * big + 1
        if not _near_big(round(height)):
            heights.add(round(height))
    return sorted(heights)
