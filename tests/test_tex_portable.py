"""Portable TeX: macros expanded, definitions and labels removed, the rest as written."""

from __future__ import annotations

from blogsmith.tex.analysis.portable import portable_tex
from blogsmith.tex.convert import convert_formula
from tests.check import render
from tests.rows import each_row

MACROS = {
    r"\R": r"\mathbb{R}",
    r"\x": "y",
    r"\norm": r"\lVert #1 \rVert",
    r"\pair": r"#[2][a](#1, #2)",
    r"\both": r"\norm{\x} + \norm",
    r"\softmax": r"\operatorname{softmax}",
    r"\loop": r"\loop",
}
TEXTS = [
    (r"a +  b", r"a +  b"),
    (r"x \in  \R^n", r"x \in  \mathbb{R}^n"),
    (r"\R x", r"\mathbb{R} x"),
    (r"2\x3, \sin\x z, \sin \x", r"2y3, \sin y z, \sin y"),
    (r"\norm{ a_1 }^2 + \norm b", r"\lVert  a_1  \rVert^2 + \lVert b \rVert"),
    (r"\pair{b} \pair[c]{d}", "(a, b) (c, d)"),
    (r"\norm{\pair{\x}}", r"\lVert (a, y) \rVert"),
    # a macro that reads the text after another one
    (r"\both{z} = 0", r"\lVert y\rVert + \lVert z \rVert = 0"),
    # a command with a single-token argument gets the whole expansion
    (r"x^\R_\x + \frac\R2 + \hat \R", r"x^{\mathbb{R}}_y + \frac{\mathbb{R}}2 + \hat {\mathbb{R}}"),
    (r"\R\label{eq:a}", r"\mathbb{R}"),
    ("\\begin{align}\n  a &= \\x \\label{eq:a} \\\\\n  \\label{eq:b}\n  c &= d\n\\end{align}",
     "\\begin{align}\n  a &= y \\\\\n  c &= d\n\\end{align}"),
    (r"\newcommand{\z}[1]{(#1)} \z{a} + \z b", "(a) + (b)"),
    (r"\let\old=\phi \old + \let\less<\less", r"\phi +<"),
    (r"\newcommand\ab{a+b} x^\ab + \frac\ab2", r"x^a+b + \frac{a+b}2"),
    (r"\DeclareMathOperator*{\argmax}{arg\,max} \argmax_\x f", r"\operatorname*{arg\,max}_y f"),
    (r"\def\z#1;{[#1]}\z a;b", "[a]b"),
    (r"a % \R \label{x}", r"a % \R \label{x}"),
    # invalid ones are kept
    (r"\loop", r"\loop"),
    (r"\norm", r"\norm"),
]  # fmt: skip


@each_row(("tex", "portable"), TEXTS)
def test_portable_tex(tex: str, portable: str) -> None:
    assert portable_tex(tex, MACROS) == portable


@each_row("tex", [tex for tex, _ in TEXTS if "label" not in tex and tex[:3] not in (r"\lo", r"\no")])
def test_it_looks_the_same_without_macros(tex: str) -> None:
    def inside(tex: str, macros: dict[str, str]) -> str:
        return convert_formula(tex, display=True, macros=macros).mathml.partition(">")[2]

    known = {name: body for name, body in MACROS.items() if name != r"\loop"}
    assert inside(portable_tex(tex, known), {}) == inside(tex, known)


def test_it_stands_beside_the_author_s() -> None:
    html = render(
        "---\nmath: {macros: {'\\R': '\\mathbb{R}'}}\n---\nIn $\\R$, not $x$.\n\n$$\\R > x \\label{eq:a}$$\n"
    ).html
    assert '<math alttext="\\R" data-tex="\\mathbb{R}">' in html
    assert '<math alttext="x">' in html
    assert 'alttext="\\R &gt; x \\label{eq:a}" data-tex="\\mathbb{R} &gt; x">' in html


def test_a_label_alone_is_left_to_who_copies() -> None:
    assert portable_tex(r"a \label{eq:a}", MACROS) == r"a \label{eq:a}"
