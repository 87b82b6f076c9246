"""Display math: which displays can be scrolled by keyboard, and positions of ids and links of rows."""

from __future__ import annotations

from blogsmith.render.formulas import PHONE_CHARACTERS, estimate_width
from tests.rows import each_row

from .check import render


@each_row(
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
    assert estimate_width(tex) == width


def test_a_short_formula_is_no_scroll_box() -> None:
    assert estimate_width(r"p = \operatorname{softmax}(s)") <= PHONE_CHARACTERS < estimate_width("a + " * 20)


ROWS = r"""
\begin{align}
a &= %s \label{eq:a} \\
c &= d \\
e &= f \label{eq:e}
\end{align}

By \eqref{eq:e}.
"""


def test_each_row_with_a_label_has_a_link_behind_the_formula() -> None:
    html = render(ROWS % "b").html
    links = [
        f'<a class="eq-anchor" href="#eq-{name}" aria-label="Equation ({number})"></a>'
        for name, number in (("a", 1), ("e", 2))
    ]
    assert f"</math>{''.join(links)}</div>" in html
    assert '<mtr id="eq-a">' in html and '<mtr id="eq-e">' in html


def test_references_to_rows_of_a_wrong_formula_lead_to_it() -> None:
    html = render(ROWS % r"\nosuchcommand", "math: {on_error: render}\n").html
    assert '<span id="eq-a"></span><span id="eq-e"></span><code class="math-error">' in html
    assert "eq-anchor" not in html
    assert 'href="#eq-e"' in html
