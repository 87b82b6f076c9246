"""Scripts, primes and limits: their elements and their bases."""

from __future__ import annotations

import re

import pytest

from blogsmith.tex.convert import TexError, convert_formula
from tests.rows import each_row

MACROS = {r"\T": r"^\top", r"\one": "_1", r"\both": r"\one\T", r"\ab": "ab", r"\none": ""}


def mathml(tex: str, *, display: bool = False) -> str:
    """Return the content of `<math>`, without attributes."""
    inside = convert_formula(tex, display=display, macros=MACROS).mathml.removesuffix("</math>")
    return re.sub(r' [a-z]+="[^"]*"', "", inside[inside.index(">") + 1 :])


@each_row(
    ("tex", "found"),
    [
        ("x_1", "<msub><mi>x</mi><mn>1</mn></msub>"),
        ("x^{ab}", "<msup><mi>x</mi><mrow><mi>a</mi><mi>b</mi></mrow></msup>"),
        ("x_1^2", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
        ("x^2_1", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
        ("x^12", "<msup><mi>x</mi><mn>1</mn></msup><mn>2</mn>"),
        ("12^3", "<msup><mn>12</mn><mn>3</mn></msup>"),
        (")^2", "<msup><mo>)</mo><mn>2</mn></msup>"),
        ("^2", "<msup><mrow></mrow><mn>2</mn></msup>"),
        ("x^{}", "<msup><mi>x</mi><mrow></mrow></msup>"),
        ("x^\\frac12", "<msup><mi>x</mi><mfrac><mn>1</mn><mn>2</mn></mfrac></msup>"),
        ("x'", "<msup><mi>x</mi><mo>′</mo></msup>"),
        ("x''^2", "<msup><mi>x</mi><mrow><mo>″</mo><mn>2</mn></mrow></msup>"),
        ("x'_1", "<msubsup><mi>x</mi><mn>1</mn><mo>′</mo></msubsup>"),
        ("x'''''", "<msup><mi>x</mi><mrow><mo>⁗</mo><mo>′</mo></mrow></msup>"),
        ("x²", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ("x₁₂", "<msub><mi>x</mi><mn>12</mn></msub>"),
        ("x⁻¹", "<msup><mi>x</mi><mrow><mo>−</mo><mn>1</mn></mrow></msup>"),
        ("{x_a}_b", "<msub><msub><mi>x</mi><mi>a</mi></msub><mi>b</mi></msub>"),
        (r"\sum_i", "<msub><mo>∑</mo><mi>i</mi></msub>"),
        (r"\sum\limits_i", "<munder><mo>∑</mo><mi>i</mi></munder>"),
        (r"\int\limits_0^1", "<munderover><mo>∫</mo><mn>0</mn><mn>1</mn></munderover>"),
        (r"\operatorname{a}_b", "<msub><mi>a</mi><mi>b</mi></msub>"),
    ],
)
def test_in_a_line(tex: str, found: str) -> None:
    assert mathml(tex) == found


@each_row(
    ("tex", "found"),
    [
        (r"A_i\T", "<msubsup><mi>A</mi><mi>i</mi><mi>⊤</mi></msubsup>"),
        (r"A\both", "<msubsup><mi>A</mi><mn>1</mn><mi>⊤</mi></msubsup>"),
        (r"A_i\ab", "<msub><mi>A</mi><mi>i</mi></msub><mi>a</mi><mi>b</mi>"),
        (r"x^\ab", "<msup><mi>x</mi><mi>a</mi></msup><mi>b</mi>"),
        (r"x^{\ab}", "<msup><mi>x</mi><mrow><mi>a</mi><mi>b</mi></mrow></msup>"),
        (r"\frac\ab\none", "<mfrac><mrow><mi>a</mi><mi>b</mi></mrow><mrow></mrow></mfrac>"),
        (r"\underbrace{x}\one", "<munder><munder><mi>x</mi><mo>⏟</mo></munder><mn>1</mn></munder>"),
        (r"\int\limits\limits_0", "<munder><mo>∫</mo><mn>0</mn></munder>"),
    ],
)
def test_scripts_in_macros(tex: str, found: str) -> None:
    assert mathml(tex) == found


@each_row(
    ("tex", "found"),
    [
        (r"\sum_i^n", "<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>"),
        (r"\sum\nolimits_i", "<msub><mo>∑</mo><mi>i</mi></msub>"),
        (r"\int_0", "<msub><mo>∫</mo><mn>0</mn></msub>"),
        (r"\lim_n", "<munder><mi>lim</mi><mi>n</mi></munder>"),
        (r"\operatorname*{a}_b", "<munder><mi>a</mi><mi>b</mi></munder>"),
        (r"\mathop{ab}_c", "<munder><mrow><mi>a</mi><mi>b</mi></mrow><mi>c</mi></munder>"),
        (r"\frac{\sum_i}{2}", "<mfrac><msub><mo>∑</mo><mi>i</mi></msub><mn>2</mn></mfrac>"),
        (r"x^{\sum_i}", "<msup><mi>x</mi><msub><mo>∑</mo><mi>i</mi></msub></msup>"),
        (r"\underbrace{x}_a", "<munder><munder><mi>x</mi><mo>⏟</mo></munder><mi>a</mi></munder>"),
    ],
)
def test_in_a_display(tex: str, found: str) -> None:
    assert mathml(tex, display=True) == found


@each_row(
    ("tex", "message", "offset"),
    [
        ("x_1_2", "double subscript or superscript", 3),
        ("x^1^2", "double subscript or superscript", 3),
        (r"x^1\T", "double subscript or superscript", 3),
        ("x^1'", "double subscript or superscript", 3),
        ("x'^1'", "double subscript or superscript", 4),
        ("x_", "missing subscript at the end of the formula", 1),
        ("{x^}", "missing superscript", 2),
        ("x_^2", "missing subscript", 1),
        (r"x\limits_2", r'"\limits" does not follow an operator', 1),
    ],
)
def test_wrong_scripts(tex: str, message: str, offset: int) -> None:
    with pytest.raises(TexError) as caught:
        mathml(tex)
    assert (caught.value.message, caught.value.offset) == (message, offset)
