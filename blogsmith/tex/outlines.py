"""Formulas as glyph outlines, laid out by ziamath with STIX Two Math, the font of our pages."""

from __future__ import annotations

import logging
import warnings

EM = 100
"""Font size in the drawing."""


def outline_formula(mathml: str) -> str:
    """Return the formula as SVG. mathml: XML of a `<math>` element. Raises whatever ziamath raises."""
    log = logging.getLogger()
    before = log.level
    # ziamath reports unknown elements on the root logger, and its own old imports as warnings
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from ziamath import zmath
            from ziamath.config import config

            # draw the outline of each glyph in place, instead of a reference to one
            config.svg2 = False
            return str(zmath.Math(mathml, size=EM).svg())
    finally:
        log.setLevel(before)
