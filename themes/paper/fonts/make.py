"""Build script for the math font of the paper theme: STIX Two Math with changes for Chromium.

It writes `stix-two-math.woff`, from which a build makes subsets with the symbols of its site. It also writes
the subset with the most common symbols, so that simple sites need no subsetting. Run by hand; the README.md
in this folder says how and when. The same sources give the same bytes.
"""

from __future__ import annotations

import hashlib
import sys
from io import BytesIO
from pathlib import Path

import fences
import mend
import stretch
from fontTools.ttLib import TTFont

from blogsmith.site.math_font import COMMON, subset_font
from blogsmith.stages.fonts import cut_font

HERE = Path(__file__).parent
STEM = "stix-two-math"
UNUSED = ("fpgm", "prep", "cvt ", "gasp", "GPOS")
"""Tables to remove: hints, which are unnecessary for mathematics at any size, and kerning of text."""


def whole_font(source: Path, script: Path) -> bytes:
    """Return the changed font as WOFF.

    Not as WOFF2, whose encoding of outlines takes ten times as long to read.
    """
    # Keep the dates of the sources: the current time would give other bytes each time.
    font = TTFont(source, recalcTimestamp=False)
    for table in UNUSED:
        del font[table]
    for name in font.getGlyphOrder():
        font["glyf"][name].removeHinting()
    mend.narrow_radicals(font)
    mend.join_radicals(font)
    mend.more_radicals(font)
    mend.enlarge_primes(font)
    stretch.widen_accents(font)
    stretch.widen_braces(font)
    stretch.lengthen_lines(font)
    fences.pack_brackets(font)
    fences.raise_uprights(font)
    fences.lengthen_strokes(font)
    mend.space_as_tex(font)
    mend.add_roundhand(font, TTFont(script))
    font.flavor = "woff"
    made = BytesIO()
    font.save(made)
    return made.getvalue()


def main(source: Path, script: Path) -> None:
    """Write the whole font and the subset for simple sites, and delete older subsets."""
    font = whole_font(source, script)
    (HERE / f"{STEM}.woff").write_bytes(font)
    for old in HERE.glob(f"{STEM}-*.woff2"):
        old.unlink()
    cut = subset_font(COMMON, STEM, hashlib.sha256(font).hexdigest())
    data = cut_font(font, cut.signs)
    (HERE / f"{cut.name}.woff2").write_bytes(data)
    print(f"{STEM}.woff: {len(font)} bytes; {cut.name}.woff2: {len(cut.signs)} signs, {len(data)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
