"""A math font with some of its signs: everything a browser needs to set them, and nothing else.

The MATH table stays whole for what is left: constants, taller brackets, parts of long arrows. fontTools is
imported when a font is cut, not before.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from io import BytesIO
from typing import Any

_FEATURES = ("ccmp", "dtls", "flac", "ssty", "math")
"""Combining marks, dotless and flattened accents, forms for scripts."""
_NAMES = (0, 1, 2, 3, 4, 5, 6, 13, 14)
"""Copyright, names, version and licence stay in the font."""


class FontProblem(Exception):
    """A file that is no font one can cut."""


def can_cut() -> bool:
    """Whether this machine has what it takes."""
    return find_spec("fontTools") is not None and find_spec("brotli") is not None


def cut_font(font: bytes, signs: Collection[str]) -> bytes:
    """WOFF2 with `signs` of `font` (TTF, OTF or WOFF); FontProblem if it is none.

    signs: characters, some with a variation selector behind them. Those the font lacks are left out.
    Same font and signs, same bytes.
    """
    from fontTools.ttLib import TTFont

    try:
        # the font's own date stays: a clock would give other bytes each time
        opened = TTFont(BytesIO(font), recalcTimestamp=False, lazy=True)
        if "MATH" not in opened:
            raise FontProblem("it has no MATH table")
        return _cut(opened, signs)
    except FontProblem:
        raise
    except Exception as error:
        # a damaged font fails in as many ways as it has tables
        raise FontProblem(str(error) or type(error).__name__) from error


def _cut(font: Any, signs: Collection[str]) -> bytes:
    from fontTools.subset import Options, Subsetter

    _keep_selected(font, signs)
    options = Options(
        layout_features=list(_FEATURES),
        name_IDs=list(_NAMES),
        hinting=False,
        glyph_names=False,
        notdef_outline=True,
        ignore_missing_unicodes=True,
        # mirrored forms are for text that runs from right to left
        bidi_closure=False,
    )
    options.drop_tables = [*options.drop_tables, "GPOS"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes={ord(part) for sign in signs for part in sign})
    subsetter.subset(font)
    font.flavor = "woff2"
    made = BytesIO()
    font.save(made)
    return made.getvalue()


def _keep_selected(font: Any, signs: Collection[str]) -> None:
    """Forget the forms behind variation selectors that nobody asks for."""
    asked = {(ord(sign[0]), ord(sign[1])) for sign in signs if len(sign) == 2}
    for table in font["cmap"].tables:
        if table.format == 14:
            kept = {
                selector: [(code, glyph) for code, glyph in pairs if (code, selector) in asked]
                for selector, pairs in table.uvsDict.items()
            }
            table.uvsDict = {selector: pairs for selector, pairs in kept.items() if pairs}
    font["cmap"].tables = [t for t in font["cmap"].tables if t.format != 14 or t.uvsDict]
