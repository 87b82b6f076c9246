"""Which displays are scroll boxes for the keyboard: a rough width, by what a row prints."""

from __future__ import annotations

import pytest

from blogsmith.render.formulas import NARROW, printed_width


@pytest.mark.parametrize(
    ("tex", "width"),
    [
        ("a = b", 3),
        (r"\alpha + \beta", 3),
        (r"a_{ij}^{2}", 4),
        (r"a = b \\ cde = f", 5),
        (r"\sin x", 4),
        (r"\begin{pmatrix} a \\ bcd \end{pmatrix}", 5),
        (r"\begin{pmatrix} a & b \end{pmatrix} \begin{pmatrix} c \\ d \end{pmatrix}", 8),
        (r"\begin{align} a &= b \\ c &= defg \end{align}", 9),
        (r"\begin{pmatrix} \begin{matrix} a \\ b \end{matrix} \\ c \end{pmatrix}", 5),
        ("", 0),
    ],
)
def test_printed_width(tex: str, width: int) -> None:
    assert printed_width(tex) == width


def test_a_short_formula_is_no_scroll_box() -> None:
    assert printed_width(r"p = \operatorname{softmax}(s)") <= NARROW < printed_width("a + " * 20)
