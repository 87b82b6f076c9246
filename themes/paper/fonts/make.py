"""Makes `../static/fonts/stix-two-math.woff2`: STIX Two Math with the signs that posts use.

Run by hand when `RANGES`, `SIGNS` or the source change; README.md beside this file says how. The result
is committed, so a build of a site needs neither network nor fontTools. Same source, same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

TARGET = Path(__file__).parent.parent / "static" / "fonts" / "stix-two-math.woff2"
LIMIT = 60_000
"""Bytes; what a reader may have to load before formulas look right."""

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
    "⌈⌉⌊⌋⟦⟧⟨⟩⏞⏟⎴⎵⏜⏝□■▲△▽◁▷○●★⨀⨁⨂"
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


def main(source: Path) -> int:
    """Write the subset of the font at `source`; 1 if it is larger than `LIMIT`."""
    # the source's own date stays: a clock would give other bytes each time
    font = TTFont(source, recalcTimestamp=False)
    subset(font)
    font.flavor = "woff2"
    TARGET.parent.mkdir(exist_ok=True)
    font.save(TARGET)
    size = TARGET.stat().st_size
    print(f"{TARGET.name}: {len(font.getGlyphOrder())} glyphs, {size} bytes")
    return int(size > LIMIT)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
