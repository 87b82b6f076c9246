"""Build script for the sans and the monospaced font: subsets of Source Sans 3 and Source Code Pro.

It writes `static/fonts/paper-sans.woff2` and `paper-mono.woff2`, and `static/sans.css` and `mono.css` with
their `@font-face` rules. Run by hand; the README.md in this folder says how. The same sources give the same
bytes.
"""

from __future__ import annotations

import hashlib
import sys
from io import BytesIO
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont
from serif import STATIC, rule, still_kerning

SIGNS = frozenset((*map(chr, range(0x20, 0x7F)), *map(chr, range(0xA0, 0x100)), *"–—‘’“”„…‹›−•×→←↑↓✓"))
"""Labels and code need few letters; the system's font has the rest."""
FACES = {
    "sans": ("Paper Sans", "SourceSans3VF-Upright.ttf.woff2", "Source Sans 3.052"),
    "sans-italic": ("Paper Sans", "SourceSans3VF-Italic.ttf.woff2", "Source Sans 3.052"),
    "mono": ("Paper Mono", "SourceCodeVF-Upright.ttf.woff2", "Source Code Pro 2.042"),
}
"""Name → family, source file, and source. The licence reserves the name “Source”."""
WEIGHTS = (400, 600)


def cut(source: Path, family: str, origin: str) -> bytes:
    """Return the font as WOFF2."""
    # Keep the date of the source: the current time would give other bytes each time.
    font = TTFont(source, recalcTimestamp=False)
    instantiateVariableFont(font, {"wght": WEIGHTS}, inplace=True)
    for glyph in font.getGlyphOrder():
        # The subsetter expects an entry for every glyph, also for those that no weight changes.
        font["gvar"].variations.setdefault(glyph, [])
    if "GPOS" in font:
        still_kerning(font)
    options = Options(layout_features=["kern", "tnum"], name_IDs=[0, 1, 2, 3, 4, 6, 13, 14], hinting=False)
    options.glyph_names = False
    options.drop_tables = [*options.drop_tables, "BASE", "MVAR", "STAT"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=map(ord, SIGNS))
    subsetter.subset(font)
    style = "Italic" if "Italic" in source.name else "Regular"
    full = f"{family} {style}"
    names = {1: family, 2: style, 3: f"{full}, from {origin}", 4: full, 6: full.replace(" ", "")}
    for number, text in names.items():
        font["name"].setName(text, number, 3, 1, 0x409)
    font.flavor = "woff2"
    made = BytesIO()
    font.save(made)
    return made.getvalue()


def main(sources: list[Path]) -> None:
    """Write both fonts and their stylesheets. sources: the files of `FACES`, in any folders."""
    files = {path.name: path for path in sources}
    sheets: dict[str, list[str]] = {}
    for name, (family, file, origin) in FACES.items():
        data = cut(files[file], family, origin)
        (STATIC / "fonts" / f"paper-{name}.woff2").write_bytes(data)
        print(f"paper-{name}.woff2: {len(data)} bytes")
        source = f'url("fonts/paper-{name}.woff2?v={hashlib.sha256(data).hexdigest()[:8]}") format("woff2")'
        kind, _, slant = name.partition("-")
        made = rule(family, source, slant or "roman", "400 600", {"font-display": "optional"})
        sheets.setdefault(kind, []).append(made)
    for kind, rules in sheets.items():
        text = f"/* Made by fonts/interface.py; licence: fonts/OFL-paper-{kind}.txt */\n\n" + "\n".join(rules)
        (STATIC / f"{kind}.css").write_text(text, "utf-8")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
