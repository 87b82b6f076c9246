"""Makes the math font of theme paper: STIX Two Math, whole, with what Chromium needs changed.

Writes `stix-two-math.woff`, of which a build takes the signs of its site, and beside it the cut with only
the most common ones, so that simple sites need not cut. Run by hand; README.md beside this file says how and
when. Same sources, same bytes.
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

from blogsmith.site.math_font import COMMON, font_cut_of
from blogsmith.stages.fonts import cut_font

HERE = Path(__file__).parent
STEM = "stix-two-math"
UNUSED = ("fpgm", "prep", "cvt ", "gasp", "GPOS")
"""Hints, which mathematics at any size does without, and the kerning of text."""


def whole_font(source: Path, script: Path) -> bytes:
    """The mended font as WOFF.

    Not WOFF2: that stores outlines in a way which takes ten times as long to read.
    """
    # the sources' own dates stay: a clock would give other bytes each time
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
    """Write the whole font and the cut for simple sites, and delete older cuts."""
    font = whole_font(source, script)
    (HERE / f"{STEM}.woff").write_bytes(font)
    for old in HERE.glob(f"{STEM}-*.woff2"):
        old.unlink()
    cut = font_cut_of(COMMON, STEM, hashlib.sha256(font).hexdigest())
    data = cut_font(font, cut.signs)
    (HERE / f"{cut.name}.woff2").write_bytes(data)
    print(f"{STEM}.woff: {len(font)} bytes; {cut.name}.woff2: {len(cut.signs)} signs, {len(data)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
