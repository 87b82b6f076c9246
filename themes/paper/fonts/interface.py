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

from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont
from serif import STATIC, mean_width, rule
from shrink import shrink

SIGNS = frozenset((*map(chr, range(0x20, 0x7F)), *map(chr, range(0xA0, 0x100)), *"–—‘’“”„…‹›−•×→←↑↓✓"))
"""Labels and code need few letters; the system's font has the rest."""
FACES = {
    "sans": ("Paper Sans", "SourceSans3VF-Upright.ttf.woff2", "Source Sans 3.052"),
    "sans-italic": ("Paper Sans", "SourceSans3VF-Italic.ttf.woff2", "Source Sans 3.052"),
    "mono": ("Paper Mono", "SourceCodeVF-Upright.ttf.woff2", "Source Code Pro 2.042"),
}
"""Name → family, source file, and source. The licence reserves the name “Source”."""
WEIGHTS = (400, 600)
SYSTEM = ("Helvetica Neue", "Arial", "Liberation Sans", "Arimo")
"""System fonts of equal width, which readers with a slow network have on the first page."""
SYSTEM_WIDTHS = {400: 0.4409, 600: 0.4767}
"""Their `mean_width`, measured on Liberation Sans; 600: of the bold."""


def cut(source: Path, family: str, origin: str) -> bytes:
    """Return the font as WOFF2."""
    # Keep the date of the source: the current time would give other bytes each time.
    font = TTFont(source, recalcTimestamp=False)
    instantiateVariableFont(font, {"wght": WEIGHTS}, inplace=True)
    for glyph in font.getGlyphOrder():
        # The subsetter expects an entry for every glyph, also for those that no weight changes.
        font["gvar"].variations.setdefault(glyph, [])
    style = "Italic" if "Italic" in source.name else "Regular"
    full = f"{family} {style}"
    names = {1: family, 2: style, 3: f"{full}, from {origin}", 4: full, 6: full.replace(" ", "")}
    return shrink(font, SIGNS, ("kern", "tnum"), names)


def style_sheets(fonts: dict[str, bytes]) -> dict[str, str]:
    """Return the stylesheets `sans` and `mono`. fonts: name in `FACES` → font file."""
    sheets: dict[str, list[str]] = {}
    for name, data in fonts.items():
        source = f'url("fonts/paper-{name}.woff2?v={hashlib.sha256(data).hexdigest()[:8]}") format("woff2")'
        kind, _, slant = name.partition("-")
        made = rule(FACES[name][0], source, slant or "roman", "400 600", {"font-display": "optional"})
        sheets.setdefault(kind, []).append(made)
    for weight, width in SYSTEM_WIDTHS.items():
        suffix = "" if weight == 400 else " Bold"
        source = ", ".join(f'local("{name}{suffix}")' for name in SYSTEM)
        scale = mean_width(TTFont(BytesIO(fonts["sans"])), weight) / width
        more = {"size-adjust": f"{scale:.1%}", "unicode-range": "U+0-24F, U+2000-20CF"}
        weights = "400" if weight == 400 else "500 700"
        sheets["sans"].append(rule("Narrow Arial", source, "roman", weights, more))
    head = "/* Made by fonts/interface.py; licence: fonts/OFL-paper-{}.txt */\n\n"
    return {kind: head.format(kind) + "\n".join(rules) for kind, rules in sheets.items()}


def main(sources: list[Path]) -> None:
    """Write both fonts and their stylesheets. sources: the files of `FACES`, in any folders."""
    files = {path.name: path for path in sources}
    fonts = {name: cut(files[file], family, origin) for name, (family, file, origin) in FACES.items()}
    for name, data in fonts.items():
        (STATIC / "fonts" / f"paper-{name}.woff2").write_bytes(data)
        print(f"paper-{name}.woff2: {len(data)} bytes")
    for kind, text in style_sheets(fonts).items():
        (STATIC / f"{kind}.css").write_text(text, "utf-8")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
