"""Symbols that grow horizontally in formulas: hats, bars, arrows.

They get more sizes, and parts that Chromium accepts. A symbol is lengthened where it consists only of
straight horizontal lines: it is stretched there. Or it is cut, and the points beyond the cut move onto the
cut, where they enclose no area.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fontTools.ttLib import TTFont
from glyphs import Move, copy_glyph, get_growth, make_assembly, part, redraw, scaled, set_growth

OVERLAP = 100
"""Minimum overlap of adjacent parts of a symbol: MinConnectorOverlap of the font."""

HATS = {"ˆ^": "\u0302", "˜~": "\u0303", "ˇ": "\u030c"}
"""Spacing accents → the combining accent with their long forms."""
HAT_STEP, LONGEST_HAT = 1.2, 6000
"""Maximum ratio between adjacent sizes, and the maximum length. The font's own sizes end above a sum of three
letters.
"""
DOTS = "\u20db\u20dc"
"""Three and four dots, which have no spacing equivalent."""
BRACES, BRACE_STEP, SHORTEST_BRACE = "⏞⏟⏜⏝", 1.07, 1150
"""Braces with the ratio of their sizes and the minimum length. A brace over a single letter would be a
blot, so it is longer than the letter, as in TeX.
"""
BARS = {"‾": "‾¯ˉ", "_": "_", "⎴": "⎴", "⎵": "⎵"}
"""Bar → symbols that grow in the same way."""
BAR_STEP = 1.075
"""Ratio of adjacent sizes; a bar should be as long as the content below it."""
ARROWS = "→←↔↦↤↠↞↪↩⇒⇐⇔⇀⇁↼↽⇌⇋⇄⇆="
ARROW_STEP = 1.12
LONGEST_BAR, LONGEST_LINE = 2000, 4000
"""Maximum length of a form in one piece. Where two parts overlap, they look a little darker."""


def widen_accents(font: TTFont) -> None:
    """Make spacing accents stretch like combining ones, in smaller steps. Give dots a width.

    Chromium sets an accent as a separate box: without a width, it would be left of its letter.
    """
    letters = font.getBestCmap()
    for accents, combining in HATS.items():
        model = get_growth(font, letters[ord(combining)], sideways=True)
        rough = [record.VariantGlyph for record in model.MathGlyphVariantRecord[1:]]
        sizes = [*_finer(font, rough, HAT_STEP), *_wider(font, rough[-1])]
        for accent in accents:
            name = letters[ord(accent)]
            set_growth(font, name, [name, *sizes], None, sideways=True)
    for sign in DOTS:
        glyph = font["glyf"][letters[ord(sign)]]
        _shift(font, letters[ord(sign)], -glyph.xMin, glyph.xMax - glyph.xMin)


def _shift(font: TTFont, name: str, by: int, width: int) -> None:
    redraw(font, name, lambda _, x, y: (x + by, y), width)


def _finer(font: TTFont, names: Sequence[str], step: float) -> Iterator[str]:
    """Yield the names of sizes, with new ones so that none is much longer than the previous one."""
    yield names[0]
    for small, large in pairwise(names):
        least, most = font["hmtx"][small][0], font["hmtx"][large][0]
        steps = 1
        while (most / least) ** (1 / steps) > step:
            steps += 1
        for number in range(1, steps):
            share = (least / most) ** (1 - number / steps)
            yield copy_glyph(font, large, f"{large}.{number}", scaled(share), round(most * share))
        yield large


def _wider(font: TTFont, last: str) -> Iterator[str]:
    """Yield the names of sizes longer than the last one."""
    width = font["hmtx"][last][0]
    while width < LONGEST_HAT:
        width = round(width * HAT_STEP)
        scale = width / font["hmtx"][last][0]
        yield copy_glyph(font, last, f"{last}.w{width}", scaled(scale), width)


def widen_braces(font: TTFont) -> None:
    """Give braces and arcs more sizes, and keep the smallest from being a blot."""
    for sign in BRACES:
        name = font.getBestCmap()[ord(sign)]
        old = get_growth(font, name, sideways=True)
        rough = [record.VariantGlyph for record in old.MathGlyphVariantRecord]
        longer = [size for size in rough if font["hmtx"][size][0] > SHORTEST_BRACE]
        _redraw_as(font, name, longer[0], SHORTEST_BRACE / font["hmtx"][longer[0]][0])
        set_growth(font, name, [*_finer(font, [name, *longer], BRACE_STEP)], old.GlyphAssembly, sideways=True)


def _redraw_as(font: TTFont, name: str, model: str, scale: float) -> None:
    """Draw a glyph like another one, but wider or narrower."""
    copy = copy_glyph(font, model, f"{model}.least", scaled(scale), round(font["hmtx"][model][0] * scale))
    font["glyf"].glyphs[name], font["hmtx"][name] = font["glyf"][copy], font["hmtx"][copy]


def lengthen_lines(font: TTFont) -> None:
    """Make bars and arrows grow to any length: Chromium rejects the font's own parts for most arrows."""
    letters = font.getBestCmap()
    for model, signs in {**BARS, **dict(zip(ARROWS, ARROWS, strict=True))}.items():
        step, longest = (BAR_STEP, LONGEST_BAR) if model in BARS else (ARROW_STEP, LONGEST_LINE)
        longer = list(_stretched(font, letters[ord(model)], step, longest))
        parts = _from_parts(font, letters[ord(model)])
        for sign in signs:
            set_growth(font, letters[ord(sign)], [letters[ord(sign)], *longer], parts, sideways=True)


def straight(font: TTFont, name: str, *, upright: bool = False) -> tuple[int, int]:
    """Return the longest range of x with only horizontal lines in a glyph.

    upright: Return the longest range of y with only vertical lines instead.
    """
    glyph = font["glyf"][name]
    along, across = (1, 0) if upright else (0, 1)
    # Also works for a composite glyph.
    points, ends, _ = glyph.getCoordinates(font["glyf"])
    slanted, first = [], 0
    for end in ends:
        ring = list(points[first : end + 1])
        first = end + 1
        edges = pairwise([*ring, ring[0]])
        slanted += [sorted((a[along], b[along])) for a, b in edges if a[across] != b[across]]
    gaps, reached = [], glyph.yMin if upright else glyph.xMin
    for low, high in sorted(slanted):
        gaps.append((reached, low))
        reached = max(reached, high)
    return max(gaps, key=lambda gap: (gap[1] - gap[0], gap))


def _stretched(font: TTFont, name: str, step: float, longest: int) -> Iterator[str]:
    """Yield the names of longer forms in one piece, without side bearings."""
    glyph = font["glyf"][name]
    middle, left = sum(straight(font, name)) // 2, glyph.xMin
    width = length = glyph.xMax - left
    while width * step < longest:
        width = round(width * step)
        more = width - length

        def pull(_: int, x: int, y: int, more: int = more) -> tuple[int, int]:
            return x - left + (more if x > middle else 0), y

        yield copy_glyph(font, name, f"{name}.w{width}", pull, width)


def _from_parts(font: TTFont, name: str) -> object:
    """Return an assembly of both ends and a line between them, repeated as often as required."""
    (start, end), glyph = straight(font, name), font["glyf"][name]
    first, last, room = glyph.xMin, glyph.xMax, end - start

    def cut(low: int, high: int, stretch: float = 1) -> Move:
        return lambda _, x, y: (round((min(max(x, low), high) - low) * stretch), y)

    # The maximum length with which every total length is still possible.
    length = 2 * room - OVERLAP
    left = copy_glyph(font, name, f"{name}.left", cut(first, end), end - first)
    line = copy_glyph(font, name, f"{name}.line", cut(start, end, length / room), length)
    right = copy_glyph(font, name, f"{name}.right", cut(start, last), last - start)
    return make_assembly(
        [
            part(left, end - first, 0, room),
            part(line, length, room, room, extender=True),
            part(right, last - start, room, 0),
        ]
    )
