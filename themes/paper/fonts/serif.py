"""Build script for the text fonts of the paper theme: subsets of Source Serif 4 for Latin letters.

It writes the fonts of `FACES` into `static/fonts/`, `static/faces.css` with their `@font-face` rules, and the
font of social cards. Run by hand; the README.md in this folder says how and when. The same sources give the
same bytes.
"""

from __future__ import annotations

import hashlib
import string
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont
from shrink import shrink, subtables

STATIC = Path(__file__).parents[1] / "static"
FAMILY = "Paper Serif"
"""Differs from the name of the source, which its licence reserves."""
LETTERS_OF_TEXT = frozenset(
    (
        *map(chr, range(0x20, 0x7F)),
        *map(chr, range(0xC0, 0x100)),
        *"\xa0¡§©«°±²³µ·»¿ćčłŁőŒœřšž–—‘’‚“”„…•′″‹›€−ﬁﬂ",
    )
)
"""Characters of the first font, which every page loads; some are only there for common names."""
RARE = frozenset(
    (
        *map(chr, range(0xA0, 0x100)),
        *"ĀāĂăĄąĆćČčĎďĐđĒēĖėĘęĚěĞğĢģĪīĮįİıĶķĹĺĻļĽľŁłŃńŅņŇňŌōŐőŔŕŘřŚśŞşŠšŢţŤťŪūŮůŰűŲųŸŹźŻżŽžȘșȚț",
        *"†‡‰⁄™",
    )
).difference(LETTERS_OF_TEXT)
"""Characters of the second font, which pages load that have one of them."""
FEATURES = ("kern", "liga", "lnum", "onum", "pnum", "tnum")
SIZE = 18
"""The optical size (axis `opsz`), that of text."""


@dataclass(frozen=True, slots=True)
class Face:
    """A font file."""

    source: str
    """Style of the source: `Roman` or `Italic`."""
    weight: int | tuple[int, int]
    characters: frozenset[str] = LETTERS_OF_TEXT | RARE
    family: str = FAMILY

    @property
    def weights(self) -> str:
        """The range in CSS."""
        least, most = (self.weight, self.weight) if isinstance(self.weight, int) else self.weight
        return str(least) if least == most else f"{least} {most}"


FACES = {
    "serif": Face("Roman", (400, 650), LETTERS_OF_TEXT),
    "serif-rare": Face("Roman", (400, 650), RARE),
    "serif-italic": Face("Italic", 400),
    "serif-bold-italic": Face("Italic", 600),
    "serif-caps": Face("Roman", 450, frozenset(string.ascii_letters), "Paper Caps"),
}
"""Name → font. `Paper Caps` has small capitals in place of letters."""
SMALL_CAPITALS = {"Paper Caps": string.ascii_lowercase, "Paper Labels": string.ascii_uppercase}
"""Family → letters for which it uses the small capitals. Until they arrive, labels have capitals."""
CARDS = Face("Roman", (400, 650))
"""The font of social cards, which no page loads."""
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


def cut(folder: Path, name: str, face: Face) -> bytes:
    """Return the font as WOFF2."""
    # Keep the date of the source: the current time would give other bytes each time.
    source = folder / f"SourceSerif4Variable-{face.source}.ttf.woff2"
    font = TTFont(source, recalcTimestamp=False)
    instantiateVariableFont(font, {"opsz": SIZE, "wght": face.weight}, inplace=True)
    if name == "serif-caps":
        use_small_capitals(font)
    else:
        limit_forms(font)
    full = f"{face.family} {name.partition('-')[2].title() or 'Roman'}"
    names = {1: face.family, 2: face.source, 3: f"{full}, from Source Serif 4.005", 4: full}
    features = (*FEATURES, "smcp", "c2sc") if name == "serif-caps" else FEATURES
    return shrink(font, face.characters, features, {**names, 6: full.replace(" ", "")})


def use_small_capitals(font: TTFont) -> None:
    """Give letters the glyphs of small capitals.

    The features of small capitals stay, or browsers would make their own.
    """
    letters, small = font.getBestCmap(), {}
    for forms in substitutions(font, ("smcp", "c2sc")):
        small.update(forms.mapping)
        forms.mapping = {form: form for form in forms.mapping.values()}
    codes = {ord(letter): small[letters[ord(letter)]] for letter in string.ascii_letters}
    for table in font["cmap"].tables:
        table.cmap = codes


def limit_forms(font: TTFont) -> None:
    """Limit other forms to figures of the size of text."""
    for forms in substitutions(font, ("lnum", "onum", "pnum", "tnum")):
        forms.mapping = {
            glyph: form for glyph, form in forms.mapping.items() if glyph.split(".")[0] in FIGURES
        }


def substitutions(font: TTFont, features: Sequence[str]) -> Iterator[Any]:
    """Yield the tables of single substitutions of these features."""
    table = font["GSUB"].table
    numbers = [
        number
        for record in table.FeatureList.FeatureRecord
        if record.FeatureTag in features
        for number in record.Feature.LookupListIndex
    ]
    for number in sorted(set(numbers)):
        yield from subtables(table.LookupList.Lookup[number])


def mean_width(font: TTFont, weight: int) -> float:
    """Return the mean width of a letter of English text, in ems."""
    still = instantiateVariableFont(font, {"wght": weight}) if "fvar" in font else font
    cmap, widths = still.getBestCmap(), still["hmtx"]
    total: float = sum(often * widths[cmap[ord(letter)]][0] for letter, often in LETTERS.items())
    units: int = font["head"].unitsPerEm
    return total / sum(LETTERS.values()) / units


def style_sheet(faces: dict[str, bytes]) -> str:
    """Return the stylesheet with these fonts, and with system fonts scaled to the same width.

    faces: name in `FACES` → font file.
    """
    rules, widths = [], {}
    for name, data in faces.items():
        face = FACES[name]
        source = f'url("fonts/paper-{name}.woff2?v={hashlib.sha256(data).hexdigest()[:8]}") format("woff2")'
        families = (
            SMALL_CAPITALS if name == "serif-caps" else {face.family: RARE if name == "serif-rare" else ""}
        )
        for family, characters in families.items():
            more = {"unicode-range": ranges(characters)} if characters else {}
            more |= {"font-display": "optional"}
            rules.append(rule(family, source, face.source.lower(), face.weights, more))
    roman, italic = (TTFont(BytesIO(faces[name])) for name in ("serif", "serif-italic"))
    for style, font, weight in (("roman", roman, 400), ("roman", roman, 600), ("italic", italic, 400)):
        widths[style, weight] = mean_width(font, weight)
    up, down = (
        value / roman["head"].unitsPerEm for value in (roman["hhea"].ascender, -roman["hhea"].descender)
    )
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


def ranges(characters: Iterable[str]) -> str:
    """Return the characters as a `unicode-range`."""
    codes = sorted(map(ord, characters))
    firsts = [code for code in codes if code - 1 not in codes]
    lasts = [code for code in codes if code + 1 not in codes]
    pairs = zip(firsts, lasts, strict=True)
    return ", ".join(f"U+{first:X}" + (f"-{last:X}" if last > first else "") for first, last in pairs)


def main(folder: Path) -> None:
    """Write the fonts and their stylesheet."""
    faces = {name: cut(folder, name, face) for name, face in FACES.items()}
    for name, data in faces.items():
        (STATIC / "fonts" / f"paper-{name}.woff2").write_bytes(data)
        print(f"paper-{name}.woff2: {len(data)} bytes")
    (Path(__file__).with_name("paper-serif-cards.woff2")).write_bytes(cut(folder, "cards", CARDS))
    (STATIC / "faces.css").write_text(style_sheet(faces), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
