"""Changes to STIX Two Math that formulas in Chromium need; each function mends one thing.

Outlines are quadratic; lengths are thousandths of an em. A sign is made longer by cutting it where nothing
but straight horizontal lines cross: points beyond a cut move onto it, and what collapses there has no area.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables import otTables
from fontTools.ttLib.tables._g_l_y_f import Glyph, GlyphCoordinates

Move = Callable[[int, int, int], tuple[int, int]]
"""(number of the point, x, y) → where it goes."""

ROUNDHAND = 0xFE01
"""The selector after a letter that asks for the other script: Unicode calls this one roundhand."""
PRIME_HEIGHT = 520
RADICAL_BAR = 60
"""Thickness of the line over a root."""
SIZE_STEP = 1.2
"""How much longer the next size of a hat may be."""
LONGEST = 6000
"""The longest hat; the font's own ends where a sum of three letters does."""
OVERLAP = 100
"""MinConnectorOverlap of the font: neighbouring parts of a sign lie on each other at least so far."""
LABEL_HEIGHT = 510
"""How far the baseline of what stands over an arrow is above the line."""

WIDE = {
    "ˆ^": "\u0302",
    "˜~": "\u0303",
    "ˇ": "\u030c",
    "¯ˉ": "‾",
}
"""Accents beside the combining one that has their long forms."""
WIDTHLESS = "\u20db\u20dc"
"""Combining dots without a spacing twin."""
ARROWS = {
    "→": (80, 600),
    "←": (350, 850),
    "↔": (360, 590),
    "↦": (150, 600),
    "↤": (350, 790),
    "↠": (80, 390),
    "↞": (560, 860),
    "↪": (340, 600),
    "↩": (350, 610),
    "⇒": (20, 420),
    "⇐": (480, 870),
    "⇌": (350, 600),
    "⇋": (350, 600),
    "⇄": (350, 600),
    "⇆": (350, 600),
    "=": (70, 650),
}
"""Signs drawn anew for any length: x of two cuts with straight lines between them."""


def narrow_radicals(font: TTFont) -> None:
    """Give all forms of the radical sign the width of the smallest.

    Chromium reserves for every root the width of the widest form in the font.
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
    """Let the long stroke of a root end where its bar begins.

    Chromium draws the bar half its thickness too high, which shows where both lie side by side.
    """
    root = font.getBestCmap()[ord("√")]
    variants = font["MATH"].table.MathVariants
    construction = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
    width = font["hmtx"][root][0]
    for record in construction.MathGlyphVariantRecord:
        points = font["glyf"][record.VariantGlyph].coordinates
        # as in `_slim`: outer top, the two ends of the bar's beginning, inner top
        moved = width - points[3][0]
        low = points[0][1] - RADICAL_BAR // 2
        joined = {0: (points[0][0] + moved, points[0][1]), 2: (points[2][0], low), 3: (width, low)}
        _redraw(font, record.VariantGlyph, lambda n, x, y, to=joined: to.get(n, (x, y)), width)  # type: ignore[misc]
    top = construction.GlyphAssembly.PartRecords[-1].glyph
    high = font["glyf"][top].yMax
    inner = high - RADICAL_BAR // 2
    _redraw(font, top, lambda _, x, y: (x, inner) if 0 < y < high else (x, y), width)
    font["MATH"].table.MathConstants.RadicalRuleThickness.Value = RADICAL_BAR


def _slim(font: TTFont, name: str, width: int, overlap: int) -> None:
    """Squeeze a slanted radical; the outer edge of its long stroke moves out to keep the stroke's weight."""
    scale = overlap / font["glyf"][name].xMax
    # the outline begins at the inner top, then bar, outer top, outer bottom
    stroke = font["glyf"][name].coordinates[3][0] - font["glyf"][name].coordinates[0][0]
    kept = round(stroke * (1 - scale))
    _redraw(font, name, lambda n, x, y: (round(x * scale) + (kept if n in (3, 4) else 0), y), width)


def _shift_stem(font: TTFont, name: str, width: int, overlap: int) -> None:
    """Move the upright stem of a very tall radical to `width`, and squeeze the tick before it."""
    stem_left, stem_right = 845, 916

    def shift(number: int, x: int, y: int) -> tuple[int, int]:
        if x < stem_left:
            return round(x * (width - stem_right + stem_left) / stem_left), y
        return (x - stem_right + width, y) if x <= stem_right else (overlap, y)

    _redraw(font, name, shift, width)


def enlarge_primes(font: TTFont) -> None:
    """Draw primes as large as script forms and let them stand on the superscript's baseline.

    Chromium asks no font for script forms, and this one has lost them.
    """
    for prime in "′″‴⁗":
        name = font.getBestCmap()[ord(prime)]
        glyph = font["glyf"][name]
        low, scale = glyph.yMin, PRIME_HEIGHT / (glyph.yMax - glyph.yMin)
        width = round(font["hmtx"][name][0] * scale)
        _redraw(font, name, _scaled(scale, scale, low), width)


def _scaled(across: float, up: float = 1.0, low: int = 0) -> Move:
    return lambda _, x, y: (round(x * across), round((y - low) * up))


def widen_accents(font: TTFont) -> None:
    """Let spacing accents stretch as the combining ones do, in finer steps; give dots a width.

    Chromium sets an accent as a box of its own: without a width it would stand left of its letter.
    """
    letters = font.getBestCmap()
    for accents, combining in WIDE.items():
        model = _construction(font, letters[ord(combining)])
        longer = [record.VariantGlyph for record in model.MathGlyphVariantRecord[1:]]
        for accent in accents:
            sizes = [letters[ord(accent)], *(longer if model.GlyphAssembly else _with_steps(font, longer))]
            _set_construction(font, letters[ord(accent)], sizes, model.GlyphAssembly)
    for sign in WIDTHLESS:
        name = letters[ord(sign)]
        glyph = font["glyf"][name]
        left, width = glyph.xMin, glyph.xMax - glyph.xMin
        _redraw(font, name, lambda _, x, y, left=left: (x - left, y), width)  # type: ignore[misc]


def _with_steps(font: TTFont, names: Sequence[str]) -> list[str]:
    """Names of sizes with new ones between them, so that none is much longer than the one before."""
    found = [names[0]]
    for small, large in pairwise(names):
        least, most = font["hmtx"][small][0], font["hmtx"][large][0]
        steps = 1
        while (most / least) ** (1 / steps) > SIZE_STEP:
            steps += 1
        for step in range(1, steps):
            share = (least / most) ** (1 - step / steps)
            found.append(_copied(font, large, f"{large}.{step}", _scaled(share), round(most * share)))
        found.append(large)
    last, width = names[-1], font["hmtx"][names[-1]][0]
    while width < LONGEST:
        width = round(width * SIZE_STEP)
        scale = width / font["hmtx"][last][0]
        found.append(_copied(font, last, f"{last}.w{width}", _scaled(scale), width))
    return found


def mend_arrows(font: TTFont) -> None:
    """Let arrows grow to any length: Chromium refuses the font's own instructions for most."""
    for sign, (start, end) in ARROWS.items():
        name = font.getBestCmap()[ord(sign)]
        first, last = font["glyf"][name].xMin, font["glyf"][name].xMax
        room = end - start

        def cut(low: int, high: int, stretch: float = 1) -> Move:
            return lambda _, x, y: (round((min(max(x, low), high) - low) * stretch), y)

        left = _copied(font, name, f"{name}.left", cut(first, end), end - first)
        right = _copied(font, name, f"{name}.right", cut(start, last), last - start)
        # long, for where two parts lie on each other they look darker; yet every length must be had
        length = 2 * room - OVERLAP
        line = _copied(font, name, f"{name}.line", cut(start, end, length / room), length)
        assembly = otTables.GlyphAssembly()
        assembly.ItalicsCorrection = _value(0)
        assembly.PartRecords = [
            _part(left, end - first, 0, room),
            _part(line, length, room, room, extender=True),
            _part(right, last - start, room, 0),
        ]
        assembly.PartCount = len(assembly.PartRecords)
        _set_construction(font, name, [name], assembly)


def lower_labels(font: TTFont) -> None:
    """Set labels as near above an arrow as below it."""
    font["MATH"].table.MathConstants.StretchStackTopShiftUp.Value = LABEL_HEIGHT


def add_roundhand(font: TTFont, script: TTFont) -> None:
    r"""Take the letters of `\mathscr` from `script`, another cut of the same family.

    The font's own script letters are calligraphic, as `\mathcal` is.
    """
    letters, outlines = script.getBestCmap(), script.getGlyphSet()
    table = next(table for table in font["cmap"].tables if table.format == 14)
    pairs = []
    for code in sorted(letters):
        if code in range(0x1D49C, 0x1D4D0) or chr(code) in "ℬℰℱℋℐℒℳℛℯℊℴ":
            pen = TTGlyphPen(None)
            outlines[letters[code]].draw(Cu2QuPen(pen, max_err=0.6, reverse_direction=True))
            name = f"{font.getBestCmap()[code]}.roundhand"
            _add(font, name, pen.glyph(), outlines[letters[code]].width)
            pairs.append((code, name))
    table.uvsDict = {**table.uvsDict, ROUNDHAND: pairs}


def _copied(font: TTFont, name: str, copy: str, move: Move, width: int) -> str:
    """The name of a new glyph, that of `name` with every point moved."""
    if copy not in font["glyf"].glyphs:
        old, new = font["glyf"][name], Glyph()
        new.numberOfContours, new.endPtsOfContours = old.numberOfContours, list(old.endPtsOfContours)
        new.flags, new.program = old.flags, old.program
        new.coordinates = old.coordinates.copy()
        _add(font, copy, new, width)
        _redraw(font, copy, move, width)
    return copy


def _add(font: TTFont, name: str, glyph: Glyph, width: int) -> None:
    font.setGlyphOrder([*font.getGlyphOrder(), name])
    glyph.recalcBounds(font["glyf"])
    font["glyf"].glyphs[name] = glyph
    font["glyf"].glyphOrder = font.getGlyphOrder()
    font["hmtx"][name] = (width, getattr(glyph, "xMin", 0))
    font.getReverseGlyphMap(rebuild=True)


def _redraw(font: TTFont, name: str, move: Move, width: int) -> None:
    glyph = font["glyf"][name]
    points = [move(number, *point) for number, point in enumerate(glyph.coordinates)]
    glyph.coordinates = GlyphCoordinates(points)
    glyph.recalcBounds(font["glyf"])
    font["hmtx"][name] = (width, glyph.xMin)


def _construction(font: TTFont, name: str) -> otTables.MathGlyphConstruction:
    variants = font["MATH"].table.MathVariants
    return variants.HorizGlyphConstruction[variants.HorizGlyphCoverage.glyphs.index(name)]


def _set_construction(font: TTFont, name: str, sizes: Sequence[str], assembly: object) -> None:
    """Say how `name` grows sideways: its sizes, shortest first, then what is put together from parts."""
    made = otTables.MathGlyphConstruction()
    made.MathGlyphVariantRecord = []
    for size in sizes:
        record = otTables.MathGlyphVariantRecord()
        glyph = font["glyf"][size]
        record.VariantGlyph, record.AdvanceMeasurement = size, glyph.xMax - glyph.xMin + 1
        made.MathGlyphVariantRecord.append(record)
    made.VariantCount = len(made.MathGlyphVariantRecord)
    made.GlyphAssembly = assembly
    variants = font["MATH"].table.MathVariants
    names, table = variants.HorizGlyphCoverage.glyphs, variants.HorizGlyphConstruction
    rows = {**dict(zip(names, table, strict=True)), name: made}
    ordered = sorted(rows, key=font.getGlyphID)
    variants.HorizGlyphCoverage.glyphs = ordered
    variants.HorizGlyphConstruction = [rows[glyph] for glyph in ordered]
    variants.HorizGlyphCount = len(ordered)


def _part(
    glyph: str, length: int, start: int, end: int, *, extender: bool = False
) -> otTables.GlyphPartRecord:
    part = otTables.GlyphPartRecord()
    part.glyph, part.FullAdvance, part.PartFlags = glyph, length, int(extender)
    part.StartConnectorLength, part.EndConnectorLength = start, end
    return part


def _value(number: int) -> otTables.MathValueRecord:
    record = otTables.MathValueRecord()
    record.Value = number
    return record
