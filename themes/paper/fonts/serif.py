"""Build script for the text fonts of the paper theme: subsets of Source Serif 4 for Latin letters.

It writes `static/fonts/paper-serif.woff2` and `paper-serif-italic.woff2`, and `static/faces.css` with their
`@font-face` rules. Run by hand; the README.md in this folder says how and when. The same sources give the
same bytes.
"""

from __future__ import annotations

import hashlib
import string
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

STATIC = Path(__file__).parents[1] / "static"
FAMILY = "Paper Serif"
"""Differs from the name of the source, which its licence reserves."""
AXES = {"opsz": 18, "wght": (400, 650)}
"""The optical size of text, and weights from text to headings."""
SIGNS = frozenset(
    (
        *map(chr, range(0x20, 0x7F)),
        *map(chr, range(0xA0, 0x100)),
        *"ĀāĂăĄąĆćČčĎďĐđĒēĖėĘęĚěĞğĢģĪīĮįİıĶķĹĺĻļĽľŁłŃńŅņŇňŌōŐőŒœŔŕŘřŚśŞşŠšŢţŤťŪūŮůŰűŲųŸŹźŻżŽžȘșȚț",
        *"–—‘’‚“”„†‡•…‰′″‹›⁄€™−ﬁﬂ",
    )
)
FEATURES = ("kern", "liga", "lnum", "onum", "pnum", "tnum", "smcp", "c2sc")
"""Features to keep. Italics have no small capitals."""
STYLES = ("Roman", "Italic")
HEADER = """\
/* Made by fonts/serif.py: the text faces of the theme, and faces of the system as wide and as high as they.
   A reader whose network is slow has those on the first page, and nothing ever moves.
   Licence: fonts/OFL-paper-serif.txt */

"""
LETTERS = {
    **{" ": 20.0, "e": 12.7, "t": 9.1, "a": 8.2, "o": 7.5, "i": 7.0, "n": 6.7, "s": 6.3, "h": 6.1, "r": 6.0},
    **{"d": 4.3, "l": 4.0, "c": 2.8, "u": 2.8, "m": 2.4, "w": 2.4, "f": 2.2, "g": 2.0, "y": 2.0, "p": 1.9},
    **{"b": 1.5, "v": 1.0, "k": 0.8, "j": 0.2, "x": 0.2, "q": 0.1, "z": 0.1, ",": 1.2, ".": 1.2},
}
"""Frequency of letters in English text, for a little more than a hundred letters."""
_TIMES = ("Times New Roman", "Liberation Serif", "Tinos")
SYSTEM: dict[str, dict[tuple[str, int], tuple[tuple[str, ...], float]]] = {
    "Wide Georgia": {
        ("roman", 400): (("Georgia", "Gelasio"), 0.4391),
        ("italic", 400): (("Georgia Italic", "Gelasio Italic"), 0.4483),
        ("roman", 600): (("Georgia Bold", "Gelasio Bold"), 0.5122),
    },
    "Wide Noto Serif": {
        ("roman", 400): (("Noto Serif",), 0.4781),
        ("italic", 400): (("Noto Serif Italic",), 0.4639),
        ("roman", 600): (("Noto Serif Bold",), 0.5079),
    },
    "Wide Times": {
        ("roman", 400): (_TIMES, 0.3996),
        ("italic", 400): (tuple(f"{name} Italic" for name in _TIMES), 0.4011),
        ("roman", 600): (tuple(f"{name} Bold" for name in _TIMES), 0.4251),
    },
}
"""Family → style and weight → names of the system fonts, and their `mean_width`."""
FIGURES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
EM = 1000
LEAST_KERN = 3
"""Thousandths of an em; smaller values are not visible."""
NAMES = {
    1: FAMILY,
    2: "{style}",
    3: f"{FAMILY} {{style}}, from Source Serif 4.005",
    4: f"{FAMILY} {{style}}",
    6: "PaperSerif-{style}",
}


def cut(source: Path, style: str) -> bytes:
    """Return the font as WOFF2. style: `Roman` or `Italic`."""
    # Keep the date of the source: the current time would give other bytes each time.
    font = TTFont(source, recalcTimestamp=False)
    instantiateVariableFont(font, AXES, inplace=True)
    limit_forms(font)
    still_kerning(font)
    options = Options(layout_features=list(FEATURES), name_IDs=[0, *NAMES, 13, 14], hinting=False)
    options.glyph_names = False
    options.drop_tables = [*options.drop_tables, "BASE", "MVAR", "STAT"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=map(ord, SIGNS))
    subsetter.subset(font)
    for number, text in NAMES.items():
        font["name"].setName(text.format(style=style), number, 3, 1, 0x409)
    font.flavor = "woff2"
    made = BytesIO()
    font.save(made)
    return made.getvalue()


def limit_forms(font: TTFont) -> None:
    """Limit small capitals to ASCII letters and other forms to figures: the rest is large."""
    cmap = font.getBestCmap()
    kept = {
        "smcp": {cmap[ord(letter)] for letter in string.ascii_lowercase},
        "c2sc": {cmap[ord(letter)] for letter in string.ascii_uppercase},
        **dict.fromkeys(("lnum", "onum", "pnum", "tnum"), FIGURES),
    }
    table = font["GSUB"].table
    for record in table.FeatureList.FeatureRecord:
        if record.FeatureTag not in kept:
            continue
        for number in record.Feature.LookupListIndex:
            for forms in _subtables(table.LookupList.Lookup[number]):
                names = kept[record.FeatureTag]
                forms.mapping = {
                    glyph: form for glyph, form in forms.mapping.items() if glyph.split(".")[0] in names
                }


def still_kerning(font: TTFont) -> None:
    """Kern every weight like the lightest, without invisible amounts. This halves the table."""
    for lookup in font["GPOS"].table.LookupList.Lookup:
        for pairs in _subtables(lookup):
            if pairs.LookupType != 2:
                continue
            for value in _values(pairs):
                if hasattr(value, "XAdvDevice"):
                    del value.XAdvDevice
                if abs(value.XAdvance) < LEAST_KERN:
                    value.XAdvance = 0
            # The bits of the values in a record, without device tables.
            pairs.ValueFormat1 &= 0xF


def _subtables(lookup: Any) -> Iterator[Any]:
    for table in lookup.SubTable:
        yield getattr(table, "ExtSubTable", table)


def _values(pairs: Any) -> Iterator[Any]:
    if pairs.Format == 1:
        yield from (record.Value1 for group in pairs.PairSet for record in group.PairValueRecord)
    else:
        yield from (record.Value1 for row in pairs.Class1Record for record in row.Class2Record)


def mean_width(font: TTFont, weight: int) -> float:
    """Return the mean width of a letter of English text, in ems."""
    still = instantiateVariableFont(font, {"wght": weight})
    cmap, widths = still.getBestCmap(), still["hmtx"]
    total: float = sum(often * widths[cmap[ord(letter)]][0] for letter, often in LETTERS.items())
    return total / sum(LETTERS.values()) / EM


def style_sheet(faces: dict[str, bytes]) -> str:
    """Return the stylesheet with these fonts, and with system fonts scaled to the same width.

    faces: Style → font file.
    """
    rules, widths = [], {}
    for style, data in faces.items():
        address = f"fonts/{file_name(style)}?v={hashlib.sha256(data).hexdigest()[:8]}"
        source = f'url("{address}") format("woff2")'
        rules.append(rule(FAMILY, source, style.lower(), "400 650", {"font-display": "optional"}))
        font = TTFont(BytesIO(data))
        for weight in (400, 600) if style == "Roman" else (400,):
            widths[style.lower(), weight] = mean_width(font, weight)
    up, down = font["hhea"].ascender / EM, -font["hhea"].descender / EM
    for family, cuts in SYSTEM.items():
        for (style, weight), (names, width) in cuts.items():
            scale = round(widths[style, weight] / width, 3)
            source = ", ".join(f'local("{name}")' for name in names)
            lines = {
                "size-adjust": f"{scale:.1%}",
                # They are relative to the scaled size.
                "ascent-override": f"{up / scale:.1%}",
                "descent-override": f"{down / scale:.1%}",
                "line-gap-override": "0%",
                "unicode-range": "U+0-24F, U+2000-20CF",
            }
            rules.append(rule(family, source, style, "400" if weight == 400 else "500 700", lines))
    return HEADER + "\n".join(rules)


def rule(family: str, source: str, style: str, weight: str, more: dict[str, str]) -> str:
    """Return a CSS rule for one font of a family."""
    slant = "italic" if style == "italic" else "normal"
    lines = {"font-family": f'"{family}"', "font-style": slant, "font-weight": weight, "src": source, **more}
    return "@font-face {\n" + "".join(f"  {key}: {value};\n" for key, value in lines.items()) + "}\n"


def file_name(style: str) -> str:
    """Return the name of the font file in `static/fonts/`."""
    return "paper-serif.woff2" if style == "Roman" else "paper-serif-italic.woff2"


def main(folder: Path) -> None:
    """Write both fonts and their stylesheet."""
    faces = {style: cut(folder / f"SourceSerif4Variable-{style}.ttf.woff2", style) for style in STYLES}
    for style, data in faces.items():
        (STATIC / "fonts" / file_name(style)).write_bytes(data)
        print(f"{file_name(style)}: {len(data)} bytes")
    (STATIC / "faces.css").write_text(style_sheet(faces), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
