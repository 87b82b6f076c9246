"""Reduce text fonts: letters, features, kerning and precision that nobody sees are removed.

`serif.py` and `interface.py` use it. A font has half the units of its source, 500 an em: in a heading of 40
px a unit is 0.08 px.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from fontTools.otlLib.builder import buildLookup, buildPairPosClassesSubtable, buildValue
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.ttLib.scaleUpem import scale_upem
from fontTools.varLib.iup import iup_delta_optimize

UNITS = 500
"""Units of an em."""
LEAST_KERN = 8
"""Thousandths of an em. Smaller values, and smaller differences between letters, are not visible."""
KERNED = ".,-:;'\"‘’“”()[]/–—?!…‚„«»‹›"
"""Characters that are kerned, beside letters."""
LEAST_SHIFT = 1
"""Units by which a point may miss its place in weights other than the lightest."""

Pair = tuple[str, str]


def shrink(
    font: TTFont, characters: Collection[str], features: Sequence[str], names: Mapping[int, str]
) -> bytes:
    """Return the font with these characters and OpenType features as WOFF2. names: name id → text."""
    options = Options(layout_features=[*features], name_IDs=[0, *names, 14], hinting=False)
    options.glyph_names = False
    options.drop_tables = [*options.drop_tables, "BASE", "MVAR", "STAT"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=map(ord, characters))
    subsetter.subset(font)
    if "GPOS" in font:
        limit_kerning(font)
    scale_upem(font, UNITS)
    if "gvar" in font:
        round_variations(font)
    for number, text in names.items():
        font["name"].setName(text, number, 3, 1, 0x409)
    font.flavor = "woff2"
    made = BytesIO()
    font.save(made)
    return made.getvalue()


def limit_kerning(font: TTFont) -> None:
    """Replace kerning by one table of classes: letters and punctuation, every weight like the lightest."""
    encoded = {glyph: chr(code) for code, glyph in font.getBestCmap().items()}
    glyphs = [glyph for glyph, sign in sorted(encoded.items()) if sign.isalpha() or sign in KERNED]
    kerns = {pair: kern for pair, kern in pairs(font).items() if abs(kern) >= LEAST_KERN}
    rows = alike({left: [kerns.get((left, right), 0) for right in glyphs] for left in glyphs})
    columns = alike({right: [row[place] for _, row in rows] for place, right in enumerate(glyphs)})
    classes = {
        (left, right): (buildValue({"XAdvance": round(kern)}), None)
        for right, column in columns
        for (left, _), kern in zip(rows, column, strict=True)
        if abs(kern) >= LEAST_KERN / 2
    }
    table = font["GPOS"].table
    subtable = buildPairPosClassesSubtable(classes, font.getReverseGlyphMap())
    table.LookupList.Lookup = [buildLookup([subtable])]
    for record in table.FeatureList.FeatureRecord:
        record.Feature.LookupListIndex, record.Feature.LookupCount = [0], 1


def pairs(font: TTFont) -> dict[Pair, int]:
    """Return the kerning of all pairs of glyphs, in units."""
    found: dict[Pair, int] = {}
    for lookup in font["GPOS"].table.LookupList.Lookup:
        for table in subtables(lookup):
            if table.LookupType == 2:
                for pair, value in _pairs_of(table, font.getGlyphOrder()):
                    # the first table that has a pair applies
                    found.setdefault(pair, value.XAdvance if value else 0)
    return found


def _pairs_of(table: Any, glyphs: Sequence[str]) -> Iterator[tuple[Pair, Any]]:
    if table.Format == 1:
        for left, group in zip(table.Coverage.glyphs, table.PairSet, strict=True):
            yield from (((left, record.SecondGlyph), record.Value1) for record in group.PairValueRecord)
        return
    for left in table.Coverage.glyphs:
        row = table.Class1Record[table.ClassDef1.classDefs.get(left, 0)].Class2Record
        yield from (((left, right), row[table.ClassDef2.classDefs.get(right, 0)].Value1) for right in glyphs)


def alike(rows: Mapping[str, Sequence[float]]) -> list[tuple[tuple[str, ...], list[float]]]:
    """Group glyphs whose values differ by at most `LEAST_KERN`. Return each group with its middle values."""
    groups: list[tuple[list[str], list[float], list[float]]] = []
    for glyph, row in sorted(rows.items(), key=lambda item: (-sum(map(abs, item[1])), item[0])):
        for number, (names, lows, highs) in enumerate(groups):
            low, high = list(map(min, lows, row)), list(map(max, highs, row))
            if all(most - least <= LEAST_KERN for least, most in zip(low, high, strict=True)):
                groups[number] = [*names, glyph], low, high
                break
        else:
            groups.append(([glyph], list(row), list(row)))
    return [
        (tuple(names), [(a + b) / 2 for a, b in zip(low, high, strict=True)]) for names, low, high in groups
    ]


def round_variations(font: TTFont) -> None:
    """Remove the shifts of points that follow from those of their neighbours."""
    outlines = font["glyf"]
    for glyph, variations in font["gvar"].variations.items():
        if outlines[glyph].isComposite():
            continue
        points, control = outlines._getCoordinatesAndControls(glyph, font["hmtx"].metrics)
        for variation in variations:
            if None in variation.coordinates:
                variation.calcInferredDeltas(points, list(control.endPts))
            shifts = [(round(x), round(y)) for x, y in variation.coordinates]
            variation.coordinates = iup_delta_optimize(shifts, points, list(control.endPts), LEAST_SHIFT)


def subtables(lookup: Any) -> Iterator[Any]:
    """Yield the tables of a lookup, also those of extensions."""
    for table in lookup.SubTable:
        yield getattr(table, "ExtSubTable", table)
