"""Formulas as plain text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.model.slugs import slugify
from blogsmith.tex.analysis.linear import linear_text
from blogsmith.tex.parse.lexer import tokenize, tokenize_without_positions
from tests.rows import each_row, examples


@each_row(
    ("tex", "text"),
    [
        (r"\sqrt{d_k}", "sqrt(d_k)"),
        (r"\sqrt[3]{x}", "sqrt[3](x)"),
        (r"\frac{a}{b}", "a/b"),
        (r"\frac12", "1/2"),
        (r"\frac{a+b}{2}", "(a+b)/2"),
        (r"\tfrac{1}{\sqrt{d_k}}", "1/sqrt(d_k)"),
        (r"\binom{n}{k}", "binom(n, k)"),
        (r"\alpha", "alpha"),
        (r"2\pi r", "2 pi r"),
        (r"n\log n", "n log n"),
        (r"O(n^2)", "O(n^2)"),
        (r"e^{-x}", "e^(-x)"),
        (r"\mathbb{R}^{n\times m}", "R^(n × m)"),
        (r"x\in\mathbb R", "x in R"),
        (r"\text{softmax}\left(QK^\top\right)V", "softmax(QK^T)V"),
        (r"\operatorname*{argmax}_x f", "argmax_x f"),
        (r"\mathbf{W}_Q", "W_Q"),
        (r"\hat{x}", "hat x"),
        (r"A \to B", "A -> B"),
        (r"a \le b", "a <= b"),
        (r"\{a, b\}", "{a, b}"),
        (r"\begin{align}a&=b\\c&=d\end{align}", "a=b; c=d"),
        (r"\begin{array}{cc}a&b\end{array}", "ab"),
        (r"x\label{eq:x}\tag{1}", "x"),
        (r"\mystery{x}", "mystery x"),
        (r"\href{https://example.org/a_b}{x^2}", "x^2"),
        (r"\url{https://example.org}", "https://example.org"),
        (r"\class{note}{x}+\textcolor{red}{y}", "x+y"),
        (r"\ce{H2O} + \num{3}", "H2O + 3"),
        (r"a \eqref{eq:x}", "a"),
        ("50\\%", "50%"),
        ("", ""),
        ("{", ""),
        ("\\", ""),
        ("x^", "x"),
    ],
)
def test_linear_text(tex: str, text: str) -> None:
    assert linear_text(tex) == text


def test_a_slug_reads_well() -> None:
    assert slugify("Why Scale by " + linear_text(r"\sqrt{d_k}") + "?") == "why-scale-by-sqrt-d-k"


@given(st.text(alphabet="\\{}[]^_%ab1.& ~$\n é\x00", max_size=60))
@examples(300)
def test_tokens_without_places_are_the_same(tex: str) -> None:
    assert [token.text for token in tokenize_without_positions(tex)] == [
        token.text for token in tokenize(tex)
    ]


@given(st.text(alphabet="\\{}[]^_ab1&~$ é\x00", max_size=80) | st.text(max_size=60))
@examples(200)
def test_any_text_is_one_clean_line(tex: str) -> None:
    text = linear_text(tex)
    assert text == " ".join(text.split())
    assert "\x00" not in text
