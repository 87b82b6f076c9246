"""Line breaks of long inline formulas: the fragments between breaks, as text."""

from __future__ import annotations

import re

from blogsmith.tex.convert import convert_formula
from blogsmith.tex.mathml.line_groups import group_lines
from tests.check import render
from tests.rows import each_row

NARROW = 26
LINES = [
    # after relations; the shorter side of one is not broken
    (r"f(x) = a + b \le c + d \iff g(y) = h(z) > 0", ["f(x)=", "a+b≤", "c+d⟺", "g(y)=", "h(z)>", "0"]),
    # after binary operators if the part between relations is too wide
    (
        r"s = a_1 x + a_2 x - a_3 x \cdot a_4 x + a_5 x + a_6 x + a_7 x",
        ["s=", "a1x+", "a2x−", "a3x⋅", "a4x+", "a5x+", "a6x+", "a7x"],
    ),
    # in brackets only if necessary; never in groups, fractions, growing fences and scripts
    (r"f(a = b + c) = {d = e} + (g + h) \le i + j + k", ["f(a=b+c)=", "d=e+(g+h)≤", "i+j+k"]),
    (
        r"f(a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 = b)",
        ["f(a1+", "a2+", "a3+", "a4+", "a5+", "a6+", "a7+", "a8=", "b)"],
    ),
    (r"\frac{a = b}{c + d} = \left( x = y + z \right) + q^{r = s} \to 0", ["a=bc+d=", "(x=y+z)+qr=s→", "0"]),
    # operators without space are not binary: at the start, after another one, before a bracket
    (r"= -a + b = -c + d \in {} < {} \left[ 0, 1 \right) + e + f", ["=−a+b=", "−c+d∈", "<", "[0,1)+e+f"]),
    # relations with labels, arrows, letters used as relations
    (
        r"\mathsf{Long} \overset{\text{def}}{=} \mathsf{Name} \xrightarrow{n} \mathsf{Limit} \mathrel{R} x",
        ["𝖫𝗈𝗇𝗀=def", "𝖭𝖺𝗆𝖾→n", "𝖫𝗂𝗆𝗂𝗍R", "x"],
    ),
    # after commas as a last resort
    (
        r"x_1, x_2, x_3, x_4, x_5, x_6, x_7, x_8, \quad x_9, x_{10}, x_{11}",
        ["x1,", "x2,", "x3,", "x4,", "x5,", "x6,", "x7,", "x8,", "x9,", "x10,", "x11"],
    ),
    # a formula that cannot become narrow enough has no breaks
    (r"a = \text{one very long text without any place for a break} + b", []),
    (r"\mathbf{abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz}", []),
]


def pieces(tex: str) -> list[str]:
    """Return the text of the rows of a formula."""
    mathml = group_lines(convert_formula(tex, display=False).mathml, NARROW)
    inside = re.sub(r"^<math [^>]*>|</math>$", "", mathml)
    rows = re.split(r"(?<=</mrow>)(?=<mrow>)", inside) if mathml else []
    depths = [row.count("<mrow") - row.count("</mrow>") for row in rows]
    joined: list[str] = []
    depth = 0
    for row, change in zip(rows, depths, strict=True):
        joined = [*joined[:-1], joined[-1] + row] if depth else [*joined, row]
        depth += change
    return [
        re.sub(r"<[^>]*>|[\ufe01\u2061]", "", row).replace("&lt;", "<").replace("&gt;", ">") for row in joined
    ]


@each_row(("tex", "lines"), LINES)
def test_lines(tex: str, lines: list[str]) -> None:
    assert pieces(tex) == lines


@each_row("tex", [tex for tex, lines in LINES if lines])
def test_a_formula_keeps_its_signs(tex: str) -> None:
    plain = convert_formula(tex, display=False).mathml
    text = re.compile(r"<[^>]*>")
    assert text.sub("", group_lines(plain, NARROW)) == text.sub("", plain)


def test_short_formulas_stay_as_they_are() -> None:
    html = render(
        "Let $a = b + c - d \\ge 0$ and $$a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 = 1$$."
    ).html
    assert "math-lines" not in html and "math-long" not in html


def test_long_ones_in_a_page() -> None:
    html = render("Let $a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 = 1$, say.").html
    assert '<span class="math-joined"><math class="math-lines" alttext="a_1 + ' in html
    html = render(r"Let $\href{#x}{a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 = 1}$.{#x}").html
    assert '<math class="math-lines"' in html and html.count("<a ") == html.count("</a>")
