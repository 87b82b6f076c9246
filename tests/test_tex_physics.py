"""The physics package: conversion of its commands to plain TeX, and the names it overrides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.tex.packages.physics.expanders import EXPANDERS, REDEFINED
from blogsmith.tex.packages.siunitx import expanders as units
from blogsmith.tex.parse.errors import ParseError
from blogsmith.tex.parse.reader import text_of, tokens
from tests.rows import each_row

from .tex_expansion import complaint, expand

ALL = {**EXPANDERS, **REDEFINED}


def check(tex: str, made: str) -> None:
    assert without_blanks(expand(tex, ALL)) == without_blanks(made)


def without_blanks(tex: str) -> str:
    """Return TeX without spaces that have no meaning in a formula."""
    return text_of([token for token in tokens(tex) if token != " "])


@each_row(
    ("tex", "made"),
    [
        (r"\qty(x)", r"{\left(x\right)}"),
        (r"\qty((x)+y)z", r"{\left((x)+y\right)}z"),
        (r"\qty({)})", r"{\left({)}\right)}"),
        (r"\qty[x]", r"{\left[x\right]}"),
        (r"\qty|x|", r"{\left\lvert x\right\rvert}"),
        (r"\quantity{x}", r"{\left\{x\right\}}"),
        (r"\qty\Big(x)", r"\Bigl(x\Bigr)"),
        (r"\qty\bigg{x}", r"\biggl\{x\biggr\}"),
        (r"\qty*(x)", "(x)"),
        (r"\qty a", r"{\left(\right)} a"),
        (r"\pqty{x}", r"{\left(x\right)}"),
        (r"\bqty\big{x}", r"\bigl[x\bigr]"),
        (r"\Bqty*{x}", r"\{x\}"),
        (r"\vqty{x}", r"{\left\lvert x\right\rvert}"),
        (r"\abs{\frac{x}{2}}", r"{\left\lvert\frac{x}{2}\right\rvert}"),
        (r"\abs*\big{x}", r"\lvert x\rvert"),
        (r"\norm{v}", r"{\left\lVert v\right\rVert}"),
        (r"\order{h^2}", r"\mathcal{O}{\left(h^2\right)}"),
        (r"\comm{A}{B}", r"{\left[A,B\right]}"),
        (r"\comm*{A}B", "[A,B]"),
        (r"\acomm\big{A}{B}", r"\bigl\{A,B\bigr\}"),
        (r"\pb{f}{g}", r"{\left\{f,g\right\}}"),
        (r"\eval{x}_0^1", r"\left.x\vphantom{\int}\right\rvert_0^1"),
        (r"\eval*{x}_0^1", r"\left.\smash{x}\vphantom{\int}\right\rvert_0^1"),
        (r"\eval[x|_0^1", r"\left[x\vphantom{\int}\right\rvert_0^1"),
        (r"\eval(x|_0^1", r"\left(x\vphantom{\int}\right\rvert_0^1"),
    ],
)
def test_brackets(tex: str, made: str) -> None:
    check(tex, made)


@each_row(
    ("tex", "made"),
    [
        (r"\vb{a}", r"\mathbf{a}"),
        (r"\vb*{a}", r"\boldsymbol{a}"),
        (r"\va{a}", r"\vec{\mathbf{a}}"),
        (r"\vu*{a}", r"\hat{\boldsymbol{a}}"),
        (r"a \vdot b \cross c", r"a \boldsymbol{\cdot} b \times  c"),
        (r"\grad f", r"\mathbf{\nabla} f"),
        (r"\grad(x)", r"\mathbf{\nabla}{\left(x\right)}"),
        (r"\curl[x]", r"\mathbf{\nabla}\times{\left[x\right]}"),
        (r"\divergence{E}", r"\mathbf{\nabla}\boldsymbol{\cdot}E"),
        (r"\laplacian{u}", r"\nabla^{2}u"),
        (r"\asin[2](x)", r"\operatorname{asin}^{2}\mathopen{}{\left(x\right)}"),
        (r"\trace(x)", r"\operatorname{tr}\mathopen{}{\left(x\right)}"),
        (r"\sech x", r"\operatorname{sech} x"),
        (r"\hyptangent(x)", r"\operatorname{tanh}(x)"),
        (r"\determinant_x", r"\operatorname*{det}_x"),
        (r"\Res(x)", r"\operatorname{Res}\mathopen{}{\left(x\right)}"),
        (r"\Res{x}", r"\operatorname{Res}\mathopen{}{\left\{x\right\}}"),
        (r"\pv{\int f}", r"\mathcal{P}\int f"),
        (r"x\qq{or}y", r"x\quad\text{or}\quad y"),
        (r"x\qq*{or}y", r"x\text{or}\quad y"),
        (r"x\qif y\qc z", r"x\quad\text{if}\quad  y\text{,}\quad  z"),
    ],
)
def test_operators_and_words(tex: str, made: str) -> None:
    check(tex, made)


@each_row(
    ("tex", "made"),
    [
        (r"\sin(x)", r"\operatorname{sin}\mathopen{}{\left(x\right)}"),
        (r"\sin[2](x)", r"\operatorname{sin}^{2}\mathopen{}{\left(x\right)}"),
        (r"\cos['](x)", r"\operatorname{cos}'\mathopen{}{\left(x\right)}"),
        (r"\exp[x]", r"\operatorname{exp}[x]"),
        (r"\det(A)", r"\operatorname*{det}\mathopen{}{\left(A\right)}"),
        (r"\log x", r"\operatorname{log} x"),
        (r"\div(x)", r"\mathbf{\nabla}\boldsymbol{\cdot}{\left(x\right)}"),
        (r"a\divisionsymbol b", "a÷ b"),
        (r"\Re{z}", r"\operatorname{Re}\mathopen{}{\left\{z\right\}}"),
        (r"\Im z", r"\operatorname{Im} z"),
        (r"\braket{a}", r"\mathinner{\left\langle a\middle\vert a\right\rangle}"),
        (r"\braket{a}{b}", r"\mathinner{\left\langle a\middle\vert b\right\rangle}"),
        (r"\ket*{a}", r"\vert{a}\rangle"),
        (r"\bra{a}", r"\mathinner{\left\langle a\right\vert}"),
        (r"\bra{a}\ket{b}", r"\mathinner{\left\langle a\middle\vert b\right\rangle}"),
        (r"\bra*{a}\ket{b}", r"\langle{a}\vert{b}\rangle"),
        (r"\bra{a}\ket b", r"\mathinner{\left\langle a\middle\vert\right\rangle}b"),
    ],
)
def test_names_that_the_package_redefines(tex: str, made: str) -> None:
    check(tex, made)
    name = min((name for name in ALL if tex.find(name) >= 0), key=tex.find)
    assert name in REDEFINED or name == r"\divisionsymbol"


def test_without_the_package_plain_names_stay() -> None:
    plain = r"\sin(x) \div\Re z \bra{a} \det A"
    assert expand(plain, EXPANDERS) == plain
    assert not EXPANDERS.keys() & REDEFINED.keys()


@each_row(
    ("tex", "made"),
    [
        (r"\ip{a}{b}", r"\mathinner{\left\langle a\middle\vert b\right\rangle}"),
        (r"\ip*{a}", r"\langle{a}\vert{a}\rangle"),
        (r"\op{a}{b}", r"\mathinner{\left\vert a\middle\rangle\!\middle\langle b\right\vert}"),
        (r"\dyad*{a}", r"\vert{a}\rangle\!\langle{a}\vert"),
        (r"\ev{A}", r"\left\langle{A}\right\rangle"),
        (r"\ev*{A}", r"\langle{A}\rangle"),
        (r"\ev{A}{b}", r"{\left\langle{b}\right\vert}{A}{\left\vert{b}\right\rangle}"),
        (r"\ev*{A}{b}", r"\langle{b}\vert{A}\vert{b}\rangle"),
        (r"\ev**{A}{b}", r"\left\langle{b}\middle\vert{A}\middle\vert{b}\right\rangle"),
        (r"\mel{a}{B}{c}", r"{\left\langle{a}\right\vert}{B}{\left\vert{c}\right\rangle}"),
        (r"\mel**{a}{B}{c}", r"\left\langle{a}\middle\vert{B}\middle\vert{c}\right\rangle"),
    ],
)
def test_dirac(tex: str, made: str) -> None:
    check(tex, made)


@each_row(
    ("tex", "made"),
    [
        (r"\dd x", r"\mathrm{d} x"),
        (r"\dd{x}", r"\mathinner{\mathrm{d}x}"),
        (r"\dd[3]{x}", r"\mathinner{\mathrm{d}^{3}x}"),
        (r"\dd(x)", r"\mathrm{d}{\left(x\right)}"),
        (r"\dd[5]", r"\mathrm{d}^{5}"),
        (r"\dv x", r"\frac{\mathrm{d}}{\mathrm{d} x}"),
        (r"\dv{f}{x}", r"\frac{\mathrm{d}f}{\mathrm{d} x}"),
        (r"\dv[n]{f}{x}", r"\frac{\mathrm{d}^{n}f}{\mathrm{d} x^{n}}"),
        (r"\dv[2]{f}{x^\mu}", r"\frac{\mathrm{d}^{2}f}{\mathrm{d} {x^\mu}^{2}}"),
        (r"\dv[]{f}{x}", r"\frac{\mathrm{d}f}{\mathrm{d} x}"),
        (r"\dv{f}{x}y", r"\frac{\mathrm{d}f}{\mathrm{d} x}y"),
        (r"\dv{x}(f)", r"\frac{\mathrm{d}}{\mathrm{d} x}{\left(f\right)}"),
        (r"\dv*{f}{x}", r"{\mathrm{d}f/\mathrm{d} x}"),
        (r"\pdv{f}{x}", r"\frac{\partial f}{\partial x}"),
        (r"\pdv{f}{x}{y}", r"\frac{\partial^{2}f}{\partial x\partial y}"),
        (r"\pdv[3]{f}{x}", r"\frac{\partial^{3}f}{\partial x^{3}}"),
        (r"\fdv{F}{f}", r"\frac{\delta F}{\delta f}"),
        (r"\var{S}", r"\delta{S}"),
        (r"\var[2]{S}", r"\delta^{2}{S}"),
        (r"\var(E)", r"\delta{\left(E\right)}"),
        (r"\flatfrac{a}{b}", "{a/b}"),
        (r"\flatfrac{\frac12}{b}", r"{\left.\frac12\middle/b\right.}"),
    ],
)
def test_derivatives(tex: str, made: str) -> None:
    check(tex, made)


@each_row(
    ("tex", "made"),
    [
        (r"\mqty{a&b}", r"\begin{matrix}a&b\end{matrix}"),
        (r"\mqty(a&b)", r"{\left(\begin{matrix}a&b\end{matrix}\right)}"),
        (r"\mqty*(a)", r"{\left\lgroup\begin{matrix}a\end{matrix}\right\rgroup}"),
        (r"\mqty[a]", r"{\left[\begin{matrix}a\end{matrix}\right]}"),
        (r"\mqty|a|", r"{\left|\begin{matrix}a\end{matrix}\right|}"),
        (r"\bmqty{a}", r"{\left[\begin{matrix}a\end{matrix}\right]}"),
        (r"\smqty(a)", r"{\left(\begin{smallmatrix}a\end{smallmatrix}\right)}"),
        (r"\spmqty{a}", r"{\left(\begin{smallmatrix}a\end{smallmatrix}\right)}"),
        (r"\mdet{a}", r"{\left|\begin{matrix}a\end{matrix}\right|}"),
        (r"\imat{3}", r"1&0&0\\0&1&0\\0&0&1"),
        (r"\xmat{x}{2}{3}", r"x&x&x\\x&x&x"),
        (r"\xmat*{x}{2}{2}", r"x_{{1}{1}}&x_{{1}{2}}\\x_{{2}{1}}&x_{{2}{2}}"),
        (r"\xmat*{x}{1}{2}", r"x_{1}&x_{2}"),
        (r"\xmat*{x}{1}{1}", "x"),
        (r"\zmat{2}{1}", r"0\\0"),
        (r"\pmat{y}", r"0&-i\\i&0"),
        (r"\dmat{a,b}", r"\begin{matrix}a\end{matrix}\\&\begin{matrix}b\end{matrix}"),
        (r"\admat{a,b}", r"&\begin{matrix}a\end{matrix}\\\begin{matrix}b\end{matrix}"),
        (r"\dmat{{a,b}}", r"\begin{matrix}{a,b}\end{matrix}"),
    ],
)
def test_matrices(tex: str, made: str) -> None:
    check(tex, made)


@each_row(
    ("tex", "is_siunitx"),
    [
        (r"\qty{5}{\metre}", True),
        (r"\qty{5.2(1)e3}{m}", True),
        (r"\qty{-5}{x}", True),
        (r"\qty{\speed}{\km\per\hour}", True),
        (r"\qty{}{\metre}", True),
        (r"\qty[]{5}{m}", True),
        (r"\qty[per-mode = symbol]{5}{m}", True),
        (r"\qty[separate-uncertainty]{5}{m}", True),
        (r"\qty[no-such-option]{5}{m}", True),
        (r"\qty{5}", False),
        (r"\qty{x+y}{z}", False),
        (r"\qty{x}", False),
        (r"\qty[x]{5}{m}", False),
        (r"\qty[x]{5}", False),
        (r"\qty(5){m}{n}", False),
        (r"\qty\big{5}{m}", False),
    ],
)
def test_which_quantity_is_meant(tex: str, is_siunitx: bool) -> None:
    assert (r"\SI" in expand(tex, EXPANDERS)) == is_siunitx


def test_a_quantity_with_a_unit_is_siunitx() -> None:
    both = {**units.EXPANDERS, **EXPANDERS}
    assert expand(r"\qty[per-mode=symbol]{5}{\metre\per\second}", both) == r"{5\,\mathrm{m}/\mathrm{s}}"
    assert expand(r"\qty[x]{a}{b}", both) == r"{\left[x\right]}{a}{b}"


@each_row(
    ("tex", "message"),
    [
        (r"\qty(x", '"(" is never closed by ")"'),
        (r"\sin(x]", '"(" is never closed by ")"'),
        (r"\pqty(x)", r'missing argument in braces after "\pqty"'),
        (r"\comm AB", r'missing argument in braces after "\comm"'),
        (r"\eval x", r'missing argument in braces after "\eval"'),
        (r"\imat{n}", r'invalid size "n" of "\imat": expected a number of rows and columns'),
        (r"\imat{}", r'invalid size "" of "\imat": expected a number of rows and columns'),
        (r"\xmat{x}{2}{1000}", r'"\xmat" is too large: at most 100 rows and columns are allowed'),
        (r"\pmat{4}", r'unknown matrix "4" for "\pmat"'),
        (r"\dmat{" + "," * 100 + "}", r'"\dmat" is too large: at most 100 blocks are allowed'),
        (r"\dv{f", 'opening brace "{" is never closed'),
        (r"\mel{a}{b}", r'missing argument of "\mel" at the end of the formula'),
    ],
)
def test_mistakes(tex: str, message: str) -> None:
    assert complaint(tex, ALL)[0] == message


_PIECES = [
    *("1", "x", "^", "_", "'", "{", "}", "(", ")", "[", "]", "|", "*", ",", "&", r"\\", " "),
    *(r"\big", r"\left", r"\right"),
    *sorted(ALL),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=15))
def test_junk_is_an_error_of_the_author(pieces: list[str]) -> None:
    try:
        made = expand("".join(pieces), ALL)
    except ParseError as wrong:
        assert wrong.message
    else:
        assert isinstance(made, str)
