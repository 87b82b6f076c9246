"""What grows in formulas: hats, bars, arrows. Chromium gets more sizes, and parts it accepts.

A sign is made longer where nothing but straight horizontal lines cross: it is pulled apart there, or cut,
and then points beyond the cut move onto it; what collapses has no area.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fontTools.ttLib import TTFont
from glyphs import Move, assembled, copied, growth, part, redraw, scaled, set_growth

OVERLAP = 100
"""MinConnectorOverlap of the font: neighbouring parts of a sign lie on each other at least so far."""

HATS = {"ˆ^": "\u0302", "˜~": "\u0303", "ˇ": "\u030c"}
"""Accents beside the combining one that has their long forms."""
HAT_STEP, LONGEST_HAT = 1.2, 6000
"""How much longer the next size may be, and the longest; the font's own ends above a sum of three letters."""
DOTS = "\u20db\u20dc"
"""Three and four dots, which have no spacing twin."""
BRACES, BRACE_STEP, SHORTEST_BRACE = "⏞⏟⏜⏝", 1.07, 1150
"""A brace over one letter would be a blot: it is longer than the letter, as in TeX."""
BARS = {"‾": "‾¯ˉ", "_": "_", "⎴": "⎴", "⎵": "⎵"}
"""Bars, and the signs that grow as they do."""
BAR_STEP = 1.075
"""A bar is to be as long as what it covers."""
ARROWS = "→←↔↦↤↠↞↪↩⇒⇐⇔⇀⇁↼↽⇌⇋⇄⇆="
ARROW_STEP = 1.12
LONGEST_BAR, LONGEST_LINE = 2000, 4000
"""The longest that is drawn in one piece. Where two parts lie on each other they look a little darker."""


def widen_accents(font: TTFont) -> None:
    """Let spacing accents stretch as the combining ones do, in finer steps; give dots a width.

    Chromium sets an accent as a box of its own: without a width it would stand left of its letter.
    """
    letters = font.getBestCmap()
    for accents, combining in HATS.items():
        model = growth(font, letters[ord(combining)], sideways=True)
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
    """Names of sizes with new ones between them: none is much longer than the one before."""
    yield names[0]
    for small, large in pairwise(names):
        least, most = font["hmtx"][small][0], font["hmtx"][large][0]
        steps = 1
        while (most / least) ** (1 / steps) > step:
            steps += 1
        for number in range(1, steps):
            share = (least / most) ** (1 - number / steps)
            yield copied(font, large, f"{large}.{number}", scaled(share), round(most * share))
        yield large


def _wider(font: TTFont, last: str) -> Iterator[str]:
    """Names of sizes beyond the last one."""
    width = font["hmtx"][last][0]
    while width < LONGEST_HAT:
        width = round(width * HAT_STEP)
        scale = width / font["hmtx"][last][0]
        yield copied(font, last, f"{last}.w{width}", scaled(scale), width)


def widen_braces(font: TTFont) -> None:
    """Give braces and arcs more sizes, and let the smallest be no blot."""
    for sign in BRACES:
        name = font.getBestCmap()[ord(sign)]
        old = growth(font, name, sideways=True)
        rough = [record.VariantGlyph for record in old.MathGlyphVariantRecord]
        longer = [size for size in rough if font["hmtx"][size][0] > SHORTEST_BRACE]
        _redraw_as(font, name, longer[0], SHORTEST_BRACE / font["hmtx"][longer[0]][0])
        set_growth(font, name, [*_finer(font, [name, *longer], BRACE_STEP)], old.GlyphAssembly, sideways=True)


def _redraw_as(font: TTFont, name: str, model: str, scale: float) -> None:
    """Draw a glyph as another one is drawn, but wider or narrower."""
    copy = copied(font, model, f"{model}.least", scaled(scale), round(font["hmtx"][model][0] * scale))
    font["glyf"].glyphs[name], font["hmtx"][name] = font["glyf"][copy], font["hmtx"][copy]


def lengthen_lines(font: TTFont) -> None:
    """Let bars and arrows grow to any length: Chromium refuses the font's own parts for most arrows."""
    letters = font.getBestCmap()
    for model, signs in {**BARS, **dict(zip(ARROWS, ARROWS, strict=True))}.items():
        step, longest = (BAR_STEP, LONGEST_BAR) if model in BARS else (ARROW_STEP, LONGEST_LINE)
        longer = list(_pulled(font, letters[ord(model)], step, longest))
        parts = _from_parts(font, letters[ord(model)])
        for sign in signs:
            set_growth(font, letters[ord(sign)], [letters[ord(sign)], *longer], parts, sideways=True)


def straight(font: TTFont, name: str, *, upright: bool = False) -> tuple[int, int]:
    """The longest range of x in which a glyph has only horizontal lines; upright, of y and vertical ones."""
    glyph = font["glyf"][name]
    along, across = (1, 0) if upright else (0, 1)
    # also of a glyph that is made of others
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


def _pulled(font: TTFont, name: str, step: float, longest: int) -> Iterator[str]:
    """Names of longer forms in one piece, without air at their sides."""
    glyph = font["glyf"][name]
    middle, left = sum(straight(font, name)) // 2, glyph.xMin
    width = length = glyph.xMax - left
    while width * step < longest:
        width = round(width * step)
        more = width - length

        def pull(_: int, x: int, y: int, more: int = more) -> tuple[int, int]:
            return x - left + (more if x > middle else 0), y

        yield copied(font, name, f"{name}.w{width}", pull, width)


def _from_parts(font: TTFont, name: str) -> object:
    """Both ends, and a line between them as often as needed."""
    (start, end), glyph = straight(font, name), font["glyf"][name]
    first, last, room = glyph.xMin, glyph.xMax, end - start

    def cut(low: int, high: int, stretch: float = 1) -> Move:
        return lambda _, x, y: (round((min(max(x, low), high) - low) * stretch), y)

    # as long as it can be while every length can still be had
    length = 2 * room - OVERLAP
    left = copied(font, name, f"{name}.left", cut(first, end), end - first)
    line = copied(font, name, f"{name}.line", cut(start, end, length / room), length)
    right = copied(font, name, f"{name}.right", cut(start, last), last - start)
    return assembled(
        [
            part(left, end - first, 0, room),
            part(line, length, room, room, extender=True),
            part(right, last - start, room, 0),
        ]
    )
