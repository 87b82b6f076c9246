"""Formulas that only MathJax accepts, in pages of any system; all other text stays unchanged."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from blogsmith.importers.model import ImportedPage
from blogsmith.importers.page_rewrites import fix_formulas


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"$$\text{a_b} + c_d$$", r"$$\text{a\_b} + c_d$$"),
        (r"Of $\text{count_zero}$, $\mathrm{a_b}$.", r"Of $\text{count\_zero}$, $\mathrm{a_b}$."),
        (r"$$\text{dist_0($x_0, G$)_b}$$", r"$$\text{dist\_0($x_0, G$)\_b}$$"),
        (r"$\text{count\_zero}$", r"$\text{count\_zero}$"),
        (r"$$\min \\{ a, b \\}$$", r"$$\min \{ a, b \}$$"),
        (
            "$$\n\\begin{cases} a \\\\{} b \\\\} \\end{cases}\n$$",
            "$$\n\\begin{cases} a \\\\{} b \\\\} \\end{cases}\n$$",
        ),
        (r"`\text{a_b}` and \text{a_b}", r"`\text{a_b}` and \text{a_b}"),
        ("```\n$\\text{a_b}$\n```", "```\n$\\text{a_b}$\n```"),
    ],
)
def test_formulas(text: str, expected: str) -> None:
    page = ImportedPage(PurePosixPath("content/a.md"), {}, text, "a.md")
    assert fix_formulas(page).text == expected
