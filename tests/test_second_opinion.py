"""`check --second-opinion`: which formulas are reported, and how they are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.features.second_opinion import compare_formulas
from blogsmith.project.report import BuildReport
from blogsmith.tex.convert import convert_formula
from blogsmith.tex.foreign.structure import first_difference, read_structure
from tests.site_files import build, put_bare

HEAD = "---\ntitle: A\n---\n\n"


def compared(root: Path, body: str, settings: str = "") -> BuildReport:
    put_bare(root, {"content/posts/a.md": HEAD + body})
    with (root / "blogsmith.yaml").open("a") as file:
        file.write(settings)
    return build(root, write=False, inspections=(compare_formulas,))


def test_a_formula_that_differs_is_reported_at_its_place(tmp_path: Path) -> None:
    report = compared(tmp_path, "Text $x$ and $a \\not= b$.\n")
    (found,) = report.diagnostics
    assert (found.code, found.severity, found.path) == (
        "math-second-opinion",
        "warning",
        "content/posts/a.md",
    )
    assert found.place is not None
    assert (found.place.line, found.place.column, found.place.length) == (5, 15, 9)
    assert found.message == 'formula differs from latex2mathml: blogsmith reads "a≠b", latex2mathml "a⧸=b"'
    assert report.notes == ("second opinion: 2 formulas compared with latex2mathml, 1 differs",)


def test_what_is_not_compared_is_counted_by_reason(tmp_path: Path) -> None:
    report = compared(tmp_path, "$x$, $\\Delta$, $\\Gamma$, $x''^2$ and $\\nope$.\n")
    assert [found.code for found in report.diagnostics] == ["math-command"]
    assert report.notes == (
        "second opinion: 1 formula compared with latex2mathml, 0 differ; "
        "3 not compared (the plugin skips it: 2; DoubleSuperscriptsError: 1)",
    )


def test_macros_are_opened_before_formulas_are_compared(tmp_path: Path) -> None:
    body = "$\\newcommand{\\norm}[1]{\\lVert #1 \\rVert}$ $\\norm{x}$ $\\R$ $$ \\R^2 \\label{eq:a} $$\n"
    report = compared(tmp_path, body, "math: {macros: {'\\R': '\\mathbb{R}'}}\n")
    assert report.notes == ("second opinion: 3 formulas compared with latex2mathml, 0 differ",)


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        (r"\frac{a}{b} + x^2", r"\frac{a}{c} + x^2", ("b", "c")),
        (r"x_{i+1}", r"x_{i}+1", ("x_(i+1)", "x_(i)+1")),
        (r"\sqrt[3]{x}", r"\sqrt{x}", ("3", "")),
        (
            r"\begin{matrix}a&b\\c&d\end{matrix}",
            r"\begin{matrix}a&b\end{matrix}",
            ("table(a, b; c, d)", "table(a, b)"),
        ),
        (r"\binom{n}{k}", r"\frac{n}{k}", ("(n over k)", "(n)/(k)")),
    ],
)
def test_the_first_difference_is_shown_as_text(one: str, other: str, difference: tuple[str, str]) -> None:
    rows = [read_structure(convert_formula(tex, display=False).mathml) for tex in (one, other)]
    assert first_difference(*rows) == difference
