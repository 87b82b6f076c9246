"""Changes to STIX Two Math for formulas in Chromium; each function fixes one problem."""

from __future__ import annotations

from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from glyphs import Move, add, copy_glyph, get_growth, redraw, scaled, set_growth

ROUNDHAND = 0xFE01
"""Variation selector for the other script alphabet, which Unicode calls roundhand."""
PRIME_HEIGHT, PRIME_SPACE = 520, 30
RADICAL_BAR = 55
"""Thickness of the bar of a root and of a fraction.

Chromium draws whole pixels: at 18 px per em this is one pixel, or two on finer screens, and hardly ever
more.
"""
RADICAL_SIZES = tuple(round(955 * 1.0775**step) for step in range(19))
SMALL_RADICAL = 950
"""Heights of the radical sign. Chromium places excess height below the root; TeX and Firefox split it."""
CONSTANTS = {
    "ScriptPercentScaleDown": 70,
    "ScriptScriptPercentScaleDown": 50,
    # Chromium also applies these to letters, TeX only to taller or deeper content.
    "SubscriptBaselineDropMin": -60,
    "SuperscriptBaselineDropMax": 410,
    "SuperscriptShiftUp": 365,
    "SuperscriptShiftUpCramped": 290,
    "SpaceAfterScript": 56,
    "FractionRuleThickness": RADICAL_BAR,
    "FractionNumeratorShiftUp": 425,
    "FractionDenominatorShiftDown": 370,
    "FractionNumeratorGapMin": RADICAL_BAR,
    "FractionDenominatorGapMin": RADICAL_BAR,
    "FractionNumeratorDisplayStyleShiftUp": 690,
    "FractionDenominatorDisplayStyleShiftDown": 700,
    "RadicalRuleThickness": RADICAL_BAR,
    "RadicalVerticalGap": 170,
    "RadicalDisplayStyleVerticalGap": 170,
    # Firefox does not support it.
    "RadicalExtraAscender": 0,
    # Chromium applies these to everything above or below except for large operators, Firefox applies the
    # limits'.
    "OverbarExtraAscender": 0,
    "UnderbarExtraDescender": 0,
    "OverbarVerticalGap": 190,
    "UnderbarVerticalGap": 175,
    "LowerLimitGapMin": 165,
    "LowerLimitBaselineDropMin": 560,
    # Content above an arrow is as close to it as content below.
    "UpperLimitGapMin": 155,
    "UpperLimitBaselineRiseMin": 220,
    "StretchStackTopShiftUp": 310,
    "StretchStackBottomShiftDown": 660,
}
"""Positions of the parts of a formula: nearly as in Computer Modern, whose x is a tenth smaller."""


def narrow_radicals(font: TTFont) -> None:
    """Give all forms of the radical sign the width of the smallest.

    For every root, Chromium reserves the width of the widest form in the font.
    """
    smallest = font.getBestCmap()[ord("√")]
    width, overlap = font["hmtx"][smallest][0], font["glyf"][smallest].xMax
    variants = font["MATH"].table.MathVariants
    construction = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(smallest)]
    for record in construction.MathGlyphVariantRecord[1:]:
        _slim(font, record.VariantGlyph, width, overlap)
    for part in construction.GlyphAssembly.PartRecords:
        _shift_stem(font, part.glyph, width, overlap)


def join_radicals(font: TTFont) -> None:
    """Make the long stroke of a root end where its bar starts.

    Chromium draws the bar half its thickness too high, which is visible where both meet.
    """
    root = font.getBestCmap()[ord("√")]
    variants = font["MATH"].table.MathVariants
    construction = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
    width = font["hmtx"][root][0]
    for record in construction.MathGlyphVariantRecord:
        points = font["glyf"][record.VariantGlyph].coordinates
        # As in `_slim`: outer top, the two points at the start of the bar, inner top.
        moved = width - points[3][0]
        low = points[0][1] - RADICAL_BAR // 2
        joined = {0: (points[0][0] + moved, points[0][1]), 2: (points[2][0], low), 3: (width, low)}
        redraw(font, record.VariantGlyph, lambda n, x, y, to=joined: to.get(n, (x, y)), width)  # type: ignore[misc]
    top = construction.GlyphAssembly.PartRecords[-1].glyph
    high = font["glyf"][top].yMax
    inner = high - RADICAL_BAR // 2
    redraw(font, top, lambda _, x, y: (x, inner) if 0 < y < high else (x, y), width)


def _slim(font: TTFont, name: str, width: int, overlap: int) -> None:
    """Condense a slanted radical. The outer edge of its long stroke moves out to keep the stroke's weight."""
    scale = overlap / font["glyf"][name].xMax
    # The outline starts at the inner top, followed by bar, outer top and outer bottom.
    stroke = font["glyf"][name].coordinates[3][0] - font["glyf"][name].coordinates[0][0]
    kept = round(stroke * (1 - scale))
    redraw(font, name, lambda n, x, y: (round(x * scale) + (kept if n in (3, 4) else 0), y), width)


def _shift_stem(font: TTFont, name: str, width: int, overlap: int) -> None:
    """Move the upright stem of a very tall radical to `width`, and condense the tick before it."""
    stem_left, stem_right = 845, 916

    def shift(number: int, x: int, y: int) -> tuple[int, int]:
        if x < stem_left:
            return round(x * (width - stem_right + stem_left) / stem_left), y
        return (x - stem_right + width, y) if x <= stem_right else (overlap, y)

    redraw(font, name, shift, width)


def more_radicals(font: TTFont) -> None:
    """Give the radical sign many sizes.

    They are made from the next larger or the largest one, scaled vertically below its bar.
    """
    name = font.getBestCmap()[ord("√")]
    old = get_growth(font, name, sideways=False)
    rough = [record.VariantGlyph for record in old.MathGlyphVariantRecord]
    heights = [font["glyf"][each].yMax - font["glyf"][each].yMin for each in rough]
    sizes = []
    for height in RADICAL_SIZES:
        model = next((each for each, tall in zip(rough, heights, strict=True) if tall >= height), rough[-1])
        sizes.append(
            copy_glyph(font, model, f"{name}.h{height}", _pressed(font, model, height), font["hmtx"][name][0])
        )
    redraw(font, name, _pressed(font, name, SMALL_RADICAL), font["hmtx"][name][0])
    set_growth(font, name, [name, *sizes], old.GlyphAssembly, sideways=False)


def _pressed(font: TTFont, name: str, height: int) -> Move:
    """Return a move to another height of a radical sign. The joint with its bar is unchanged."""
    top, low = font["glyf"][name].yMax, font["glyf"][name].yMin
    joint = top - RADICAL_BAR
    share = (height - RADICAL_BAR) / (joint - low)
    return lambda _, x, y: (x, y if y >= joint else round(joint - (joint - y) * share))


def enlarge_primes(font: TTFont) -> None:
    """Draw primes as large as their script forms, on the baseline of superscripts.

    Chromium does not use script forms, and this font no longer has them.
    """
    for prime in "′″‴⁗":
        name = font.getBestCmap()[ord(prime)]
        glyph = font["glyf"][name]
        low, scale = glyph.yMin, PRIME_HEIGHT / (glyph.yMax - glyph.yMin)
        redraw(font, name, scaled(scale, scale, low), 0)
        left, width = glyph.xMin - PRIME_SPACE, glyph.xMax - glyph.xMin + 2 * PRIME_SPACE
        redraw(font, name, lambda _, x, y, left=left: (x - left, y), width)  # type: ignore[misc]


def space_as_tex(font: TTFont) -> None:
    """Set the values of `CONSTANTS`."""
    constants = font["MATH"].table.MathConstants
    for name, value in CONSTANTS.items():
        old = getattr(constants, name)
        if isinstance(old, int):
            setattr(constants, name, value)
        else:
            old.Value = value


def add_roundhand(font: TTFont, script: TTFont) -> None:
    r"""Copy the letters of `\mathscr` from `script`, another version of the same family.

    The font's own script letters are calligraphic, as for `\mathcal`.
    """
    letters, outlines = script.getBestCmap(), script.getGlyphSet()
    table = next(table for table in font["cmap"].tables if table.format == 14)
    pairs = []
    for code in sorted(letters):
        if code in range(0x1D49C, 0x1D4D0) or chr(code) in "ℬℰℱℋℐℒℳℛℯℊℴ":
            pen = TTGlyphPen(None)
            outlines[letters[code]].draw(Cu2QuPen(pen, max_err=0.6, reverse_direction=True))
            name = f"{font.getBestCmap()[code]}.roundhand"
            add(font, name, pen.glyph(), outlines[letters[code]].width)
            pairs.append((code, name))
    table.uvsDict = {**table.uvsDict, ROUNDHAND: pairs}
