"""Formulas in a PDF by Typst look as in Chromium; the differences that remain have a reason."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from .paper_formulas import TEXTS, pairs
from .reader import Reader
from .test_same_formulas import compare

_ACCENT = "Chromium sets accents higher above the letter"
_BRACE = "Chromium leaves more space between a brace and its label"
_BIG = "the style sheet has space beside large brackets, which Typst needs only around a group"
_FRACTION = "the style sheet has space beside a fraction in brackets"
DIFFERENT: Mapping[str, str] = {
    **dict.fromkeys((r"\hat{\hat x}", r"\tilde a", r"\breve a", r"\tilde\lambda", r"\hat{x}_i"), _ACCENT),
    **dict.fromkeys((r"\widehat{xyz}", r"\widehat{f*g}"), "Chromium chooses the next wider accent"),
    r"\overleftrightarrow{AB}": "Typst sets an arrow closer to the letters",
    r"y=\underbrace{Wx}_{\in\mathbb R^m}+b": _BRACE,
    r"\mathcal L = \underbrace{\mathbb E_{q}[\log p(x\mid z)]}_{\text{reconstruction}} - \underbrace{D_{"
    r"\mathrm{KL}}(q\,\|\,p)}_{\text{regulariser}}": _BRACE,
    **dict.fromkeys((r"( \big( \Big( \bigg( \Bigg(", r"\| \big\| \Big\| \bigg\| \Bigg\|"), _BIG),
    **dict.fromkeys(
        (
            r"\left(\frac{a}{b}\right)^2",
            r"\left\lmoustache\frac{a}{b}\right\rmoustache",
            r"\left/\frac{a}{b}\right\backslash",
        ),
        _FRACTION,
    ),
    **dict.fromkeys(
        (r"\Gamma_2", r"V_i W_j Y^2"),
        "Typst moves scripts to the letter, as the font says; Chromium does not",
    ),
    r"\sqrt[3]{\frac{x}{y}}": "Typst sets the index of a root closer to its sign",
    r"\int\limits_{x^2+y^2\le 1} f": "Chromium sets the limit lower, so the rest is moved in a scaled image",
    r"\iiint_V h": "Chromium starts the limit further to the right",
    r"\sqrt{\smash{y^2}}": "Chromium moves the content to the top of the root",
    r"a_{\angl{n}}": "Typst sets a box in a script lower",
    r"\phase{x} + \longdiv{y}": "Typst has letters for the signs, which the style sheet draws",
    r"\begin{array}{c:c||r} a & b & c \\ \cline{2-3} 1 & 2 & 3 \end{array}": "double lines are closer",
}
"""TeX → why its ink differs by more than the limits of `compare`."""


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("pdftoppm"), reason="pdftoppm is not installed: install poppler-utils")
def test_formulas_look_as_on_the_page(reader: Reader, tmp_path: Path) -> None:
    found = pairs(tmp_path, reader)
    assert len(found) == len(TEXTS) > 200
    faults = {tex: fault for tex, pair in found.items() if (fault := compare(*pair))}
    assert {tex: faults.get(tex, "") for tex in faults.keys() ^ DIFFERENT.keys()} == {}
