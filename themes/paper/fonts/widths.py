"""Write the widths of the math font's glyphs, and the letters that lean out of their width.

Builds use the widths to estimate the widths of displays, and the letters to correct the space beside them.

    python widths.py > ../../../blogsmith/tex/mathml/glyph_widths.py

The widths are rounded to `STEP` hundredths of an em: an estimate of a whole formula is off by more anyway.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from string import ascii_letters

from fontTools.pens.boundsPen import BoundsPen
from fontTools.ttLib import TTFont

FONT = Path(__file__).with_name("stix-two-math.woff")
STEP = 4
LEAST = 4
"""Smallest width, in steps."""
DEFAULT = 72
"""Width of most symbols, and of those that the font does not have."""
RANGES = ((0x20, 0x1FF), (0x370, 0x45F), (0x2010, 0x22FF), (0x27C0, 0x2AFF), (0x1D400, 0x1D7FF))

OUTSIDE = 4
"""Ink outside the width of a letter that needs a correction, in hundredths of an em."""
ROUNDHAND = 0xFE01
"""Variation selector of the letters of `\\mathscr`."""

HEAD = '''"""Widths of the math font's glyphs, written by `themes/paper/fonts/widths.py`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from string import ascii_letters
from types import MappingProxyType

DEFAULT = {default:.2f}
"""Width in em of a character that the table omits."""

_WIDTHS = """
{table}
"""
"""A letter for the width of each character, after the number of the first one in hexadecimal: `a` is
{least} · {step} hundredths of an em, and each following letter {step} more."""

_LARGE = """
{large}
"""
"""Operators, each followed by the width of its large form in hundredths of an em."""

LEANING: Mapping[int, str] = MappingProxyType(
    {{
{leaning}
    }}
)
"""Italic correction of the font's table MATH in hundredths of an em → the letters whose ink needs it at the
right."""
FOOTED = """
{footed}
"""
"""Letters whose ink is outside at the left, by about `FOOT` hundredths of an em."""


@cache
def glyph_widths() -> Mapping[str, float]:
    """Return the width in em of each character of the table."""
    sizes = {{letter: {step} * number / 100 for number, letter in enumerate(ascii_letters, {least})}}
    widths: dict[str, float] = {{}}
    first = 0
    for word in _WIDTHS.split():
        if word.startswith("="):
            first = int(word[1:], 16)
            continue
        characters = map(chr, range(first, first + len(word)))
        widths |= zip(characters, map(sizes.__getitem__, word), strict=True)
        first += len(word)
    return MappingProxyType(widths)


@cache
def large_widths() -> Mapping[str, float]:
    """Return the width in em of large operators in displays."""
    words = _LARGE.split()
    return MappingProxyType(
        {{sign: int(width) / 100 for sign, width in zip(words[::2], words[1::2], strict=True)}}
    )
'''
LARGE = "∏∐∑∫∬∭∮∯∰⋀⋁⋂⋃⨀⨁⨂⨃⨄⨅⨆"


def main() -> None:
    font = TTFont(FONT)
    names, sizes = font.getBestCmap(), font["hmtx"]
    scale = font["head"].unitsPerEm / 100

    def letter(code: int) -> str:
        is_drawn = code in names and unicodedata.category(chr(code))[0] in "LNPS"
        steps = round(sizes[names[code]][0] / scale / STEP) if is_drawn else DEFAULT // STEP
        return ascii_letters[steps - LEAST]

    rows = [f"={first:X} {''.join(map(letter, range(first, last + 1)))}" for first, last in RANGES]
    print(
        HEAD.format(
            default=DEFAULT / 100,
            least=LEAST,
            step=STEP,
            table="\n".join(textwrap.wrap(" ".join(rows), 108)),
            large=textwrap.fill(" ".join(_large(font)), 108),
            leaning="\n".join(f'        {value}: "{letters}",' for value, letters in _leaning(font)),
            footed="\n".join(textwrap.wrap(" ".join(_footed(font)), 108)),
        ),
        end="",
    )


def _large(font: TTFont) -> Iterator[str]:
    names, sizes = font.getBestCmap(), font["hmtx"]
    scale = font["head"].unitsPerEm / 100
    variants = font["MATH"].table.MathVariants
    forms = dict(zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True))
    least = font["MATH"].table.MathConstants.DisplayOperatorMinHeight
    for sign in LARGE:
        found = forms[names[ord(sign)]].MathGlyphVariantRecord
        large = next((form for form in found if form.AdvanceMeasurement >= least), found[-1])
        yield f"{sign} {round(sizes[large.VariantGlyph][0] / scale)}"


CORRECTIONS = (4, 6, 8, 10)
"""Values that corrections are rounded to, each with a rule in `formulas.css`."""
FOOT = 6


def _letters(font: TTFont) -> Iterator[tuple[str, str]]:
    """Yield each mathematical letter with the name of its glyph."""
    names = font.getBestCmap()
    for code in sorted(names):
        if 0x2100 <= code < 0x2150 or 0x1D400 <= code < 0x1D7CE:
            yield chr(code), names[code]
    (variants,) = (table.uvsDict for table in font["cmap"].tables if table.format == 14)
    for code, name in sorted(variants[ROUNDHAND]):
        yield chr(code) + chr(ROUNDHAND), name or names[code]


def _leaning(font: TTFont) -> Iterator[tuple[int, str]]:
    table = font["MATH"].table.MathGlyphInfo.MathItalicsCorrectionInfo
    corrections = {
        name: value.Value for name, value in zip(table.Coverage.glyphs, table.ItalicsCorrection, strict=True)
    }
    scale = font["head"].unitsPerEm / 100
    found: dict[int, list[str]] = {value: [] for value in CORRECTIONS}
    for letter, name in _letters(font):
        correction = corrections.get(name, 0) / scale
        if correction >= OUTSIDE and _ink(font, name)[1] >= OUTSIDE * scale:
            found[min(CORRECTIONS, key=lambda value: abs(value - correction))].append(letter)
    for value, letters in found.items():
        yield value, "".join(letters)


def _footed(font: TTFont) -> Iterator[str]:
    scale = font["head"].unitsPerEm / 100
    for letter, name in _letters(font):
        if (FOOT - 1) * scale <= _ink(font, name)[0] <= (FOOT + 2) * scale:
            yield letter


def _ink(font: TTFont, name: str) -> tuple[float, float]:
    """Return how much of a glyph is outside of its width, at the left and at the right."""
    pen = BoundsPen(font.getGlyphSet())
    font.getGlyphSet()[name].draw(pen)
    if pen.bounds is None:
        return 0, 0
    return -pen.bounds[0], pen.bounds[2] - font["hmtx"][name][0]


if __name__ == "__main__":
    main()
