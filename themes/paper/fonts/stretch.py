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
BARS = {"‾": "‾¯ˉ", "_": "_"}
"""Bars, and the signs that grow as they do."""
BAR_STEP = 1.06
"""A bar is to be as long as what it covers."""
ARROWS = "→←↔↦↤↠↞↪↩⇒⇐⇔⇀⇁↼↽⇌⇋⇄⇆="
ARROW_STEP = 1.12
UPRIGHT = "|‖∣∥"
LONGEST_LINE = 4000
"""The longest that is drawn in one piece. Where two parts lie on each other they look a little darker."""


def widen_accents(font: TTFont) -> None:
    """Let spacing accents stretch as the combining ones do, in finer steps; give dots a width.

    Chromium sets an accent as a box of its own: without a width it would stand left of its letter.
    """
    letters = font.getBestCmap()
    for accents, combining in HATS.items():
        model = growth(font, letters[ord(combining)], sideways=True)
        sizes = list(_finer(font, [record.VariantGlyph for record in model.MathGlyphVariantRecord[1:]]))
        for accent in accents:
            name = letters[ord(accent)]
            set_growth(font, name, [name, *sizes], None, sideways=True)
    for sign in DOTS:
        glyph = font["glyf"][letters[ord(sign)]]
        _shift(font, letters[ord(sign)], -glyph.xMin, glyph.xMax - glyph.xMin)


def _shift(font: TTFont, name: str, by: int, width: int) -> None:
    redraw(font, name, lambda _, x, y: (x + by, y), width)


def _finer(font: TTFont, names: Sequence[str]) -> Iterator[str]:
    """Names of sizes with new ones between and behind them: none is much longer than the one before."""
    yield names[0]
    for small, large in pairwise(names):
        least, most = font["hmtx"][small][0], font["hmtx"][large][0]
        steps = 1
        while (most / least) ** (1 / steps) > HAT_STEP:
            steps += 1
        for step in range(1, steps):
            share = (least / most) ** (1 - step / steps)
            yield copied(font, large, f"{large}.{step}", scaled(share), round(most * share))
        yield large
    last, width = names[-1], font["hmtx"][names[-1]][0]
    while width < LONGEST_HAT:
        width = round(width * HAT_STEP)
        scale = width / font["hmtx"][last][0]
        yield copied(font, last, f"{last}.w{width}", scaled(scale), width)


def lengthen_lines(font: TTFont) -> None:
    """Let bars and arrows grow to any length: Chromium refuses the font's own parts for most arrows."""
    letters = font.getBestCmap()
    for model, signs in {**BARS, **dict(zip(ARROWS, ARROWS, strict=True))}.items():
        longer = list(_pulled(font, letters[ord(model)], BAR_STEP if model in BARS else ARROW_STEP))
        parts = _from_parts(font, letters[ord(model)])
        for sign in signs:
            set_growth(font, letters[ord(sign)], [letters[ord(sign)], *longer], parts, sideways=True)


def raise_bars(font: TTFont) -> None:
    """Draw the bars of norms and absolute values in one piece, up to the longest."""
    for sign in UPRIGHT:
        name = font.getBestCmap()[ord(sign)]
        parts = growth(font, name, sideways=False).GlyphAssembly
        glyph, width = font["glyf"][name], font["hmtx"][name][0]
        middle, height = (glyph.yMin + glyph.yMax) // 2, glyph.yMax - glyph.yMin
        sizes, reached = [name], height
        while reached * ARROW_STEP < LONGEST_LINE:
            reached = round(reached * ARROW_STEP)
            more = reached - height

            def pull(_: int, x: int, y: int, more: int = more, middle: int = middle) -> tuple[int, int]:
                return x, y + (more if y > middle else 0)

            sizes.append(copied(font, name, f"{name}.h{reached}", pull, width))
        set_growth(font, name, sizes, parts, sideways=False)


def straight(font: TTFont, name: str) -> tuple[int, int]:
    """The longest range of x in which a glyph consists of horizontal lines."""
    glyph = font["glyf"][name]
    slanted, first = [], 0
    for end in glyph.endPtsOfContours:
        ring = list(glyph.coordinates[first : end + 1])
        first = end + 1
        slanted += [sorted((a[0], b[0])) for a, b in pairwise([*ring, ring[0]]) if a[1] != b[1]]
    gaps, reached = [], glyph.xMin
    for low, high in sorted(slanted):
        gaps.append((reached, low))
        reached = max(reached, high)
    return max(gaps, key=lambda gap: (gap[1] - gap[0], gap))


def _pulled(font: TTFont, name: str, step: float) -> Iterator[str]:
    """Names of longer forms in one piece, without air at their sides."""
    glyph = font["glyf"][name]
    middle, left = sum(straight(font, name)) // 2, glyph.xMin
    width = length = glyph.xMax - left
    while width * step < LONGEST_LINE:
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
