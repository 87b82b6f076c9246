"""A second opinion: formulas by chance mean the same to us and to math-core, a converter in Rust.

Both answers are brought to a form in which only what is read counts: the signs in their order, what stands
above, below and beside what, which letters are upright. Spaces, sizes and groups are left out.
"""

from __future__ import annotations

import random

import pytest

math_core = pytest.importorskip("math_core")

COUNT = 400
LETTERS = (
    *"abcxyzABCRS",
    *"αβ",
    r"\alpha",
    r"\varepsilon",
    r"\Gamma",
    r"\infty",
    r"\partial",
    r"\ell",
    r"\hbar",
)
BINARY = ("+", "-", "*", r"\cdot", r"\times", r"\otimes", r"\cup", r"\wedge", r"\circ", r"\pm", r"\setminus")
RELATIONS = (
    "=",
    "<",
    ">",
    r"\le",
    r"\ne",
    r"\in",
    r"\subset",
    r"\to",
    r"\mapsto",
    r"\sim",
    r"\approx",
    r"\mid",
    ":",
)
LARGE = (r"\sum", r"\prod", r"\int", r"\bigcup", r"\oint", r"\lim", r"\max", r"\operatorname*{ab}")
FUNCTIONS = (r"\sin", r"\log", r"\det", r"\operatorname{rank}")
ACCENTS = ("hat", "bar", "tilde", "dot", "ddot", "check", "widehat", "overline", "underline", "overbrace")
FACES = ("mathbf", "mathbb", "mathcal", "mathfrak", "mathsf", "mathtt", "mathrm", "boldsymbol")
FENCES = (
    ("(", ")"),
    ("[", "]"),
    (r"\{", r"\}"),
    ("|", "|"),
    (r"\langle", r"\rangle"),
    (r"\lfloor", r"\rfloor"),
    (".", "|"),
)
ARROWS = (r"\xrightarrow", r"\overset", r"\underset", r"\stackrel")
TABLES = ("matrix", "pmatrix", "bmatrix", "vmatrix", "cases", "aligned", "array")
SPACES = (r"\,", r"\;", r"\quad ", "~", " ")


class Maker:
    """Formulas of what every TeX has."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def row(self, depth: int) -> str:
        """Terms with signs between them."""
        terms = [self.term(depth) for _ in range(self.rng.randint(1, 3))]
        row = terms[0]
        for term in terms[1:]:
            row += self.rng.choice((*BINARY, *RELATIONS, *SPACES, ",", "")) + " " + term
        return self.rng.choice(("", "", "", "-")) + row

    def term(self, depth: int) -> str:
        """Something that may carry scripts."""
        makers = (self.letter, self.letter, self.number)
        if depth > 0:
            makers += (
                self.fraction,
                self.root,
                self.fenced,
                self.accented,
                self.faced,
                self.large,
                self.function,
            )
            makers += (self.table, self.stacked, self.text)
        made = self.rng.choice(makers)(depth - 1)
        return made + self.scripts(depth - 1)

    def letter(self, _: int) -> str:
        return self.rng.choice(LETTERS) + " "

    def number(self, _: int) -> str:
        return self.rng.choice(("0", "12", "3.14"))

    def scripts(self, depth: int) -> str:
        """Mostly none."""
        kind = self.rng.choice(("", "", "", "", "_", "^", "_^", "^_", "'", "'_"))
        return "".join(mark if mark == "'" else f"{mark}{{{self.row(depth)}}}" for mark in kind)

    def fraction(self, depth: int) -> str:
        name = self.rng.choice(("frac", "dfrac", "tfrac", "binom"))
        return rf"\{name}{{{self.row(depth)}}}{{{self.row(depth)}}}"

    def root(self, depth: int) -> str:
        index = self.rng.choice(("", "[3]", "[n]"))
        return rf"\sqrt{index}{{{self.row(depth)}}}"

    def fenced(self, depth: int) -> str:
        left, right = self.rng.choice(FENCES)
        if "." not in (left, right) and self.rng.random() < 0.4:
            size = self.rng.choice(("big", "Bigg"))
            return rf"\{size}l{left} {self.row(depth)} \{size}r{right} "
        return rf"\left{left} {self.row(depth)} \right{right} "

    def accented(self, depth: int) -> str:
        return rf"\{self.rng.choice(ACCENTS)}{{{self.row(min(depth, 0))}}}"

    def faced(self, _: int) -> str:
        return rf"\{self.rng.choice(FACES)}{{{self.rng.choice('ABCRxyk')}}}"

    def large(self, depth: int) -> str:
        limits = self.rng.choice(("", r"\limits", r"\nolimits"))
        return rf"{self.rng.choice(LARGE)}{limits}_{{{self.row(depth)}}} "

    def function(self, depth: int) -> str:
        return rf"{self.rng.choice(FUNCTIONS)} {self.letter(depth)}"

    def stacked(self, depth: int) -> str:
        return rf"{self.rng.choice(ARROWS)}{{{self.row(depth)}}}{{{self.letter(depth)}}}"

    def text(self, _: int) -> str:
        return r"\text{ if so, }"

    def table(self, depth: int) -> str:
        name = self.rng.choice(TABLES)
        columns = 2 if name in ("cases", "aligned") else self.rng.randint(1, 3)
        rows = [
            "&".join(self.row(min(depth, 1)) for _ in range(columns)) for _ in range(self.rng.randint(1, 3))
        ]
        plan = "{" + "c" * columns + "}" if name == "array" else ""
        return rf"\begin{{{name}}}{plan}{r' \\ '.join(rows)}\end{{{name}}}"
