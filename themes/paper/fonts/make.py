"""Makes `static/fonts/stix-two-math.woff2`: STIX Two Math with the signs posts use.

Run by hand when `SIGNS` or the source changes; see README.md beside this file. The result is committed,
so a build of a site needs neither network nor fontTools. Same source, same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from fontTools.misc.transform import Transform
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

RANGES = (
    (0x20, 0x7E),  # letters of function names and \text
    (0x2032, 0x2034),  # primes
    (0x2061, 0x2064),  # invisible operators
    (0x2190, 0x2199),  # arrows
    (0x21D0, 0x21D5),
    (0x2200, 0x220C),  # quantifiers, membership
    (0x1D400, 0x1D467),  # bold and italic letters
    (0x1D49C, 0x1D4CF),  # script
    (0x1D538, 0x1D56B),  # double-struck
    (0x1D6A4, 0x1D6E1),  # dotless i and j, bold Greek
    (0x1D6E2, 0x1D71B),  # italic Greek
    (0x0391, 0x03C9),  # upright Greek
)
SIGNS = (
    "\u00a0¬±·×÷ħıȷ†‡•…‖⁄ℂℋℐℒℕℙℚℛℜℝℤℬℰℱℳℎℏℑℓ℘ℵ∂∆∇"
    "∏∐∑−∓∕∖∗∘∙√∝∞∠∡∣∤∥∦∧∨∩∪∫∬∭∮∴∵∶∷∼∽≀≁≃≄≅≇≈≉≍≐≔≕≜≝≟≠≡≢≤≥≦≧≨≩≪≫≮≯≰≱≲≳≺≻≼≽⊂⊃⊄⊅⊆⊇⊈⊉⊊⊋⊎⊏⊐⊑⊒⊓⊔"
    "⊕⊖⊗⊘⊙⊚⊞⊟⊠⊡⊢⊣⊤⊥⊨⊩⊲⊳⊴⊵⋀⋁⋂⋃⋄⋅⋆⋈⋮⋯⋰⋱⌈⌉⌊⌋⟂⟦⟧⟨⟩⟵⟶⟷⟸⟹⟺⟼↦↪↩↠↣↤⇀⇁↼↽⇌⇋⇆⇄⇝↑↓↕⏞⏟⎴⎵⏜⏝■□▪▫▲△▶▷▼▽◀◁◆◇○●★☆♠♡♢♣♭♮♯✓✗⨀⨁⨂⨄⨆⩽⩾⪅⪆⪇⪈⪯⪰"
    "ϕϵϑϰϱϖϴ\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030c\u0332\u0338\u20d6\u20d7\u20db\u20dc"
    "ˆˇˉ˘˙˚˜´`¨¯\ufe00\ufe01"
)
