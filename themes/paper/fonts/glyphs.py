"""Glyphs of a TrueType font and their stretching: copying, redrawing, entries in the MATH table.

Outlines are quadratic; lengths are in thousandths of an em.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fontTools.ttLib import TTFont
from fontTools.ttLib.tables import otTables
from fontTools.ttLib.tables._g_l_y_f import Glyph, GlyphCoordinates
from fontTools.ttLib.tables.ttProgram import Program

MOST_SIZES = 20
"""Maximum number of sizes of a symbol that Chromium reads."""
Move = Callable[[int, int, int], tuple[int, int]]
"""Function that maps (number of the point, x, y) to the new position."""


def scaled(across: float, up: float = 1.0, low: int = 0) -> Move:
    """Return a move that scales by `across` and `up`, and moves the height `low` to the baseline."""
    return lambda _, x, y: (round(x * across), round((y - low) * up))


def redraw(font: TTFont, name: str, move: Move, width: int) -> None:
    """Move every point of a glyph and set its width."""
    glyph = font["glyf"][name]
    points = [move(number, *point) for number, point in enumerate(glyph.coordinates)]
    glyph.coordinates = GlyphCoordinates(points)
    glyph.recalcBounds(font["glyf"])
    font["hmtx"][name] = (width, glyph.xMin)


def copy_glyph(font: TTFont, name: str, copy: str, move: Move, width: int) -> str:
    """Create a copy of a glyph with every point moved. Return its name."""
    if copy not in font["glyf"].glyphs:
        new = Glyph()
        # Also works for a composite glyph.
        new.coordinates, ends, new.flags = font["glyf"][name].getCoordinates(font["glyf"])
        new.numberOfContours, new.endPtsOfContours = len(ends), list(ends)
        new.program = Program()
        add(font, copy, new, width)
        redraw(font, copy, move, width)
    return copy


def add(font: TTFont, name: str, glyph: Glyph, width: int) -> None:
    """Add a glyph to the font under a new name."""
    font.setGlyphOrder([*font.getGlyphOrder(), name])
    glyph.recalcBounds(font["glyf"])
    font["glyf"].glyphs[name] = glyph
    font["glyf"].glyphOrder = font.getGlyphOrder()
    font["hmtx"][name] = (width, getattr(glyph, "xMin", 0))
    font.getReverseGlyphMap(rebuild=True)


def get_growth(font: TTFont, name: str, *, sideways: bool) -> otTables.MathGlyphConstruction:
    """Return the MATH table's construction of larger forms of `name`."""
    return _growths(font, sideways)[name]


def set_growth(font: TTFont, name: str, sizes: Sequence[str], parts: object, *, sideways: bool) -> None:
    """Set the larger forms of `name`: its sizes, smallest first, then the assembly of parts."""
    if len(sizes) > MOST_SIZES:
        raise ValueError(f"{name} has {len(sizes)} sizes")
    made = otTables.MathGlyphConstruction()
    made.MathGlyphVariantRecord = [_size(font, size, sideways) for size in sizes]
    made.VariantCount, made.GlyphAssembly = len(sizes), parts
    rows = {**_growths(font, sideways), name: made}
    ordered = sorted(rows, key=font.getGlyphID)
    table, way = font["MATH"].table.MathVariants, "Horiz" if sideways else "Vert"
    getattr(table, f"{way}GlyphCoverage").glyphs = ordered
    setattr(table, f"{way}GlyphConstruction", [rows[glyph] for glyph in ordered])
    setattr(table, f"{way}GlyphCount", len(ordered))


def _growths(font: TTFont, sideways: bool) -> dict[str, otTables.MathGlyphConstruction]:
    table, way = font["MATH"].table.MathVariants, "Horiz" if sideways else "Vert"
    names = getattr(table, f"{way}GlyphCoverage").glyphs
    return dict(zip(names, getattr(table, f"{way}GlyphConstruction"), strict=True))


def _size(font: TTFont, name: str, sideways: bool) -> otTables.MathGlyphVariantRecord:
    record, glyph = otTables.MathGlyphVariantRecord(), font["glyf"][name]
    record.VariantGlyph = name
    record.AdvanceMeasurement = (glyph.xMax - glyph.xMin if sideways else glyph.yMax - glyph.yMin) + 1
    return record


def make_assembly(parts: Sequence[otTables.GlyphPartRecord]) -> otTables.GlyphAssembly:
    """Return the assembly of a symbol from parts, left to right."""
    assembly = otTables.GlyphAssembly()
    assembly.ItalicsCorrection = otTables.MathValueRecord()
    assembly.ItalicsCorrection.Value = 0
    assembly.PartRecords, assembly.PartCount = list(parts), len(parts)
    return assembly


def part(
    glyph: str, length: int, start: int, end: int, *, extender: bool = False
) -> otTables.GlyphPartRecord:
    """Return a part of an assembly. An extender may be repeated.

    start, end: Maximum overlap with the neighbouring part at each end.
    """
    record = otTables.GlyphPartRecord()
    record.glyph, record.FullAdvance, record.PartFlags = glyph, length, int(extender)
    record.StartConnectorLength, record.EndConnectorLength = start, end
    return record
