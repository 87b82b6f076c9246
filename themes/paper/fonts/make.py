"""Makes `../static/fonts/stix-two-math.woff2`: STIX Two Math with the signs that posts use.

Two outlines are changed for Chromium, which reserves for every root the width of the widest radical sign
(so the larger ones become as narrow as the smallest) and does not ask a font for script forms (so a prime
is drawn at the size and height that it needs as a superscript).

Run by hand when `RANGES`, `SIGNS` or the source change; README.md beside this file says how. The result
is committed, so a build of a site needs neither network nor fontTools. Same source, same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import GlyphCoordinates

Point = tuple[int, int]

TARGET = Path(__file__).parent.parent / "static" / "fonts" / "stix-two-math.woff2"
LIMIT = 60_000
"""Bytes; what a reader may have to load before formulas look right."""
PRIME_HEIGHT = 520
"""Thousandths of an em."""

RANGES = (
    (0x20, 0x7E),  # function names and \text
    (0x0393, 0x03C9),  # upright Greek
    (0x1D400, 0x1D467),  # bold, italic
    (0x1D49C, 0x1D4B5),  # script capitals
    (0x1D538, 0x1D550),  # double-struck capitals
    (0x1D6A4, 0x1D6A5),  # dotless i, j
    (0x1D6C2, 0x1D6DA),  # bold Greek
    (0x1D6E4, 0x1D71B),  # italic Greek
    (0x1D73D, 0x1D73D),  # bold italic theta
    (0x1D7CE, 0x1D7D7),  # bold digits
    (0x1D7D9, 0x1D7D9),  # double-struck 1
)
SIGNS = (
    " ¬±·×÷ħıȷϕϵϑϱϖ"
    "†‡•…‖‘’“”–—′″‴⁄\u2061\u2062\u2063\u2064"
    "ℂℋℐℒℕℙℚℛℜℝℤℬℰℱℳℎℏℑℓ℘ℵ"
    "←↑→↓↔↕↖↗↘↙↛↠↣↤↦↩↪↼⇀⇄⇆⇌⇋⇐⇑⇒⇓⇔⇝⟂⟵⟶⟷⟸⟹⟺⟼"
    "∀∂∃∄∅∆∇∈∉∋∏∐∑−∓∖∗∘∙√∝∞∠∣∤∥∦∧∨∩∪∫∬∭∮∴∵∶∼∽≀≃≄≅≇≈≉≍≐≔≕≜≝≟≠≡≢≤≥≦≧≨≩≪≫≮≯≰≱≲≳"
    "≺≻≼≽⊂⊃⊄⊅⊆⊇⊈⊉⊊⊋⊎⊏⊐⊑⊒⊓⊔⊕⊖⊗⊘⊙⊞⊟⊠⊡⊢⊣⊤⊥⊨⊩⊲⊳⊴⊵⋀⋁⋂⋃⋄⋅⋆⋈⋮⋯⋰⋱⩽⩾⪯⪰"
    "⌈⌉⌊⌋⟦⟧⟨⟩∎⏞⏟⎴⎵⏜⏝□■▲△▽◁▷○●★⨀⨁⨂"
    "ˆˇˉ˘˙˚˜´`¨¯\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030c\u0332\u0338\u20d6\u20d7"
)
LAYOUT = ["ccmp", "dtls", "flac", "ssty", "math"]
"""Features to keep where the source has them: scripts' own forms, dotless and flattened accents."""
NAMES = [0, 1, 2, 3, 4, 5, 6, 13, 14]
"""Copyright, names, version and licence stay in the font."""


def wanted() -> set[int]:
    """Code points of the subset."""
    letters = {code for first, last in RANGES for code in range(first, last + 1)}
    return letters | {ord(sign) for sign in SIGNS}


def subset(font: TTFont) -> None:
    """Leave in `font` what formulas need: its MATH table whole, no hints, no kerning of text."""
    options = Options(layout_features=LAYOUT, name_IDs=NAMES, hinting=False, glyph_names=False)
    options.notdef_outline = True
    options.drop_tables += ["GPOS"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=wanted())
    subsetter.subset(font)


def narrow_radicals(font: TTFont) -> None:
    """Give all forms of the radical sign the width of the smallest."""
    smallest = font.getBestCmap()[ord("√")]
    width, overlap = font["hmtx"][smallest][0], font["glyf"][smallest].xMax
    variants = font["MATH"].table.MathVariants
    index = variants.VertGlyphCoverage.glyphs.index(smallest)
    construction = variants.VertGlyphConstruction[index]
    larger = [record.VariantGlyph for record in construction.MathGlyphVariantRecord][1:]
    for name in larger:
        _slim(font, name, width, overlap)
    for part in construction.GlyphAssembly.PartRecords:
        _shift_stem(font, part.glyph, width, overlap)


def _slim(font: TTFont, name: str, width: int, overlap: int) -> None:
    """Squeeze a slanted radical; the outer edge of its long stroke moves out to keep the stroke's weight."""
    scale = overlap / font["glyf"][name].xMax
    # the outline begins at the inner top, then bar, outer top, outer bottom
    stroke = font["glyf"][name].coordinates[3][0] - font["glyf"][name].coordinates[0][0]
    kept = round(stroke * (1 - scale))

    def slim(number: int, point: Point) -> Point:
        return round(point[0] * scale) + (kept if number in (3, 4) else 0), point[1]

    _redraw(font, name, slim, width)


def _shift_stem(font: TTFont, name: str, width: int, overlap: int) -> None:
    """Move the upright stem of a very tall radical to `width`, and squeeze the tick before it."""
    stem_left, stem_right = 845, 916

    def shift(number: int, point: Point) -> Point:
        x, y = point
        if x < stem_left:
            return round(x * (width - stem_right + stem_left) / stem_left), y
        return (x - stem_right + width, y) if x <= stem_right else (overlap, y)

    _redraw(font, name, shift, width)


def enlarge_primes(font: TTFont) -> None:
    """Draw primes as large as script forms and let them stand on the superscript's baseline."""
    for prime in "′″‴":
        name = font.getBestCmap()[ord(prime)]
        glyph = font["glyf"][name]
        scale = PRIME_HEIGHT / (glyph.yMax - glyph.yMin)
        low = glyph.yMin

        def enlarge(number: int, point: Point, scale: float = scale, low: int = low) -> Point:
            return round(point[0] * scale), round((point[1] - low) * scale)

        _redraw(font, name, enlarge, round(font["hmtx"][name][0] * scale))


def _redraw(font: TTFont, name: str, move: Callable[[int, Point], Point], width: int) -> None:
    glyph = font["glyf"][name]
    glyph.coordinates = GlyphCoordinates([move(n, point) for n, point in enumerate(glyph.coordinates)])
    glyph.recalcBounds(font["glyf"])
    font["hmtx"][name] = (width, glyph.xMin)


def main(source: Path) -> int:
    """Write the subset of the font at `source`; 1 if it is larger than `LIMIT`."""
    # the source's own date stays: a clock would give other bytes each time
    font = TTFont(source, recalcTimestamp=False)
    subset(font)
    narrow_radicals(font)
    enlarge_primes(font)
    font.flavor = "woff2"
    TARGET.parent.mkdir(exist_ok=True)
    font.save(TARGET)
    size = TARGET.stat().st_size
    print(f"{TARGET.name}: {len(font.getGlyphOrder())} glyphs, {size} bytes")
    return int(size > LIMIT)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
