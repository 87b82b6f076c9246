"""Second opinions: random formulas mean the same to us and to math-core, a converter in Rust.

latex2mathml, a converter in Python, is compared too, except for its known errors.

Both results are reduced to what readers see: the symbols in order, their relative positions (above, below,
beside), and which letters are upright. Spaces, sizes and groups are removed.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from blogsmith.hooks import FormulaConverter, FormulaSource
from blogsmith.hooks.loader import load_plugins
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.render.converters import convert_with_plugin
from blogsmith.tex.constructs.table import constructs
from blogsmith.tex.convert import convert_formula
from blogsmith.tex.foreign.structure import Row, read_structure
from tests.rows import each_row

COUNT = 400
LETTERS = r"a b c x y z A B C R S α β \alpha \varepsilon \Gamma \infty \partial \ell \hbar"
SIGNS = r"""
+ - * \cdot \times \otimes \cup \wedge \circ \pm \setminus
= < > \le \ne \in \subset \to \mapsto \sim \approx \mid : , \, \; \quad ~
"""
LARGE = r"\sum \prod \int \bigcup \oint \lim \max \operatorname*{ab}"
FUNCTIONS = r"\sin \log \det \operatorname{rank}"
ACCENTS = r"\hat \bar \tilde \dot \ddot \check \widehat \overline \underline \overbrace"
FACES = r"\mathbf \mathbb \mathcal \mathfrak \mathsf \mathtt \mathrm \boldsymbol"
FENCES = r"( ) [ ] \{ \} | | \langle \rangle \lfloor \rfloor . |"
STACKS = r"\xrightarrow \overset \underset \stackrel"
FRACTIONS = r"\frac \dfrac \tfrac \binom"
TABLES = "matrix pmatrix bmatrix vmatrix cases aligned array"
BREAK = r" \\ "


class Maker:
    """Makes formulas of commands that every TeX has."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def pick(self, names: str) -> str:
        """Return one of the names."""
        return self.rng.choice(names.split())

    def row(self, depth: int) -> str:
        """Return terms with operators between them."""
        row = self.rng.choice(("", "", "-")) + self.term(depth)
        for _ in range(self.rng.randrange(3)):
            term = self.term(depth)
            # with nothing but a space between them, math-core takes two numbers for one
            sign = self.pick(SIGNS) if term[0].isdecimal() or self.rng.random() < 0.5 else ""
            row += f"{sign} {term}"
        return row

    def term(self, depth: int) -> str:
        """Return a term that may have scripts."""
        if depth <= 0:
            return self.rng.choice((self.letter, self.number))(depth)
        makers = [self.letter, self.number, self.fraction, self.root, self.fenced, self.accented, self.faced]
        makers += [self.function, self.table, self.stacked, self.text]
        if self.rng.random() < 0.15:
            return self.large(depth - 1)
        return self.rng.choice(makers)(depth - 1) + self.scripts(depth - 1)

    def letter(self, _: int) -> str:
        return self.pick(LETTERS) + " "

    def number(self, _: int) -> str:
        return self.pick("0 12 3.14")

    def scripts(self, depth: int) -> str:
        """Return scripts, mostly none."""
        marks = self.rng.choice(("", "", "", "", "_", "^", "_^", "^_", "'", "'_"))
        return "".join(mark if mark == "'" else f"{mark}{{{self.row(depth)}}}" for mark in marks)

    def fraction(self, depth: int) -> str:
        return f"{self.pick(FRACTIONS)}{{{self.row(depth)}}}{{{self.row(depth)}}}"

    def root(self, depth: int) -> str:
        return rf"\sqrt{self.rng.choice(('', '[3]', '[n]'))}{{{self.row(depth)}}}"

    def fenced(self, depth: int) -> str:
        fences = FENCES.split()
        at = self.rng.randrange(0, len(fences), 2)
        left, right = fences[at : at + 2]
        if "." not in (left, right) and self.rng.random() < 0.4:
            size = self.pick("big Bigg")
            return rf"\{size}l{left} {self.row(depth)} \{size}r{right} "
        return rf"\left{left} {self.row(depth)} \right{right} "

    def accented(self, depth: int) -> str:
        return f"{self.pick(ACCENTS)}{{{self.row(0)}}}"

    def faced(self, _: int) -> str:
        return f"{self.pick(FACES)}{{{self.rng.choice('ABCRxyk')}}}"

    def large(self, depth: int) -> str:
        limits = self.rng.choice(("", r"\limits", r"\nolimits"))
        return f"{self.pick(LARGE)}{limits}_{{{self.row(depth)}}} "

    def function(self, depth: int) -> str:
        return f"{self.pick(FUNCTIONS)} {self.letter(depth)}"

    def stacked(self, depth: int) -> str:
        return f"{self.pick(STACKS)}{{{self.row(depth)}}}{{{self.letter(depth)}}}"

    def text(self, _: int) -> str:
        return r"\text{ if so, }"

    def table(self, depth: int) -> str:
        name = self.pick(TABLES)
        width = 2 if name in ("cases", "aligned") else self.rng.randint(1, 3)
        cells = [[self.row(depth) for _ in range(width)] for _ in range(self.rng.randint(1, 3))]
        plan = "{" + "c" * width + "}" if name == "array" else ""
        return rf"\begin{{{name}}}{plan}{BREAK.join(map('&'.join, cells))}\end{{{name}}}"


@pytest.fixture(scope="module")
def oracle() -> Any:
    return pytest.importorskip("math_core").LatexToMathML()


@each_row("seed", range(COUNT))
def test_both_read_the_same(seed: int, oracle: Any) -> None:
    tex, display = Maker(seed).row(2), seed % 2 == 0
    theirs = read_structure(oracle.convert_with_local_state(tex, displaystyle=display))
    assert read_structure(convert_formula(tex, display=display).mathml) == theirs, tex


# Where we follow KaTeX, Temml or TeX itself: other signs for colons, for capitals that TeX does not have, for
# triangles of two sizes, for negations of variants; `\\dots` as one sign; slanted capitals slanted.
DIFFERENT = r"""
\Alpha \Beta \Chi \Epsilon \Eta \Iota \Kappa \Mu \Nu \Omicron \Rho \Tau \Zeta \varDelta \varGamma \varLambda
\varOmega \varPhi \varPi \varPsi \varSigma \varTheta \varUpsilon \varXi \Colonapprox \Colondash \Coloneq
\Colonsim \Dashcolon \Eqcolon \Eqqcolon \approxcolon \approxcoloncolon \colonapprox \coloncolon
\coloncolonapprox \coloncolonequals \coloncolonminus \coloncolonsim \colondash \coloneq \colonequals
\colonminus \colonsim \dashcolon \eqcolon \equalscolon \equalscoloncolon \minuscolon \minuscoloncolon \ratio
\simcolon \simcoloncolon \vcentcolon \Box \blacktriangle \blacktriangledown \triangledown \triangleleft
\triangleright \vartriangle \diagdown \diagup \ncong \ngeqq \ngeqslant \nleqq \nleqslant \nsubseteqq
\nsupseteqq \Join \backepsilon \bigdoublevee \bigdoublewedge \cdotp \circledR \dots \idotsint \ldots \perp
\rq \surd \mod
"""


def test_symbols_are_the_same(oracle: Any) -> None:
    math_core = pytest.importorskip("math_core")
    known = 0
    different = set()
    for name in sorted(set(constructs().names()) - set(DIFFERENT.split())):
        try:
            theirs = read_structure(oracle.convert_with_local_state(name, displaystyle=True))
        except math_core.LatexError:
            continue
        known += 1
        if read_structure(convert_formula(name, display=True).mathml) != theirs:
            different.add(name)
    assert known > 500
    assert different == set()


def test_the_form_notices_what_matters() -> None:
    def form(tex: str) -> Row:
        return read_structure(convert_formula(tex, display=True).mathml)

    different = [
        "ab",
        "a b'",
        "a_b",
        "a^b",
        r"\frac ab",
        r"\binom ab",
        r"\sqrt[a]b",
        r"a\sqrt b",
        r"\mathrm ab",
    ]
    different += [
        r"\begin{matrix}a&b\end{matrix}",
        r"\begin{matrix}a\\b\end{matrix}",
        r"\overset ab",
        r"\hat ab",
    ]
    assert len({form(tex) for tex in different}) == len(different)
    assert form(r"{a}\,{b c}") == form("abc")
    assert form(r"\sum_i") == form(r"\sum\nolimits_i") == form(r"\textstyle\sum_i")


PLAIN = r"""
x^2 + y^2 = z^2
E = mc^2
\frac{\partial f}{\partial x} = 2x
\frac{1}{1 + e^{-x}}
\sqrt{a^2 + b^2} \le a + b
\sqrt[n]{x_1 x_2 \cdots x_n}
\int_0^\infty e^{-t} t^{s-1} \, dt
\sum_{k=0}^{n} \binom{n}{k} a^k b^{n-k}
p(x \mid y) = \frac{p(y \mid x) p(x)}{p(y)}
\mathbf{x}^\top \mathbf{A} \mathbf{x} > 0
\mathbb{E}[X] = \mu
\mathcal{L}(\theta) = -\log p_\theta(x)
\left( \frac{a}{b} \right)^2
\| x \|_2 = \langle x, x \rangle^{1/2}
\begin{pmatrix} a & b \\ c & d \end{pmatrix}
\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix} = I
f(x) = \begin{cases} x & x > 0 \\ 0 & \text{otherwise} \end{cases}
\begin{align*} u &= v \\ x &= y \end{align*}
\operatorname{softmax}(z)_i = \frac{e^{z_i}}{\sum_j e^{z_j}}
\forall \varepsilon > 0 \; \exists \delta > 0
A \cap (B \cup C) \subseteq D
f \colon X \to Y
\alpha \beta \gamma \in \mathbb{R}^{n \times m}
x_{i,j}^{(t+1)} \leftarrow x_{i,j}^{(t)}
\underbrace{a + b}_{c}
\overset{!}{=} \quad \underset{x}{y}
a \equiv b \pmod{n}
\lfloor x \rfloor + \lceil y \rceil
\nabla \cdot \mathbf{B} = 0
f'(x) = \lim f''
\dfrac{a}{b} \tfrac{c}{d}
n! \approx n^n e^{-n}
a \ne b \iff a < b \lor a > b
\ln xy = \ln x + \ln y
\prod_{i=1}^{n} p_i
\bigcup_{i \in I} A_i
\vec{v} \cdot \dot{w}
x \mapsto \frac{x}{|x|}
\textcolor{red}{x} \ge 0
"""


@pytest.fixture(scope="module")
def peer() -> FormulaConverter:
    """Return latex2mathml as in our plugin, without its known differences."""
    return load_plugins(["latex2mathml"], [bundled_folder("plugins")]).converters["latex2mathml"]


def peer_form(peer: FormulaConverter, tex: str, *, display: bool) -> Row | None:
    """Return the row of its result; None if it has none."""
    found = convert_with_plugin(peer, FormulaSource(tex, display))
    return None if isinstance(found, str) else read_structure(f"<math>{found.content}</math>")


def our_form(tex: str, *, display: bool) -> Row:
    return read_structure(convert_formula(tex, display=display).mathml)


@each_row("tex", PLAIN.strip().split("\n"))
def test_a_converter_in_python_reads_the_same(tex: str, peer: FormulaConverter) -> None:
    assert peer_form(peer, tex, display=True) == our_form(tex, display=True)


def test_and_so_with_formulas_by_chance(peer: FormulaConverter) -> None:
    agreed = 0
    for seed in range(COUNT):
        tex, display = Maker(seed).row(2), seed % 2 == 0
        theirs = peer_form(peer, tex, display=display)
        if theirs is not None:
            assert theirs == our_form(tex, display=display), tex
            agreed += 1
    assert agreed > COUNT // 5
